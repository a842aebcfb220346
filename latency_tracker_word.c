// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hot path of the API: begin and end, with keys of 8 bytes. What is not usual goes to
 * latency_tracker_any.c.
 */
#include <linux/err.h>
#include <linux/export.h>

#include "core/begin.h"
#include "core/fill.h"
#include "core/outcome.h"
#include "core/section.h"
#include "latency_tracker_any.h"
#include "latency_tracker_word.h"

static __always_inline bool word_match(const struct lfht_node *node, const void *key)
{
	const struct latency_tracker_event *event = lt_event_of_node(node);

	return lt_event_key_len(event) == sizeof(u64) &&
	       *(const u64 *)event->data == *(const u64 *)key;
}

/* These are apart, so that the others need no room for the key in memory. */
static noinline int word_in_any(struct latency_tracker *tracker, u64 key,
				const struct latency_tracker_in *in)
{
	return latency_tracker_event_in_any(tracker, &key, sizeof(key), 0, in);
}

static noinline int word_out_any(struct latency_tracker *tracker, u64 key,
				 u32 out_id, void *out_data, u64 end_ns)
{
	return latency_tracker_event_out_any(tracker, &key, sizeof(key), out_id,
					     out_data, end_ns);
}

static noinline int word_skip(struct latency_tracker *tracker, u64 key)
{
	struct lt_key k = { .bytes = &key, .len = sizeof(key) };

	return lt_begin_skip(tracker, &k, lt_word_hash(key), 0);
}

static noinline void word_replaced(struct latency_tracker *tracker,
				   struct lfht_node *old)
{
	lt_count(tracker->counters, LT_REPLACED);
	lt_clear_event(tracker, lt_event_of_node(old));
}

static __always_inline bool takes_words(const struct latency_tracker *tracker)
{
	return !IS_ERR_OR_NULL(tracker) && likely(tracker->words);
}

/* Private bytes at most. */
static __always_inline bool is_plain_in(const struct latency_tracker *tracker,
					const struct latency_tracker_in *in)
{
	return !in || (!in->callback && in->priv_len <= tracker->priv_size &&
		       (in->priv || !in->priv_len));
}

static __always_inline int word_begin(struct latency_tracker *tracker, u64 key,
				      const struct latency_tracker_in *in)
{
	struct latency_tracker_event *event;
	struct lt_pool_item *item;
	struct lfht_node *old;

	if (unlikely(!READ_ONCE(tracker->tracking_on)))
		return -ESHUTDOWN;
	item = lt_pool_get(&tracker->pool);
	if (unlikely(!item))
		return word_skip(tracker, key);
	event = lt_event_of_item(item);
	lt_fill_word(tracker, event, key, in);
	old = lfht_add_replace(tracker->ht, lt_word_hash(key), word_match, event->data,
			       &event->node);
	if (unlikely(old))
		word_replaced(tracker, old);
	lt_count(tracker->counters, LT_STARTED);
	return 0;
}

/**
 * latency_tracker_word_in() - latency_tracker_event_in() with a key of 8 bytes, and no flags
 * @tracker: likewise
 * @key: the 8 bytes
 * @in: likewise
 *
 * Context: Any.
 * Return: likewise.
 */
int latency_tracker_word_in(struct latency_tracker *tracker, u64 key,
			    const struct latency_tracker_in *in)
{
	int ret;

	if (unlikely(!takes_words(tracker) || !is_plain_in(tracker, in)))
		return word_in_any(tracker, key, in);
	if (!lt_enter(tracker))
		return -EAGAIN;
	ret = word_begin(tracker, key, in);
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_word_in);

/**
 * latency_tracker_word_out() - latency_tracker_event_out() with a key of 8 bytes
 * @tracker: likewise
 * @key: the 8 bytes
 * @out_id: likewise
 * @out_data: likewise
 * @end_ns: likewise
 *
 * Context: Any. The callback runs in it, with preemption off.
 * Return: likewise.
 */
int latency_tracker_word_out(struct latency_tracker *tracker, u64 key,
			     u32 out_id, void *out_data, u64 end_ns)
{
	struct lfht_node *node;
	int ret;

	if (unlikely(!takes_words(tracker)))
		return word_out_any(tracker, key, out_id, out_data, end_ns);
	if (!lt_enter(tracker))
		return -EAGAIN;
	node = lfht_take(tracker->ht, lt_word_hash(key), word_match, &key);
	ret = lt_finish_found(tracker, node ? lt_event_of_node(node) : NULL,
			      end_ns, out_id, out_data);
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_word_out);
