/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wake the thread of a tracker. What the thread then does is in worker.c.
 */
#ifndef _LT_CORE_KICK_H
#define _LT_CORE_KICK_H

struct latency_tracker;
struct lt_pool;
struct lt_reclaim;

void lt_kick_init(struct latency_tracker *tracker);
void lt_kick(struct latency_tracker *tracker);
void lt_kick_any(struct latency_tracker *tracker);
void lt_kick_rescan(struct latency_tracker *tracker);
void lt_kick_pool_low(struct lt_pool *pool);
void lt_kick_reclaim_done(struct lt_reclaim *reclaim);

#endif /* _LT_CORE_KICK_H */
