/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hot path of the API for trackers with slots: what most operations do, inline. The rest is
 * in the functions at the top, which are not for users. Part of latency_tracker.h.
 *
 * Most callers are probes of tracepoints, which run with preemption off. So begin, publish and the
 * ends are no read-side sections of their own: their callers are in one. Only what is not inline
 * begins another one.
 */
#ifndef _LATENCY_TRACKER_SLOTS_H
#define _LATENCY_TRACKER_SLOTS_H

#include <linux/err.h>
#include <linux/lockdep.h>

#include "core/clock.h"
#include "core/front.h"
#include "core/outcome.h"
#include "core/section.h"
#include "core/slot.h"
#include "core/tracker.h"

void *latency_tracker_slot_begin_other(struct latency_tracker *tracker, u64 key,
				       u32 flags);
void latency_tracker_slot_began(struct latency_tracker *tracker, u64 start_ns);
int latency_tracker_slot_end_other(struct latency_tracker *tracker, u64 key,
				   void *out_data, u64 end_ns, bool is_sure);
bool latency_tracker_slot_visit_other(struct latency_tracker *tracker, u64 key,
				      latency_tracker_visit visit, void *arg);
void latency_tracker_slot_dropped(struct latency_tracker *tracker,
				  struct latency_tracker_event *event);

int latency_tracker_slot_free(struct latency_tracker *tracker, u64 key);

/* The event of its private bytes, where the key has 8. */
static __always_inline struct latency_tracker_event *lt_event_of_priv(void *priv)
{
	return container_of(priv - sizeof(u64), struct latency_tracker_event,
			    data);
}

/**
 * latency_tracker_slot_priv() - the private bytes of an event of a tracker with slots
 * @event: not NULL
 *
 * latency_tracker_event_priv() at the least cost.
 *
 * Context: Any.
 * Return: them.
 */
static __always_inline void *
latency_tracker_slot_priv(struct latency_tracker_event *event)
{
	return event->data + sizeof(u64);
}

/**
 * latency_tracker_slot_begin() - an operation begins, in a tracker with slots
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 * @flags: 0, or LATENCY_TRACKER_KEEP: if the key has an operation, that stays
 *
 * latency_tracker_event_in() at the least cost. The caller writes the private bytes of
 * the event, which have what was there before, and calls latency_tracker_slot_publish().
 *
 * Context: Any, but preemption is off, and stays so until that.
 * Return: the private bytes; ERR_PTR() of -ESHUTDOWN, -ENOBUFS, -EEXIST, -EAGAIN as
 * latency_tracker_event_in(); NULL if another begin of the key runs at this moment, which
 * counts as the later one.
 */
static __always_inline void *
latency_tracker_slot_begin(struct latency_tracker *tracker, u64 key, u32 flags)
{
	struct latency_tracker_event *event;

	lockdep_assert_preemption_disabled();
	if (likely(lt_rcu_is_watching())) {
		event = lt_front_claim(tracker, key);
		if (likely(event))
			return event->data + sizeof(key);
	}
	return latency_tracker_slot_begin_other(tracker, key, flags);
}

/**
 * latency_tracker_slot_publish() - the private bytes are written
 * @tracker: as for latency_tracker_slot_begin()
 * @priv: what that has returned
 * @start_ns: the begin, ns of latency_tracker_clock(); 0 is now
 *
 * Context: That of latency_tracker_slot_begin().
 */
static __always_inline void
latency_tracker_slot_publish(struct latency_tracker *tracker, void *priv,
			     u64 start_ns)
{
	struct latency_tracker_event *event = lt_event_of_priv(priv);

	WRITE_ONCE(event->item.tag[LT_EVENT_FLAGS], 0);
	WRITE_ONCE(event->start_ns, start_ns ?: latency_tracker_clock());
	lt_slot_publish(tracker, event);
	if (start_ns)
		latency_tracker_slot_began(tracker, start_ns);
}

/* What may be the slot of a key; NULL: that is to be seen in the table. Preemption is off. */
static __always_inline struct latency_tracker_event *
lt_slot_in_front(const struct latency_tracker *tracker, u64 key)
{
	lockdep_assert_preemption_disabled();
	return likely(lt_rcu_is_watching()) ? lt_front_find(tracker, key) : NULL;
}

/**
 * latency_tracker_slot_try_begin() - an operation begins, if that is simple
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 * @start_ns: the begin, ns of latency_tracker_clock(); 0 is now, which it becomes
 *
 * For a caller that begins in another place what this function does not: it calls nothing, so
 * that no register has to be saved. The caller writes the private bytes, and calls
 * latency_tracker_slot_publish_begun().
 *
 * Context: As latency_tracker_slot_begin().
 * Return: the private bytes; NULL, and nothing has changed, if the key has no slot yet or one in
 * use, or the clock takes a call: latency_tracker_slot_begin() does the rest.
 */
static __always_inline void *
latency_tracker_slot_try_begin(struct latency_tracker *tracker, u64 key,
			       u64 *start_ns)
{
	struct latency_tracker_event *event;
	u64 now_ns = *start_ns;

	lockdep_assert_preemption_disabled();
	if (unlikely(!lt_rcu_is_watching() ||
		     (!now_ns && !lt_clock_try(&now_ns))))
		return NULL;
	event = lt_front_claim(tracker, key);
	if (unlikely(!event))
		return NULL;
	*start_ns = now_ns;
	WRITE_ONCE(event->item.tag[LT_EVENT_FLAGS], 0);
	WRITE_ONCE(event->start_ns, now_ns);
	return event->data + sizeof(key);
}

