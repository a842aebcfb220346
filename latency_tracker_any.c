// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hot path of the API: begin and end, with keys of any length, all flags, and slots.
 */
#include <linux/err.h>
#include <linux/export.h>

#include "core/args.h"
#include "core/begin.h"
#include "core/lookup.h"
#include "core/outcome.h"
#include "core/section.h"
#include "core/slot.h"
#include "latency_tracker_any.h"
#include "wrapper/unaligned.h"

/* These are apart, so that a tracker without slots pays a branch for them. */
static noinline int in_slot(struct latency_tracker *tracker, const void *key,
			    u32 key_len, u32 flags,
			    const struct latency_tracker_in *in)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	int ret;

	if (key_len != sizeof(u64) || flags & LATENCY_TRACKER_DUPLICATE)
		return -EINVAL;
	if (!lt_enter(tracker))
		return -EAGAIN;
	ret = lt_begin_slot(tracker, &k, flags, in);
	lt_leave();
	return ret;
}

static noinline int out_of_slot(struct latency_tracker *tracker,
				const void *key, u32 key_len, u32 out_id,
				void *out_data, u64 end_ns)
{
	struct latency_tracker_event *event = NULL;
	int ret = -ENOENT;

	if (!lt_enter(tracker))
		return -EAGAIN;
	if (key_len == sizeof(u64))
		event = lt_slot_find(tracker, get_unaligned((const u64 *)key));
	if (event)
		ret = lt_finish_slot(tracker, event, end_ns, out_id, out_data);
	if (ret == -ENOENT)
		lt_count(tracker->counters, LT_UNMATCHED);
	lt_leave();
	return ret;
}

/**
 * latency_tracker_event_in_any() - latency_tracker_event_in(), whatever the key and the flags
 * @tracker: likewise
 * @key: likewise
 * @key_len: likewise
 * @flags: likewise
 * @in: likewise
 *
 * Context: Any.
 * Return: likewise.
 */
int latency_tracker_event_in_any(struct latency_tracker *tracker,
				 const void *key, u32 key_len, u32 flags,
				 const struct latency_tracker_in *in)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	int ret;

	if (unlikely(!lt_key_is_valid(tracker, &k) ||
		     !lt_in_is_valid(tracker, flags, in)))
		return -EINVAL;
	if (tracker->slots)
		return in_slot(tracker, key, key_len, flags, in);
	if (!lt_enter(tracker))
		return -EAGAIN;
	ret = lt_begin(tracker, &k, flags, in);
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_in_any);

/**
 * latency_tracker_event_out_any() - latency_tracker_event_out(), whatever the key
 * @tracker: likewise
 * @key: likewise
 * @key_len: likewise
 * @out_id: likewise
 * @out_data: likewise
 * @end_ns: likewise
 *
 * Context: Any. The callback runs in it, with preemption off.
 * Return: likewise.
 */
int latency_tracker_event_out_any(struct latency_tracker *tracker,
				  const void *key, u32 key_len, u32 out_id,
				  void *out_data, u64 end_ns)
{
	struct lt_key k = { .bytes = key, .len = key_len };
	int ret;

	if (unlikely(!lt_key_is_valid(tracker, &k)))
		return -EINVAL;
	if (tracker->slots)
		return out_of_slot(tracker, key, key_len, out_id, out_data,
				   end_ns);
	if (!lt_enter(tracker))
		return -EAGAIN;
	ret = lt_finish_found(tracker, lt_take(tracker, &k, lt_key_hash(&k)),
			      end_ns, out_id, out_data);
	lt_leave();
	return ret;
}
EXPORT_SYMBOL_GPL(latency_tracker_event_out_any);
