// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several at once, and from every context that can be had here.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "selftest.h"
#include "wrapper/hrtimer.h"
#include "wrapper/nmi.h"
#include "wrapper/preempt.h"
#include "wrapper/rcu.h"

#define THREADS	4
#define PAIRS	20000
/* Two begins have to meet between a look-up and an insertion. */
#define KEEP_PAIRS	200000

static struct st_log log;

static struct latency_tracker *setup(u64 threshold_ns, u32 max_events)
{
	struct latency_tracker_config config = st_config(&log);

	memset(&log, 0, sizeof(log));
	config.threshold_ns = threshold_ns;
	config.max_events = max_events;
	return st_create(&config);
}

struct racer {
	struct latency_tracker *tracker;
	struct task_struct *task;
	struct completion done;
	int number;
	int begun;
	int ended;
	int late;
};

static void start_racers(struct latency_tracker *tracker,
			 int (*fn)(void *arg), struct racer *racers)
{
	struct racer *r;
	int i;

	for (i = 0; i < THREADS; i++) {
		r = &racers[i];
		*r = (struct racer) { .tracker = tracker, .number = i };
		init_completion(&r->done);
		r->task = kthread_run(fn, r, "st_racer/%d", i);
		ST_TRUE(!IS_ERR(r->task));
		if (IS_ERR(r->task))
			complete(&r->done);
	}
}

static void join_racers(struct racer *racers)
{
	int i;

	for (i = 0; i < THREADS; i++) {
		wait_for_completion(&racers[i].done);
		if (!IS_ERR(racers[i].task))
			kthread_stop(racers[i].task);
	}
}

static void run_racers(struct latency_tracker *tracker,
		       int (*fn)(void *arg), struct racer *racers)
{
	start_racers(tracker, fn, racers);
	join_racers(racers);
}

static void finish(struct racer *racer)
{
	complete(&racer->done);
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
}

/* For a case that must not end before it has seen enough. */
static bool keep_racing;

/* All threads begin and end events of the same few keys. */
static int same_keys(void *arg)
{
	struct racer *r = arg;
	int i, ret;

	for (i = 0; i < PAIRS || READ_ONCE(keep_racing); i++) {
		if (!st_in(r->tracker, (i + r->number) % 3, 0, NULL))
			r->begun++;
		ret = st_out(r->tracker, i % 3);
		r->ended += ret >= 0;
		r->late += ret == 1;
		if (i % 64 == 0)
			cond_resched();
	}
	finish(r);
	return 0;
}

static void one_verdict(void)
{
	struct latency_tracker *t = setup(0, 65536);
	struct racer racers[THREADS];
	struct latency_tracker_counts c;
	int i, begun = 0, ended = 0, late = 0;

	if (!t)
		return;
	run_racers(t, same_keys, racers);
	for (i = 0; i < THREADS; i++) {
		begun += racers[i].begun;
		ended += racers[i].ended;
		late += racers[i].late;
	}
	for (i = 0; i < 3; i++)
		while (st_out(t, i) >= 0) {
			ended++;
			late++;
		}
	c = st_counts(t);
	ST_TRUE(begun > PAIRS);
	ST_EQ(begun, ended);
	ST_EQ(c.started, begun);
	ST_EQ(c.finished, ended);
	ST_EQ(c.late, late);
	ST_EQ(late, ended);
	ST_EQ(atomic_read(&log.calls), late);
	ST_EQ(c.skipped + c.started, THREADS * PAIRS);
	ST_EQ(c.pending, 0);
	st_note("%d begins, %d ends, %llu skipped", begun, ended, c.skipped);
	st_destroy(t);
}

/* Replacements race with ends and references. */
static int replace_and_end(void *arg)
{
	struct latency_tracker_event *event;
	struct racer *r = arg;
	u64 key;
	int i;

	for (i = 0; i < PAIRS; i++) {
		key = i % 2;
		if (!st_in(r->tracker, key, LATENCY_TRACKER_UNIQUE, NULL))
			r->begun++;
		event = latency_tracker_get_event(r->tracker, &key, 8);
		if (event) {
			if (*(const u64 *)latency_tracker_event_key(event) !=
			    key)
				r->late++;
			latency_tracker_put_event(r->tracker, event);
		}
		if (r->number % 2 && st_out(r->tracker, key) >= 0)
			r->ended++;
		if (i % 64 == 0)
			cond_resched();
	}
	finish(r);
	return 0;
}

