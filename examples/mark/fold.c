// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ended in time: programs count it themselves, in cells. Here it is added to the profile.
 *
 * It is the word of the program, and taken for that: what cannot be is refused. Operations in one
 * frame, or in one slot, follow one another. So all that have ended in a thread took no longer
 * together than the space is there, once for each of them.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>

#include "examples/mark/mark.h"
#include "usecase/data.h"
#include "wrapper/cgroup.h"

/* How long an operation takes at least: two looks at a clock. */
#define LEAST_NS	4

/**
 * struct fold - what is read of the cells of a thread
 * @space: of the thread
 * @of: what its operations have in common
 * @passes: the filter lets them through
 * @nr: how many operations may have ended since the last time
 * @since_ns: since when the space is there, ns
 * @span_ns: how long they may have taken together, in one frame or slot
 */
struct fold {
	struct mark_space *space;
	struct lt_mark_operation of;
	bool passes;
	u64 nr;
	u64 since_ns;
	u64 span_ns;
};

/* The task may be gone; then its operations belong to no control group. */
static void look_at_task(struct fold *fold, const struct mark_thread *thread)
{
	const struct task_struct *task;

	fold->passes = true;
	rcu_read_lock();
	task = pid_task(thread->pid, PIDTYPE_PID);
	if (task) {
		fold->of.cgroup_id = lt_task_cgroup_id(task);
		fold->passes = mark_passes(task);
	}
	rcu_read_unlock();
}

/* @nr operations of the cell @key that took @sum_ns. False: that can't be. */
static bool count(struct fold *fold, u32 key, u32 nr, u64 sum_ns)
{
	u32 mark = key >> 16, in = key & 0xffff;
	u64 least_ns, share_ns, delay_ns;

	if (!in || in > LT_MARK_KEYS || mark >= fold->space->nr_marks || nr > fold->nr)
		return false;
	least_ns = lt_mark_key_least(key);
	/* The two are not read at once: what is not between the bounds of the cell is put there. */
	delay_ns = clamp(div_u64(sum_ns, nr), least_ns, lt_mark_key_least(key + 1) - 1);
	if (least_ns > fold->since_ns)
		return false;
	share_ns = mul_u64_u32_div(least_ns, nr, LT_MARK_DEPTH + LT_MARK_SLOTS);
	if (share_ns > fold->span_ns)
		return false;
	fold->nr -= nr;
	fold->span_ns -= share_ns;
	if (!fold->passes)
		return true;
	fold->of.mark = fold->space->mark[mark];
	latency_tracker_whole_many(mark_usecase.tracker, delay_ns, nr, &fold->of);
	return true;
}

static void read_cell(struct fold *fold, const struct lt_mark_cell *cell,
		      struct mark_seen *seen)
{
	/* Pairs with the release of the key in the library. */
	u32 key = smp_load_acquire(&cell->key), nr;
	u64 sum_ns;

	if (!key)
		return;
	nr = READ_ONCE(cell->count) - seen->count;
	sum_ns = READ_ONCE(cell->sum_ns) - seen->sum_ns;
	if (!nr)
		return;
	seen->count += nr;
	seen->sum_ns += sum_ns;
	if (!count(fold, key, nr, sum_ns))
		atomic_long_inc(&mark_counts.refused);
}

/**
 * mark_fold() - add what ended in time to the profile
 * @space: under its lock
 * @thread: of @space; its task may be gone
 * @now: ns of latency_tracker_clock()
 *
 * Context: Task.
 */
void mark_fold(struct mark_space *space, struct mark_thread *thread, u64 now)
{
	/* Pairs with its release in the library: the cells have what it counts. */
	u32 ended = smp_load_acquire(&thread->area->ended);
	u32 dropped = READ_ONCE(thread->area->dropped), i;
	struct fold fold = {
		.space = space,
		.nr = div_u64(now - thread->folded_ns, LEAST_NS),
		.since_ns = now - space->events.since_ns,
		.span_ns = now - space->events.since_ns,
	};

	atomic_long_add(dropped - thread->dropped, &mark_counts.dropped);
	thread->dropped = dropped;
	if (ended == thread->ended)
		return;
	thread->ended = ended;
	thread->folded_ns = now;
	look_at_task(&fold, thread);
	for (i = 0; i < LT_MARK_CELLS; i++)
		read_cell(&fold, &thread->area->cell[i], &thread->seen[i]);
}
