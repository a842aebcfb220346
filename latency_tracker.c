// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hot path of the API: begin, end, look-up, references. What it promises is
 * in latency_tracker.h; how it is kept, in core/ and rculfhash/.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>

#include "core/begin.h"
#include "core/fill.h"
#include "core/lookup.h"
#include "core/outcome.h"
#include "core/slot.h"
#include "core/tracker.h"
#include "latency_tracker.h"
#include "wrapper/rcu_watching.h"

#define LT_IN_FLAGS							     \
	(LATENCY_TRACKER_DUPLICATE | LATENCY_TRACKER_KEEP |		     \
	 LATENCY_TRACKER_THRESHOLD | LATENCY_TRACKER_TIMEOUT |		     \
	 LATENCY_TRACKER_START)

/* One of these, not both. */
#define LT_IN_BOTH	(LATENCY_TRACKER_DUPLICATE | LATENCY_TRACKER_KEEP)

/*
 * Every call on the hot path is a read-side section of its own, between these
 * two: synchronize_rcu() and call_rcu() wait for it. They do not wait for code
 * that RCU does not watch, so calls from there are refused.
 */
static __always_inline bool enter(struct latency_tracker *tracker)
{
	rcu_read_lock_sched_notrace();
	if (likely(lt_rcu_is_watching()))
		return true;
	lt_count(tracker->counters, LT_UNWATCHED);
	rcu_read_unlock_sched_notrace();
	return false;
}

static __always_inline void leave(void)
{
	rcu_read_unlock_sched_notrace();
}

static __always_inline bool
key_is_valid(const struct latency_tracker *tracker, const struct lt_key *key)
{
	/* A length of 0 becomes a large one. */
	return !IS_ERR_OR_NULL(tracker) && likely(key->bytes) &&
	       likely(key->len - 1 < tracker->key_size) &&
	       likely(!tracker->slots || key->len == sizeof(u64));
}

static __always_inline bool
in_is_valid(const struct latency_tracker *tracker, u32 flags,
	    const struct latency_tracker_in *in)
{
	if (likely(!in))
		return likely(!flags) || flags == LATENCY_TRACKER_KEEP ||
		       (flags == LATENCY_TRACKER_DUPLICATE && !tracker->slots);
	if ((flags & ~LT_IN_FLAGS) || (flags & LT_IN_BOTH) == LT_IN_BOTH ||
	    (flags & LATENCY_TRACKER_DUPLICATE && tracker->slots))
		return false;
	return in->priv_len <= tracker->priv_size &&
	       (in->priv || !in->priv_len);
}

/**
 * latency_tracker_event_in() - an operation begins
 * @tracker: the tracker
 * @key: the end gives the same
 * @key_len: bytes at @key, 1 to the key_size of the configuration
 * @flags: LATENCY_TRACKER_* flags, 0 for none. If the key has an event, which then
 *	has missed its end, the new one replaces it, but for KEEP, which refuses, and
 *	DUPLICATE: then ends take the oldest first. A lost end shifts all that follow
 *	it. Not with slots.
 * @in: optional arguments, or NULL
 *
 * Context: Any.
 * Return: 0; -EINVAL for arguments outside of their bounds; -ESHUTDOWN if
 * tracking is off; -ENOBUFS if no event is free (counted as skipped; an event
 * that would be replaced is removed all the same); -EEXIST with KEEP if the key
 * has an event, with DUPLICATE if it has LATENCY_TRACKER_DUPLICATES_MAX;
 * -EAGAIN if RCU is not watching.
 */
int latency_tracker_event_in(struct latency_tracker *tracker, const void *key,
			     u32 key_len, u32 flags,
			     const struct latency_tracker_in *in)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	int ret;

	if (unlikely(!key_is_valid(tracker, &k) ||
		     !in_is_valid(tracker, flags, in)))
		return -EINVAL;
	if (!enter(tracker))
		return -EAGAIN;
	ret = tracker->slots ? lt_begin_slot(tracker, &k, flags, in) :
			       lt_begin(tracker, &k, flags, in);
	leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_in);

/* The event of the key: the slot, where the tracker has slots; else the oldest. */
static __always_inline struct latency_tracker_event *
find(struct latency_tracker *tracker, const struct lt_key *key)
{
	struct lfht_iter iter;

	lfht_lookup(tracker->ht, lt_key_hash(key), lt_match, key, &iter);
	return iter.node ? lt_event_of_node(iter.node) : NULL;
}

static noinline int out_of_slot(struct latency_tracker *tracker,
				const struct lt_key *key, u32 out_id,
				void *out_data, u64 end_ns)
{
	struct latency_tracker_event *event = find(tracker, key);

	return event ? lt_finish_slot(tracker, event, end_ns, out_id,
				      out_data) : -ENOENT;
}

