// SPDX-License-Identifier: GPL-2.0-only
/*
 * All pending events: walk over them, clear them, count them.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "core/outcome.h"
#include "core/pending.h"
#include "core/slot.h"
#include "core/tracker.h"

/**
 * lt_pending_step() - visit some pending events
 * @tracker: the tracker
 * @cursor: where to go on; 0 is the beginning, also after the end
 * @visit: called for each of them, in an RCU read-side section with preemption
 *	off
 * @arg: for @visit
 *
 * Visits LT_PENDING_NODES, or more if they are duplicates.
 *
 * Context: Task.
 * Return: whether there are more.
 */
bool lt_pending_step(struct latency_tracker *tracker, unsigned long *cursor,
		     lfht_walk_fn visit, void *arg)
{
	bool more;

	rcu_read_lock_sched();
	more = lfht_walk(tracker->ht, cursor, LT_PENDING_NODES, visit, arg);
	rcu_read_unlock_sched();
	return more;
}

/**
 * lt_pending_walk() - visit all pending events, and idle slots
 * @tracker: the tracker
 * @visit: as in lt_pending_step()
 * @arg: for @visit
 *
 * Context: Task, may sleep.
 */
void lt_pending_walk(struct latency_tracker *tracker, lfht_walk_fn visit, void *arg)
{
	unsigned long cursor = 0;

	while (lt_pending_step(tracker, &cursor, visit, arg))
		cond_resched();
}

static void clear(struct lfht_node *node, void *arg)
{
	struct latency_tracker *tracker = arg;

	if (tracker->slots && READ_ONCE(tracker->tracking_on))
		lt_slot_clear(tracker, lt_event_of_node(node));
	else if (tracker->slots)
		lt_slot_free(tracker, lt_event_of_node(node));
	else if (!lfht_del(tracker->ht, node))
		lt_clear_event(tracker, lt_event_of_node(node));
}

/**
 * lt_pending_clear() - remove all events that are pending now
 * @tracker: the tracker
 *
 * They have no verdict. With tracking off, when none begins, the slots go, too.
 *
 * Context: Task, may sleep.
 */
void lt_pending_clear(struct latency_tracker *tracker)
{
	lt_pending_walk(tracker, clear, tracker);
}

static void count(struct lfht_node *node, void *arg)
{
	u64 *pending = arg;

	*pending += lt_event_look(lt_event_of_node(node)) != 0;
}

/**
 * lt_pending_count() - count the pending events
 * @tracker: the tracker
 *
 * Context: Task, may sleep.
 * Return: how many there are.
 */
u64 lt_pending_count(struct latency_tracker *tracker)
{
	u64 pending = 0;

	lt_pending_walk(tracker, count, &pending);
	return pending;
}
