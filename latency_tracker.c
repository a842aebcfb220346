// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hot path of the API: look-up, references, ends of events. What it promises is
 * in latency_tracker.h; how it is kept, in core/ and rculfhash/.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/minmax.h>

#include "core/args.h"
#include "core/begin.h"
#include "core/lookup.h"
#include "core/outcome.h"
#include "core/section.h"
#include "core/slot.h"
#include "core/tracker.h"
#include "latency_tracker.h"
#include "wrapper/unaligned.h"

/* The event of the key: the slot, where the tracker has slots; else the oldest. */
static __always_inline struct latency_tracker_event *
find(struct latency_tracker *tracker, const struct lt_key *key)
{
	struct lfht_iter iter;

	lfht_lookup(tracker->ht, lt_key_hash(key), lt_match, key, &iter);
	return iter.node ? lt_event_of_node(iter.node) : NULL;
}

/**
 * latency_tracker_event_end() - end the given event
 * @tracker: the tracker
 * @event: of @tracker, which can't be checked; the caller holds a reference, or
 *	is in the visitor of latency_tracker_for_each_event(); the reference is
 *	not consumed
 * @out_id: as for latency_tracker_event_out()
 * @out_data: likewise
 * @end_ns: likewise
 *
 * Context: Any.
 * Return: 1 if it was late and the callback ran; 0 if it was in time; -ENOENT
 * if it had its verdict already; -EINVAL for NULL; -EAGAIN if RCU is not
 * watching.
 */
int latency_tracker_event_end(struct latency_tracker *tracker,
			      struct latency_tracker_event *event, u32 out_id,
			      void *out_data, u64 end_ns)
{
	int ret = -ENOENT;

	if (IS_ERR_OR_NULL(tracker) || unlikely(!event))
		return -EINVAL;
	if (!lt_enter(tracker))
		return -EAGAIN;
	if (tracker->slots)
		ret = lt_finish_slot(tracker, event, end_ns, out_id, out_data);
	else if (!lfht_del(tracker->ht, &event->node))
		ret = lt_finish(tracker, event,
				end_ns ?: latency_tracker_clock(), out_id,
				out_data);
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_end);

static bool forget(struct latency_tracker *tracker, const struct lt_key *key)
{
	struct latency_tracker_event *event;

	if (tracker->slots) {
		event = find(tracker, key);
		return event && lt_slot_clear(tracker, event);
	}
	event = lt_take(tracker, key, lt_key_hash(key));
	if (event)
		lt_clear_event(tracker, event);
	return event;
}

/**
 * latency_tracker_event_cancel() - forget an operation
 * @tracker: the tracker
 * @key: as given to latency_tracker_event_in()
 * @key_len: bytes at @key
 *
 * Removes the oldest event of the key without a verdict; counted as cleared.
 *
 * Context: Any.
 * Return: 0; -ENOENT if the key has no event; -EINVAL for arguments outside of
 * their bounds; -EAGAIN if RCU is not watching.
 */
int latency_tracker_event_cancel(struct latency_tracker *tracker,
				 const void *key, u32 key_len)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	int ret = 0;

	if (unlikely(!lt_key_is_valid(tracker, &k)))
		return -EINVAL;
	if (!lt_enter(tracker))
		return -EAGAIN;
	if (!forget(tracker, &k)) {
		ret = -ENOENT;
		lt_count(tracker->counters, LT_UNMATCHED);
	}
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_cancel);

/**
 * latency_tracker_get_event() - look an event up, leave it pending
 * @tracker: the tracker
 * @key: as given to latency_tracker_event_in()
 * @key_len: bytes at @key
 *
 * Context: Any.
 * Return: the oldest event of the key with a reference for the caller, to be
 * dropped with latency_tracker_put_event(); NULL if there is none.
 */
