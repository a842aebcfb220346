/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How an operation turned out: in time, late, past its timeout, collected or
 * cleared. The steps that each operation pays for are inline.
 */
#ifndef _LT_CORE_OUTCOME_H
#define _LT_CORE_OUTCOME_H

#include <linux/compiler.h>
#include <linux/minmax.h>

#include "core/front.h"
#include "core/tracker.h"

void lt_group_end(struct latency_tracker *tracker, const void *key,
		  const void *priv, const void *out_data, u64 delay_ns);
int lt_finish_slot_grouped(struct latency_tracker *tracker,
			   struct latency_tracker_event *event, u64 now_ns,
			   u32 out_id, void *out_data);
int lt_finish_late(struct latency_tracker *tracker,
		   struct latency_tracker_event *event, u64 now_ns,
		   u64 delay_ns, u32 out_id, void *out_data);
bool lt_would_be_late(struct latency_tracker *tracker,
		      struct latency_tracker_event *event, u64 now_ns);
void lt_report_open(struct latency_tracker *tracker,
		    struct latency_tracker_event *event, u64 now_ns,
		    enum latency_tracker_flag flag);
bool lt_report_asked(struct latency_tracker *tracker,
		     struct latency_tracker_event *event, u64 now_ns);
void lt_clear_event(struct latency_tracker *tracker,
		    struct latency_tracker_event *event);

static __always_inline u64 lt_delay_of(struct latency_tracker *tracker,
				       u64 start_ns, u64 now_ns)
{
	if (likely(now_ns >= start_ns))
		return now_ns - start_ns;
	lt_count(tracker->counters, LT_CLOCK_BACK);
	return 0;
}

/*
 * What takes less is in time, whatever its own threshold is. @own_ns: that of the begin, with
 * LATENCY_TRACKER_THRESHOLD.
 */
static __always_inline u64
lt_least_threshold(const struct latency_tracker *tracker, u32 flags, u64 own_ns)
{
	return flags & LATENCY_TRACKER_THRESHOLD ?
		       min(own_ns, READ_ONCE(tracker->least_ns)) :
		       READ_ONCE(tracker->threshold_ns);
}

static __always_inline u64
lt_threshold_of(const struct latency_tracker *tracker,
		struct latency_tracker_event *event)
{
	u32 flags = lt_event_flags(event);

	return lt_least_threshold(tracker, flags,
				  flags & LATENCY_TRACKER_THRESHOLD ?
				  READ_ONCE(lt_event_own(tracker, event)->threshold_ns) : 0);
}

static __always_inline bool lt_is_late(u64 delay_ns, u64 threshold_ns)
{
	return unlikely(delay_ns >= threshold_ns) &&
	       threshold_ns != LATENCY_TRACKER_NEVER;
}

/**
 * lt_put() - drop a reference
 * @tracker: of the event
 * @event: the caller's reference is gone on return
 * @flags: LT_EVENT_OPEN if the caller owns the verdict and has not closed the
 *	event; else 0
 *
 * Context: Any; preemption off.
 */
static __always_inline void lt_put(struct latency_tracker *tracker,
				   struct latency_tracker_event *event,
				   long flags)
{
	if (lt_event_drop(event, flags))
		lt_retire(&tracker->reclaim, &event->item);
}

/* Count what has ended in its groups, if these are on. */
static __always_inline void
lt_add_to_groups(struct latency_tracker *tracker, const void *key,
		 const void *priv, const void *out_data, u64 delay_ns)
{
	if (lt_groups_are_on(&tracker->groups))
		lt_group_end(tracker, key, priv, out_data, delay_ns);
}

/**
 * lt_finish() - the operation ended
 * @tracker: of the event
 * @event: the caller has taken it from the table; its reference is gone on
 *	return
 * @now_ns: when
 * @out_id: for the callback
 * @out_data: for the callback
 *
 * Context: Any; preemption off.
 * Return: 1 if it was late and the callback ran, 0 if not.
 */
static __always_inline int lt_finish(struct latency_tracker *tracker,
				     struct latency_tracker_event *event,
				     u64 now_ns, u32 out_id, void *out_data)
{
	u64 delay_ns = lt_delay_of(tracker, event->start_ns, now_ns);

	lt_count(tracker->counters, LT_FINISHED);
	lt_add_to_groups(tracker, event->data, lt_event_priv(event), out_data,
			 delay_ns);
	if (lt_is_late(delay_ns, lt_threshold_of(tracker, event))) {
		lt_profile_add(&tracker->profile, delay_ns);
		return lt_finish_late(tracker, event, now_ns, delay_ns, out_id,
				      out_data);
	}
	lt_put(tracker, event, LT_EVENT_OPEN);
	lt_profile_add(&tracker->profile, delay_ns);
	return 0;
}