/**
 * latency_tracker_event_out() - an operation ends
 * @tracker: the tracker
 * @key: as given to latency_tracker_event_in()
 * @key_len: bytes at @key
 * @out_id: which of several ends it is, for the callback
 * @out_data: for the callback
 * @end_ns: when it ended, ns of latency_tracker_clock(); 0 is now
 *
 * Ends the oldest event of the key.
 *
 * Context: Any. The callback runs in it, with preemption off.
 * Return: 1 if the event was late and the callback ran; 0 if it was in time;
 * -ENOENT if the key has no event; -EINVAL for arguments outside of their
 * bounds; -EAGAIN if RCU is not watching.
 */
int latency_tracker_event_out(struct latency_tracker *tracker, const void *key,
			      u32 key_len, u32 out_id, void *out_data,
			      u64 end_ns)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	struct latency_tracker_event *event;
	int ret = -ENOENT;

	if (unlikely(!key_is_valid(tracker, &k)))
		return -EINVAL;
	if (!enter(tracker))
		return -EAGAIN;
	if (tracker->slots) {
		ret = out_of_slot(tracker, &k, out_id, out_data, end_ns);
	} else {
		event = lt_take(tracker, &k, lt_key_hash(&k));
		if (event)
			ret = lt_finish(tracker, event,
					end_ns ?: latency_tracker_clock(),
					out_id, out_data);
	}
	if (unlikely(ret == -ENOENT))
		lt_count(tracker->counters, LT_UNMATCHED);
	leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_out);

/* The event is never in the table; only the callback needs it. */
static noinline int whole_late(struct latency_tracker *tracker,
			       const struct lt_key *key, u32 flags,
			       const struct latency_tracker_in *in, u64 end_ns,
			       u64 delay_ns, u64 threshold_ns, u32 out_id,
			       void *out_data)
{
	struct lt_pool_item *item = lt_pool_get(&tracker->pool);
	struct latency_tracker_event *event;

	if (unlikely(!item)) {
		lt_count(tracker->counters, LT_SKIPPED);
		return -ENOBUFS;
	}
	event = lt_event_of_item(item);
	lt_fill(tracker, event, key, flags, in);
	lfht_node_init_deleted(&event->node);
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	lt_finish_late(tracker, event, end_ns, delay_ns, threshold_ns, out_id,
		       out_data);
	return 1;
}

static __always_inline int whole(struct latency_tracker *tracker,
				 const struct lt_key *key, u32 flags,
				 const struct latency_tracker_in *in,
				 u64 end_ns, u32 out_id, void *out_data)
{
	u64 delay_ns, threshold_ns = flags & LATENCY_TRACKER_THRESHOLD ?
					     in->threshold_ns :
					     READ_ONCE(tracker->threshold_ns);

	if (unlikely(!READ_ONCE(tracker->tracking_on)))
		return -ESHUTDOWN;
	delay_ns = lt_delay_of(tracker, in->start_ns, end_ns);
	if (lt_is_late(delay_ns, threshold_ns))
		return whole_late(tracker, key, flags, in, end_ns, delay_ns,
				  threshold_ns, out_id, out_data);
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	return 0;
}

/**
 * latency_tracker_event_whole() - an operation has begun and ended
 * @tracker: the tracker
 * @key: for the callback
 * @key_len: bytes at @key, 1 to the key_size of the configuration
 * @flags: LATENCY_TRACKER_START, and LATENCY_TRACKER_THRESHOLD if in->threshold_ns
 *	is set
 * @in: the begin; not NULL
 * @out_id: as for latency_tracker_event_out()
 * @out_data: likewise
 * @end_ns: likewise
 *
 * A begin with its end, for a caller that has kept the time of the begin itself.
 * That is possible where no other caller ends the operation or looks it up. The
 * operation is never pending here, so no timeout reports it. If it is in time it
 * costs next to nothing.
 *
 * Context: Any. The callback runs in it, with preemption off.
 * Return: 1 if it was late and the callback ran; 0 if it was in time; -EINVAL for
 * arguments outside of their bounds; -ESHUTDOWN if tracking is off; -ENOBUFS if it
 * was late and no event is free (counted as skipped); -EAGAIN if RCU is not watching.
 */
int latency_tracker_event_whole(struct latency_tracker *tracker,
				const void *key, u32 key_len, u32 flags,
				const struct latency_tracker_in *in, u32 out_id,
				void *out_data, u64 end_ns)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	int ret;

	if (unlikely(!key_is_valid(tracker, &k) ||
		     (flags & ~LATENCY_TRACKER_THRESHOLD) !=
			     LATENCY_TRACKER_START ||
		     !in_is_valid(tracker, flags, in)))
		return -EINVAL;
	if (!enter(tracker))
		return -EAGAIN;
	ret = whole(tracker, &k, flags, in, end_ns ?: latency_tracker_clock(),
		    out_id, out_data);
	leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_whole);

