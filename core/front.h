/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The front of a tracker with slots, an array by the hash of the key: most operations find their
 * slot there, without the table.
 *
 * An entry says where the slot of a key may be: a reader takes refs first, then the key, and
 * changes refs only from what they were. What is idle or pending then is in the table, and has no
 * other key before the section of the reader ends.
 *
 * An entry is written only by the owner of the busy slot that it leads, or has led, to: when
 * a begin did not find it there, and when the slot leaves the table. So no reader that begins
 * later finds there what goes back to the pool.
 */
#ifndef _LT_CORE_FRONT_H
#define _LT_CORE_FRONT_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/hash.h>

#include "core/event.h"
#include "core/tracker.h"

static __always_inline struct latency_tracker_event **
lt_front_of(const struct latency_tracker *tracker, u64 key)
{
	return &tracker->front[(key * GOLDEN_RATIO_64) >> tracker->front_shift];
}

/* What may be the slot of a key, or NULL. In a read-side section. */
static __always_inline struct latency_tracker_event *
lt_front_find(const struct latency_tracker *tracker, u64 key)
{
	/* What is read of it depends on the address: pairs with the release of lt_front_enter(). */
	return READ_ONCE(*lt_front_of(tracker, key));
}

/* The caller owns the slot, which is busy. */
static inline void lt_front_enter(const struct latency_tracker *tracker,
				  struct latency_tracker_event *event)
{
	/* All that was written to it before is seen: pairs with lt_front_find(). */
	smp_store_release(lt_front_of(tracker, *(u64 *)event->data), event);
}

/* Likewise, and it has left the table. */
static inline void lt_front_leave(const struct latency_tracker *tracker,
				  struct latency_tracker_event *event)
{
	/* It may have another slot by now. The others that owned @event did so before. */
	cmpxchg(lt_front_of(tracker, *(u64 *)event->data), event, NULL);
}

static __always_inline bool lt_slot_is_idle(long refs)
{
	return (refs & (LT_EVENT_COUNT | LT_EVENT_OPEN | LT_EVENT_BUSY)) == 1;
}

/* An event that was found in the front is the slot of @key, which has no operation. */
static __always_inline bool
lt_slot_has_none(const struct latency_tracker_event *event, u64 key)
{
	/* In front of the key: see above. */
	long refs = atomic_long_read_acquire(&event->refs);

	return lt_slot_is_idle(refs) && READ_ONCE(*(const u64 *)event->data) == key;
}

/*
 * From idle to busy. False if it is not idle, or not any more, or, found in the front, is that of
 * another key.
 */
static __always_inline bool lt_slot_reuse(struct latency_tracker_event *event,
					  u64 key)
{
	/* In front of the key: see above. */
	long refs = atomic_long_read_acquire(&event->refs);

	return likely(lt_slot_is_idle(refs)) &&
	       likely(READ_ONCE(*(u64 *)event->data) == key) &&
	       atomic_long_cmpxchg(&event->refs, refs,
				   refs + (LT_EVENT_BUSY + LT_EVENT_STEP)) ==
		       refs;
}

/* The slot of a key, busy, if it was idle and in the front; else NULL. In a read-side section. */
static __always_inline struct latency_tracker_event *
lt_front_claim(const struct latency_tracker *tracker, u64 key)
{
	struct latency_tracker_event *event = lt_front_find(tracker, key);

	if (likely(event) && likely(READ_ONCE(tracker->tracking_on)) &&
	    likely(lt_slot_reuse(event, key)))
		return event;
	return NULL;
}

/*
 * What is pending in an event that was found in the front, as lt_event_look(); 0: nothing of
 * that key.
 */
static __always_inline long
lt_slot_look(const struct latency_tracker_event *event, u64 key)
{
	long refs = lt_event_look(event);

	return likely(READ_ONCE(*(const u64 *)event->data) == key) ? refs : 0;
}

/* The slot of a key, if it is in the front and something is pending. In a read-side section. */
static inline struct latency_tracker_event *
lt_front_pending(const struct latency_tracker *tracker, u64 key)
{
	struct latency_tracker_event *event = lt_front_find(tracker, key);

	return event && lt_slot_look(event, key) ? event : NULL;
}

/*
 * Take a reference to what is pending in an event of the front. 1 if there was something; 0: the
 * slot of the key is idle; negative: that is to be seen in the table.
 */
static __always_inline int lt_slot_hold(struct latency_tracker_event *event,
					u64 key)
{
	long refs = atomic_long_read_acquire(&event->refs);

	if (unlikely(READ_ONCE(*(u64 *)event->data) != key))
		return -1;
	if (refs & LT_EVENT_OPEN && refs & LT_EVENT_COUNT)
		return atomic_long_cmpxchg(&event->refs, refs, refs + 1) == refs ?
			       1 : -1;
	return (refs & (LT_EVENT_COUNT | LT_EVENT_BUSY)) == 1 ? 0 : -1;
}

#endif /* _LT_CORE_FRONT_H */
