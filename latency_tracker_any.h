/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_tracker_event_in() and latency_tracker_event_out() with keys of any length. Not for
 * users: part of latency_tracker.h.
 */
#ifndef _LATENCY_TRACKER_ANY_H
#define _LATENCY_TRACKER_ANY_H

#include "core/types.h"

int latency_tracker_event_in_any(struct latency_tracker *tracker,
				 const void *key, u32 key_len, u32 flags,
				 const struct latency_tracker_in *in);
int latency_tracker_event_out_any(struct latency_tracker *tracker,
				  const void *key, u32 key_len, u32 out_id,
				  void *out_data, u64 end_ns);

#endif /* _LATENCY_TRACKER_ANY_H */
