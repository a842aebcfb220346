// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hot path of the API for trackers with slots. See core/slot.h.
 */
#include <linux/err.h>
#include <linux/export.h>

#include "core/outcome.h"
#include "core/section.h"
#include "core/slot.h"
#include "core/timeout.h"
#include "latency_tracker.h"

/* The event of its private bytes, where the key has 8. */
static __always_inline struct latency_tracker_event *event_of_priv(void *priv)
{
	return container_of(priv - sizeof(u64), struct latency_tracker_event,
			    data);
}

/**
 * latency_tracker_slot_begin() - an operation begins, in a tracker with slots
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 * @flags: 0, or LATENCY_TRACKER_KEEP: if the key has an operation, that stays
 *
 * latency_tracker_event_in() at the least cost. The caller writes the private bytes of
 * the event, which have what was there before, and calls latency_tracker_slot_publish().
 *
 * Context: Any. With the private bytes, it returns with preemption off.
 * Return: the private bytes; ERR_PTR() of -ESHUTDOWN, -ENOBUFS, -EEXIST, -EAGAIN as
 * latency_tracker_event_in(); NULL if another begin of the key runs at this moment, which
 * counts as the later one.
 */
void *latency_tracker_slot_begin(struct latency_tracker *tracker, u64 key,
				 u32 flags)
{
	struct latency_tracker_event *event;

	if (!lt_enter(tracker))
		return ERR_PTR(-EAGAIN);
	event = lt_slot_claim(tracker, key, flags);
	if (!IS_ERR_OR_NULL(event)) {
		/* For sparse: latency_tracker_slot_publish() ends the section. */
		__release(RCU_SCHED);
		return event->data + sizeof(key);
	}
	lt_leave();
	return event;
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_begin);

/**
 * latency_tracker_slot_publish() - the private bytes are written
 * @tracker: as for latency_tracker_slot_begin()
 * @priv: what that has returned
 * @start_ns: the begin, ns of latency_tracker_clock(); 0 is now
 *
 * Context: That of latency_tracker_slot_begin(). Preemption is as before that.
 */
void latency_tracker_slot_publish(struct latency_tracker *tracker, void *priv,
				  u64 start_ns)
{
	struct latency_tracker_event *event = event_of_priv(priv);

	__acquire(RCU_SCHED);
	WRITE_ONCE(event->item.tag[LT_EVENT_FLAGS], 0);
	WRITE_ONCE(event->start_ns, start_ns ?: latency_tracker_clock());
	lt_slot_publish(tracker, event);
	if (start_ns) {
		/* Pairs with the second smp_mb() in scan_begin(). */
		smp_mb();
		lt_scan_ask_at(tracker, start_ns, READ_ONCE(tracker->timeout_ns));
	}
	lt_leave();
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_publish);

static __always_inline int slot_end(struct latency_tracker *tracker, u64 key,
				    void *out_data, u64 end_ns, bool is_sure)
{
	struct latency_tracker_event *event;
	int ret = -ENOENT;

	if (!lt_enter(tracker))
		return -EAGAIN;
	event = lt_slot_find(tracker, key);
	if (event)
		ret = lt_finish_slot(tracker, event, end_ns, 0, out_data);
	if (is_sure && unlikely(ret == -ENOENT))
		lt_count(tracker->counters, LT_UNMATCHED);
	lt_leave();
	return ret;
}

/**
 * latency_tracker_slot_end() - an operation ends, in a tracker with slots
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 * @out_data: for the callback
 * @end_ns: when it ended, ns of latency_tracker_clock(); 0 is now
 *
 * latency_tracker_event_out() at the least cost.
 *
 * Context: Any. The callback runs in it, with preemption off.
 * Return: as latency_tracker_event_out().
 */
int latency_tracker_slot_end(struct latency_tracker *tracker, u64 key,
			     void *out_data, u64 end_ns)
{
	return slot_end(tracker, key, out_data, end_ns, true);
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_end);

/**
 * latency_tracker_slot_try_end() - the same, if an operation has begun
 * @tracker: with slots, not NULL
 * @key: the 8 bytes of the key
 * @out_data: for the callback
 * @end_ns: when it ended, ns of latency_tracker_clock(); 0 is now
 *
 * For a caller whose begins are filtered, and who can't tell which were: an end
 * without a begin is not counted as unmatched.
 *
 * Context: Any. The callback runs in it, with preemption off.
 * Return: as latency_tracker_event_out().
 */
int latency_tracker_slot_try_end(struct latency_tracker *tracker, u64 key,
				 void *out_data, u64 end_ns)
{
	return slot_end(tracker, key, out_data, end_ns, false);
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_try_end);

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
