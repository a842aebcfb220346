// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells which thread has ended an operation of one mark, and when, for a tracker that asks the
 * core for it.
 *
 * The library writes each end in what the thread shares with the kernel, so an end costs no
 * system call. Which mark is asked for each thread has as a number of its space, under
 * space->lock: a switch of tasks need not look for a name.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/rculist.h>
#include <linux/sched.h>

#include "examples/mark/mark.h"

static_assert(LT_MARK_NAME == LATENCY_TRACKER_END_NAME);

/* The mark that is asked for, or MARK_NAMES. want() writes it, under the lock of core/ends.c. */
static u32 wanted = MARK_NAMES;

/**
 * mark_ends_number() - which mark of a space is asked for?
 * @space: under its lock
 *
 * Context: Task.
 * Return: its number there; LT_MARK_MAX: none.
 */
u32 mark_ends_number(const struct mark_space *space)
{
	u32 mark = READ_ONCE(wanted), i;	/* pairs with want() */

	for (i = 0; i < space->nr_marks; i++) {
		if (space->mark[i] == mark)
			return i;
	}
	return LT_MARK_MAX;
}

/**
 * mark_ends_tell() - all threads of a space are asked for the mark that is wanted now
 * @space: under its lock
 *
 * Context: Task.
 */
void mark_ends_tell(struct mark_space *space)
{
	u32 number = mark_ends_number(space), nr;

	for (nr = 0; nr < space->nr_threads; nr++) {
		/* Pairs with last_ended(). */
		if (space->thread[nr])
			WRITE_ONCE(space->thread[nr]->asked, number);
	}
}

static int want(const char *name)
{
	int mark = *name ? mark_name_get(name) : MARK_NAMES;
	u32 old = wanted;

	if (mark < 0)
		return mark;
	/* A space whose lock is taken behind this has it; all others are told. */
	WRITE_ONCE(wanted, mark);
	mark_scan_each(mark_ends_tell);
	if (old != MARK_NAMES)
		mark_name_put(old);
	return 0;
}

/* After an exec it has another memory, and nobody writes there. One that dies has none. */
static bool is_same(const struct mark_thread *thread, const struct task_struct *task)
{
	const struct mm_struct *mm = READ_ONCE(task->mm);

	return !mm || mm == thread->mm;
}

/* Of what the program has written, each word is read once. It may have several spaces. */
static int last_ended(const struct task_struct *task, u64 *end_ns)
{
	const struct mark_thread *thread;
	int err = -ENOENT;
	u32 asked;

	*end_ns = 0;
	hlist_for_each_entry_rcu_notrace(thread, mark_threads_like(task), by_task) {
		asked = READ_ONCE(thread->asked);
		if (thread->task != task || asked >= LT_MARK_MAX || !is_same(thread, task))
			continue;
		*end_ns = max(*end_ns, READ_ONCE(thread->area->last_ns[asked]));
		err = 0;
	}
	return err;
}

static const struct latency_tracker_ends ends = {
	.want = want,
	.last = last_ended,
};

/* Before there are spaces. Returns 0 or an error. */
int mark_ends_start(void)
{
	return latency_tracker_ends_provide(&ends);
}

/* When there are none any more. */
void mark_ends_stop(void)
{
	latency_tracker_ends_withdraw();
}