/* The same for an end that has looked for @event, and may have found none; as that, or -ENOENT. */
static __always_inline int lt_finish_found(struct latency_tracker *tracker,
					   struct latency_tracker_event *event,
					   u64 end_ns, u32 out_id, void *out_data)
{
	if (likely(event))
		return lt_finish(tracker, event,
				 end_ns ?: latency_tracker_clock(), out_id,
				 out_data);
	lt_count(tracker->counters, LT_UNMATCHED);
	return -ENOENT;
}

/**
 * lt_finish_in_time() - most operations that end in a slot: in time, and that is all
 * @tracker: of the event
 * @event: the slot, by the front
 * @key: of the operation
 * @now_ns: when it ends; 0 is now, which it becomes
 * @is_meant: NULL; or of its private bytes, is it this operation that ends?
 *
 * It calls nothing but what comes last: no register has to outlive that.
 *
 * Context: Any; in a read-side section.
 * Return: false if it is none of these, or seems so, or the clock takes a call; nothing has
 * changed.
 */
static __always_inline bool
lt_finish_in_time(struct latency_tracker *tracker,
		  struct latency_tracker_event *event, u64 key, u64 *now_ns,
		  bool (*is_meant)(const void *priv))
{
	long refs = lt_slot_look(event, key);
	u64 delay_ns;

	if (unlikely(!refs || lt_groups_are_on(&tracker->groups) ||
		     lt_event_flags(event) & LATENCY_TRACKER_THRESHOLD))
		return false;
	if (is_meant && !is_meant(lt_event_priv(event)))
		return false;
	if (!*now_ns && unlikely(!lt_clock_try(now_ns)))
		return false;
	/* If the clock went back, it is a very long one, which no threshold is above. */
	delay_ns = *now_ns - READ_ONCE(event->start_ns);
	if (unlikely(delay_ns >= READ_ONCE(tracker->threshold_ns) ||
		     !lt_event_close(event, refs, 0)))
		return false;
	lt_count(tracker->counters, LT_FINISHED);
	lt_profile_add(&tracker->profile, delay_ns);
	return true;
}

/*
 * lt_finish_slot(). With room for ids in @id it is counted in its groups, too, which are
 * asked for before it is closed: then @event may be that of the next operation.
 */
static __always_inline int
lt_close_slot(struct latency_tracker *tracker,
	      struct latency_tracker_event *event, u64 now_ns, u32 out_id,
	      void *out_data, u64 *id)
{
	u64 start_ns, delay_ns;
	bool is_late;
	long refs;

	do {
		refs = lt_event_look(event);
		if (!refs)
			return -ENOENT;
		if (!now_ns)
			now_ns = latency_tracker_clock();
		start_ns = READ_ONCE(event->start_ns);
		delay_ns = now_ns > start_ns ? now_ns - start_ns : 0;
		is_late = lt_is_late(delay_ns, lt_threshold_of(tracker, event));
		if (id)
			lt_groups_ids(&tracker->groups, event->data,
				      lt_event_priv(event), out_data, id);
	} while (unlikely(!lt_event_close(event, refs, is_late)));
	if (unlikely(now_ns < start_ns))
		lt_count(tracker->counters, LT_CLOCK_BACK);
	lt_count(tracker->counters, LT_FINISHED);
	if (id)
		lt_groups_count(&tracker->groups, id, delay_ns);
	/* The last thing that is done: no register has to outlive it. */
	if (likely(!is_late)) {
		lt_profile_add(&tracker->profile, delay_ns);
		return 0;
	}
	lt_profile_add(&tracker->profile, delay_ns);
	/* It holds the slot until the callback is through. */
	return lt_finish_late(tracker, event, now_ns, delay_ns, out_id, out_data);
}

/**
 * lt_finish_slot() - the operation in a slot ended
 * @tracker: of the event
 * @event: the slot
 * @now_ns: when; 0 is now
 * @out_id: for the callback
 * @out_data: for the callback
 *
 * Context: Any; in a read-side section.
 * Return: 1 if it was late and the callback ran, 0 if not; -ENOENT if none is
 * pending.
 */
static __always_inline int lt_finish_slot(struct latency_tracker *tracker,
					  struct latency_tracker_event *event,
					  u64 now_ns, u32 out_id, void *out_data)
{
	if (lt_groups_are_on(&tracker->groups))
		return lt_finish_slot_grouped(tracker, event, now_ns, out_id,
					      out_data);
	return lt_close_slot(tracker, event, now_ns, out_id, out_data, NULL);
}

#endif /* _LT_CORE_OUTCOME_H */
