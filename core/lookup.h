/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find a pending event by its key.
 */
#ifndef _LT_CORE_LOOKUP_H
#define _LT_CORE_LOOKUP_H

#include "core/event.h"
#include "core/key.h"
#include "core/tracker.h"
#include "rculfhash/rculfhash.h"

static __always_inline bool lt_match(const struct lfht_node *node,
				     const void *arg)
{
	const struct latency_tracker_event *event = lt_event_of_node(node);

	return lt_key_equal(arg, event->data, lt_event_key_len(event));
}

/*
 * Take the oldest event of a key out of the table; the caller owns it. NULL if
 * there is none. In a read-side section.
 */
static __always_inline struct latency_tracker_event *
lt_take(struct latency_tracker *tracker, const struct lt_key *key,
	unsigned long hash)
{
	struct lfht_node *node = lfht_take(tracker->ht, hash, lt_match, key);

	return node ? lt_event_of_node(node) : NULL;
}

#endif /* _LT_CORE_LOOKUP_H */
