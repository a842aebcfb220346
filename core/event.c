// SPDX-License-Identifier: GPL-2.0-only
/*
 * What somebody may do with an event that he has got hold of.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>

#include "core/tracker.h"

/**
 * latency_tracker_hold_event() - take one more reference
 * @event: from a callback or a visitor, or held by the caller
 *
 * Context: Any.
 * Return: true; false for NULL, or if the last reference is gone already.
 */
bool latency_tracker_hold_event(struct latency_tracker_event *event)
{
	return event && lt_event_ref(event, false);
}
EXPORT_SYMBOL_GPL(latency_tracker_hold_event);

/**
 * latency_tracker_put_event() - drop a reference
 * @tracker: the tracker of the event
 * @event: from latency_tracker_get_event() or latency_tracker_hold_event();
 *	NULL is ignored
 *
 * One put too many is found out while the event is pending and nobody else holds
 * it, and until the event is used again for another begin. What can't be checked
 * is the caller's: that @event is an event at all, and one of @tracker, and that
 * the reference is his own and not somebody else's.
 *
 * Context: Any.
 * Return: 0; -EINVAL, with nothing changed, for no tracker, or if the caller
 * can't have held one: the table's is the only one left, or none is.
 */
int latency_tracker_put_event(struct latency_tracker *tracker,
			      struct latency_tracker_event *event)
{
	int refs;

	if (!event)
		return 0;
	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	rcu_read_lock_sched_notrace();
	refs = lt_event_unref(event);
	if (!refs)
		lt_retire(&tracker->reclaim, &event->item);
	rcu_read_unlock_sched_notrace();
	return min(refs, 0);
}
EXPORT_SYMBOL_GPL(latency_tracker_put_event);

/**
 * latency_tracker_event_start() - when did it begin?
 * @event: held, visited, or of a running callback
 *
 * Context: Any.
 * Return: ns of latency_tracker_clock(); 0 for NULL.
 */
u64 latency_tracker_event_start(const struct latency_tracker_event *event)
{
	return event ? event->start_ns : 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_start);

/**
 * latency_tracker_event_key() - the key of an event
 * @event: held, visited, or of a running callback
 *
 * Context: Any.
 * Return: as many bytes as the begin gave; NULL for NULL.
 */
const void *
latency_tracker_event_key(const struct latency_tracker_event *event)
{
	return event ? event->data : NULL;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_key);

/**
 * latency_tracker_event_priv() - the private data of an event
 * @event: held, visited, or of a running callback
 *
 * The caller orders its accesses to what changes after the begin.
 *
 * Context: Any.
 * Return: priv_size bytes, aligned to 8; NULL for NULL.
 */
void *latency_tracker_event_priv(struct latency_tracker_event *event)
{
	return event ? lt_event_priv(event) : NULL;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_priv);
