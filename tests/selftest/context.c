// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two ends of "any context": tasks that can be preempted and moved at any
 * instruction, and raw spinlocks held with interrupts off. On all CPUs at once.
 *
 * Since 6.13 probes of system calls, and since 7.2 all probes, are called like
 * the former. The scheduler calls its probes like the latter, and there nothing
 * may sleep, not even in a spinlock of PREEMPT_RT: contention is what makes
 * such a lock sleep, and the kernel complain.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "selftest.h"

#define PER_CPU_CALLERS	2
#define AT_LEAST	20	/* preemptions, moves */

/* What callbacks and visitors have seen. */
static atomic_t calls, bad_calls;

static void count_call(const struct latency_tracker_verdict *verdict)
{
	const struct st_priv *priv = verdict->priv;
	bool good = priv->a == *(const u64 *)verdict->key;

	if (IS_ENABLED(CONFIG_PREEMPT_COUNT) &&
	    verdict->flag == LATENCY_TRACKER_ENDED)
		good = good && in_atomic();
	atomic_inc(&calls);
	if (!good)
		atomic_inc(&bad_calls);
}

static bool visit(struct latency_tracker_event *event, void *arg)
{
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT) && !in_atomic())
		atomic_inc(&bad_calls);
	return true;
}

static int begin(struct st_thread *th, u64 key, u32 flags)
{
	struct st_priv priv = { .a = key };
	struct latency_tracker_in in = {
		.priv = &priv, .priv_len = sizeof(priv),
		.start_ns = latency_tracker_clock(),
		.timeout_ns = 1000,
	};
	int err = st_in(th->tracker, key, flags, &in);

	th->begun += !err;
	th->skipped += err == -ENOBUFS;
	return err;
}

/* Each key is of one caller only: what it finds must be what it began. */
static int alone(struct st_thread *th, u64 i)
{
	u64 key = (u64)th->number << 32 | i;
	struct latency_tracker_event *event;
	int wrong = 0, ret;

	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		wrong += !preemptible();
	ret = begin(th, key, i % 2 ? 0 : LATENCY_TRACKER_DUPLICATE);
	if (ret)
		return wrong + (ret != -ENOBUFS);
	event = latency_tracker_get_event(th->tracker, &key, sizeof(key));
	if (!event)
		return wrong + 1;
	/* A reference needs no section: it lasts over a sleep. */
	if (i % 64 == 0)
		usleep_range(20, 50);
	wrong += *(const u64 *)latency_tracker_event_key(event) != key;
	wrong += latency_tracker_for_each_event(th->tracker, &key, sizeof(key),
						visit, NULL) != 1;
	if (i % 4)
		ret = st_out(th->tracker, key);
	else
		ret = latency_tracker_event_end(th->tracker, event, 0, NULL, 0);
	wrong += ret != 1;
	th->ended += ret == 1;
	wrong += latency_tracker_put_event(th->tracker, event) != 0;
	wrong += st_out(th->tracker, key) != -ENOENT;
	return wrong;
}

static const u32 locked_flags[] = {
	LATENCY_TRACKER_DUPLICATE, 0, LATENCY_TRACKER_KEEP,
	LATENCY_TRACKER_START | LATENCY_TRACKER_TIMEOUT,
};

/* All callers use the same few keys, with all that may be called anywhere. */
static void everything(struct st_thread *th, u64 i)
{
	struct latency_tracker *t = th->tracker;
	struct latency_tracker_event *event;
	u64 key = i % 5, other = (i + 1) % 5;

	begin(th, key, locked_flags[i / 5 % ARRAY_SIZE(locked_flags)]);
	event = latency_tracker_get_event(t, &other, sizeof(other));
	if (event && latency_tracker_hold_event(event)) {
		latency_tracker_event_end(t, event, 0, NULL, 0);
		latency_tracker_put_event(t, event);
	}
	latency_tracker_put_event(t, event);
	latency_tracker_for_each_event(t, &key, sizeof(key), visit, NULL);
	if (i % 7 == 0)
		latency_tracker_event_cancel(t, &key, sizeof(key));
	st_out(t, other);
	latency_tracker_set_threshold(t, latency_tracker_get_threshold(t));
	latency_tracker_get_timeout(t);
	latency_tracker_whole_in_time(t, latency_tracker_whole_begin(t), 0, NULL,
				      NULL);
}

static unsigned long switches(void)
{
	return current->nvcsw + current->nivcsw;
}

static int locked(struct st_thread *th, u64 i)
{
	unsigned long flags, before;
	raw_spinlock_t lock;
	int count, wrong;

	raw_spin_lock_init(&lock);
	raw_spin_lock_irqsave(&lock, flags);
	count = preempt_count();
	before = switches();
	everything(th, i);
	wrong = switches() != before;
	wrong += preempt_count() != count;
	wrong += !irqs_disabled();
	raw_spin_unlock_irqrestore(&lock, flags);
	return wrong;
}

struct pusher {
	struct st_thread *threads;
	unsigned int nr;
	int moves;
};

