// SPDX-License-Identifier: GPL-2.0-only
/*
 * A begin that found no free event. The others are in begin.h.
 */
#include "core/begin.h"

/**
 * lt_begin_skip() - count a begin as skipped
 * @tracker: the tracker
 * @key: of the begin
 * @hash: of @key
 * @flags: of the begin
 *
 * With UNIQUE the pending event of the key goes all the same: the next end of the
 * key belongs to the skipped begin.
 *
 * Context: Any; in a read-side section.
 * Return: -ENOBUFS.
 */
int lt_begin_skip(struct latency_tracker *tracker, const struct lt_key *key,
		  unsigned long hash, u32 flags)
{
	struct latency_tracker_event *old = NULL;

	lt_count(tracker->counters, LT_SKIPPED);
	if (flags & LATENCY_TRACKER_UNIQUE)
		old = lt_take(tracker, key, hash);
	if (old) {
		lt_count(tracker->counters, LT_REPLACED);
		lt_clear_event(tracker, old);
	}
	return -ENOBUFS;
}
