/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A begin: from a free event to a pending one.
 */
#ifndef _LT_CORE_BEGIN_H
#define _LT_CORE_BEGIN_H

#include <linux/compiler.h>
#include <linux/errno.h>

#include "core/fill.h"
#include "core/lookup.h"
#include "core/outcome.h"
#include "core/timeout.h"
#include "core/tracker.h"

int lt_begin_slot(struct latency_tracker *tracker, const struct lt_key *key,
		  u32 flags, const struct latency_tracker_in *in);
int lt_begin_skip(struct latency_tracker *tracker, const struct lt_key *key,
		  unsigned long hash, u32 flags);

/* Publish a filled event. In a read-side section. */
static __always_inline int
lt_begin_add(struct latency_tracker *tracker,
	     struct latency_tracker_event *event, const struct lt_key *key,
	     unsigned long hash, u32 flags)
{
	struct lfht_node *old;

	if (unlikely(flags & LATENCY_TRACKER_DUPLICATE)) {
		lfht_add(tracker->ht, hash, &event->node);
	} else if (flags & LATENCY_TRACKER_KEEP) {
		old = lfht_add_unique(tracker->ht, hash, lt_match, key,
				      &event->node);
		if (old != &event->node) {
			lt_put(tracker, event, LT_EVENT_OPEN);
			return -EEXIST;
		}
	} else {
		old = lfht_add_replace(tracker->ht, hash, lt_match, key,
				       &event->node);
		if (old) {
			lt_count(tracker->counters, LT_REPLACED);
			lt_clear_event(tracker, lt_event_of_node(old));
		}
	}
	return 0;
}

/* Does the key have @nr events? */
static inline bool lt_begin_finds(struct latency_tracker *tracker,
				  const struct lt_key *key, unsigned long hash,
				  unsigned int nr)
{
	struct lfht_iter iter;

	lfht_lookup(tracker->ht, hash, lt_match, key, &iter);
	while (iter.node && --nr)
		lfht_next_duplicate(tracker->ht, lt_match, key, &iter);
	return iter.node;
}

/* In a read-side section. Returns as latency_tracker_event_in(). */
static __always_inline int lt_begin(struct latency_tracker *tracker,
				    const struct lt_key *key, u32 flags,
				    const struct latency_tracker_in *in)
{
	unsigned long hash = lt_key_hash(key);
	struct latency_tracker_event *event;
	struct lt_pool_item *item;
	int err = 0;

	if (unlikely(!READ_ONCE(tracker->tracking_on)))
		return -ESHUTDOWN;
	/* Usually decided here, without taking an event for nothing. */
	if (flags & (LATENCY_TRACKER_KEEP | LATENCY_TRACKER_DUPLICATE) &&
	    lt_begin_finds(tracker, key, hash,
			   flags & LATENCY_TRACKER_KEEP ?
				   1 : LATENCY_TRACKER_DUPLICATES_MAX))
		err = -EEXIST;
	if (!err) {
		item = lt_pool_get(&tracker->pool);
		if (unlikely(!item))
			return lt_begin_skip(tracker, key, hash, flags);
		event = lt_event_of_item(item);
		lt_fill(tracker, event, key, flags, in);
		err = lt_begin_add(tracker, event, key, hash, flags);
	}
	if (err) {
		lt_count(tracker->counters, LT_KEPT);
		return err;
	}
	lt_count(tracker->counters, LT_STARTED);
	if (unlikely(flags & (LATENCY_TRACKER_TIMEOUT | LATENCY_TRACKER_START)))
		lt_scan_ask(tracker, flags, in);
	return 0;
}

#endif /* _LT_CORE_BEGIN_H */
