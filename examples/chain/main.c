// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chain latency: one activation of a task that a timer or an interrupt wakes, from the moment when
 * the timer should have expired, or the handler of the line began, until the task goes to sleep
 * again.
 *
 * Default threshold: 10 ms, for the whole. An event chain_latency has the five stages: until the
 * handler runs (raise), until that wakes the task (handling), until the task has a CPU (waiting),
 * until it is back in user space (returning), until its work is done (working); which task and code
 * the interrupt has found, and the task that had the CPU before. Each stage has a profile.
 *
 * The chain begins when the task is woken, with the time of the timer or handler that wakes it: so
 * one that wakes nobody costs no event. The work is done when the task sleeps by itself, or is
 * about to when the next timer comes: what it was woken by then is another chain. With done=NAME it
 * is done when the task has ended its mark of that name, wherever it has slept before.
 *
 * A task that was not asleep is not woken: if it has overrun its period, and looks at its timer
 * without sleeping, there is no chain for that.
 *
 * How long hardware has waited for its handler is not known.
 *
 * The files: origin.c knows what is served on a CPU, done.c when work is done, stages.c has the
 * profiles, groups.c the groups.
 */
#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "examples/chain/chain.h"
#include "usecase/usecase.h"
#include "usecase/user_return.h"
#include "wrapper/irq.h"
#include "wrapper/sched.h"
#include "wrapper/timer.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_chain.h>

LT_KEEP_EVENT(chain_latency, CHAIN_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(chain_latency),
};

#define USEC_THRESHOLD	10000
#define MAX_EVENTS	1024
#define GROW_LIMIT	1048576

/* A chain that is late has spent at least this part of the threshold in its longest stage. */
#define STAGES		4

static void on_return(void);

static struct lt_user_return user_return = { .returned = on_return };

/**
 * struct running - a task that gets a CPU, or has one when it is woken
 * @prev: which had it before; NULL: the task has not left it
 * @now_ns: when
 * @is_here: its return to user space can be watched for: it is the current task, or the next one,
 *	and has a user space
 */
struct running {
	const struct task_struct *prev;
	u64 now_ns;
	bool is_here;
};

/*
 * The return of a task is watched for on each CPU that it gets until then. If it once was not, it
 * may have returned since. A task that is woken while it has a CPU may be on its way back there.
 */
static bool is_watched(const struct lt_chain *chain, const struct running *running)
{
	if (chain->ran_ns && !READ_ONCE(chain->is_watched))
		return false;
	return running->is_here && lt_user_return_watch(&user_return);
}

static bool note_run(struct latency_tracker_event *event, void *arg)
{
	struct lt_chain *chain = latency_tracker_event_priv(event);
	const struct running *running = arg;

	if (!READ_ONCE(chain->user_ns))
		WRITE_ONCE(chain->is_watched, is_watched(chain, running));
	if (chain->ran_ns)
		return false;
	chain->run_cpu = raw_smp_processor_id();
	if (running->prev) {
		chain->prev_pid = running->prev->pid;
		chain->prev_prio = running->prev->prio;
		memcpy(chain->prev_comm, running->prev->comm, TASK_COMM_LEN);
	}
	smp_store_release(&chain->ran_ns, running->now_ns);	/* pairs with copy() */
	return false;
}

/* @prev: the task that had the CPU before; NULL: @task has not left it. */
static void runs(struct latency_tracker *tracker, struct task_struct *task,
		 const struct task_struct *prev)
{
	struct running running = {
		.prev = prev,
		.now_ns = latency_tracker_clock(),
		.is_here = (prev || task == current) && lt_task_has_user_space(task),
	};

	latency_tracker_slot_visit(tracker, lt_task_key(task), note_run, &running);
}

static bool note_return(struct latency_tracker_event *event, void *now_ns)
{
	struct lt_chain *chain = latency_tracker_event_priv(event);

	if (lt_chain_is_returning(chain))
		WRITE_ONCE(chain->user_ns, *(u64 *)now_ns);
	return false;
}

