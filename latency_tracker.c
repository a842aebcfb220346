// SPDX-License-Identifier: GPL-2.0-only
/*
 * The API. What it promises is in latency_tracker.h; how it is kept, in core/
 * and rculfhash/.
 */
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "core/key.h"
#include "core/verdict.h"
#include "wrapper/rcu.h"

#define LT_IN_FLAGS							     \
	(LATENCY_TRACKER_UNIQUE | LATENCY_TRACKER_KEEP |		     \
	 LATENCY_TRACKER_THRESHOLD | LATENCY_TRACKER_TIMEOUT |		     \
	 LATENCY_TRACKER_START)

/* One of these, not both. */
#define LT_IN_BOTH	(LATENCY_TRACKER_UNIQUE | LATENCY_TRACKER_KEEP)

/*
 * Every call on the hot path is between these two, a read-side section of its
 * own: synchronize_rcu() and call_rcu() wait for it. It does not wait for code
 * that RCU does not watch, so that is refused.
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

static __always_inline bool match(const struct lfht_node *node,
				  const void *arg)
{
	const struct latency_tracker_event *event = lt_event_of_node(node);

	return lt_key_equal(arg, event->data, event->key_len);
}

static __always_inline bool
key_is_valid(const struct latency_tracker *tracker, const struct lt_key *key)
{
	/* A length of 0 becomes a large one. */
	return !IS_ERR_OR_NULL(tracker) && likely(key->bytes) &&
	       likely(key->len - 1 < tracker->key_size);
}

static __always_inline bool
in_is_valid(const struct latency_tracker *tracker, u32 flags,
	    const struct latency_tracker_in *in)
{
	/* For most: none, or one of the first two. */
	BUILD_BUG_ON(LT_IN_BOTH != 3);
	if (likely(!in))
		return flags < LT_IN_BOTH;
	if ((flags & ~LT_IN_FLAGS) || (flags & LT_IN_BOTH) == LT_IN_BOTH)
		return false;
	return in->priv_len <= tracker->priv_size &&
	       (in->priv || !in->priv_len);
}

/* Private bytes are whole, aligned words in the event: room for a zero tail. */
static __always_inline void
fill_priv(const struct latency_tracker *tracker,
	  struct latency_tracker_event *event,
	  const struct latency_tracker_in *in)
{
	u64 *to = (u64 *)(event->data + tracker->priv_off);
	u64 *end = (u64 *)((char *)to + tracker->priv_size);
	const u8 *from = in ? in->priv : NULL;
	u32 len = in ? in->priv_len : 0;

	for (; len >= 8; len -= 8, from += 8)
		*to++ = get_unaligned((const u64 *)from);
	if (len) {
		*to = 0;
		memcpy(to++, from, len);
	}
	/* WRITE_ONCE(), or else the compiler calls memset() for a word or two. */
	for (; to < end; to++)
		WRITE_ONCE(*to, 0);
}

static __always_inline void fill_key(struct latency_tracker_event *event,
				     const struct lt_key *key)
{
	event->key_len = key->len;
	if (likely(key->len == 8))
		*(u64 *)event->data = get_unaligned((const u64 *)key->bytes);
	else
		memcpy(event->data, key->bytes, key->len);
}

/* What was not given is not read either. */
static __always_inline void fill_own(struct lt_event_own *own,
				     struct latency_tracker_event *event,
				     const struct latency_tracker_in *in)
{
	if (in->callback) {
		own->callback = in->callback;
		event->flags |= LT_EVENT_CALLBACK;
	}
	if (event->flags & LATENCY_TRACKER_THRESHOLD)
		own->threshold_ns = in->threshold_ns;
	if (event->flags & LATENCY_TRACKER_TIMEOUT)
		own->timeout_ns = in->timeout_ns;
}

/* Nobody else sees the event yet; lfht_add*() publishes it. */
static __always_inline void
fill_event(const struct latency_tracker *tracker,
	   struct latency_tracker_event *event, const struct lt_key *key,
	   u32 flags, const struct latency_tracker_in *in)
{
	lt_item_step(&event->item, LT_ITEM_TAKEN, LT_ITEM_PENDING);
	atomic_set(&event->refs, 1 | LT_EVENT_PENDING);
	event->priv_off = tracker->priv_off;
	event->flags = flags;
	fill_key(event, key);
	fill_priv(tracker, event, in);
	if (in)
		fill_own(lt_event_own(tracker, event), event, in);
	event->start_ns = flags & LATENCY_TRACKER_START ?
				  in->start_ns : latency_tracker_clock();
}