/**
 * latency_tracker_slot_publish_begun() - the private bytes are written
 * @tracker: as for latency_tracker_slot_try_begin()
 * @priv: what that has returned, not NULL
 * @past_ns: the begin, if it was given; 0: it was at that moment
 *
 * It calls nothing but what comes last.
 *
 * Context: That of latency_tracker_slot_try_begin().
 */
static __always_inline void
latency_tracker_slot_publish_begun(struct latency_tracker *tracker, void *priv,
				   u64 past_ns)
{
	lt_slot_publish(tracker, lt_event_of_priv(priv));
	if (past_ns)
		latency_tracker_slot_began(tracker, past_ns);
}

static __always_inline int
lt_slot_end(struct latency_tracker *tracker, u64 key, void *out_data,
	    u64 end_ns, bool is_sure)
{
	struct latency_tracker_event *event = lt_slot_in_front(tracker, key);

	if (likely(event)) {
		/* Where the clock takes a call whenever it is read, that is made here. */
		if (!LT_CLOCK_HAS_CYCLES && !end_ns && lt_slot_look(event, key))
			end_ns = latency_tracker_clock();
		if (likely(lt_finish_in_time(tracker, event, key, &end_ns, NULL)))
			return 0;
		/* Most tasks that come back to a CPU, if only some are tracked. */
		if (!is_sure && lt_slot_has_none(event, key))
			return -ENOENT;
	}
	return latency_tracker_slot_end_other(tracker, key, out_data, end_ns,
					      is_sure);
}

/**
 * latency_tracker_slot_end() - an operation ends, in a tracker with slots
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 * @out_data: for the callback
 * @end_ns: when it ended, ns of latency_tracker_clock(); 0 is now
 *
 * latency_tracker_event_out() at the least cost.
 *
 * Context: Any, but preemption is off. The callback runs in it.
 * Return: as latency_tracker_event_out().
 */
static __always_inline int
latency_tracker_slot_end(struct latency_tracker *tracker, u64 key,
			 void *out_data, u64 end_ns)
{
	return lt_slot_end(tracker, key, out_data, end_ns, true);
}

/**
 * latency_tracker_slot_try_end() - the same, if an operation has begun
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 * @out_data: for the callback
 * @end_ns: when it ended, ns of latency_tracker_clock(); 0 is now
 *
 * For a caller whose begins are filtered, and that can't tell which were: an end
 * without a begin is not counted as unmatched.
 *
 * Context: Any, but preemption is off. The callback runs in it.
 * Return: as latency_tracker_event_out().
 */
static __always_inline int
latency_tracker_slot_try_end(struct latency_tracker *tracker, u64 key,
			     void *out_data, u64 end_ns)
{
	return lt_slot_end(tracker, key, out_data, end_ns, false);
}

/**
 * latency_tracker_slot_end_in_time() - an operation ends, if that is all
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 * @end_ns: when it ended, ns of latency_tracker_clock(); 0 is now
 * @is_meant: NULL; or of the private bytes: is it this operation? What it says of another one, or
 *	of one that is not whole yet, has no effect.
 *
 * For a caller that ends in another place what is late: it calls nothing but what comes last.
 *
 * Context: Any, but preemption is off. @is_meant runs in it.
 * Return: false, and nothing has changed, if @is_meant said so, there is no operation, it may
 * be late, or it is more than this function does.
 */
static __always_inline bool
latency_tracker_slot_end_in_time(struct latency_tracker *tracker, u64 key,
				 u64 end_ns, bool (*is_meant)(const void *priv))
{
	struct latency_tracker_event *event = lt_slot_in_front(tracker, key);

	return likely(event) &&
	       lt_finish_in_time(tracker, event, key, &end_ns, is_meant);
}

/**
 * latency_tracker_slot_visit() - look at what a key has pending
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 * @visit: called for the event, if there is one
 * @arg: for @visit
 *
 * latency_tracker_for_each_event() at the least cost.
 *
 * Context: Any; @visit runs in it, with preemption off.
 * Return: whether there was one.
 */
static __always_inline bool
latency_tracker_slot_visit(struct latency_tracker *tracker, u64 key,
			   latency_tracker_visit visit, void *arg)
{
	struct latency_tracker_event *event;
	int held = -1;

	rcu_read_lock_sched_notrace();
	if (likely(lt_rcu_is_watching())) {
		event = lt_front_find(tracker, key);
		if (likely(event))
			held = lt_slot_hold(event, key);
		if (held > 0) {
			visit(event, arg);
			if (unlikely(lt_event_drop(event, 0)))
				latency_tracker_slot_dropped(tracker, event);
		}
	}
	rcu_read_unlock_sched_notrace();
	if (likely(held >= 0))
		return held;
	return latency_tracker_slot_visit_other(tracker, key, visit, arg);
}

#endif /* _LATENCY_TRACKER_SLOTS_H */
