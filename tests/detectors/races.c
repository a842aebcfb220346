// SPDX-License-Identifier: GPL-2.0-only
/*
 * For KCSAN.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "bad.h"

/* Long enough for many a watchpoint. */
#define RACE_JIFFIES	(20 * HZ)

static int turn;
static long data;

/* Nothing keeps the two apart. */
static int race(void *arg)
{
	while (!kthread_should_stop()) {
		data++;
		cond_resched();
	}
	return 0;
}

/*
 * They take turns, so no two accesses to data are ever at the same time on a
 * machine that does one thing after the other; but the hand-over orders nothing.
 */
static int unordered(void *arg)
{
	int mine = (long)arg;

	while (!kthread_should_stop()) {
		if (READ_ONCE(turn) != mine) {
			cond_resched();
			continue;
		}
		data++;
		WRITE_ONCE(turn, !mine);
	}
	return 0;
}

/* The same with a hand-over that does. */
static int ordered(void *arg)
{
	int mine = (long)arg;

	while (!kthread_should_stop()) {
		/* Pairs with the smp_store_release() of the other one. */
		if (smp_load_acquire(&turn) != mine) {
			cond_resched();
			continue;
		}
		data++;
		/* Pairs with the smp_load_acquire() of the other one. */
		smp_store_release(&turn, !mine);
	}
	return 0;
}

static int run_both(int (*fn)(void *arg))
{
	struct task_struct *tasks[2] = {};
	int i, err = 0;

	for (i = 0; i < 2; i++) {
		tasks[i] = kthread_run(fn, (void *)(long)i, "bad/%d", i);
		if (IS_ERR(tasks[i])) {
			err = PTR_ERR(tasks[i]);
			break;
		}
	}
	if (!err)
		schedule_timeout_uninterruptible(RACE_JIFFIES);
	while (i-- > 0)
		kthread_stop(tasks[i]);
	return err;
}

int bad_race(void)
{
	return run_both(race);
}

int bad_barrier(void)
{
	return run_both(unordered);
}

int bad_ordered(void)
{
	return run_both(ordered);
}
