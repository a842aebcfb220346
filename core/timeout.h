/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Deadlines of pending events: timeouts and collection.
 */
#ifndef _LT_CORE_TIMEOUT_H
#define _LT_CORE_TIMEOUT_H

#include <linux/overflow.h>
#include <linux/types.h>

#include "core/kick.h"
#include "core/tracker.h"

u64 lt_scan(struct latency_tracker *tracker);
bool lt_scan_older(struct latency_tracker *tracker);
void lt_scan_relax(struct latency_tracker *tracker);

/* Saturate: a deadline that overflows never expires. */
static inline u64 lt_add_ns(u64 a, u64 b)
{
	u64 sum;

	return check_add_overflow(a, b, &sum) ? U64_MAX : sum;
}

/*
 * An event that does not follow the default deadlines may be due before the
 * next scan. Its cmpxchg() into the table, or an smp_mb(), is before this read
 * of next_scan; pairs with the second smp_mb() in scan_begin().
 */
static inline void lt_scan_ask_at(struct latency_tracker *tracker, u64 start_ns,
				  u64 timeout_ns)
{
	u64 collect_ns = READ_ONCE(tracker->collect_ns);
	u64 next_scan = READ_ONCE(tracker->next_scan);

	if ((timeout_ns && lt_add_ns(start_ns, timeout_ns) < next_scan) ||
	    (collect_ns && lt_add_ns(start_ns, collect_ns) < next_scan))
		lt_kick_rescan(tracker);
}

static inline void lt_scan_ask(struct latency_tracker *tracker, u32 flags,
			       const struct latency_tracker_in *in)
{
	lt_scan_ask_at(tracker,
		       flags & LATENCY_TRACKER_START ? in->start_ns :
						       latency_tracker_clock(),
		       flags & LATENCY_TRACKER_TIMEOUT ?
			       in->timeout_ns : READ_ONCE(tracker->timeout_ns));
}

#endif /* _LT_CORE_TIMEOUT_H */
