/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timers: their tracepoints.
 *
 * LT_DEFINE_PROBE_HRTIMER_EXPIRE_ENTRY(handler) defines probe_hrtimer_expire_entry, which
 * calls handler(). By 7.3 the tracepoint gets the time itself, not its address.
 */
#ifndef _LT_WRAPPER_TIMER_H
#define _LT_WRAPPER_TIMER_H

#include <trace/events/timer.h>

#include "wrapper/tracepoint.h"

#define LT_DEFINE_PROBE_HRTIMER_EXPIRE_ENTRY(handler)			\
static void __maybe_unused						\
probe_hrtimer_expire_entry_value(void *data, struct hrtimer *timer,	\
				 ktime_t now)				\
{									\
	handler();							\
}									\
static void __maybe_unused						\
probe_hrtimer_expire_entry_address(void *data, struct hrtimer *timer,	\
				   ktime_t *now)			\
{									\
	handler();							\
}

#define probe_hrtimer_expire_entry					\
	lt_pick_probe(hrtimer_expire_entry, probe_hrtimer_expire_entry_value, \
		      probe_hrtimer_expire_entry_address)

#endif /* _LT_WRAPPER_TIMER_H */
