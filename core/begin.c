// SPDX-License-Identifier: GPL-2.0-only
/*
 * A begin in a slot, and one that found no free event. The others are in begin.h.
 */
#include <linux/err.h>

#include "core/begin.h"
#include "core/slot.h"
#include "wrapper/unaligned.h"

/**
 * lt_begin_slot() - an operation begins, in a tracker with slots
 * @tracker: the tracker
 * @key: of the begin
 * @flags: of the begin; what is pending is replaced, unless there is KEEP
 * @in: of the begin
 *
 * Context: Any; in a read-side section.
 * Return: as latency_tracker_event_in().
 */
int lt_begin_slot(struct latency_tracker *tracker, const struct lt_key *key,
		  u32 flags, const struct latency_tracker_in *in)
{
	struct latency_tracker_event *event;

	event = lt_slot_claim(tracker, get_unaligned((const u64 *)key->bytes),
			      flags);
	if (IS_ERR_OR_NULL(event))
		return PTR_ERR_OR_ZERO(event);
	lt_fill_operation(tracker, event, flags, in);
	lt_slot_publish(tracker, event);
	if (flags & (LATENCY_TRACKER_TIMEOUT | LATENCY_TRACKER_START)) {
		/* Pairs with the second smp_mb() in scan_begin(). */
		smp_mb();
		lt_scan_ask(tracker, flags, in);
	}
	return 0;
}

/**
 * lt_begin_skip() - count a begin as skipped
 * @tracker: the tracker
 * @key: of the begin
 * @hash: of @key
 * @flags: of the begin
 *
 * A begin that replaces takes the pending event away all the same: the next end of
 * the key belongs to the skipped begin.
 *
 * Context: Any; in a read-side section.
 * Return: -ENOBUFS.
 */
int lt_begin_skip(struct latency_tracker *tracker, const struct lt_key *key,
		  unsigned long hash, u32 flags)
{
	struct latency_tracker_event *old = NULL;

	lt_count(tracker->counters, LT_SKIPPED);
	if (!(flags & (LATENCY_TRACKER_DUPLICATE | LATENCY_TRACKER_KEEP)))
		old = lt_take(tracker, key, hash);
	if (old) {
		lt_count(tracker->counters, LT_REPLACED);
		lt_clear_event(tracker, old);
	}
	return -ENOBUFS;
}
