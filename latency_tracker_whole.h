/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hot path of the API for a caller that keeps the begin itself: what most operations do,
 * inline. Part of latency_tracker.h.
 */
#ifndef _LATENCY_TRACKER_WHOLE_H
#define _LATENCY_TRACKER_WHOLE_H

#include "core/clock.h"
#include "core/tracker.h"

int latency_tracker_event_whole(struct latency_tracker *tracker,
				const void *key, u32 key_len, u32 flags,
				const struct latency_tracker_in *in, u32 out_id,
				void *out_data, u64 end_ns);
int latency_tracker_whole_many(struct latency_tracker *tracker, u64 delay_ns,
			       u32 nr, const void *priv);
/* Not for users. */
void latency_tracker_whole_in_groups(struct latency_tracker *tracker,
				     const void *priv, const void *out_data,
				     u64 delay_ns);

/**
 * latency_tracker_whole_begin() - an operation begins that may never be pending
 * @tracker: not NULL
 *
 * For latency_tracker_whole_in_time().
 *
 * Context: Any.
 * Return: the begin, ns of latency_tracker_clock(); 0 if the operation has to be an
 * event from its begin on, since a timeout has to find it.
 */
static __always_inline u64
latency_tracker_whole_begin(const struct latency_tracker *tracker)
{
	if (unlikely(READ_ONCE(tracker->timeout_ns)))
		return 0;
	return latency_tracker_clock();
}

/**
 * latency_tracker_whole_in_time() - such an operation ends
 * @tracker: not NULL
 * @start_ns: what latency_tracker_whole_begin() returned
 * @end_ns: ns of latency_tracker_clock(); 0 is now
 * @priv: for the groups of the operation: what an event would have as private bytes
 * @out_data: likewise: what its end would pass along
 *
 * An operation in time is all over with this. It is compared with the default
 * threshold, and with the least of those that operations have of their own.
 *
 * Context: Any. Needs no RCU: nothing but counters of the CPU is touched. The groups of
 * what ends where RCU is not watching are "other".
 * Return: 0 if it was in time; it is counted. Else when it ended, and nothing is counted:
 * call latency_tracker_event_whole() with that.
 */
static __always_inline u64
latency_tracker_whole_in_time(struct latency_tracker *tracker, u64 start_ns,
			      u64 end_ns, const void *priv, const void *out_data)
{
	u64 delay_ns;

	if (!end_ns)
		end_ns = latency_tracker_clock();
	/* If the clock went back, it is a very long one, which no threshold is above. */
	delay_ns = end_ns - start_ns;
	if (unlikely(!READ_ONCE(tracker->tracking_on) ||
		     delay_ns >= READ_ONCE(tracker->threshold_ns)))
		return end_ns;
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	lt_profile_add(&tracker->profile, delay_ns);
	if (lt_groups_are_on(&tracker->groups))
		latency_tracker_whole_in_groups(tracker, priv, out_data, delay_ns);
	return 0;
}

#endif /* _LATENCY_TRACKER_WHOLE_H */