struct latency_tracker_event *
latency_tracker_get_event(struct latency_tracker *tracker, const void *key,
			  u32 key_len)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	struct latency_tracker_event *event;

	if (unlikely(!lt_key_is_valid(tracker, &k)) || !lt_enter(tracker))
		return NULL;
	for (;;) {
		event = find(tracker, &k);
		if (!event || likely(lt_event_ref(event, LT_EVENT_OPEN)))
			break;
		/*
		 * An idle slot, or it has left the table since it was found. Another
		 * one may have taken its place then: look again.
		 */
		if (!lfht_is_removed(READ_ONCE(event->node.next))) {
			event = NULL;
			break;
		}
	}
	lt_leave();
	return event;
}
EXPORT_SYMBOL_GPL(latency_tracker_get_event);

/**
 * latency_tracker_is_late() - would a pending operation be late if it ended now?
 * @tracker: the tracker
 * @event: its event; the caller holds it, or visits it
 * @now_ns: now, ns of latency_tracker_clock()
 *
 * Context: Any.
 * Return: true if it has reached its threshold, and has begun before now.
 */
bool latency_tracker_is_late(struct latency_tracker *tracker,
			     struct latency_tracker_event *event, u64 now_ns)
{
	return lt_would_be_late(tracker, event, now_ns);
}
EXPORT_SYMBOL_GPL(latency_tracker_is_late);

/**
 * latency_tracker_hold_event() - take one more reference
 * @event: from a callback or a visitor, or held by the caller
 *
 * Context: Any.
 * Return: true; false for NULL, or if the last reference is gone already.
 */
bool latency_tracker_hold_event(struct latency_tracker_event *event)
{
	return event && lt_event_ref(event, 0);
}
EXPORT_SYMBOL_GPL(latency_tracker_hold_event);

/**
 * latency_tracker_put_event() - drop a reference
 * @tracker: the tracker of the event
 * @event: from latency_tracker_get_event() or latency_tracker_hold_event();
 *	NULL is ignored
 *
 * One put too many is detected while the event is pending and has no other
 * holder, and until the event is used again for another begin. The caller is
 * responsible for what can't be checked: that @event is an event of @tracker, and
 * that the reference is its own.
 *
 * Context: Any.
 * Return: 0; -EINVAL, with nothing changed, without a tracker, or if the caller
 * can't have held a reference: only the table's is left, or none; -EAGAIN, with
 * nothing changed, if RCU is not watching.
 */
int latency_tracker_put_event(struct latency_tracker *tracker,
			      struct latency_tracker_event *event)
{
	int refs;

	if (!event)
		return 0;
	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	if (!lt_enter(tracker))
		return -EAGAIN;
	refs = lt_event_unref(event);
	if (!refs)
		lt_retire(&tracker->reclaim, &event->item);
	lt_leave();
	return min(refs, 0);
}
EXPORT_SYMBOL_GPL(latency_tracker_put_event);

/**
 * latency_tracker_for_each_event() - visit all events of a key, oldest first
 * @tracker: the tracker
 * @key: as given to latency_tracker_event_in()
 * @key_len: bytes at @key
 * @visit: called for each
 * @arg: for @visit
 *
 * Context: Any.
 * Return: how many were visited; -EINVAL for arguments outside of their bounds;
 * -EAGAIN if RCU is not watching.
 */
int latency_tracker_for_each_event(struct latency_tracker *tracker,
				   const void *key, u32 key_len,
				   latency_tracker_visit visit, void *arg)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	struct lfht_iter iter;
	int n = 0;

	if (unlikely(!lt_key_is_valid(tracker, &k) || !visit))
		return -EINVAL;
	if (!lt_enter(tracker))
		return -EAGAIN;
	if (tracker->slots) {
		if (key_len == sizeof(u64))
			n = lt_slot_visit(tracker, get_unaligned((const u64 *)key),
					  visit, arg);
		lt_leave();
		return n;
	}
	lfht_lookup(tracker->ht, lt_key_hash(&k), lt_match, &k, &iter);
	while (iter.node) {
		n++;
		if (!visit(lt_event_of_node(iter.node), arg))
			break;
		lfht_next_duplicate(tracker->ht, lt_match, &k, &iter);
	}
	lt_leave();
	return n;
}
EXPORT_SYMBOL_GPL(latency_tracker_for_each_event);

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
