/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all events of group latency_tracker print alike.
 */
#ifndef _LT_TRACE_FORMAT_H
#define _LT_TRACE_FORMAT_H

#include <linux/sched.h>
#include <linux/trace_seq.h>

#include "core/stack.h"
#include "latency_tracker.h"

/* enum latency_tracker_flag; numbers, since user space parses this, too */
#define lt_show_flag(flag)						\
	__print_symbolic(flag, { 0, "ended" }, { 1, "pending" },	\
			 { 2, "collected" })

#endif /* _LT_TRACE_FORMAT_H */
