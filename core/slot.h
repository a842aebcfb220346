/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots: in a tracker with slots, an event stays in the table between the operations of
 * its key, instead of going to the pool and coming back. Such a key has one operation
 * at a time.
 *
 * What its refs say:
 *
 *	idle	1 reference, the table's
 *	busy	LT_EVENT_BUSY: one CPU fills it in or takes it away, and owns it
 *	pending	LT_EVENT_OPEN; users may hold it
 *	held	ended, but users still hold it
 *
 * idle -> busy -> pending -> idle, or held and then idle. A begin that finds a held
 * event takes it away and puts another one in its place, so that a holder sees one
 * operation only. Each step is a cmpxchg() of refs, but the last one of a begin, which
 * owns the event. No grace period is needed between two operations: a reader either takes a
 * reference while the operation is pending, or finds out by refs that it was another one.
 *
 * Most operations find their slot in the front, see front.h.
 */
#ifndef _LT_CORE_SLOT_H
#define _LT_CORE_SLOT_H

#include <linux/atomic.h>
#include <linux/compiler.h>

#include "core/event.h"
#include "core/front.h"
#include "core/key.h"
#include "core/tracker.h"

int lt_slot_init(struct latency_tracker *tracker, u32 max_events);
void lt_slot_destroy(struct latency_tracker *tracker);
struct latency_tracker_event *
lt_slot_claim_other(struct latency_tracker *tracker, u64 key, u32 flags);
bool lt_slot_free(struct latency_tracker *tracker,
		  struct latency_tracker_event *event);
bool lt_slot_clear(struct latency_tracker *tracker,
		   struct latency_tracker_event *event);
bool lt_slot_visit(struct latency_tracker *tracker, u64 key,
		   latency_tracker_visit visit, void *arg);

static __always_inline bool lt_slot_match(const struct lfht_node *node,
					  const void *key)
{
	return *(const u64 *)lt_event_of_node(node)->data == *(const u64 *)key;
}

/* The slot of a key, whatever its state; NULL if there is none. In a read-side section. */
static __always_inline struct latency_tracker_event *
lt_slot_find(struct latency_tracker *tracker, u64 key)
{
	struct lfht_iter iter;

	lfht_lookup(tracker->ht, lt_word_hash(key), lt_slot_match, &key, &iter);
	return iter.node ? lt_event_of_node(iter.node) : NULL;
}

/**
 * lt_slot_claim() - a begin wants the slot of its key
 * @tracker: the tracker
 * @key: of the begin
 * @flags: of the begin
 *
 * Context: Any; in a read-side section.
 * Return: the slot, busy; ERR_PTR() of -ESHUTDOWN, -ENOBUFS, -EEXIST as
 * latency_tracker_event_in(); NULL if it is not needed, since another begin came
 * between.
 */
static __always_inline struct latency_tracker_event *
lt_slot_claim(struct latency_tracker *tracker, u64 key, u32 flags)
{
	return lt_front_claim(tracker, key) ?:
	       lt_slot_claim_other(tracker, key, flags);
}

/*
 * From busy to pending. No other CPU changes refs of a busy slot with one reference.
 * Pairs with lt_event_look() and lt_event_ref(): a CPU that sees it pending sees it
 * filled in.
 */
static __always_inline void
lt_slot_publish(struct latency_tracker *tracker,
		struct latency_tracker_event *event)
{
	atomic_long_set_release(&event->refs,
				(atomic_long_read(&event->refs) &
				 ~(LT_EVENT_BUSY | LT_EVENT_TIMED_OUT)) |
				LT_EVENT_OPEN);
	lt_count(tracker->counters, LT_STARTED);
}

#endif /* _LT_CORE_SLOT_H */
