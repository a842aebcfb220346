/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All pending events: walk over them, clear them, count them.
 */
#ifndef _LT_CORE_PENDING_H
#define _LT_CORE_PENDING_H

#include <linux/types.h>

#include "rculfhash/rculfhash.h"

struct latency_tracker;

/* Nodes per RCU section: some microseconds with preemption off. */
#define LT_PENDING_NODES	64

bool lt_pending_step(struct latency_tracker *tracker, unsigned long *cursor,
		     lfht_walk_fn visit, void *arg);
void lt_pending_walk(struct latency_tracker *tracker, lfht_walk_fn visit, void *arg);
void lt_pending_clear(struct latency_tracker *tracker);
u64 lt_pending_count(struct latency_tracker *tracker);

#endif /* _LT_CORE_PENDING_H */
