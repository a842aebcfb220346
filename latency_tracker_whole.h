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
u64 latency_tracker_whole_begin_other(const struct latency_tracker *tracker);
int latency_tracker_whole_many(struct latency_tracker *tracker, u64 delay_ns,
			       u32 nr, const void *priv);
/* Not for users. */
u64 latency_tracker_whole_other(struct latency_tracker *tracker, u64 start_ns,
				const void *priv, const void *out_data);
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
 * Return: the begin, ns of latency_tracker_clock(); 0: ask latency_tracker_whole_begin_other().
 */
static __always_inline u64
latency_tracker_whole_begin(const struct latency_tracker *tracker)
{
	u64 now_ns;

	if (unlikely(READ_ONCE(tracker->timeout_ns) || !lt_clock_try(&now_ns)))
		return 0;
	return now_ns;
}

/**
 * latency_tracker_whole_may_be_late() - is such an operation none that is simply in time?
 * @tracker: not NULL
 * @start_ns: what latency_tracker_whole_begin() returned
 * @end_ns: ns of latency_tracker_clock()
 *
 * It is compared with the default threshold, and with the least of those that operations have
 * of their own.
 *
 * Context: Any.
 * Return: whether latency_tracker_whole_in_time() would not have it.
 */
static __always_inline bool
latency_tracker_whole_may_be_late(const struct latency_tracker *tracker,
				  u64 start_ns, u64 end_ns)
{
	/* If the clock went back, it is a very long one, which no threshold is above. */
	return !READ_ONCE(tracker->tracking_on) ||
	       end_ns - start_ns >= READ_ONCE(tracker->threshold_ns);
}

/**
 * latency_tracker_whole_is_plain() - will latency_tracker_whole_count() do for such an operation?
 * @tracker: not NULL
 * @start_ns: what latency_tracker_whole_begin() returned
 * @end_ns: ns of latency_tracker_clock()
 *
 * Context: Any.
 * Return: whether it is in time and in no group; else call latency_tracker_whole_in_time().
 */
static __always_inline bool
latency_tracker_whole_is_plain(const struct latency_tracker *tracker,
			       u64 start_ns, u64 end_ns)
{
	return !lt_groups_are_on(&tracker->groups) &&
	       !latency_tracker_whole_may_be_late(tracker, start_ns, end_ns);
}

/**
 * latency_tracker_whole_count() - such an operation is over
 * @tracker: not NULL
 * @delay_ns: how long it took: it is plain
 *
 * It calls nothing but what comes last.
 *
 * Context: Any. Needs no RCU: nothing but counters of the CPU is touched.
 */
static __always_inline void
latency_tracker_whole_count(struct latency_tracker *tracker, u64 delay_ns)
{
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	lt_profile_add(&tracker->profile, delay_ns);
}

/**
 * latency_tracker_whole_in_time() - such an operation ends
 * @tracker: not NULL
 * @start_ns: what latency_tracker_whole_begin() returned
 * @end_ns: ns of latency_tracker_clock(); 0 is now
 * @priv: for the groups of the operation: what an event would have as private bytes
 * @out_data: likewise: what its end would pass along
 *
 * An operation in time is all over with this, see latency_tracker_whole_may_be_late().
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

	/* No call but the last one: no register has to outlive it. */
	if (!end_ns && unlikely(!lt_clock_try(&end_ns)))
		return latency_tracker_whole_other(tracker, start_ns, priv,
						   out_data);
	if (unlikely(latency_tracker_whole_may_be_late(tracker, start_ns, end_ns)))
		return end_ns;
	delay_ns = end_ns - start_ns;
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	if (lt_groups_are_on(&tracker->groups))
		latency_tracker_whole_in_groups(tracker, priv, out_data, delay_ns);
	else
		lt_profile_add(&tracker->profile, delay_ns);
	return 0;
}

#endif /* _LATENCY_TRACKER_WHOLE_H */