static void unique_race(void)
{
	struct latency_tracker *t = setup(LATENCY_TRACKER_NEVER, 8192);
	struct racer racers[THREADS];
	struct latency_tracker_counts c;
	int i, begun = 0, ended = 0;

	if (!t)
		return;
	run_racers(t, replace_and_end, racers);
	for (i = 0; i < THREADS; i++) {
		begun += racers[i].begun;
		ended += racers[i].ended;
		ST_EQ(racers[i].late, 0);
	}
	c = st_counts(t);
	ST_EQ(c.started, begun);
	ST_EQ(c.finished, ended);
	ST_EQ(c.replaced, c.cleared);
	/* Never two of one key. */
	ST_TRUE(c.pending <= 2);
	ST_EQ(begun, ended + c.replaced + c.pending);
	st_note("%d begins, %llu replaced, %d ended", begun, c.replaced,
		ended);
	st_destroy(t);
}

static atomic_t owner;

/* Who has begun an event with KEEP is alone with its key until the end. */
static int keep_alone(void *arg)
{
	struct racer *r = arg;
	int i;

	for (i = 0; i < KEEP_PAIRS; i++) {
		if (!st_in(r->tracker, 1, LATENCY_TRACKER_KEEP, NULL)) {
			r->begun++;
			r->late += atomic_inc_return(&owner) != 1;
			cpu_relax();
			atomic_dec(&owner);
			r->ended += st_out(r->tracker, 1) == 0;
		}
		if (i % 64 == 0)
			cond_resched();
	}
	finish(r);
	return 0;
}

static void keep_race(void)
{
	struct latency_tracker *t = setup(LATENCY_TRACKER_NEVER, 65536);
	struct racer racers[THREADS];
	struct latency_tracker_counts c;
	int i, begun = 0;

	if (!t)
		return;
	run_racers(t, keep_alone, racers);
	for (i = 0; i < THREADS; i++) {
		begun += racers[i].begun;
		ST_EQ(racers[i].ended, racers[i].begun);
		ST_EQ(racers[i].late, 0);
	}
	c = st_counts(t);
	ST_EQ(c.started, begun);
	ST_EQ(c.kept + c.skipped, THREADS * KEEP_PAIRS - begun);
	ST_EQ(c.pending, 0);
	st_note("%d begins, %llu kept", begun, c.kept);
	st_destroy(t);
}

/* Everything that may change, while everything runs. */
static void live_changes(void)
{
	struct latency_tracker *t = setup(0, 1024);
	struct racer racers[THREADS];
	int i;

	if (!t)
		return;
	start_racers(t, replace_and_end, racers);
	for (i = 0; i < 40; i++) {
		latency_tracker_set_threshold(t, i % 2 ? 0 : 1000000);
		latency_tracker_set_timeout(t, i % 3 ? 1000 : 0);
		latency_tracker_set_collect(t, i % 5 ? 0 : 2000000);
		latency_tracker_set_tracking(t, i % 4 != 3);
		if (i % 7 == 0)
			latency_tracker_clear(t);
		usleep_range(1000, 5000);
	}
	join_racers(racers);
	latency_tracker_set_tracking(t, false);
	ST_EQ(st_counts(t).pending, 0);
	st_destroy(t);
}

static struct latency_tracker *context_tracker;
static struct completion context_done;

static void in_and_out(u64 key)
{
	ST_EQ(st_in(context_tracker, key, 0, NULL), 0);
	ST_EQ(st_out(context_tracker, key), 1);
	complete(&context_done);
}

static enum hrtimer_restart from_hardirq(struct hrtimer *timer)
{
	ST_TRUE(lt_in_hardirq());
	in_and_out(1);
	return HRTIMER_NORESTART;
}

static void from_softirq(struct tasklet_struct *tasklet)
{
	ST_TRUE(in_serving_softirq());
	in_and_out(2);
}

static void contexts(void)
{
	/* A timer on the stack would have to say so. */
	static struct tasklet_struct tasklet;
	static struct hrtimer timer;
	unsigned long flags;

	context_tracker = setup(0, 16);
	if (!context_tracker)
		return;
	init_completion(&context_done);
	lt_hrtimer_setup(&timer, from_hardirq, CLOCK_MONOTONIC,
			 HRTIMER_MODE_REL_HARD);
	hrtimer_start(&timer, 1000000, HRTIMER_MODE_REL_HARD);
	ST_TRUE(wait_for_completion_timeout(&context_done, 10 * HZ));
	hrtimer_cancel(&timer);

	tasklet_setup(&tasklet, from_softirq);
	tasklet_schedule(&tasklet);
	ST_TRUE(wait_for_completion_timeout(&context_done, 10 * HZ));
	tasklet_kill(&tasklet);

	local_irq_save(flags);
	in_and_out(3);
	local_irq_restore(flags);
	ST_EQ(st_counts(context_tracker).finished, 3);
	ST_EQ(atomic_read(&log.calls), 3);
	st_destroy(context_tracker);
}