/* The current task is back in user space. */
static void on_return(void)
{
	/* There is none yet where another module watches the task. */
	struct latency_tracker *tracker = READ_ONCE(chain_usecase.tracker);
	struct task_struct *task = current;
	u64 now_ns = latency_tracker_clock();

	if (tracker && lt_task_passes(&chain_usecase, task))
		latency_tracker_slot_visit(tracker, lt_task_key(task), note_return, &now_ns);
}

/* What a task does that may end its activation. */
enum step {
	SLEEPS,
	BEGINS_AGAIN,
	DIES,
};

struct ending {
	struct latency_tracker *tracker;
	struct task_struct *task;
	enum step step;
};

static bool on_end(struct latency_tracker_event *event, void *arg)
{
	const struct lt_chain *chain = latency_tracker_event_priv(event);
	struct ending *ending = arg;
	struct chain_ended ended = { .task = ending->task };
	struct lt_chain stages;
	u64 end_ns;

	/* It is woken while it goes to sleep: that is the begin, not the end. */
	if (!chain->ran_ns)
		return false;
	ended.by = chain_done(ending->task, chain->ran_ns, &end_ns);
	if (ended.by == LT_CHAIN_NOT_DONE && ending->step == SLEEPS)
		return false;
	/* It will, for the last time. */
	if (ended.by == LT_CHAIN_BY_SLEEP && ending->step == DIES)
		return false;
	/* The next one of the task may begin at once. */
	stages.origin = chain->origin;
	stages.waking_ns = chain->waking_ns;
	stages.ran_ns = chain->ran_ns;
	stages.user_ns = READ_ONCE(chain->user_ns);
	stages.is_watched = READ_ONCE(chain->is_watched);
	if (latency_tracker_event_end(ending->tracker, event, 0, &ended, end_ns) >= 0) {
		chain_stages_count(&stages, end_ns);
		chain_done_count(ended.by);
	}
	return false;
}

/* The work of @task may be done, if it has begun. */
static void done(struct latency_tracker *tracker, struct task_struct *task, enum step step)
{
	struct ending ending = { .tracker = tracker, .task = task, .step = step };

	latency_tracker_slot_visit(tracker, lt_task_key(task), on_end, &ending);
}

/*
 * What the interrupt has found says why a timer was late. If that is the longest stage of a late
 * chain, it is there; the others need not pay for it.
 */
static void take_stack(struct latency_tracker *tracker, struct lt_chain *chain)
{
	chain->stack.first = 0;
	chain->stack.nr = 0;
	if (!hardirq_count())
		return;
	if (chain->origin.irq >= 0 ||
	    lt_chain_raise(chain) >= latency_tracker_get_least_threshold(tracker) / STAGES)
		lt_stack_of_interrupted(&chain->stack);
}

/* What a task waits for in the middle of its work is no begin. */
static bool may_begin(const struct task_struct *task,
		      const struct lt_chain_origin *origin)
{
	return lt_task_passes(&chain_usecase, task) &&
	       lt_task_in_cgroup(&chain_usecase, task) &&
	       chain_origin_is_wanted(origin) &&
	       !lt_state_is_in_spinlock(lt_task_state(task));
}

static void probe_sched_waking(void *data, struct task_struct *task)
{
	const struct lt_chain_origin *origin = chain_origin_here();
	struct lt_chain *chain;

	if (likely(!origin) || chain_is_passed_on(task, origin) ||
	    !may_begin(task, origin))
		return;
	done(data, task, BEGINS_AGAIN);
	chain = latency_tracker_slot_begin(data, lt_task_key(task), 0);
	if (IS_ERR_OR_NULL(chain))
		return;
	chain->origin = *origin;
	chain->waking_ns = latency_tracker_clock();
	chain->ran_ns = 0;
	chain->user_ns = 0;
	chain->is_watched = false;
	chain->run_cpu = -1;
	chain->prev_pid = -1;
	chain->prev_prio = -1;
	strscpy_pad(chain->prev_comm, "-", TASK_COMM_LEN);
	chain->pid = task->pid;
	take_stack(data, chain);
	latency_tracker_slot_publish(data, chain, origin->start_ns);
}

