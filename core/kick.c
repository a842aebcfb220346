// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wake the thread of a tracker: from tasks and softirqs directly; from a probe
 * through irq_work, since a probe may hold the run-queue lock that a wake-up
 * takes.
 */
#include <linux/sched.h>

#include "core/kick.h"
#include "core/tracker.h"
#include "wrapper/irq_work.h"

static void kick_irq_work(struct irq_work *work)
{
	lt_kick(container_of(work, struct latency_tracker, kick));
}

/**
 * lt_kick_init() - before the first kick
 * @tracker: the tracker
 *
 * Context: Any.
 */
void lt_kick_init(struct latency_tracker *tracker)
{
	lt_init_irq_work_hard(&tracker->kick, kick_irq_work);
}

/**
 * lt_kick() - let the worker look for work
 * @tracker: the tracker
 *
 * Context: Any in which a task may be woken: not under a run-queue lock, not
 * NMI.
 */
void lt_kick(struct latency_tracker *tracker)
{
	WRITE_ONCE(tracker->kicked, true);
	/* Full barrier; pairs with set_current_state() in worker_sleep(). */
	wake_up_process(tracker->worker);
}

/**
 * lt_kick_any() - the same, from any context
 * @tracker: the tracker
 *
 * Context: Any, NMI included.
 */
void lt_kick_any(struct latency_tracker *tracker)
{
	/* A full barrier in the queueing; pairs with xchg() in worker(). */
	irq_work_queue(&tracker->kick);
}

/**
 * lt_kick_rescan() - let the worker look at the deadlines soon
 * @tracker: the tracker
 *
 * Context: Any, NMI included.
 */
void lt_kick_rescan(struct latency_tracker *tracker)
{
	/* What it is to look at was written before. Pairs with scan_begin(). */
	smp_mb();
	if (READ_ONCE(tracker->rescan))
		return;
	WRITE_ONCE(tracker->rescan, true);
	lt_kick_any(tracker);
}

/**
 * lt_kick_pool_low() - the pool asks for the worker
 * @pool: of a tracker
 *
 * Context: Any, NMI included.
 */
void lt_kick_pool_low(struct lt_pool *pool)
{
	struct latency_tracker *tracker =
		container_of(pool, struct latency_tracker, pool);

	/* Once each time that the worker arms it: no storm when dry. */
	if (!READ_ONCE(tracker->low_armed))
		return;
	WRITE_ONCE(tracker->low_armed, false);
	lt_kick_any(tracker);
}

/**
 * lt_kick_reclaim_done() - a grace period has ended
 * @reclaim: of a tracker
 *
 * Context: RCU callback.
 */
void lt_kick_reclaim_done(struct lt_reclaim *reclaim)
{
	lt_kick(container_of(reclaim, struct latency_tracker, reclaim));
}
