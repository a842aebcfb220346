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
 * refs holds the count and two flags, so that end and timeout agree in one
 * atomic operation: a timeout is claimed only while LT_EVENT_OPEN is set,
 * and the end learns from the operation that clears it whether it was.
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

#define LT_EVENT_OPEN		BIT(29)	/* no verdict yet */
#define LT_EVENT_TIMED_OUT	BIT(28)	/* the timeout has fired */
#define LT_EVENT_COUNT		(BIT(28) - 1)

/* In latency_tracker_event.flags, beside those of the begin. */
#define LT_EVENT_CALLBACK	BIT(7)	/* has a callback of its own */

/**
 * struct latency_tracker_event - one operation
 * @item: the pool's
 * @refs: references and flags, see above
 * @key_len: bytes of key at @data
 * @priv_off: offset in @data of the private bytes
 * @flags: of the begin, and LT_EVENT_CALLBACK
 * @node: the table's
 * @start_ns: begin
 * @data: key, private bytes, struct lt_event_own
 *
 * The first cache line has room for 8 bytes of the key. If there are no more
 * bytes, a begin and an end touch no other line.
 */
struct latency_tracker_event {
	struct lt_pool_item item;
	atomic_t refs;
	u8 key_len;
	u8 priv_off;
	u8 flags;
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

static inline void *lt_event_priv(struct latency_tracker_event *event)
{
	return event->data + event->priv_off;
}

/*
 * Take a reference unless the last one is gone. With @claim, claim the timeout in
 * the same step; fail if there was a verdict or a timeout already.
 * Relaxed on failure; the full barrier on success pairs with that of
 * lt_event_drop().
 */
static inline bool lt_event_ref(struct latency_tracker_event *event, bool claim)
{
	int old = atomic_read(&event->refs), new;

	do {
		if (!(old & LT_EVENT_COUNT))
			return false;
		new = old + 1;
		if (claim) {
			if ((old & (LT_EVENT_OPEN | LT_EVENT_TIMED_OUT)) !=
			    LT_EVENT_OPEN)
				return false;
			new |= LT_EVENT_TIMED_OUT;
		}
	} while (!atomic_try_cmpxchg(&event->refs, &old, new));
	return true;
}

/*
 * Close the event. The caller owns the verdict, keeps its reference and learns
 * whether the timeout was claimed before. Pairs with the claim of lt_event_ref().
 */
static inline bool lt_event_settle(struct latency_tracker_event *event)
{
	return atomic_fetch_andnot(LT_EVENT_OPEN, &event->refs) &
	       LT_EVENT_TIMED_OUT;
}

/*
 * Drop a reference and the flags in @flags. The full barrier orders all use of
 * the event before its reuse; pairs with lt_event_ref() of other users and,
 * through the retired list and the grace period, with the next begin.
 * Returns true if it was the last one: the caller retires the event.
 */
static inline bool lt_event_drop(struct latency_tracker_event *event, int flags)
{
	return !(atomic_sub_return(flags + 1, &event->refs) & LT_EVENT_COUNT);
}

/*
 * Drop a reference that is not the table's. Refuses, and changes nothing, if
 * only the table's is left: the caller had none.
 * Returns the references that remain, or -EINVAL. Ordering as lt_event_drop().
 */
static inline int lt_event_unref(struct latency_tracker_event *event)
{
	int old = atomic_read(&event->refs);

	do {
		if (!(old & LT_EVENT_COUNT) ||
		    (old & (LT_EVENT_COUNT | LT_EVENT_OPEN)) ==
			    (1 | LT_EVENT_OPEN))
			return -EINVAL;
	} while (!atomic_try_cmpxchg(&event->refs, &old, old - 1));
	return (old & LT_EVENT_COUNT) - 1;
}

#endif /* _LT_CORE_EVENT_H */
