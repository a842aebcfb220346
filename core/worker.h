/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread of a tracker: it reclaims, times out, collects and wakes pollers; and
 * the work item that lets the pool and the table grow.
 */
#ifndef _LT_CORE_WORKER_H
#define _LT_CORE_WORKER_H

struct latency_tracker;

int lt_worker_start(struct latency_tracker *tracker);
void lt_worker_stop(struct latency_tracker *tracker);
void lt_worker_free(struct latency_tracker *tracker);

#endif /* _LT_CORE_WORKER_H */
