// SPDX-License-Identifier: GPL-2.0-only
/*
 * Late operations, from when a tracker reports one until its path is told.
 *
 * A report comes in any context: it takes a free place, and queues work. That looks for the
 * path, and reports it. Places that are not free any more are not waited for: what finds none is
 * counted. Between two rounds the work rests, so that a storm of late operations costs a bounded
 * part of a CPU.
 */
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/preempt.h>
#include <linux/vmalloc.h>

#include "examples/critical_path/late.h"
#include "examples/critical_path/path.h"
#include "wrapper/irq_work.h"
#include "wrapper/workqueue.h"

#define LATE_MAX	64
#define REST_MS		20

enum {
	PLACE_FREE,
	PLACE_TAKEN,
	PLACE_READY,
};

static struct late_place {
	atomic_t state;
	struct latency_tracker_late late;
} places[LATE_MAX];

struct path_counts path_counts;

static bool is_over;
static atomic_t hint;
static struct irq_work kick;
static struct delayed_work work;
static struct path_told *path;

/**
 * path_late() - an operation of a task is late
 * @late: the operation
 *
 * Context: Any.
 */
void path_late(const struct latency_tracker_late *late)
{
	unsigned int i, from = atomic_inc_return(&hint);

	if (READ_ONCE(is_over))
		return;
	if (late->pid < 0) {
		atomic_long_inc(&path_counts.left_out);
		return;
	}
	for (i = 0; i < LATE_MAX; i++) {
		struct late_place *place = &places[(from + i) % LATE_MAX];

		if (atomic_read(&place->state) != PLACE_FREE ||
		    atomic_cmpxchg(&place->state, PLACE_FREE, PLACE_TAKEN) != PLACE_FREE)
			continue;
		place->late = *late;
		/* It comes first; pairs with look(). */
		atomic_set_release(&place->state, PLACE_READY);
		irq_work_queue(&kick);
		return;
	}
	atomic_long_inc(&path_counts.left_out);
}

/* Not from a probe: that may hold the lock of a run queue. */
static void queue(struct irq_work *unused)
{
	/* Some publish a wait behind the report of another: the lock is had after the wake-up. */
	queue_delayed_work(lt_unbound_wq, &work, msecs_to_jiffies(REST_MS));
}

static void tell(void)
{
	static u64 number;
	bool is_cut = path->is_cut;
	struct lt_stack stack;
	u32 i;

	path->of.number = ++number;
	for (i = 0; i < path->nr; i++) {
		const struct lt_path_segment *segment = &path->segments[i];

		path_stack_get(segment->stack, &stack);
		preempt_disable_notrace();
		trace_critical_path(&path->of, segment, i, &stack);
		preempt_enable_notrace();
		if (segment->cause == LT_PATH_UNKNOWN)
			atomic_long_inc(&path_counts.unknown);
		if (segment->cause == LT_PATH_LOST)
			atomic_long_inc(&path_counts.lost);
		is_cut |= segment->cause == LT_PATH_CUT;
	}
	atomic_long_inc(&path_counts.paths);
	if (is_cut)
		atomic_long_inc(&path_counts.cut);
}

static void look(struct work_struct *unused)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < LATE_MAX; i++) {
		struct latency_tracker_late late;

		/* Pairs with the release of path_late(). */
		if (atomic_read_acquire(&places[i].state) != PLACE_READY)
			continue;
		late = places[i].late;
		/* It was copied; pairs with the cmpxchg() of path_late(). */
		atomic_set_release(&places[i].state, PLACE_FREE);
		found = true;
		if (!trace_critical_path_enabled())
			continue;
		path_walk(path, &late);
		tell();
	}
	if (found)
		queue_delayed_work(lt_unbound_wq, &work, msecs_to_jiffies(REST_MS));
}

/* Before something may be late. Task, may sleep. 0 or -ENOMEM. */
int path_late_start(void)
{
	path = vzalloc(sizeof(*path));
	if (!path)
		return -ENOMEM;
	lt_init_irq_work_hard(&kick, queue);
	INIT_DELAYED_WORK(&work, look);
	return 0;
}

/* No path is looked for on return, nor will be: before the waits go. Task, may sleep. */
void path_late_stop(void)
{
	WRITE_ONCE(is_over, true);
	synchronize_rcu();	/* path_late() runs with preemption off */
	irq_work_sync(&kick);
	cancel_delayed_work_sync(&work);
	vfree(path);
}