/*
 * An event that does not follow the default deadlines may be due before the
 * next scan. Its cmpxchg() into the table is a full barrier before this read
 * of next_scan; pairs with the smp_mb() in lt_scan().
 */
static void ask_for_scan(struct latency_tracker *tracker, u32 flags,
			 const struct latency_tracker_in *in)
{
	u64 start_ns = flags & LATENCY_TRACKER_START ? in->start_ns :
						       latency_tracker_clock();
	u64 timeout_ns = flags & LATENCY_TRACKER_TIMEOUT ?
				 in->timeout_ns :
				 READ_ONCE(tracker->timeout_ns);
	u64 collect_ns = READ_ONCE(tracker->collect_ns);
	u64 next_scan = READ_ONCE(tracker->next_scan);

	if ((timeout_ns && lt_add_ns(start_ns, timeout_ns) < next_scan) ||
	    (collect_ns && lt_add_ns(start_ns, collect_ns) < next_scan))
		lt_worker_rescan(tracker);
}

/*
 * Take the oldest event of a key out of the table; the caller owns it. NULL if
 * there is none. In a read-side section.
 */
static __always_inline struct latency_tracker_event *
take_event(struct latency_tracker *tracker, const struct lt_key *key,
	   unsigned long hash)
{
	struct lfht_node *node = lfht_take(tracker->ht, hash, match, key);

	return node ? lt_event_of_node(node) : NULL;
}

/* Let go of an event that will have no verdict. */
static void clear_event(struct latency_tracker *tracker,
			struct latency_tracker_event *event)
{
	lt_count(tracker->counters, LT_CLEARED);
	lt_put(tracker, event, LT_EVENT_PENDING);
}

/*
 * No event is free. What a unique begin would have replaced must go all the
 * same: the end that is to come is not the end of that.
 */
static noinline int skip(struct latency_tracker *tracker,
			 const struct lt_key *key, unsigned long hash,
			 u32 flags)
{
	struct latency_tracker_event *old = NULL;

	lt_count(tracker->counters, LT_SKIPPED);
	if (flags & LATENCY_TRACKER_UNIQUE)
		old = take_event(tracker, key, hash);
	if (old) {
		lt_count(tracker->counters, LT_REPLACED);
		clear_event(tracker, old);
	}
	return -ENOBUFS;
}

/* Publish a filled event. In a read-side section. */
static int add_event(struct latency_tracker *tracker,
		     struct latency_tracker_event *event,
		     const struct lt_key *key, unsigned long hash, u32 flags)
{
	struct lfht_node *old;

	if (flags & LATENCY_TRACKER_UNIQUE) {
		old = lfht_add_replace(tracker->ht, hash, match, key,
				       &event->node);
		if (old) {
			lt_count(tracker->counters, LT_REPLACED);
			clear_event(tracker, lt_event_of_node(old));
		}
	} else if (flags & LATENCY_TRACKER_KEEP) {
		old = lfht_add_unique(tracker->ht, hash, match, key,
				      &event->node);
		if (old != &event->node) {
			lt_put(tracker, event, LT_EVENT_PENDING);
			return -EEXIST;
		}
	} else {
		lfht_add(tracker->ht, hash, &event->node);
	}
	return 0;
}

static int begin(struct latency_tracker *tracker, const struct lt_key *key,
		 u32 flags, const struct latency_tracker_in *in)
{
	unsigned long hash = lt_key_hash(key);
	struct latency_tracker_event *event;
	struct lt_pool_item *item;
	struct lfht_iter iter;
	int err = 0;

	if (unlikely(!READ_ONCE(tracker->tracking_on)))
		return -ESHUTDOWN;
	if (flags & LATENCY_TRACKER_KEEP) {
		/* Usually decided here, without taking an event for nothing. */
		lfht_lookup(tracker->ht, hash, match, key, &iter);
		if (iter.node)
			err = -EEXIST;
	}
	if (!err) {
		item = lt_pool_get(&tracker->pool);
		if (unlikely(!item))
			return skip(tracker, key, hash, flags);
		event = lt_event_of_item(item);
		fill_event(tracker, event, key, flags, in);
		err = add_event(tracker, event, key, hash, flags);
	}
	if (err) {
		lt_count(tracker->counters, LT_KEPT);
		return err;
	}
	lt_count(tracker->counters, LT_STARTED);
	if (unlikely(flags & (LATENCY_TRACKER_TIMEOUT | LATENCY_TRACKER_START)))
		ask_for_scan(tracker, flags, in);
	return 0;
}

