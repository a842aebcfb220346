/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fill an event that was taken from the pool.
 */
#ifndef _LT_CORE_FILL_H
#define _LT_CORE_FILL_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/string.h>

#include "core/event.h"
#include "core/key.h"
#include "core/tracker.h"
#include "wrapper/unaligned.h"

/* Private bytes are whole, aligned words in the event: room for a zero tail. */
static __always_inline void
lt_fill_priv(const struct latency_tracker *tracker,
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

static __always_inline void lt_fill_key(struct latency_tracker_event *event,
					const struct lt_key *key)
{
	event->item.tag[LT_EVENT_KEY_LEN] = key->len;
	if (likely(key->len == 8))
		*(u64 *)event->data = get_unaligned((const u64 *)key->bytes);
	else
		memcpy(event->data, key->bytes, key->len);
}

/*
 * Only the fields that the caller gave; the others are never read. Those of a slot
 * may be read meanwhile, and what was read is not used then.
 */
static __always_inline u32 lt_fill_own(struct lt_event_own *own, u32 flags,
				       const struct latency_tracker_in *in)
{
	if (flags & LATENCY_TRACKER_THRESHOLD)
		WRITE_ONCE(own->threshold_ns, in->threshold_ns);
	if (flags & LATENCY_TRACKER_TIMEOUT)
		WRITE_ONCE(own->timeout_ns, in->timeout_ns);
	if (!in->callback)
		return flags;
	own->callback = in->callback;
	return flags | LT_EVENT_CALLBACK;
}

/* What an operation is, besides its key. */
static __always_inline void
lt_fill_operation(const struct latency_tracker *tracker,
		  struct latency_tracker_event *event, u32 flags,
		  const struct latency_tracker_in *in)
{
	lt_fill_priv(tracker, event, in);
	if (in)
		flags = lt_fill_own(lt_event_own(tracker, event), flags, in);
	WRITE_ONCE(event->item.tag[LT_EVENT_FLAGS], flags);
	WRITE_ONCE(event->start_ns, flags & LATENCY_TRACKER_START ?
				in->start_ns : latency_tracker_clock());
}

/* No other CPU sees the event before lfht_add*() publishes it. */
static __always_inline void
lt_fill(const struct latency_tracker *tracker,
	struct latency_tracker_event *event, const struct lt_key *key,
	u32 flags, const struct latency_tracker_in *in)
{
	lt_item_step(&event->item, LT_ITEM_TAKEN, LT_ITEM_FILLED);
	atomic_long_set(&event->refs, 1 | LT_EVENT_OPEN);
	event->item.tag[LT_EVENT_PRIV_OFF] = tracker->priv_off;
	lt_fill_key(event, key);
	lt_fill_operation(tracker, event, flags, in);
}

/* The same for a key of 8 bytes, without flags, and with private bytes at most. */
static __always_inline void
lt_fill_word(const struct latency_tracker *tracker,
	     struct latency_tracker_event *event, u64 key,
	     const struct latency_tracker_in *in)
{
	lt_item_step(&event->item, LT_ITEM_TAKEN, LT_ITEM_FILLED);
	atomic_long_set(&event->refs, 1 | LT_EVENT_OPEN);
	WRITE_ONCE(event->item.tag[LT_EVENT_FLAGS], 0);
	event->item.tag[LT_EVENT_KEY_LEN] = sizeof(key);
	event->item.tag[LT_EVENT_PRIV_OFF] = tracker->priv_off;
	*(u64 *)event->data = key;
	lt_fill_priv(tracker, event, in);
	WRITE_ONCE(event->start_ns, latency_tracker_clock());
}

#endif /* _LT_CORE_FILL_H */
