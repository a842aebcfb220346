// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known-bad cases, one for each detector of the debug kernels.
 *
 *	modprobe latency_tracker_bad which=NAME
 *
 * The kernel's log has all that the detector says between the two lines "bad:" of
 * the case. tests/detectors/run.sh knows what that has to be.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>

#include "core/tracker.h"
#include "latency_tracker.h"

/* --- KASAN, kmemleak, fault injection, and the debug build of the core ------------ */

static int bad_use_after_free(void)
{
	int *p = kmalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	READ_ONCE(*p);
	return 0;
}

static int bad_out_of_bounds(void)
{
	char *p = kmalloc(24, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[24], 1);
	kfree(p);
	return 0;
}

static void ignore(const struct latency_tracker_verdict *verdict)
{
}

/* A tracker with one event, which the caller holds. */
static struct latency_tracker_event *held_event(struct latency_tracker **tracker)
{
	static const struct latency_tracker_config config = {
		.name = "bad",
		.callback = ignore,
		.max_events = 16,
		.key_size = 8,
		.threshold_ns = LATENCY_TRACKER_NEVER,
	};
	struct latency_tracker_event *event;
	u64 key = 1;

	*tracker = latency_tracker_create(&config);
	if (IS_ERR(*tracker))
		return ERR_CAST(*tracker);
	latency_tracker_event_in(*tracker, &key, sizeof(key), 0, NULL);
	event = latency_tracker_get_event(*tracker, &key, sizeof(key));
	latency_tracker_event_out(*tracker, &key, sizeof(key), 0, NULL, 0);
	return event ?: ERR_PTR(-ENOENT);
}

/* The event is used after the last reference to it and a grace period are gone. */
static int bad_stale_event(void)
{
	struct latency_tracker *tracker;
	struct latency_tracker_event *event = held_event(&tracker);

	if (IS_ERR(event))
		return PTR_ERR(event);
	latency_tracker_put_event(tracker, event);
	/* The thread takes what was retired at least once in a second. */
	msleep(4000);
	latency_tracker_event_start(event);
	latency_tracker_destroy(tracker);
	return 0;
}

/* A write to an event without a reference to it. */
static int bad_state(void)
{
	struct latency_tracker *tracker;
	struct latency_tracker_event *event = held_event(&tracker);

	if (IS_ERR(event))
		return PTR_ERR(event);
#ifdef LT_DEBUG
	WRITE_ONCE(event->item.state, 0);
#endif
	latency_tracker_put_event(tracker, event);
	latency_tracker_destroy(tracker);
	return 0;
}

static int bad_leak(void)
{
	void *p = kmalloc(200, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(p);
	return 0;
}

/* No reference to the event is left, and it is not in the pool. */
static int bad_lost_event(void)
{
	struct latency_tracker *tracker;
	struct latency_tracker_event *event = held_event(&tracker);

	if (IS_ERR(event))
		return PTR_ERR(event);
	/* Or else destroy() would wait for it. */
	tracker->pool.total--;
	latency_tracker_destroy(tracker);
	return 0;
}

#ifdef CONFIG_FAULT_INJECTION

static int bad_failslab(void)
{
	void *p;

	WRITE_ONCE(current->fail_nth, 1);
	p = kmalloc(200, GFP_KERNEL);
	WRITE_ONCE(current->fail_nth, 0);
	kfree(p);
	return p ? -ENODATA : 0;
}

static int bad_fail_page(void)
{
	unsigned long page;

	WRITE_ONCE(current->fail_nth, 1);
	page = __get_free_pages(GFP_KERNEL, 1);
	WRITE_ONCE(current->fail_nth, 0);
	free_pages(page, 1);
	return page ? -ENODATA : 0;
}

#endif

/* --- DEBUG_OBJECTS, PROVE_RCU, DEBUG_ATOMIC_SLEEP, lockdep ---------------------- */

struct timed {
	struct timer_list timer;
};

static void nothing(struct timer_list *timer)
{
}

static int bad_active_timer(void)
{
	struct timed *timed = kzalloc(sizeof(*timed), GFP_KERNEL);

	if (!timed)
		return -ENOMEM;
	timer_setup(&timed->timer, nothing, 0);
	mod_timer(&timed->timer, jiffies + 3600 * HZ);
	/* The detector deletes it after its report. */
	kfree(timed);
	return 0;
}

static int bad_rcu(void)
{
	static int __rcu *pointer;

	return rcu_dereference(pointer) ? -EINVAL : 0;
}

static int bad_sleep(void)
{
	static DEFINE_SPINLOCK(lock);
	static DEFINE_MUTEX(mutex);

	spin_lock(&lock);
	/* It is free: this does not sleep, but might. */
	mutex_lock(&mutex);
	mutex_unlock(&mutex);
	spin_unlock(&lock);
	return 0;
}

static int bad_inversion(void)
{
	static DEFINE_SPINLOCK(one);
	static DEFINE_SPINLOCK(other);

	spin_lock(&one);
	spin_lock(&other);
	spin_unlock(&other);
	spin_unlock(&one);

	spin_lock(&other);
	spin_lock(&one);
	spin_unlock(&one);
	spin_unlock(&other);
	return 0;
}

/* --- KCSAN ------------------------------------------------------------------------ */

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

/* --- which one -------------------------------------------------------------------- */

static char *which = "";
module_param(which, charp, 0444);
MODULE_PARM_DESC(which, "what is to go wrong: see cases[] in the source");

static const struct {
	const char *name;
	int (*run)(void);
	int (*both)(void *arg);		/* instead, for two threads */
} cases[] = {
	{ "use-after-free", bad_use_after_free },
	{ "out-of-bounds", bad_out_of_bounds },
	{ "stale-event", bad_stale_event },
	{ "state", bad_state },
	{ "leak", bad_leak },
	{ "lost-event", bad_lost_event },
#ifdef CONFIG_FAULT_INJECTION
	{ "failslab", bad_failslab },
	{ "fail-page", bad_fail_page },
#endif
	{ "active-timer", bad_active_timer },
	{ "rcu", bad_rcu },
	{ "sleep", bad_sleep },
	{ "inversion", bad_inversion },
	{ "race", .both = race },
	{ "barrier", .both = unordered },
	{ "ordered", .both = ordered },
};

/* None of this is __init: reports name functions, also later. */
static int bad_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (strcmp(which, cases[i].name))
			continue;
		pr_err("bad: begin %s\n", which);
		if (cases[i].both)
			err = run_both(cases[i].both);
		else
			err = cases[i].run();
		pr_err("bad: end %s, %d\n", which, err);
		return err;
	}
	return -EINVAL;
}

static void bad_exit(void)
{
}

module_init(bad_init);
module_exit(bad_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What the detectors of debug kernels are to find");
