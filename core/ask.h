/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is pending now, reported on request. Part of latency_tracker.h.
 */
#ifndef _LT_CORE_ASK_H
#define _LT_CORE_ASK_H

#include "core/types.h"

int latency_tracker_report_pending(struct latency_tracker *tracker, u64 age_ns,
				   u64 after_ns);

void lt_ask_init(struct latency_tracker *tracker);
u64 lt_ask_answer(struct latency_tracker *tracker);

#endif /* _LT_CORE_ASK_H */
