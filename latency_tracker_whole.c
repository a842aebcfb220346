// SPDX-License-Identifier: GPL-2.0-only
/*
 * The API for a caller that keeps the begin itself: what few operations do.
 */
#include <linux/export.h>
#include <linux/ktime.h>

#include "core/args.h"
#include "core/fill.h"
#include "core/outcome.h"
#include "core/section.h"
#include "latency_tracker_whole.h"

/* The event is never in the table; only the callback needs it. */
static noinline int whole_late(struct latency_tracker *tracker,
			       const struct lt_key *key, u32 flags,
			       const struct latency_tracker_in *in, u64 end_ns,
			       u64 delay_ns, u32 out_id, void *out_data)
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
	lt_add_to_groups(tracker, event->data, lt_event_priv(event), out_data,
			 delay_ns);
	return lt_finish_late(tracker, event, end_ns, delay_ns, out_id, out_data);
}

static __always_inline int whole(struct latency_tracker *tracker,
				 const struct lt_key *key, u32 flags,
				 const struct latency_tracker_in *in,
				 u64 end_ns, u32 out_id, void *out_data)
{
	u64 delay_ns;

	if (unlikely(!READ_ONCE(tracker->tracking_on)))
		return -ESHUTDOWN;
	delay_ns = lt_delay_of(tracker, in->start_ns, end_ns);
	if (lt_is_late(delay_ns, lt_least_threshold(tracker, flags,
						    in->threshold_ns)))
		return whole_late(tracker, key, flags, in, end_ns, delay_ns,
				  out_id, out_data);
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	lt_profile_add(&tracker->profile, delay_ns);
	lt_add_to_groups(tracker, key->bytes, in->priv, out_data, delay_ns);
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
 * latency_tracker_whole_begin_other() - latency_tracker_whole_begin() has returned 0
 * @tracker: likewise
 *
 * Context: Any.
 * Return: the begin, ns of latency_tracker_clock(); 0 if the operation has to be an
 * event from its begin on, since a timeout has to find it.
 */
u64 latency_tracker_whole_begin_other(const struct latency_tracker *tracker)
{
	return READ_ONCE(tracker->timeout_ns) ? 0 : latency_tracker_clock();
}
EXPORT_SYMBOL_GPL(latency_tracker_whole_begin_other);

/**
 * latency_tracker_whole_other() - latency_tracker_whole_in_time(), by another clock
 * @tracker: likewise
 * @start_ns: likewise
 * @priv: likewise
 * @out_data: likewise
 *
 * Context: likewise.
 * Return: likewise.
 */
u64 latency_tracker_whole_other(struct latency_tracker *tracker, u64 start_ns,
				const void *priv, const void *out_data)
{
	return latency_tracker_whole_in_time(tracker, start_ns,
					     ktime_get_mono_fast_ns(), priv,
					     out_data);
}
EXPORT_SYMBOL_GPL(latency_tracker_whole_other);

/**
 * latency_tracker_whole_in_groups() - count an operation, also in its groups, which are on
 * @tracker: the tracker
 * @priv: as for latency_tracker_whole_in_time()
 * @out_data: likewise
 * @delay_ns: how long it took
 *
 * Context: Any.
 */
void latency_tracker_whole_in_groups(struct latency_tracker *tracker,
				     const void *priv, const void *out_data,
				     u64 delay_ns)
{
	struct lt_groups *groups = &tracker->groups;
	u64 id[LATENCY_TRACKER_DIMENSIONS] = {};

	lt_profile_add(&tracker->profile, delay_ns);
	/* The caller may have no section. */
	rcu_read_lock_sched_notrace();
	if (likely(lt_rcu_is_watching())) {
		lt_groups_ids(groups, NULL, priv, out_data, id);
		lt_groups_count(groups, id, delay_ns);
	} else {
		lt_groups_count_unwatched(groups, delay_ns);
	}
	rcu_read_unlock_sched_notrace();
}
EXPORT_SYMBOL_GPL(latency_tracker_whole_in_groups);

/**
 * latency_tracker_whole_many() - operations that took about as long have begun and ended
 * @tracker: not NULL
 * @delay_ns: how long each took
 * @nr: how many
 * @priv: for their groups: what an event would have as private bytes
 *
 * For a caller that has counted them itself, and knows that none is to be reported.
 *
 * Context: Any.
 * Return: 0; -ESHUTDOWN if tracking is off; -EAGAIN if RCU is not watching.
 */
int latency_tracker_whole_many(struct latency_tracker *tracker, u64 delay_ns,
			       u32 nr, const void *priv)
{
	u64 id[LATENCY_TRACKER_DIMENSIONS] = {};
	int ret = -ESHUTDOWN;

	if (!nr)
		return 0;
	if (!lt_enter(tracker))
		return -EAGAIN;
	if (likely(READ_ONCE(tracker->tracking_on))) {
		this_cpu_add(tracker->counters->value[LT_STARTED], nr);
		this_cpu_add(tracker->counters->value[LT_FINISHED], nr);
		lt_profile_add_many(&tracker->profile, delay_ns, nr);
		if (lt_groups_are_on(&tracker->groups)) {
			lt_groups_ids(&tracker->groups, NULL, priv, NULL, id);
			lt_groups_count_many(&tracker->groups, id, delay_ns, nr);
		}
		ret = 0;
	}
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_whole_many);
