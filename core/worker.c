// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of a tracker does what the probes may not do. It sleeps until the
 * next deadline, at most LT_IDLE_NS; a kick wakes it early, see kick.c.
 *
 * It is a real-time thread. To make more events and buckets takes long, and so is
 * for a work item of ordinary priority, which only the thread queues, one at a time.
 */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "core/ask.h"
#include "core/crossings.h"
#include "core/kick.h"
#include "core/pool_size.h"
#include "core/timeout.h"
#include "core/tracker.h"
#include "core/worker.h"
#include "wrapper/workqueue.h"

/* Bring retired events home at least this often. */
#define LT_IDLE_NS	NSEC_PER_SEC
/* While the pool is low and something is on its way to it, no get kicks; look this often. */
#define LT_LOW_NS	(10 * NSEC_PER_MSEC)

/* Events that are made at once: a begin that finds none gets the first of them soon. */
#define LT_GROW_STEP	8192U

static void grow_work(struct work_struct *work)
{
	struct latency_tracker *tracker =
		container_of(work, struct latency_tracker, grow);
	u32 capacity = tracker->pool.capacity;
	u32 limit = READ_ONCE(tracker->grow_limit);
	int err = 0;

	if (capacity < limit)
		err = lt_pool_grow(&tracker->pool,
				   min3(capacity, limit - capacity, LT_GROW_STEP));
	/* Buckets for the new events; without them it is slower, not wrong. */
	lfht_resize(tracker->ht, tracker->pool.capacity);
	/* What found the pool empty meanwhile is no reason to grow once more. */
	lt_pool_ran_dry(&tracker->pool);
	/* A CPU that sees this sees the new capacity. Pairs with grow(). */
	smp_store_release(&tracker->is_growing, false);
	/* For want of memory it is tried again when the worker looks by itself. */
	if (!err)
		lt_kick(tracker);
}

/* More events and buckets, soon; false: the limit of the user is reached. */
static bool grow(struct latency_tracker *tracker)
{
	/* Pairs with grow_work(). */
	if (smp_load_acquire(&tracker->is_growing))
		return true;
	if (READ_ONCE(tracker->pool.capacity) >= READ_ONCE(tracker->grow_limit))
		return false;
	WRITE_ONCE(tracker->is_growing, true);
	queue_work(lt_unbound_wq, &tracker->grow);
	return true;
}

/* Bring events home, or make more; returns when to look again. */
static u64 supply(struct latency_tracker *tracker, u64 now_ns)
{
	bool gave = lt_reclaim(&tracker->reclaim, false) == LT_RECLAIM_GAVE;
	bool dry = lt_pool_ran_dry(&tracker->pool);
	bool low = lt_pool_is_low(&tracker->pool);
	bool is_short = lt_pool_is_short(&tracker->pool);
	bool small = false, idle = false, older = false;

	if (!is_short && now_ns >= tracker->drain_ns)
		lt_scan_relax(tracker);
	if (low || now_ns >= tracker->drain_ns) {
		tracker->drain_ns = now_ns + LT_IDLE_NS;
		idle = lt_reclaim(&tracker->reclaim, true) == LT_RECLAIM_IDLE;
		/* No retired event is left to bring home: the pool is too small. */
		small = low && (idle || gave);
	}
	/* A begin found the pool empty: reclaiming is too slow, so grow. */
	/* What is pending is given up early only if no node has any to spare. */
	if ((dry || small) && !grow(tracker) && small && is_short)
		older = lt_scan_older(tracker);
	WRITE_ONCE(tracker->low_armed, true);
	/*
	 * Either this look sees that the pool is low, or the get that made it
	 * low sees low_armed. Pairs with atomic_sub_return() in batch_pop().
	 */
	smp_mb();
	/* If all is pending that is missing, no look helps, until a get asks. */
	if (!lt_pool_is_low(&tracker->pool) || (idle && !gave && !older))
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

	/* Under way, asked for, or due; but not before the rest is paid. */
	if (tracker->scan.is_under_way || READ_ONCE(tracker->rescan))
		next_ns = tracker->scan.rest_ns;
	if (now_ns >= next_ns)
		next_ns = lt_scan(tracker);
	next_ns = min(next_ns, lt_ask_answer(tracker));
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
	 * A timeout must fire while ordinary tasks starve; tasks that are
	 * real-time on purpose go first.
	 */
	sched_set_fifo_low(current);
	while (!kthread_should_stop()) {
		/* Full barrier: work() sees all requests from before the kick. */
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

	lt_kick_init(tracker);
	INIT_WORK(&tracker->grow, grow_work);
	task = kthread_create(worker, tracker, "lt_%s", tracker->name);
	if (IS_ERR(task))
		return PTR_ERR(task);
	/* Until lt_worker_free(): a late reclaim still wakes it. */
	get_task_struct(task);
	tracker->worker = task;
	wake_up_process(task);
	return 0;
}

/**
 * lt_worker_stop() - stop the thread
 * @tracker: no event begins any more
 *
 * When it returns no callback runs, and neither irq_work, a work item nor RCU
 * holds anything of @tracker.
 *
 * Context: Task, may sleep.
 */
void lt_worker_stop(struct latency_tracker *tracker)
{
	kthread_stop(tracker->worker);
	/* Behind it: only the worker queues it. It may kick, which wakes nobody. */
	cancel_work_sync(&tracker->grow);
	/* Behind it: a callback of the worker may have kicked. */
	irq_work_sync(&tracker->kick);
	lt_reclaim_drain(&tracker->reclaim);
}

/**
 * lt_worker_free() - drop the reference to the thread
 * @tracker: stopped, and nothing is retired any more
 *
 * Context: Task.
 */
void lt_worker_free(struct latency_tracker *tracker)
{
	put_task_struct(tracker->worker);
}
