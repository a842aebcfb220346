// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several at once, and from every context that can be had here.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/sched.h>

#include "selftest.h"
#include "wrapper/hrtimer.h"
#include "wrapper/nmi.h"
#include "wrapper/preempt.h"
#include "wrapper/rcu_watching.h"

#define THREADS	4
#define PAIRS	20000
/* Two begins have to meet between a look-up and an insertion. */
#define KEEP_PAIRS	200000

/* All threads begin and end events of the same few keys. */
static int same_keys(struct st_thread *th, u64 i)
{
	th->begun += !st_in(th->tracker, (i + th->number) % 3, 0, NULL);
	th->ended += st_out(th->tracker, i % 3) == 1;
	return 0;
}

static struct st_thread race(struct latency_tracker *t,
			     int (*run)(struct st_thread *th, u64 i), int pairs)
{
	return st_join(st_start(t, THREADS, run, pairs, false), THREADS);
}

/*
 * After same_keys(), @sum of all that called it: each event had one verdict, or, in a slot,
 * another one begun in its place.
 */
static void one_verdict_each(struct latency_tracker *t, struct st_thread sum)
{
	struct latency_tracker_counts c;
	int i;

	for (i = 0; i < 3; i++)
		while (st_out(t, i) >= 0)
			sum.ended++;
	c = st_counts(t);
	ST_TRUE(sum.begun > PAIRS);
	ST_EQ(sum.begun, sum.ended + c.replaced);
	ST_EQ(c.replaced, c.cleared);
	ST_EQ(c.started, sum.begun);
	ST_EQ(c.finished, sum.ended);
	ST_EQ(c.late, sum.ended);
	ST_EQ(st_calls(), sum.ended);
	ST_EQ(c.pending, 0);
}

static void one_verdict(struct latency_tracker *t)
{
	struct st_thread sum = race(t, same_keys, PAIRS);

	one_verdict_each(t, sum);
	ST_EQ(st_counts(t).skipped + sum.begun, THREADS * PAIRS);
	st_note("%d begins, %llu skipped", sum.begun, st_counts(t).skipped);
}

static atomic_t owner;

/* A thread that has begun an event with KEEP is alone with its key until the end. */
static int keep_alone(struct st_thread *th, u64 i)
{
	int wrong;

	if (st_in(th->tracker, 1, LATENCY_TRACKER_KEEP, NULL))
		return 0;
	th->begun++;
	wrong = atomic_inc_return(&owner) != 1;
	cpu_relax();
	atomic_dec(&owner);
	th->ended += st_out(th->tracker, 1) == 0;
	return wrong;
}

static void keep_race(struct latency_tracker *t)
{
	struct st_thread sum = race(t, keep_alone, KEEP_PAIRS);
	struct latency_tracker_counts c = st_counts(t);

	ST_EQ(sum.ended, sum.begun);
	ST_EQ(sum.wrong, 0);
	ST_EQ(c.started, sum.begun);
	ST_EQ(c.kept + c.skipped, THREADS * KEEP_PAIRS - sum.begun);
	ST_EQ(c.pending, 0);
	st_note("%d begins, %llu kept", sum.begun, c.kept);
}

/* One replaces the event of a key, the others look for it. */
static int replace_or_look(struct st_thread *th, u64 i)
{
	struct latency_tracker_event *event;
	u64 key = 1;

	if (!th->number)
		return st_in(th->tracker, key, 0, NULL) != 0;
	event = latency_tracker_get_event(th->tracker, &key, sizeof(key));
	latency_tracker_put_event(th->tracker, event);
	return !event;
}

static void never_absent(struct latency_tracker *t)
{
	struct st_thread sum;

	ST_EQ(st_in(t, 1, 0, NULL), 0);
	sum = race(t, replace_or_look, PAIRS);
	ST_EQ(sum.wrong, 0);
	ST_EQ(st_counts(t).replaced, PAIRS);
}

static struct completion context_done;