/**
 * latency_tracker_event_in() - an operation begins
 * @tracker: the tracker
 * @key: what the end will ask for
 * @key_len: bytes at @key, 1 to the key_size of the configuration
 * @flags: LATENCY_TRACKER_* flags, 0 for none. Without UNIQUE and KEEP a key
 *	may have several events; ends take the oldest first.
 * @in: optional arguments, or NULL
 *
 * Context: Any.
 * Return: 0; -EINVAL for arguments outside of their bounds; -ESHUTDOWN if
 * tracking is off; -ENOBUFS if no event is free (counted as skipped; with
 * UNIQUE an event of the key is removed all the same); -EEXIST with KEEP if the
 * key has an event; -EAGAIN if RCU is not watching.
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
	ret = begin(tracker, &k, flags, in);
	leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_in);

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
	event = take_event(tracker, &k, lt_key_hash(&k));
	if (event)
		ret = lt_finish(tracker, event,
				end_ns ?: latency_tracker_clock(), out_id,
				out_data);
	else
		lt_count(tracker->counters, LT_UNMATCHED);
	leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_out);

/* It never is in the table, and needs an event for the callback alone. */
static noinline int whole_late(struct latency_tracker *tracker,
			       const struct lt_key *key, u32 flags,
			       const struct latency_tracker_in *in, u64 end_ns,
			       u64 delay_ns, u32 out_id, void *out_data)
{
	struct lt_pool_item *item = lt_pool_get(&tracker->pool);
	struct latency_tracker_event *event;

	if (unlikely(!item)) {
		lt_count(tracker->counters, LT_SKIPPED);
		return -ENOBUFS;
	}
	event = lt_event_of_item(item);
	fill_event(tracker, event, key, flags, in);
	lfht_node_init_deleted(&event->node);
	lt_count(tracker->counters, LT_STARTED);
	lt_count(tracker->counters, LT_FINISHED);
	lt_finish_late(tracker, event, end_ns, delay_ns, out_id, out_data);
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
				  out_id, out_data);
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
 * A begin with its end, for a caller who has kept the begin himself because nobody
 * else could have ended it, or asked for it: as long as it is not pending here, no
 * timeout reports it. An operation that is in time costs next to nothing.
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
 * latency_tracker_event_end() - one certain event ends
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
	if (!lfht_del(tracker->ht, &event->node))
		ret = lt_finish(tracker, event,
				end_ns ?: latency_tracker_clock(), out_id,
				out_data);
	leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_end);

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
	struct latency_tracker_event *event;

	if (unlikely(!key_is_valid(tracker, &k)))
		return -EINVAL;
	if (!enter(tracker))
		return -EAGAIN;
	event = take_event(tracker, &k, lt_key_hash(&k));
	if (event)
		clear_event(tracker, event);
	else
		lt_count(tracker->counters, LT_UNMATCHED);
	leave();
	return event ? 0 : -ENOENT;
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
	struct latency_tracker_event *event = NULL;
	struct lfht_iter iter;

	if (unlikely(!key_is_valid(tracker, &k)) || !enter(tracker))
		return NULL;
	lfht_lookup(tracker->ht, lt_key_hash(&k), match, &k, &iter);
	if (iter.node && lt_event_ref(lt_event_of_node(iter.node), false))
		event = lt_event_of_node(iter.node);
	leave();
	return event;
}
EXPORT_SYMBOL_GPL(latency_tracker_get_event);

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
	lfht_lookup(tracker->ht, lt_key_hash(&k), match, &k, &iter);
	while (iter.node) {
		n++;
		if (!visit(lt_event_of_node(iter.node), arg))
			break;
		lfht_next_duplicate(tracker->ht, match, &k, &iter);
	}
	leave();
	return n;
}
EXPORT_SYMBOL_GPL(latency_tracker_for_each_event);

static int __init latency_tracker_init(void)
{
	return lt_control_init();
}

static void __exit latency_tracker_exit(void)
{
	lt_control_exit();
}

module_init(latency_tracker_init);
module_exit(latency_tracker_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Catch slow operations in the act");
MODULE_AUTHOR("The latency-tracker authors");
