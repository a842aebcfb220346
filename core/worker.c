// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of a tracker: what the probes may not do is done here.
 *
 * It sleeps until the next deadline, at most LT_IDLE_NS, and is woken early by
 * a kick: from a probe through irq_work, since a probe may hold the run-queue
 * lock that a wake-up takes; from tasks and softirqs directly.
 */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "core/tracker.h"
#include "wrapper/irq_work.h"

/* Bring retired events home at least this often. */
#define LT_IDLE_NS	NSEC_PER_SEC
/* While the pool is low nobody kicks; look this often. */
#define LT_LOW_NS	(10 * NSEC_PER_MSEC)

static void kick_irq_work(struct irq_work *work)
{
	lt_worker_kick(container_of(work, struct latency_tracker, kick));
}

/**
 * lt_worker_kick() - let the worker look for work
 * @tracker: whose
 *
 * Context: Any in which a task may be woken: not under a run-queue lock, not
 * NMI.
 */
void lt_worker_kick(struct latency_tracker *tracker)
{
	WRITE_ONCE(tracker->kicked, true);
	/* Full barrier; pairs with set_current_state() in worker_sleep(). */
	wake_up_process(tracker->worker);
}

/**
 * lt_worker_kick_any() - the same, from any context
 * @tracker: whose
 *
 * Context: Any, NMI included.
 */
void lt_worker_kick_any(struct latency_tracker *tracker)
{
	/* A full barrier in the queueing; pairs with xchg() in worker(). */
	irq_work_queue(&tracker->kick);
}

/**
 * lt_worker_rescan() - let the worker look at the deadlines soon
 * @tracker: whose
 *
 * Context: Any, NMI included.
 */
void lt_worker_rescan(struct latency_tracker *tracker)
{
	if (READ_ONCE(tracker->rescan))
		return;
	WRITE_ONCE(tracker->rescan, true);
	lt_worker_kick_any(tracker);
}

/**
 * lt_worker_pool_low() - the pool asks for the worker
 * @pool: of a tracker
 *
 * Context: Any, NMI included.
 */
void lt_worker_pool_low(struct lt_pool *pool)
{
	struct latency_tracker *tracker =
		container_of(pool, struct latency_tracker, pool);

	/* Once per time that the worker asked for it: no storm when dry. */
	if (!READ_ONCE(tracker->low_armed))
		return;
	WRITE_ONCE(tracker->low_armed, false);
	lt_worker_kick_any(tracker);
}

/**
 * lt_worker_reclaim_done() - a grace period has ended
 * @reclaim: of a tracker
 *
 * Context: RCU callback.
 */
void lt_worker_reclaim_done(struct lt_reclaim *reclaim)
{
	lt_worker_kick(container_of(reclaim, struct latency_tracker, reclaim));
}

/* Out of context: more events and buckets, up to the limit of the user. */
static void grow(struct latency_tracker *tracker)
{
	u32 capacity = tracker->pool.capacity;
	u32 limit = READ_ONCE(tracker->grow_limit);

	if (capacity >= limit)
		return;
	lt_pool_grow(&tracker->pool, min(capacity, limit - capacity));
	/* Buckets for what was had; without them it is slower, not wrong. */
	lfht_resize(tracker->ht, tracker->pool.capacity);
}

/* Bring events home, or make more; returns when to look again. */
static u64 supply(struct latency_tracker *tracker, u64 now_ns)
{
	bool gave = lt_reclaim(&tracker->reclaim, false) == LT_RECLAIM_GAVE;
	bool dry = lt_pool_ran_dry(&tracker->pool);
	bool low = lt_pool_is_low(&tracker->pool);

	if (low || now_ns >= tracker->drain_ns) {
		tracker->drain_ns = now_ns + LT_IDLE_NS;
		/* Nothing is retired, or what was is back: it is too small. */
		if (lt_reclaim(&tracker->reclaim, true) == LT_RECLAIM_IDLE ||
		    gave)
			dry |= low;
	}
	/* What comes back after a grace period came too late for somebody. */
	if (dry)
		grow(tracker);
	WRITE_ONCE(tracker->low_armed, true);
	/*
	 * Either this look sees that the pool is low, or who made it low sees
	 * that the worker wants to be told. Pairs with atomic_sub_return() in
	 * batch_pop().
	 */
	smp_mb();
	if (!lt_pool_is_low(&tracker->pool))
		return tracker->drain_ns;
	WRITE_ONCE(tracker->low_armed, false);
	return now_ns + LT_LOW_NS;
}

/* One round; returns when the next one is due by itself. */
static u64 work(struct latency_tracker *tracker)
{
	u64 next_ns = READ_ONCE(tracker->next_scan);
	u64 now_ns = latency_tracker_clock();
	u64 supply_ns = supply(tracker, now_ns);

	/* Asked for, or due; but not before the last scan has paid its rest. */
	if (READ_ONCE(tracker->rescan))
		next_ns = tracker->scan_rest_ns;
	if (now_ns >= next_ns)
		next_ns = lt_scan(tracker);
	/* Behind the scan, which may report. */
	return min3(next_ns, supply_ns, lt_crossings_tell(tracker));
}

static void worker_sleep(struct latency_tracker *tracker, u64 until_ns)
{
	u64 now_ns = latency_tracker_clock();
	ktime_t delta = ns_to_ktime(until_ns > now_ns ? until_ns - now_ns : 0);

	set_current_state(TASK_IDLE);
	if (!kthread_should_stop() && !READ_ONCE(tracker->kicked))
		schedule_hrtimeout(&delta, HRTIMER_MODE_REL);
	__set_current_state(TASK_RUNNING);
}

static int worker(void *data)
{
	struct latency_tracker *tracker = data;
	u64 next_ns;

	/*
	 * A timeout must fire while ordinary tasks starve; anything that is
	 * real-time on purpose goes first.
	 */
	sched_set_fifo_low(current);
	while (!kthread_should_stop()) {
		/* Full barrier: what was asked for before the kick is seen. */
		xchg(&tracker->kicked, false);
		next_ns = work(tracker);
		worker_sleep(tracker, next_ns);
	}
	return 0;
}

/**
 * lt_worker_start() - start the thread
 * @tracker: all but the worker and sysfs is ready
 *
 * Context: Task, may sleep.
 * Return: 0 or a negative errno.
 */
int lt_worker_start(struct latency_tracker *tracker)
{
	struct task_struct *task;

	lt_init_irq_work_hard(&tracker->kick, kick_irq_work);
	task = kthread_create(worker, tracker, "lt_%s", tracker->name);
	if (IS_ERR(task))
		return PTR_ERR(task);
	/* Until lt_worker_free(): what is reclaimed later still wakes it. */
	get_task_struct(task);
	tracker->worker = task;
	wake_up_process(task);
	return 0;
}

/**
 * lt_worker_stop() - stop the thread
 * @tracker: nobody begins events any more
 *
 * When it returns no callback runs, and neither irq_work nor RCU holds
 * anything of @tracker.
 *
 * Context: Task, may sleep.
 */
void lt_worker_stop(struct latency_tracker *tracker)
{
	irq_work_sync(&tracker->kick);
	kthread_stop(tracker->worker);
	lt_reclaim_drain(&tracker->reclaim);
}

/**
 * lt_worker_free() - let go of the thread
 * @tracker: stopped, and nothing is retired any more
 *
 * Context: Task.
 */
void lt_worker_free(struct latency_tracker *tracker)
{
	put_task_struct(tracker->worker);
}