static void in_and_out(u64 key)
{
	ST_EQ(st_in(st_tracker, key, 0, NULL), 0);
	ST_EQ(st_out(st_tracker, key), 1);
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

static void contexts(struct latency_tracker *t)
{
	/* A timer on the stack would have to say so. */
	static struct tasklet_struct tasklet;
	static struct hrtimer timer;

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
	ST_EQ(st_counts(t).finished, 2);
	ST_EQ(st_calls(), 2);
}

/* What a probe in the idle loop would get; nothing may change. */
static void unwatched(struct latency_tracker *t)
{
	struct latency_tracker_event *event;
	unsigned long flags;
	u64 key = 1;

	ST_EQ(st_in(t, key, 0, NULL), 0);
	event = latency_tracker_get_event(t, &key, sizeof(key));

	local_irq_save(flags);
	current->flags |= PF_IDLE;
	lt_rcu_idle_enter();
	ST_EQ(st_in(t, key, 0, NULL), -EAGAIN);
	ST_EQ(st_out(t, key), -EAGAIN);
	ST_EQ(latency_tracker_event_end(t, event, 0, NULL, 0), -EAGAIN);
	ST_EQ(latency_tracker_event_cancel(t, &key, sizeof(key)), -EAGAIN);
	ST_EQ(latency_tracker_for_each_event(t, &key, sizeof(key),
					     st_ignore_event, NULL), -EAGAIN);
	ST_TRUE(!latency_tracker_get_event(t, &key, sizeof(key)));
	ST_EQ(latency_tracker_put_event(t, event), -EAGAIN);
	lt_rcu_idle_exit();
	current->flags &= ~PF_IDLE;
	local_irq_restore(flags);

	ST_EQ(st_counts(t).unwatched, 7);
	ST_EQ(st_counts(t).started, 1);
	ST_EQ(st_counts(t).pending, 1);
	ST_EQ(st_calls(), 0);
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(st_out(t, key), 1);
}

#ifdef LT_HAVE_NMI
static atomic_t nmis, nmi_begun, nmi_ended;

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	struct latency_tracker_event *event;
	u64 key = atomic_inc_return(&nmis) % 3;

	if (!st_in(st_tracker, key, 0, NULL))
		atomic_inc(&nmi_begun);
	event = latency_tracker_get_event(st_tracker, &key, sizeof(key));
	latency_tracker_put_event(st_tracker, event);
	if (st_out(st_tracker, key) >= 0)
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

static void nmi(struct latency_tracker *t)
{
	struct st_thread *threads, sum;

	atomic_set(&nmis, 0);
	atomic_set(&nmi_begun, 0);
	atomic_set(&nmi_ended, 0);
	ST_EQ(lt_register_nmi(on_nmi), 0);
	threads = st_start(t, THREADS, same_keys, PAIRS, true);
	shower_nmis();
	sum = st_join(threads, THREADS);
	msleep(20);
	lt_unregister_nmi();

	sum.begun += atomic_read(&nmi_begun);
	sum.ended += atomic_read(&nmi_ended);
	ST_TRUE(atomic_read(&nmis) >= 1000);
	ST_TRUE(atomic_read(&nmi_begun) > 0);
	one_verdict_each(t, sum);
	st_note("%d NMIs between %d pairs", atomic_read(&nmis), sum.ended);
}
#else
static void nmi(struct latency_tracker *t)
{
	st_skip("no NMI can be sent on this architecture");
}
#endif

const struct st_case st_race[] = {
	{ "one verdict per event, with ends on all CPUs",
	  one_verdict, .config.max_events = 65536 },
	{ "KEEP leaves one owner per key",
	  keep_race, ST_SILENT, .config.max_events = 65536 },
	{ "slots: one verdict per event, with ends on all CPUs",
	  one_verdict, .config.max_events = 65536, .config.slots = true },
	{ "slots: KEEP leaves one owner per key",
	  keep_race, ST_SILENT, .config.slots = true },
	{ "a key whose event is replaced is never absent",
	  never_absent, ST_SILENT, .config.max_events = 65536 },
	{ "hard interrupt, soft interrupt",
	  contexts, .config.max_events = 16 },
	{ "where RCU does not watch, calls are refused",
	  unwatched, .config.max_events = 16, .unwatched = 7 },
	{ "NMIs in the middle of begins and ends", nmi, .config.max_events = 65536 },
	{ "slots: NMIs in the middle of begins and ends", nmi,
	  .config.max_events = 65536, .config.slots = true },
	{ }
};
