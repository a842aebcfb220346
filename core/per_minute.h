/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A threshold that finds itself: about so many operations per minute are late.
 *
 * Each time the profile is summed up, what came since then goes into a histogram whose
 * older counts decay, and the threshold becomes the delay which as many of its operations
 * exceed as are wanted. Between two looks only a few may be late; from then on, only
 * what is longer than all of them.
 */
#ifndef _LT_CORE_PER_MINUTE_H
#define _LT_CORE_PER_MINUTE_H

#include <linux/types.h>

struct latency_tracker;

void lt_per_minute_init(struct latency_tracker *tracker);
void lt_per_minute_destroy(struct latency_tracker *tracker);
int lt_per_minute_set(struct latency_tracker *tracker, u32 wanted);
void lt_per_minute_least(struct latency_tracker *tracker, u64 least_ns);
void lt_publish_threshold(struct latency_tracker *tracker);
void lt_per_minute_late(struct latency_tracker *tracker, u64 delay_ns);

#endif /* _LT_CORE_PER_MINUTE_H */