static bool not_visited(struct latency_tracker_event *event, void *arg)
{
	return true;
}

/* What a probe in the idle loop would get; nothing may change. */
static void unwatched(void)
{
	struct latency_tracker *t = setup(0, 16);
	struct latency_tracker_event *event, *got;
	int in, out, end, cancel, each;
	unsigned long flags;
	u64 key = 1;

	if (!t)
		return;
	ST_EQ(st_in(t, key, 0, NULL), 0);
	event = latency_tracker_get_event(t, &key, sizeof(key));

	local_irq_save(flags);
	current->flags |= PF_IDLE;
	lt_rcu_idle_enter();
	in = st_in(t, key, 0, NULL);
	out = st_out(t, key);
	end = latency_tracker_event_end(t, event, 0, NULL, 0);
	cancel = latency_tracker_event_cancel(t, &key, sizeof(key));
	each = latency_tracker_for_each_event(t, &key, sizeof(key),
					      not_visited, NULL);
	got = latency_tracker_get_event(t, &key, sizeof(key));
	lt_rcu_idle_exit();
	current->flags &= ~PF_IDLE;
	local_irq_restore(flags);

	ST_EQ(in, -EAGAIN);
	ST_EQ(out, -EAGAIN);
	ST_EQ(end, -EAGAIN);
	ST_EQ(cancel, -EAGAIN);
	ST_EQ(each, -EAGAIN);
	ST_TRUE(!got);
	ST_EQ(st_counts(t).unwatched, 6);
	ST_EQ(st_counts(t).started, 1);
	ST_EQ(st_counts(t).pending, 1);
	ST_EQ(atomic_read(&log.calls), 0);
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(st_out(t, key), 1);
	latency_tracker_destroy(t);
}

#ifdef LT_HAVE_NMI
static atomic_t nmis, nmi_begun, nmi_ended;

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	struct latency_tracker_event *event;
	u64 key = atomic_inc_return(&nmis) % 3;

	if (!st_in(context_tracker, key, 0, NULL))
		atomic_inc(&nmi_begun);
	event = latency_tracker_get_event(context_tracker, &key, sizeof(key));
	latency_tracker_put_event(context_tracker, event);
	if (st_out(context_tracker, key) >= 0)
		atomic_inc(&nmi_ended);
	return NMI_HANDLED;
}

/* Until there were enough, for at most some 10 s. */
static void shower_nmis(void)
{
	int cpu, i;

	for (i = 0; i < 100000 && atomic_read(&nmis) < 1000; i++) {
		for_each_online_cpu(cpu)
			lt_send_nmi(cpu);
		usleep_range(50, 200);
	}
}

static void nmi(void)
{
	struct racer racers[THREADS];
	struct latency_tracker_counts c;
	int i, begun, ended;

	context_tracker = setup(0, 65536);
	if (!context_tracker)
		return;
	atomic_set(&nmis, 0);
	atomic_set(&nmi_begun, 0);
	atomic_set(&nmi_ended, 0);
	ST_EQ(lt_register_nmi(on_nmi), 0);
	WRITE_ONCE(keep_racing, true);
	start_racers(context_tracker, same_keys, racers);
	shower_nmis();
	WRITE_ONCE(keep_racing, false);
	join_racers(racers);
	msleep(20);
	lt_unregister_nmi();

	begun = atomic_read(&nmi_begun);
	ended = atomic_read(&nmi_ended);
	for (i = 0; i < THREADS; i++) {
		begun += racers[i].begun;
		ended += racers[i].ended;
	}
	c = st_counts(context_tracker);
	ST_TRUE(atomic_read(&nmis) >= 1000);
	ST_TRUE(atomic_read(&nmi_begun) > 0);
	ST_EQ(c.started, begun);
	ST_EQ(c.finished, ended);
	ST_EQ(begun, ended + c.pending);
	ST_EQ(atomic_read(&log.calls), ended);
	st_note("%d NMIs between %d pairs", atomic_read(&nmis), ended);
	st_destroy(context_tracker);
}
#else
static void nmi(void)
{
	st_skip("no NMI can be sent on this architecture");
}
#endif

const struct st_case st_race[] = {
	{ "one verdict per event, whoever ends it", one_verdict },
	{ "replacements race with ends and references", unique_race },
	{ "KEEP leaves one owner per key", keep_race },
	{ "settings change while all runs", live_changes },
	{ "hard interrupt, soft interrupt, interrupts off", contexts },
	{ "where RCU does not watch, calls are refused", unwatched },
	{ "NMIs in the middle of begins and ends", nmi },
	{ }
};
