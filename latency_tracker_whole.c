// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hot path of the API for a caller that keeps the begin itself.
 */
#include <linux/export.h>

#include "core/args.h"
#include "core/fill.h"
#include "core/outcome.h"
#include "core/section.h"
#include "latency_tracker.h"

/* The event is never in the table; only the callback needs it. */
static noinline int whole_late(struct latency_tracker *tracker,
			       const struct lt_key *key, u32 flags,
			       const struct latency_tracker_in *in, u64 end_ns,
			       u64 delay_ns, u64 threshold_ns, u32 out_id,
			       void *out_data)
{
	struct lt_pool_item *item = lt_pool_get(&tracker->pool);
	struct latency_tracker_event *event;

	if (unlikely(!item)) {
		lt_count(tracker->counters, LT_SKIPPED);
		return -ENOBUFS;
	}
	event = lt_event_of_item(item);
	lt_fill(tracker, event, key, flags, in);
	lfht_node_init_deleted(&event->node);
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	lt_profile_add(&tracker->profile, delay_ns);
	lt_finish_late(tracker, event, end_ns, delay_ns, threshold_ns, out_id,
		       out_data);
	return 1;
}

static __always_inline int whole(struct latency_tracker *tracker,
				 const struct lt_key *key, u32 flags,
				 const struct latency_tracker_in *in,
				 u64 end_ns, u32 out_id, void *out_data)
{
	u64 delay_ns, threshold_ns = flags & LATENCY_TRACKER_THRESHOLD ?
					     in->threshold_ns :
					     READ_ONCE(tracker->threshold_ns);

	if (unlikely(!READ_ONCE(tracker->tracking_on)))
		return -ESHUTDOWN;
	delay_ns = lt_delay_of(tracker, in->start_ns, end_ns);
	if (lt_is_late(delay_ns, threshold_ns))
		return whole_late(tracker, key, flags, in, end_ns, delay_ns,
				  threshold_ns, out_id, out_data);
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	lt_profile_add(&tracker->profile, delay_ns);
	return 0;
}

/**
 * latency_tracker_event_whole() - an operation has begun and ended
 * @tracker: the tracker
 * @key: for the callback
 * @key_len: bytes at @key, 1 to the key_size of the configuration
 * @flags: LATENCY_TRACKER_START, and LATENCY_TRACKER_THRESHOLD if in->threshold_ns
 *	is set
 * @in: the begin; not NULL
 * @out_id: as for latency_tracker_event_out()
 * @out_data: likewise
 * @end_ns: likewise
 *
 * A begin with its end, for a caller that has kept the time of the begin itself.
 * That is possible where no other caller ends the operation or looks it up. The
 * operation is never pending here, so no timeout reports it. If it is in time it
 * costs next to nothing.
 *
 * Context: Any. The callback runs in it, with preemption off.
 * Return: 1 if it was late and the callback ran; 0 if it was in time; -EINVAL for
 * arguments outside of their bounds; -ESHUTDOWN if tracking is off; -ENOBUFS if it
 * was late and no event is free (counted as skipped); -EAGAIN if RCU is not watching.
 */
int latency_tracker_event_whole(struct latency_tracker *tracker,
				const void *key, u32 key_len, u32 flags,
				const struct latency_tracker_in *in, u32 out_id,
				void *out_data, u64 end_ns)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	int ret;

	if (unlikely(!lt_key_is_valid(tracker, &k) ||
		     (flags & ~LATENCY_TRACKER_THRESHOLD) !=
			     LATENCY_TRACKER_START ||
		     !lt_in_is_valid(tracker, flags, in)))
		return -EINVAL;
	if (!lt_enter(tracker))
		return -EAGAIN;
	ret = whole(tracker, &k, flags, in, end_ns ?: latency_tracker_clock(),
		    out_id, out_data);
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_whole);

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
u64 latency_tracker_whole_begin(const struct latency_tracker *tracker)
{
	if (unlikely(READ_ONCE(tracker->timeout_ns)))
		return 0;
	return latency_tracker_clock();
}
EXPORT_SYMBOL_GPL(latency_tracker_whole_begin);

/**
 * latency_tracker_whole_in_time() - such an operation ends
 * @tracker: not NULL
 * @start_ns: what latency_tracker_whole_begin() returned
 * @end_ns: ns of latency_tracker_clock(); 0 is now
 *
 * An operation in time is all over with this. It is compared with the default
 * threshold.
 *
 * Context: Any. Needs no RCU: nothing but counters of the CPU is touched.
 * Return: 0 if it was in time; it is counted. Else when it ended, and nothing is counted:
 * call latency_tracker_event_whole() with that.
 */
u64 latency_tracker_whole_in_time(struct latency_tracker *tracker, u64 start_ns,
				  u64 end_ns)
{
	if (!end_ns)
		end_ns = latency_tracker_clock();
	if (unlikely(!READ_ONCE(tracker->tracking_on) || end_ns < start_ns ||
		     end_ns - start_ns >= READ_ONCE(tracker->threshold_ns)))
		return end_ns;
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	lt_profile_add(&tracker->profile, end_ns - start_ns);
	return 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_whole_in_time);
