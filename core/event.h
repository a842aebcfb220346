/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event: the memory of one operation that has begun.
 *
 * Life:
 *	free list -> begin -> table -> verdict -> last put -> retired
 *	-> grace period -> free list
 *
 * The begin owns the event until lfht_add() publishes it with one reference,
 * the table's. The caller that wins lfht_del() (end, collector, clear) or
 * replaces the node owns that reference. A lookup under RCU may still see the event until a
 * grace period after it was retired, so a reference is taken only from a count
 * that is not 0.
 *
 * In a tracker with slots an event stays in the table between the operations of its
 * key; see slot.h.
 *
 * refs holds the count, flags, and the number of the operation, so that begin, end
 * and timeout agree in one atomic operation. A timeout is claimed only while
 * LT_EVENT_OPEN is set, and the end learns from the operation that clears it whether
 * it was. What was read of an event by a caller without a reference belongs to one operation
 * if refs did not change meanwhile, which a cmpxchg() proves.
 */
#ifndef _LT_CORE_EVENT_H
#define _LT_CORE_EVENT_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/types.h>

#include "core/item.h"
#include "core/types.h"
#include "rculfhash/rculfhash.h"

#define LT_EVENT_COUNT		((long)BIT(20) - 1)
#define LT_EVENT_OPEN		((long)BIT(20))	/* no verdict yet */
#define LT_EVENT_TIMED_OUT	((long)BIT(21))	/* the timeout has fired */
#define LT_EVENT_BUSY		((long)BIT(22))	/* a slot that is being filled, or goes */
#define LT_EVENT_STEP		((long)BIT(24))	/* one operation more in a slot */

/* In lt_event_flags(), beside those of the begin. */
#define LT_EVENT_CALLBACK	BIT(7)	/* has a callback of its own */

/* In lt_pool_item.tag. */
enum lt_event_tag {
	LT_EVENT_FLAGS,		/* of the begin, and LT_EVENT_CALLBACK */
	LT_EVENT_KEY_LEN,	/* bytes of key at @data */
	LT_EVENT_PRIV_OFF,	/* offset in @data of the private bytes */
};

/**
 * struct latency_tracker_event - one operation
 * @item: the pool's; with enum lt_event_tag in its tag
 * @refs: references, flags and number, see above
 * @node: the table's
 * @start_ns: begin
 * @data: key, private bytes, struct lt_event_own
 *
 * The first cache line has room for 8 bytes of the key. If there are no more
 * bytes, a begin and an end touch no other line.
 */
struct latency_tracker_event {
	struct lt_pool_item item;
	atomic_long_t refs;
	struct lfht_node node;
	u64 start_ns;
	char data[] __aligned(8);
};

/**
 * struct lt_event_own - settings of one event; most events use the tracker's
 * @callback: valid with LT_EVENT_CALLBACK
 * @threshold_ns: valid with LATENCY_TRACKER_THRESHOLD
 * @timeout_ns: valid with LATENCY_TRACKER_TIMEOUT
 */
struct lt_event_own {
	latency_tracker_cb callback;
	u64 threshold_ns;
	u64 timeout_ns;
};

static inline struct latency_tracker_event *
lt_event_of_node(const struct lfht_node *node)
{
	return container_of(node, struct latency_tracker_event, node);
}

static inline struct latency_tracker_event *
lt_event_of_item(struct lt_pool_item *item)
{
	return container_of(item, struct latency_tracker_event, item);
}

static inline u8 lt_event_flags(const struct latency_tracker_event *event)
{
	return READ_ONCE(event->item.tag[LT_EVENT_FLAGS]);
}

static inline u8 lt_event_key_len(const struct latency_tracker_event *event)
{
	return event->item.tag[LT_EVENT_KEY_LEN];
}

static inline void *lt_event_priv(struct latency_tracker_event *event)
{
	return event->data + event->item.tag[LT_EVENT_PRIV_OFF];
}

/*
 * Take a reference if all of @flags are set, unless the last one is gone.
 * Relaxed on failure; the full barrier on success pairs with that of
 * lt_event_drop(), and with the release in lt_slot_publish().
 */
static inline bool lt_event_ref(struct latency_tracker_event *event, long flags)
{
	long old = atomic_long_read(&event->refs);

	do {
		if (!(old & LT_EVENT_COUNT) || (old & flags) != flags)
			return false;
	} while (!atomic_long_try_cmpxchg(&event->refs, &old, old + 1));
	return true;
}

/*
 * What is pending in the event, as a value of refs; 0: nothing. What is read of the
 * event behind it is of that operation if lt_event_claim() or lt_event_close() of
 * that value succeed. Pairs with the release in lt_slot_publish().
 */
static inline long lt_event_look(const struct latency_tracker_event *event)
{
	long refs = atomic_long_read_acquire(&event->refs);

	return refs & LT_EVENT_OPEN && refs & LT_EVENT_COUNT ? refs : 0;
}

/*
 * Claim the timeout of what lt_event_look() saw, and take a reference. False if refs
 * has changed. Fully ordered, as lt_event_ref().
 */
static inline bool lt_event_claim(struct latency_tracker_event *event, long refs)
{
	return atomic_long_cmpxchg(&event->refs, refs,
				   (refs | LT_EVENT_TIMED_OUT) + 1) == refs;
}

/*
 * Close what lt_event_look() saw, and take @more references. The caller owns the
 * verdict then. False if refs has changed. Fully ordered: what was read before is
 * not of a later operation.
 */
static __always_inline bool lt_event_close(struct latency_tracker_event *event,
					   long refs, int more)
{
	return atomic_long_cmpxchg(&event->refs, refs,
				   refs - LT_EVENT_OPEN + more) == refs;
}

/*
 * Close the event. The caller owns the verdict, keeps its reference and learns
 * whether the timeout was claimed before. Pairs with lt_event_claim().
 */
static inline bool lt_event_settle(struct latency_tracker_event *event)
{
	return atomic_long_fetch_andnot(LT_EVENT_OPEN, &event->refs) &
	       LT_EVENT_TIMED_OUT;
}

/*
 * Drop a reference and the flags in @flags. The full barrier orders all use of
 * the event before its reuse; pairs with lt_event_ref() and lt_event_unref() of
 * other users and, through the retired list and the grace period, with the next
 * begin.
 * Returns true if it was the last one: the caller retires the event.
 */
static inline bool lt_event_drop(struct latency_tracker_event *event, long flags)
{
	return !(atomic_long_sub_return(flags + 1, &event->refs) & LT_EVENT_COUNT);
}

/*
 * Drop a reference that is not the table's. Refuses, and changes nothing, if
 * only the table's is left: the caller had none. The table drops its own after the
 * node was removed, which the acquire makes seen; pairs with lt_event_drop().
 * Returns the references that remain, or -EINVAL. Ordering as lt_event_drop().
 */
static inline int lt_event_unref(struct latency_tracker_event *event)
{
	long old;

	do {
		old = atomic_long_read_acquire(&event->refs);
		if (!(old & LT_EVENT_COUNT) ||
		    ((old & LT_EVENT_COUNT) == 1 &&
		     (old & LT_EVENT_OPEN ||
		      !lfht_is_removed(READ_ONCE(event->node.next)))))
			return -EINVAL;
	} while (atomic_long_cmpxchg(&event->refs, old, old - 1) != old);
	return (old & LT_EVENT_COUNT) - 1;
}

#endif /* _LT_CORE_EVENT_H */
