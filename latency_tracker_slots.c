// SPDX-License-Identifier: GPL-2.0-only
/*
 * The API for trackers with slots: what few operations do. See core/slot.h.
 */
#include <linux/err.h>
#include <linux/export.h>

#include "core/outcome.h"
#include "core/section.h"
#include "core/slot.h"
#include "core/timeout.h"
#include "latency_tracker_slots.h"

/**
 * latency_tracker_slot_begin_other() - the rest of latency_tracker_slot_begin()
 * @tracker: likewise
 * @key: likewise
 * @flags: likewise
 *
 * Context: likewise.
 * Return: likewise.
 */
void *latency_tracker_slot_begin_other(struct latency_tracker *tracker, u64 key,
				       u32 flags)
{
	struct latency_tracker_event *event;

	if (!lt_enter(tracker))
		return ERR_PTR(-EAGAIN);
	event = lt_slot_claim_other(tracker, key, flags);
	lt_leave();
	return IS_ERR_OR_NULL(event) ? (void *)event : event->data + sizeof(key);
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_begin_other);

/**
 * latency_tracker_slot_began() - an operation was published that had begun before
 * @tracker: the tracker
 * @start_ns: when
 *
 * Context: That of latency_tracker_slot_publish().
 */
void latency_tracker_slot_began(struct latency_tracker *tracker, u64 start_ns)
{
	/* Pairs with the second smp_mb() in scan_begin(). */
	smp_mb();
	lt_scan_ask_at(tracker, start_ns, READ_ONCE(tracker->timeout_ns));
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_began);

/**
 * latency_tracker_slot_end_other() - the rest of latency_tracker_slot_end()
 * @tracker: likewise
 * @key: likewise
 * @out_data: likewise
 * @end_ns: likewise
 * @is_sure: one that does not find an operation is counted as unmatched
 *
 * Context: Any. The callback runs in it, with preemption off.
 * Return: as latency_tracker_event_out().
 */
int latency_tracker_slot_end_other(struct latency_tracker *tracker, u64 key,
				   void *out_data, u64 end_ns, bool is_sure)
{
	struct latency_tracker_event *event;
	int ret = -ENOENT;

	if (!lt_enter(tracker))
		return -EAGAIN;
	/* In the front, if it is late, or the clock takes a call. */
	event = lt_front_pending(tracker, key) ?: lt_slot_find(tracker, key);
	if (event)
		ret = lt_finish_slot(tracker, event, end_ns, 0, out_data);
	if (is_sure && unlikely(ret == -ENOENT))
		lt_count(tracker->counters, LT_UNMATCHED);
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_end_other);

/**
 * latency_tracker_slot_visit_other() - the rest of latency_tracker_slot_visit()
 * @tracker: likewise
 * @key: likewise
 * @visit: likewise
 * @arg: likewise
 *
 * Context: Any; @visit runs in it, with preemption off.
 * Return: likewise.
 */
bool latency_tracker_slot_visit_other(struct latency_tracker *tracker, u64 key,
				      latency_tracker_visit visit, void *arg)
{
	bool is_found;

	if (!lt_enter(tracker))
		return false;
	is_found = lt_slot_visit(tracker, key, visit, arg);
	lt_leave();
	return is_found;
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_visit_other);

/**
 * latency_tracker_slot_dropped() - the last reference to a slot is gone
 * @tracker: of the event
 * @event: the caller dropped it
 *
 * Context: Any; in a read-side section.
 */
void latency_tracker_slot_dropped(struct latency_tracker *tracker,
				  struct latency_tracker_event *event)
{
	lt_retire(&tracker->reclaim, &event->item);
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_dropped);

/**
 * latency_tracker_slot_free() - a key is gone
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 *
 * Its event goes back to the pool. What is pending is forgotten, and counted as cleared.
 * No begin of the key runs meanwhile.
 *
 * Context: Any.
 * Return: 0; -ENOENT if the key has no slot; -EBUSY if a begin runs: the slot stays;
 * -EAGAIN if RCU is not watching.
 */
int latency_tracker_slot_free(struct latency_tracker *tracker, u64 key)
{
	struct latency_tracker_event *event;
	int ret = -ENOENT;

	if (!lt_enter(tracker))
		return -EAGAIN;
	event = lt_slot_find(tracker, key);
	if (event)
		ret = lt_slot_free(tracker, event) ? 0 : -EBUSY;
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_free);