/* Under the lock of the run queue of @task: if it has a CPU, it goes on there. */
static void probe_sched_wakeup(void *data, struct task_struct *task)
{
	if (unlikely(lt_task_on_cpu(task)) && lt_task_passes(&chain_usecase, task))
		runs(data, task, NULL);
}

/* A task leaves its CPU. */
static void leaves(struct latency_tracker *tracker, struct task_struct *prev,
		   unsigned int prev_state)
{
	if (is_idle_task(prev) || lt_switch_is_runnable(prev, prev_state) ||
	    lt_state_is_in_spinlock(prev_state))
		return;
	chain_thread_sleeps(prev);
	if (lt_task_passes(&chain_usecase, prev))
		done(tracker, prev, SLEEPS);
}

/* @next runs behind this: if @prev is late, its report takes some us of the wait of @next. */
static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	leaves(data, prev, prev_state);
	if (!is_idle_task(next) && lt_task_passes(&chain_usecase, next))
		runs(data, next, prev);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_sched_switch)

LT_DEFINE_PROBE_HRTIMER_EXPIRE_ENTRY(chain_timer_begins)

/* Its marks are known still; before its last switch they may be gone. */
static void on_sched_process_exit(void *data, struct task_struct *task)
{
	if (lt_task_passes(&chain_usecase, task))
		done(data, task, DIES);
}

LT_DEFINE_PROBE_SCHED_PROCESS_EXIT(on_sched_process_exit)

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	chain_thread_gone(task);
	lt_task_gone(data, task);
}

static struct lt_probe probes[] = {
	LT_PROBE(sched_process_free),
	LT_PROBE(sched_process_exit),
	LT_PROBE(sched_switch),
	LT_PROBE(sched_wakeup),
	LT_PROBE(sched_waking),
	/* What begins in a handler is noted before others wake tasks there. */
	LT_FIRST_PROBE(softirq_exit),
	LT_FIRST_PROBE(softirq_entry),
	LT_FIRST_PROBE(softirq_raise),
	LT_FIRST_PROBE(irq_handler_exit),
	LT_FIRST_PROBE(irq_handler_entry),
	LT_FIRST_PROBE(hrtimer_expire_exit),
	LT_FIRST_PROBE(hrtimer_expire_entry),
};

LT_GROUPING(grouping, chain_group_ids, "origin", "cgroup");

struct lt_usecase chain_usecase = {
	.name = "chain",
	.owner = THIS_MODULE,
	LT_PROBES(probes),
	LT_KEEPS(keeps),
	.report = chain_report,
	.is_wanted = chain_is_wanted,
	.usec_threshold = USEC_THRESHOLD,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct task_struct *),
	.priv_size = sizeof(struct lt_chain),
	.slots = true,
	.grouping = &grouping,
	.group_name = chain_group_name,
	.threshold_names = "timer, irq and a number, or the path of a control group",
	.threshold_find = chain_threshold_find,
	.belongs = chain_belongs,
};

LT_USECASE_PARAMS(chain_usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_TASK_FILTER_PARAMS(chain_usecase);

static int __init chain_init(void)
{
	int err;

	err = chain_report_start();
	if (err)
		return err;
	err = chain_stages_start();
	if (err)
		goto err_report;
	err = chain_done_start();
	if (err)
		goto err_stages;
	err = lt_user_return_start(&user_return);
	if (err)
		goto err_done;
	err = lt_usecase_start(&chain_usecase);
	if (err)
		goto err_return;
	return 0;

err_return:
	lt_user_return_stop(&user_return);
err_done:
	chain_done_stop();
err_stages:
	chain_stages_stop();
err_report:
	chain_report_stop();
	return err;
}
module_init(chain_init);

/* chain_report_stop() comes last: until the tracker is gone, its thread may look. */
static void __exit chain_exit(void)
{
	lt_user_return_stop(&user_return);
	lt_usecase_stop(&chain_usecase);
	chain_done_stop();
	chain_stages_stop();
	chain_report_stop();
}
module_exit(chain_exit);

MODULE_DESCRIPTION("One activation of a task, from its timer or interrupt until its work is done");
MODULE_LICENSE("GPL");
