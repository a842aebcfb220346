// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that do the same round over and over.
 */
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "selftest.h"

static bool go_on;

static int thread(void *arg)
{
	struct st_thread *th = arg;
	u64 i;

	for (i = 0; i < th->least || READ_ONCE(go_on); i++) {
		th->wrong += th->run(th, i);
		WRITE_ONCE(th->rounds, i + 1);
		if (i % 64 == 0)
			cond_resched();
	}
	th->preempted = current->nivcsw;
	complete(&th->done);
	/* st_join() stops it. */
	while (!kthread_should_stop())
		msleep_interruptible(20);
	return 0;
}

struct st_thread *st_start(struct latency_tracker *t, unsigned int nr,
			   int (*run)(struct st_thread *th, u64 i), int least,
			   bool endless)
{
	struct st_thread *threads = kcalloc(nr, sizeof(*threads), GFP_KERNEL);
	struct st_thread *th;

	ST_TRUE(threads);
	if (!threads)
		return NULL;
	WRITE_ONCE(go_on, endless);
	for (th = threads; th < threads + nr; th++) {
		th->tracker = t;
		th->number = th - threads;
		th->run = run;
		th->least = least;
		init_completion(&th->done);
		th->task = kthread_run(thread, th, "st_thread/%u", th->number);
		ST_TRUE(!IS_ERR(th->task));
		if (IS_ERR(th->task))
			complete(&th->done);
	}
	return threads;
}

struct st_thread st_join(struct st_thread *threads, unsigned int nr)
{
	struct st_thread *th, sum = { };

	WRITE_ONCE(go_on, false);
	for (th = threads; threads && th < threads + nr; th++) {
		wait_for_completion(&th->done);
		if (!IS_ERR(th->task))
			kthread_stop(th->task);
		ST_TRUE(th->rounds > 0);
		sum.preempted += th->preempted;
		sum.rounds += th->rounds;
		sum.begun += th->begun;
		sum.ended += th->ended;
		sum.skipped += th->skipped;
		sum.wrong += th->wrong;
	}
	kfree(threads);
	return sum;
}
