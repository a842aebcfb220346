/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Telling user space that the threshold, or the timeout, was crossed.
 */
#ifndef _LT_CORE_CROSSINGS_H
#define _LT_CORE_CROSSINGS_H

#include <linux/time64.h>
#include <linux/types.h>

struct latency_tracker;

/*
 * Bounds of the interval. With a shorter one the wake-ups could become the load:
 * each of them is one more operation for the tracker of wake-ups.
 */
#define LT_CROSSINGS_MIN_NS	NSEC_PER_MSEC
#define LT_CROSSINGS_MAX_NS	(3600 * NSEC_PER_SEC)
#define LT_CROSSINGS_DEFAULT_NS	(100 * NSEC_PER_MSEC)

void lt_crossings_init(struct latency_tracker *tracker);
unsigned long lt_crossings_sum(const struct latency_tracker *tracker);
void lt_crossings_kick(struct latency_tracker *tracker);
u64 lt_crossings_tell(struct latency_tracker *tracker);
int lt_crossings_set_interval(struct latency_tracker *tracker, u64 interval_ns);
void lt_crossings_show(struct latency_tracker *tracker);
void lt_crossings_hide(struct latency_tracker *tracker);
void lt_crossings_destroy(struct latency_tracker *tracker);

#endif /* _LT_CORE_CROSSINGS_H */
