/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a call of the API may be given.
 */
#ifndef _LT_CORE_ARGS_H
#define _LT_CORE_ARGS_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/err.h>

#include "core/key.h"
#include "core/tracker.h"

#define LT_IN_FLAGS							     \
	(LATENCY_TRACKER_DUPLICATE | LATENCY_TRACKER_KEEP |		     \
	 LATENCY_TRACKER_THRESHOLD | LATENCY_TRACKER_TIMEOUT |		     \
	 LATENCY_TRACKER_START)

/* One of these, not both. */
#define LT_IN_BOTH	(LATENCY_TRACKER_DUPLICATE | LATENCY_TRACKER_KEEP)

static __always_inline bool
lt_key_is_valid(const struct latency_tracker *tracker, const struct lt_key *key)
{
	/* A length of 0 becomes a large one. */
	return !IS_ERR_OR_NULL(tracker) && likely(key->bytes) &&
	       likely(key->len - 1 < tracker->key_size);
}

static __always_inline bool
lt_in_is_valid(const struct latency_tracker *tracker, u32 flags,
	       const struct latency_tracker_in *in)
{
	BUILD_BUG_ON(LT_IN_BOTH != 3);
	if (likely(!in))
		return flags < LT_IN_BOTH;
	if ((flags & ~LT_IN_FLAGS) || (flags & LT_IN_BOTH) == LT_IN_BOTH)
		return false;
	return in->priv_len <= tracker->priv_size &&
	       (in->priv || !in->priv_len);
}

#endif /* _LT_CORE_ARGS_H */
