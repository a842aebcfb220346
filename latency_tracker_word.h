/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_tracker_event_in() and latency_tracker_event_out() for most callers: with a key of 8
 * bytes, which the compiler knows. Part of latency_tracker.h.
 */
#ifndef _LATENCY_TRACKER_WORD_H
#define _LATENCY_TRACKER_WORD_H

#include <linux/types.h>

#include "core/types.h"

int latency_tracker_word_in(struct latency_tracker *tracker, u64 key,
			    const struct latency_tracker_in *in);
int latency_tracker_word_out(struct latency_tracker *tracker, u64 key,
			     u32 out_id, void *out_data, u64 end_ns);

#endif /* _LATENCY_TRACKER_WORD_H */