/* Send callers from CPU to CPU: wherever they are, they are stopped there. */
static int push_around(void *arg)
{
	struct pusher *p = arg;
	unsigned int i = 0;
	int cpu;

	sched_set_fifo_low(current);
	while (!kthread_should_stop()) {
		for_each_online_cpu(cpu) {
			struct st_thread *th = &p->threads[i++ % p->nr];

			if (IS_ERR(th->task) || task_cpu(th->task) == cpu)
				continue;
			if (!set_cpus_allowed_ptr(th->task, cpumask_of(cpu)))
				WRITE_ONCE(p->moves, p->moves + 1);
		}
		i++;
		usleep_range(1000, 3000);
	}
	return 0;
}

static unsigned long preemptions(const struct st_thread *threads, unsigned int nr)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!IS_ERR(threads[i].task))
			sum += READ_ONCE(threads[i].task->nivcsw);
	return sum;
}

/* For a second, or until that was enough. Returns how often a caller was moved. */
static int push_for_a_while(struct st_thread *threads, unsigned int nr)
{
	struct pusher pusher = { .threads = threads, .nr = nr };
	struct task_struct *task = kthread_run(push_around, &pusher, "st_pusher");
	bool enough = false;
	int i;

	ST_TRUE(!IS_ERR(task));
	if (IS_ERR(task))
		return 0;
	for (i = 0; i < 10 || (i < 300 && !enough); i++) {
		msleep(100);
		enough = preemptions(threads, nr) >= AT_LEAST &&
			 (READ_ONCE(pusher.moves) >= AT_LEAST ||
			  num_online_cpus() == 1);
	}
	kthread_stop(task);
	return pusher.moves;
}

static struct st_thread *start(struct latency_tracker *t, unsigned int nr,
			       int (*run)(struct st_thread *th, u64 i))
{
	atomic_set(&calls, 0);
	atomic_set(&bad_calls, 0);
	return st_start(t, nr, run, 0, true);
}

static void pushed_about(struct latency_tracker *t)
{
	unsigned int nr = PER_CPU_CALLERS * num_online_cpus();
	struct st_thread *threads = start(t, nr, alone), sum;
	struct latency_tracker_counts n;
	int moves;

	if (!threads)
		return;
	moves = push_for_a_while(threads, nr);
	sum = st_join(threads, nr);
	n = st_counts(t);
	ST_EQ(sum.wrong, 0);
	ST_EQ(atomic_read(&bad_calls), 0);
	ST_EQ(n.started, sum.begun);
	ST_EQ(n.finished, sum.begun);
	ST_EQ(sum.ended, sum.begun);
	ST_EQ(atomic_read(&calls), sum.begun);
	ST_EQ(n.skipped, sum.skipped);
	ST_EQ(n.pending, 0);
	ST_TRUE(sum.preempted >= AT_LEAST);
	ST_TRUE(moves >= AT_LEAST || num_online_cpus() == 1);
	st_note("%d pairs by %u tasks, preempted %lu times, moved %d times",
		sum.begun, nr, sum.preempted, moves);
}

/* A lock that sleeps is found when a caller waits for it. */
static void under_raw_locks(struct latency_tracker *t)
{
	unsigned int nr = PER_CPU_CALLERS * num_online_cpus();
	struct st_thread *threads = start(t, nr, locked), sum;
	struct latency_tracker_counts n;
	int i;

	if (!threads)
		return;
	/* Meanwhile the worker has everything to do that it can have to do. */
	for (i = 0; i < 100 || (i < 3000 && !st_counts(t).skipped); i++) {
		latency_tracker_set_timeout(t, i % 3 ? 1000 : 0);
		latency_tracker_set_collect(t, i % 5 ? 0 : 2000000);
		latency_tracker_set_tracking(t, i % 16 != 8);
		if (i % 16 == 0)
			latency_tracker_clear(t);
		usleep_range(5000, 10000);
	}
	sum = st_join(threads, nr);
	latency_tracker_set_timeout(t, 0);
	latency_tracker_set_collect(t, 0);
	latency_tracker_set_tracking(t, false);
	/* What the worker has counted, it is about to tell. */
	for (i = 0; i < 100; i++) {
		n = st_counts(t);
		if (atomic_read(&calls) == n.late + n.timeouts + n.collected)
			break;
		msleep(20);
	}
	ST_EQ(sum.wrong, 0);
	ST_EQ(atomic_read(&bad_calls), 0);
	ST_EQ(n.started, sum.begun);
	ST_EQ(n.skipped, sum.skipped);
	ST_TRUE(n.skipped > 0);
	ST_TRUE(n.timeouts > 0);
	ST_EQ(n.late, n.finished);
	ST_EQ(n.pending, 0);
	ST_EQ(atomic_read(&calls), n.late + n.timeouts + n.collected);
	st_note("%d rounds by %u tasks, %d begun, %d times dry, %llu timeouts",
		sum.rounds, nr, sum.begun, sum.skipped, n.timeouts);
}

const struct st_case st_context[] = {
	{ "tasks that are preempted and moved, without any section",
	  pushed_about, .config.callback = count_call, .config.max_events = 16384 },
	{ "under raw locks, interrupts off, nothing sleeps", under_raw_locks,
	  .config.callback = count_call, .config.max_events = 1024,
	  .config.grow_limit = 2048 },
	{ }
};
