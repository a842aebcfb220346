// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scan: every now and then a work item looks at the frames of all threads. So what hangs is
 * found without a word of its program, and what ends in time costs no system call.
 *
 * It looks a few times within the least threshold or timeout, and not when no thread has marks.
 * What a program has to tell is what is at least as long as lt_mark_head.least_ns; the scan
 * finds what is older than that.
 */
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "examples/mark/mark.h"
#include "usecase/data.h"
#include "usecase/thresholds.h"

#define PERIOD_MIN_NS	(10 * NSEC_PER_MSEC)
#define PERIOD_MAX_NS	(250 * NSEC_PER_MSEC)
#define PERIODS		4
/* What is pending for so long can be asked for, whatever the threshold is. */
#define STILL_NS	NSEC_PER_SEC
#define FOLD_NS		NSEC_PER_SEC

struct workqueue_struct *mark_wq;

static DEFINE_MUTEX(spaces_lock);
static LIST_HEAD(spaces);
static struct delayed_work scan;
static u64 folded_ns;

/* Nothing shorter is late, nor past its timeout. */
static u64 find_least(void)
{
	struct latency_tracker *tracker = mark_usecase.tracker;
	u64 timeout_ns = latency_tracker_get_timeout(tracker);
	u64 least_ns = min(latency_tracker_get_threshold(tracker), STILL_NS);
	const struct lt_threshold_table *table;
	unsigned int i;

	if (timeout_ns)
		least_ns = min(least_ns, timeout_ns);
	rcu_read_lock();
	/* Pairs with thresholds_set(). */
	table = READ_ONCE(mark_usecase.thresholds);
	for (i = 0; table && i < table->nr; i++)
		least_ns = min(least_ns, table->entry[i].ns);
	rcu_read_unlock();
	return least_ns;
}

/* Has it died, or has an exec given it another memory? */
static bool is_gone(const struct mark_thread *thread)
{
	const struct task_struct *task;
	bool gone;

	rcu_read_lock();
	task = pid_task(thread->pid, PIDTYPE_PID);
	gone = !task || READ_ONCE(task->mm) != thread->mm;
	rcu_read_unlock();
	return gone;
}

/* The age is what programs knew until now. */
static void scan_space(struct mark_space *space, u64 least_ns, bool fold)
{
	u64 age_ns = max(space->least_ns, least_ns);
	u32 nr, frame, slot;

	WRITE_ONCE(space->least_ns, least_ns);	/* pairs with mark_end() */
	WRITE_ONCE(space->head->least_ns, least_ns);
	WRITE_ONCE(space->head->on, latency_tracker_get_tracking(mark_usecase.tracker));
	for (nr = 0; nr < space->nr_threads; nr++) {
		struct mark_thread *thread = space->thread[nr];

		if (!thread)
			continue;
		if (is_gone(thread)) {
			mark_thread_drop(space, nr);
			continue;
		}
		for (frame = 0; frame < LT_MARK_DEPTH; frame++)
			mark_find_frame(space, thread, frame, age_ns);
		if (fold)
			mark_fold(space, thread, latency_tracker_clock());
		cond_resched();
	}
	for (slot = 0; space->has_slots && slot < LT_MARK_SLOTS; slot++)
		mark_find_slot(space, slot, age_ns);
}

static void plan(u64 least_ns)
{
	u64 period_ns = clamp(div_u64(least_ns, PERIODS), PERIOD_MIN_NS, PERIOD_MAX_NS);

	queue_delayed_work(mark_wq, &scan, nsecs_to_jiffies(period_ns));
}

static void scan_all(struct work_struct *unused)
{
	u64 least_ns = find_least(), now = latency_tracker_clock();
	bool fold = now - folded_ns >= FOLD_NS, some;
	struct mark_space *space;

	if (fold)
		folded_ns = now;
	mutex_lock(&spaces_lock);
	list_for_each_entry(space, &spaces, list) {
		mutex_lock(&space->lock);
		scan_space(space, least_ns, fold);
		mutex_unlock(&space->lock);
	}
	some = mark_shared_scan(least_ns);
	if (some || !list_empty(&spaces))
		plan(least_ns);
	mutex_unlock(&spaces_lock);
}

/**
 * mark_scan_add() - look at the threads of a space, too
 * @space: has none yet
 *
 * Context: Task, may sleep.
 */
void mark_scan_add(struct mark_space *space)
{
	u64 least_ns = find_least();

	space->least_ns = least_ns;
	space->head->least_ns = least_ns;
	space->head->on = latency_tracker_get_tracking(mark_usecase.tracker);
	mutex_lock(&spaces_lock);
	list_add(&space->list, &spaces);
	plan(least_ns);
	mutex_unlock(&spaces_lock);
}

/**
 * mark_scan_remove() - don't look at them any more
 * @space: the space
 *
 * Context: Task, may sleep.
 */
void mark_scan_remove(struct mark_space *space)
{
	mutex_lock(&spaces_lock);
	list_del(&space->list);
	mutex_unlock(&spaces_lock);
}

/**
 * mark_scan_each() - visit all spaces
 * @visit: called for each, under its lock
 *
 * Context: Task, may sleep.
 */
void mark_scan_each(void (*visit)(struct mark_space *space))
{
	struct mark_space *space;

	mutex_lock(&spaces_lock);
	list_for_each_entry(space, &spaces, list) {
		mutex_lock(&space->lock);
		visit(space);
		mutex_unlock(&space->lock);
	}
	mutex_unlock(&spaces_lock);
}

/* Before there are spaces. Returns 0 or -ENOMEM. */
int mark_scan_start(void)
{
	mark_wq = alloc_workqueue("latency_tracker_mark", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!mark_wq)
		return -ENOMEM;
	INIT_DELAYED_WORK(&scan, scan_all);
	return 0;
}

/* When there are no spaces. Threads that went are free on return. */
void mark_scan_stop(void)
{
	cancel_delayed_work_sync(&scan);
	rcu_barrier();	/* then they are queued */
	destroy_workqueue(mark_wq);
}
