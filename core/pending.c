// SPDX-License-Identifier: GPL-2.0-only
/*
 * All pending events: walk over them, clear them, count them.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "core/outcome.h"
#include "core/pending.h"
#include "core/tracker.h"

/* Nodes per RCU section: some microseconds with preemption off. */
#define LT_WALK_NODES	64

/**
 * lt_pending_walk() - visit all pending events
 * @tracker: the tracker
 * @visit: called for each of them, in an RCU read-side section with preemption
 *	off
 * @after: called after each of these sections, where it may sleep; or NULL
 * @arg: for @visit and @after
 *
 * Context: Task, may sleep.
 */
void lt_pending_walk(struct latency_tracker *tracker, lfht_walk_fn visit,
		     void (*after)(void *arg), void *arg)
{
	unsigned long cursor = 0;
	bool more;

	do {
		rcu_read_lock_sched();
		more = lfht_walk(tracker->ht, &cursor, LT_WALK_NODES, visit,
				 arg);
		rcu_read_unlock_sched();
		if (after)
			after(arg);
		cond_resched();
	} while (more);
}

static void clear(struct lfht_node *node, void *arg)
{
	struct latency_tracker *tracker = arg;

	if (!lfht_del(tracker->ht, node))
		lt_clear_event(tracker, lt_event_of_node(node));
}

/**
 * lt_pending_clear() - remove all events that are pending now
 * @tracker: the tracker
 *
 * They have no verdict.
 *
 * Context: Task, may sleep.
 */
void lt_pending_clear(struct latency_tracker *tracker)
{
	lt_pending_walk(tracker, clear, NULL, tracker);
}

static void count(struct lfht_node *node, void *arg)
{
	u64 *pending = arg;

	++*pending;
}

/**
 * lt_pending_count() - count the events in the table
 * @tracker: the tracker
 *
 * Context: Task, may sleep.
 * Return: how many there are.
 */
u64 lt_pending_count(struct latency_tracker *tracker)
{
	u64 pending = 0;

	lt_pending_walk(tracker, count, NULL, &pending);
	return pending;
}