/**
 * latency_tracker_whole_begin() - an operation begins that may never be pending
 * @tracker: not NULL
 *
 * For latency_tracker_whole_in_time().
 *
 * Context: Any.
 * Return: the begin, ns of latency_tracker_clock(); 0 if the operation has to be an
 * event from its begin on, since a timeout has to find it.
 */
u64 latency_tracker_whole_begin(const struct latency_tracker *tracker)
{
	if (unlikely(READ_ONCE(tracker->timeout_ns)))
		return 0;
	return latency_tracker_clock();
}
EXPORT_SYMBOL_GPL(latency_tracker_whole_begin);

/**
 * latency_tracker_whole_in_time() - such an operation ends
 * @tracker: not NULL
 * @start_ns: what latency_tracker_whole_begin() returned
 * @end_ns: ns of latency_tracker_clock(); 0 is now
 *
 * An operation in time is all over with this. It is compared with the default
 * threshold.
 *
 * Context: Any. Needs no RCU: nothing but counters of the CPU is touched.
 * Return: 0 if it was in time; it is counted. Else when it ended, and nothing is counted:
 * call latency_tracker_event_whole() with that.
 */
u64 latency_tracker_whole_in_time(struct latency_tracker *tracker, u64 start_ns,
				  u64 end_ns)
{
	if (!end_ns)
		end_ns = latency_tracker_clock();
	if (unlikely(!READ_ONCE(tracker->tracking_on) || end_ns < start_ns ||
		     end_ns - start_ns >= READ_ONCE(tracker->threshold_ns)))
		return end_ns;
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	return 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_whole_in_time);

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
	if (!enter(tracker))
		return -EAGAIN;
	if (tracker->slots)
		ret = lt_finish_slot(tracker, event, end_ns, out_id, out_data);
	else if (!lfht_del(tracker->ht, &event->node))
		ret = lt_finish(tracker, event,
				end_ns ?: latency_tracker_clock(), out_id,
				out_data);
	leave();
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

	if (unlikely(!key_is_valid(tracker, &k)))
		return -EINVAL;
	if (!enter(tracker))
		return -EAGAIN;
	if (!forget(tracker, &k)) {
		ret = -ENOENT;
		lt_count(tracker->counters, LT_UNMATCHED);
	}
	leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_cancel);

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

	if (!enter(tracker))
		return ERR_PTR(-EAGAIN);
	event = lt_slot_claim(tracker, key, flags);
	if (!IS_ERR_OR_NULL(event)) {
		/* For sparse: latency_tracker_slot_publish() ends the section. */
		__release(RCU_SCHED);
		return event->data + sizeof(key);
	}
	leave();
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
	leave();
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_publish);

static __always_inline int slot_end(struct latency_tracker *tracker, u64 key,
				    void *out_data, u64 end_ns, bool is_sure)
{
	struct latency_tracker_event *event;
	int ret = -ENOENT;

	if (!enter(tracker))
		return -EAGAIN;
	event = lt_slot_find(tracker, key);
	if (event)
		ret = lt_finish_slot(tracker, event, end_ns, 0, out_data);
	if (is_sure && unlikely(ret == -ENOENT))
		lt_count(tracker->counters, LT_UNMATCHED);
	leave();
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

	if (!enter(tracker))
		return -EAGAIN;
	event = lt_slot_find(tracker, key);
	if (event)
		ret = lt_slot_free(tracker, event) ? 0 : -EBUSY;
	leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_slot_free);

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

	if (unlikely(!key_is_valid(tracker, &k)) || !enter(tracker))
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
	leave();
	return event;
}
EXPORT_SYMBOL_GPL(latency_tracker_get_event);

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
 * can't have held a reference: only the table's is left, or none.
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

/* With a reference, so that it is one operation for as long as it is visited. */
static int visit_slot(struct latency_tracker *tracker, const struct lt_key *key,
		      latency_tracker_visit visit, void *arg)
{
	struct latency_tracker_event *event = find(tracker, key);

	if (!event || !lt_event_ref(event, LT_EVENT_OPEN))
		return 0;
	visit(event, arg);
	lt_put(tracker, event, 0);
	return 1;
}

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

	if (unlikely(!key_is_valid(tracker, &k) || !visit))
		return -EINVAL;
	if (!enter(tracker))
		return -EAGAIN;
	if (tracker->slots) {
		n = visit_slot(tracker, &k, visit, arg);
		leave();
		return n;
	}
	lfht_lookup(tracker->ht, lt_key_hash(&k), lt_match, &k, &iter);
	while (iter.node) {
		n++;
		if (!visit(lt_event_of_node(iter.node), arg))
			break;
		lfht_next_duplicate(tracker->ht, lt_match, &k, &iter);
	}
	leave();
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
