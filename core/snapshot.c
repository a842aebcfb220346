// SPDX-License-Identifier: GPL-2.0-only
/*
 * All counters of a tracker at once.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/string.h>

#include "core/pending.h"
#include "core/snapshot.h"
#include "core/tracker.h"

/**
 * latency_tracker_snapshot() - read all counters
 * @tracker: the tracker
 * @counts: result; all 0 without a tracker
 *
 * Under load the values are of slightly different moments; at rest they add up.
 *
 * Context: Task, may sleep.
 */
void latency_tracker_snapshot(struct latency_tracker *tracker,
			      struct latency_tracker_counts *counts)
{
	struct lt_counters __percpu *c;

	if (!counts)
		return;
	memset(counts, 0, sizeof(*counts));
	if (IS_ERR_OR_NULL(tracker))
		return;
	c = tracker->counters;
	counts->started = lt_counter_sum(c, LT_STARTED);
	counts->finished = lt_counter_sum(c, LT_FINISHED);
	counts->late = lt_counter_sum(c, LT_LATE);
	counts->timeouts = lt_counter_sum(c, LT_TIMEOUTS);
	counts->asked = lt_counter_sum(c, LT_ASKED);
	counts->collected = lt_counter_sum(c, LT_COLLECTED);
	counts->cleared = lt_counter_sum(c, LT_CLEARED);
	counts->replaced = lt_counter_sum(c, LT_REPLACED);
	counts->pending = lt_pending_count(tracker);
	counts->skipped = lt_counter_sum(c, LT_SKIPPED);
	counts->kept = lt_counter_sum(c, LT_KEPT);
	counts->unmatched = lt_counter_sum(c, LT_UNMATCHED);
	counts->clock_back = lt_counter_sum(c, LT_CLOCK_BACK);
	counts->unwatched = lt_counter_sum(c, LT_UNWATCHED);
	counts->capacity = READ_ONCE(tracker->pool.capacity);
	counts->memory = lt_memory(tracker);
}
EXPORT_SYMBOL_GPL(latency_tracker_snapshot);
