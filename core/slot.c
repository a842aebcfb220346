// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots: what does not happen at each operation. See slot.h.
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/outcome.h"
#include "core/slot.h"

/* Entries of a front, at least and at most: tasks come and go, and it does not grow. */
#define LT_FRONT_LEAST	4096U
#define LT_FRONT_MOST	65536U

/**
 * lt_slot_init() - make the front, if the tracker has slots
 * @tracker: the tracker
 * @max_events: of the configuration
 *
 * Context: Task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lt_slot_init(struct latency_tracker *tracker, u32 max_events)
{
	u32 entries = clamp_t(u32, max_events, LT_FRONT_LEAST, LT_FRONT_MOST);
	unsigned int bits = order_base_2(entries);
	size_t bytes = sizeof(*tracker->front) << bits;

	if (!tracker->slots)
		return 0;
	tracker->front = kvzalloc(bytes, GFP_KERNEL);
	if (!tracker->front)
		return -ENOMEM;
	tracker->front_shift = 64 - bits;
	tracker->front_bytes = bytes;
	return 0;
}

/**
 * lt_slot_destroy() - free the front, if there is one
 * @tracker: no call on it runs or can begin
 *
 * Context: Task, may sleep.
 */
void lt_slot_destroy(struct latency_tracker *tracker)
{
	kvfree(tracker->front);
}

/* To busy, from whatever it is. Returns refs before that; 0: it is busy, or gone. */
static long seize(struct latency_tracker_event *event, bool keep)
{
	long old = atomic_long_read(&event->refs), new;

	do {
		if (!(old & LT_EVENT_COUNT) || old & LT_EVENT_BUSY ||
		    (keep && old & LT_EVENT_OPEN))
			return 0;
		/* A holder may want to know yet whether it has timed out. */
		new = ((old & ~LT_EVENT_OPEN) | LT_EVENT_BUSY) + LT_EVENT_STEP;
	} while (!atomic_long_try_cmpxchg(&event->refs, &old, new));
	return old;
}

/* Out of the table, for good; its owner stays busy. */
static void detach(struct latency_tracker *tracker,
		   struct latency_tracker_event *event)
{
	lfht_del(tracker->ht, &event->node);
	lt_front_leave(tracker, event);
	lt_put(tracker, event, 0);
}

/*
 * Another begin of the key runs on another CPU, or was interrupted by this one. They
 * have no order: without KEEP this one was the first, and is replaced at once.
 */
static struct latency_tracker_event *crossed(struct latency_tracker *tracker,
					     bool keep)
{
	if (keep) {
		lt_count(tracker->counters, LT_KEPT);
		return ERR_PTR(-EEXIST);
	}
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_CLEARED);
	lt_count(tracker->counters, LT_REPLACED);
	return NULL;
}

/* The key has no slot yet, or none that can be used. */
static struct latency_tracker_event *add(struct latency_tracker *tracker,
					 u64 key, bool keep)
{
	struct lt_pool_item *item = lt_pool_get(&tracker->pool);
	struct latency_tracker_event *event;

	if (unlikely(!item)) {
		lt_count(tracker->counters, LT_SKIPPED);
		return ERR_PTR(-ENOBUFS);
	}
	event = lt_event_of_item(item);
	lt_item_step(item, LT_ITEM_TAKEN, LT_ITEM_FILLED);
	atomic_long_set(&event->refs, 1 | LT_EVENT_BUSY);
	item->tag[LT_EVENT_FLAGS] = 0;
	item->tag[LT_EVENT_KEY_LEN] = sizeof(key);
	item->tag[LT_EVENT_PRIV_OFF] = tracker->priv_off;
	/* An entry of the front that another slot takes over may still lead here. */
	WRITE_ONCE(*(u64 *)event->data, key);
	if (lfht_add_unique(tracker->ht, lt_word_hash(key), lt_slot_match, &key,
			    &event->node) == &event->node)
		return event;
	lt_put(tracker, event, 0);
	return crossed(tracker, keep);
}

/* The slot, as lt_slot_claim(). */
static struct latency_tracker_event *claim(struct latency_tracker *tracker,
					   u64 key, bool keep)
{
	struct latency_tracker_event *event = lt_slot_find(tracker, key);
	long old;

	if (!event)
		return add(tracker, key, keep);
	if (lt_slot_reuse(event, key))
		return event;
	old = seize(event, keep);
	if (!old)
		return lfht_is_removed(READ_ONCE(event->node.next)) ?
			       add(tracker, key, keep) : crossed(tracker, keep);
	if (old & LT_EVENT_OPEN) {
		lt_count(tracker->counters, LT_CLEARED);
		lt_count(tracker->counters, LT_REPLACED);
	}
	if ((old & LT_EVENT_COUNT) == 1)
		return event;
	/* Held: its holders go on to see what it was. */
	detach(tracker, event);
	return add(tracker, key, keep);
}

/**
 * lt_slot_claim_other() - lt_slot_claim(), but for an idle slot in the front
 * @tracker: the tracker
 * @key: of the begin
 * @flags: of the begin
 *
 * An operation that is pending is counted as replaced.
 *
 * Context: Any; in a read-side section.
 * Return: as lt_slot_claim().
 */
struct latency_tracker_event *
lt_slot_claim_other(struct latency_tracker *tracker, u64 key, u32 flags)
{
	struct latency_tracker_event *event;

	if (unlikely(!READ_ONCE(tracker->tracking_on)))
		return ERR_PTR(-ESHUTDOWN);
	event = claim(tracker, key, flags & LATENCY_TRACKER_KEEP);
	if (!IS_ERR_OR_NULL(event))
		lt_front_enter(tracker, event);
	return event;
}

/**
 * lt_slot_free() - the key has no operation any more
 * @tracker: of the event
 * @event: the slot; found in the table
 *
 * An operation that is pending is counted as cleared.
 *
 * Context: Any; in a read-side section.
 * Return: false if a begin of the key runs meanwhile: then the slot stays.
 */
bool lt_slot_free(struct latency_tracker *tracker,
		  struct latency_tracker_event *event)
{
	long old = seize(event, false);

	if (!old)
		return false;
	if (old & LT_EVENT_OPEN)
		lt_count(tracker->counters, LT_CLEARED);
	detach(tracker, event);
	return true;
}

/**
 * lt_slot_clear() - forget what is pending in a slot
 * @tracker: of the event
 * @event: the slot; found in the table
 *
 * Context: Any; in a read-side section.
 * Return: whether an operation was pending; it is counted as cleared.
 */
bool lt_slot_clear(struct latency_tracker *tracker,
		   struct latency_tracker_event *event)
{
	long refs;

	do {
		refs = lt_event_look(event);
		if (!refs)
			return false;
	} while (!lt_event_close(event, refs, 0));
	lt_count(tracker->counters, LT_CLEARED);
	return true;
}

/**
 * lt_slot_visit() - look at what a key has pending
 * @tracker: with slots
 * @key: the key
 * @visit: called for it, with a reference, so that it is one operation meanwhile
 * @arg: for @visit
 *
 * Context: Any; in a read-side section.
 * Return: whether there was something.
 */
bool lt_slot_visit(struct latency_tracker *tracker, u64 key,
		   latency_tracker_visit visit, void *arg)
{
	struct latency_tracker_event *event = lt_slot_find(tracker, key);

	if (!event || !lt_event_ref(event, LT_EVENT_OPEN))
		return false;
	visit(event, arg);
	lt_put(tracker, event, 0);
	return true;
}
