// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wake-up latency: from the moment a task is woken, or loses its CPU although it
 * could go on, until it runs.
 *
 * Default threshold: 10 ms. An event wakeup_latency names the task that waited,
 * the task that woke it, and the task that held the CPU, with the kernel stack of
 * the latter: at the end, the task that is switched from; at a timeout, the one
 * that is running there. Between a hog and the task that waits for it often some
 * short kernel thread runs, so the event also names the task that had the CPU for
 * most of the wait.
 *
 * What is not a wake-up latency:
 *
 * - A task may be woken that is not asleep: it has set its state, but is still
 *   running, or was preempted before it slept. Then it is not switched to because
 *   of the wake-up, and its next switch must not be taken for the end.
 *   sched_wakeup comes under the lock of the task's run queue, and sees there
 *   whether the task is on a CPU; a task that slept is not. A preempted task that
 *   waits for a CPU becomes runnable at that moment: this is a wake-up.
 * - A preemption between the wake-up and the switch: possible only until
 *   sched_wakeup has cancelled the event, if the waker is slow. The count of
 *   preemptions of the task tells.
 *
 * A task that was preempted, and had set another state before, may be woken while it
 * waits: it waits on, since it was preempted.
 *
 * The wait of a preempted task is kept by the CPU that it lost, and becomes an event only
 * if the task is moved to another CPU, if one more loses this CPU, or if it is late.
 * Neither has a task that set another state before: it may be woken meanwhile. With a
 * timeout it is an event from its begin on.
 *
 * A second wake-up of a task that has not run since the first is not traced:
 * the first one has left it in state TASK_RUNNING, in which it is not woken, until
 * it runs and sets another. So if a begin finds an event of the same task, that
 * one is stale, and is replaced.
 */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "examples/wakeup/history.h"
#include "examples/wakeup/report.h"
#include "examples/wakeup/steal.h"
#include "examples/wakeup/throttle.h"
#include "examples/wakeup/wakeup.h"
#include "usecase/filter_set.h"
#include "usecase/usecase.h"
#include "wrapper/sched.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_wakeup.h>

LT_KEEP_EVENT(wakeup_latency, WAKEUP_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(wakeup_latency),
};

#define USEC_THRESHOLD	10000
#define MAX_EVENTS	1024
#define GROW_LIMIT	1048576

static struct lt_toggle preempted = { .usecase = &wakeup_usecase, .on = true };
module_param_cb(preempted, &lt_toggle_ops, &preempted, 0644);
MODULE_PARM_DESC(preempted, "Track the wait of a task that lost its CPU, too, not only that of one that is woken (default Y)");

/**
 * struct waiting - the wait of a task that lost a CPU, while that is no event
 * @task: which is on the run queue of that CPU; NULL: there is none
 * @start: when it lost the CPU
 * @prio: its priority then
 * @preempt: it was preempted
 *
 * The lock of the run queue is held, but where a wake-up moves a task: that is not the
 * one that waits here, which is all that is to be known then.
 */
struct waiting {
	struct task_struct *task;
	u64 start;
	int prio;
	bool preempt;
};

static DEFINE_PER_CPU(struct waiting, waiting);

static bool may_begin(const struct task_struct *task)
{
	return !lt_task_is_filtered(&wakeup_usecase) ||
	       (lt_task_passes(&wakeup_usecase, task) &&
		lt_task_in_cgroup(&wakeup_usecase, task));
}

static __always_inline void describe_woken(struct wakeup *wakeup,
					   const struct task_struct *task)
{
	wakeup->preempted = READ_ONCE(task->nivcsw);
	wakeup->pid = task->pid;
	wakeup->prio = task->prio;
	wakeup->reason = LT_WAKEUP_WOKEN;
	wakeup->waker_pid = current->pid;
	memcpy(wakeup->waker_comm, current->comm, TASK_COMM_LEN);
	wakeup->cpu = -1;
	if (steal_is_known()) {
		wakeup->cpu = task_cpu(task);
		wakeup->moves = task->se.nr_migrations;
	}
}

/*
 * A task on a run queue runs, or waits since it was preempted. That does not change
 * meanwhile, other than that it gets its CPU: pi_lock of the task is held.
 */
static noinline void begin_woken_other(struct latency_tracker *tracker,
				       struct task_struct *task, bool is_new)
{
	bool waits = !is_new && READ_ONCE(preempted.on) && READ_ONCE(task->on_rq);
	struct wakeup *wakeup;

	if (!may_begin(task))
		return;
	wakeup = latency_tracker_slot_begin(tracker, lt_task_key(task),
					    waits ? LATENCY_TRACKER_KEEP : 0);
	if (IS_ERR_OR_NULL(wakeup))
		return;
	describe_woken(wakeup, task);
	latency_tracker_slot_publish(tracker, wakeup, 0);
}

/* Most wake-ups need no call. */
static __always_inline void begin_woken(struct latency_tracker *tracker,
					struct task_struct *task, bool is_new)
{
	struct wakeup *wakeup;
	u64 now = 0;

	wakeup = lt_task_is_filtered(&wakeup_usecase) ? NULL :
		 latency_tracker_slot_try_begin(tracker, lt_task_key(task), &now);
	if (unlikely(!wakeup)) {
		begin_woken_other(tracker, task, is_new);
		return;
	}
	describe_woken(wakeup, task);
	latency_tracker_slot_publish_begun(tracker, wakeup, 0);
}

static void probe_sched_waking(void *data, struct task_struct *task)
{
	if (task != current)	/* it is asleep */
		begin_woken(data, task, false);
}

static void probe_sched_wakeup_new(void *data, struct task_struct *task)
{
	begin_woken(data, task, true);
}

/* Whether a task has called sched_yield() is only known when it is back. */
static struct wakeup describe_wait(const struct waiting *wait, int cpu)
{
	return (struct wakeup) {
		.preempted = wait->task->nivcsw,
		.pid = wait->task->pid,
		.prio = wait->prio,
		.cpu = cpu,
		.reason = wait->preempt ? LT_WAKEUP_PREEMPTED :
					  LT_WAKEUP_RUNNABLE,
		.waker_pid = -1,
		.waker_comm = "-",
	};
}

/* From now on the wait for @cpu is an event. */
static noinline void publish(struct latency_tracker *tracker,
			     struct waiting *wait, int cpu)
{
	struct wakeup *wakeup = latency_tracker_slot_begin(tracker,
							   lt_task_key(wait->task), 0);

	if (!IS_ERR_OR_NULL(wakeup)) {
		*wakeup = describe_wait(wait, cpu);
		latency_tracker_slot_publish(tracker, wakeup, wait->start);
	}
	WRITE_ONCE(wait->task, NULL);
}

/* @now: 0 if the clock has not been looked at */
static void begin_preempted(struct latency_tracker *tracker,
			    struct waiting *wait, struct task_struct *prev,
			    bool preempt, unsigned int prev_state, u64 now)
{
	if (!may_begin(prev))
		return;
	if (wait->task)
		publish(tracker, wait, raw_smp_processor_id());
	WRITE_ONCE(wait->task, prev);
	wait->start = now ?: latency_tracker_clock();
	wait->prio = prev->prio;
	wait->preempt = preempt;
	if (unlikely(prev_state || latency_tracker_get_timeout(tracker)))
		publish(tracker, wait, raw_smp_processor_id());
}

/* If @task waits: the lock of the run queue that it leaves is held. */
static void probe_sched_migrate_task(void *data, struct task_struct *task,
				     int cpu)
{
	struct waiting *wait = per_cpu_ptr(&waiting, task_cpu(task));

	if (unlikely(READ_ONCE(wait->task) == task))
		publish(data, wait, task_cpu(task));
}

/* A task that may not be tracked is not looked for in vain, which would be counted. */
static noinline void forget_known(struct latency_tracker *tracker,
				  struct task_struct *task)
{
	struct latency_tracker_event *event;

	event = latency_tracker_get_event(tracker, &task, sizeof(task));
	if (event)
		lt_task_forget(tracker, task);
	latency_tracker_put_event(tracker, event);
}

/* Under the lock of the run queue of @task. */
static void probe_sched_wakeup(void *data, struct task_struct *task)
{
	/* The current task is on its run queue, whose lock is not held then. */
	if (steal_is_known() && task != current)
		steal_queued(task);
	if (unlikely(lt_task_on_cpu(task)) && task != current &&
	    lt_task_passes(&wakeup_usecase, task)) {
		if (lt_task_has_cgroup_filter(&wakeup_usecase))
			forget_known(data, task);
		else
			lt_task_forget(data, task);
	}
}

/* It never was an event, but is late, or something is wrong with its end. */
static noinline void end_late(struct latency_tracker *tracker,
			      const struct waiting *wait, struct wakeup_end *end,
			      u64 now)
{
	struct wakeup wakeup = describe_wait(wait, raw_smp_processor_id());
	struct latency_tracker_in in = {
		.priv = &wakeup,
		.priv_len = sizeof(wakeup),
		.start_ns = wait->start,
	};

	latency_tracker_event_whole(tracker, &end->next, sizeof(end->next),
				    LATENCY_TRACKER_START, &in, 0, end, now);
}

/* @next has got the CPU, and passes. */
static void end(struct latency_tracker *tracker, const struct waiting *wait,
		struct wakeup_end *end, u64 now)
{
	if (wait->task == end->next) {
		if (unlikely(latency_tracker_whole_in_time(tracker, wait->start,
							   now, NULL, end)))
			end_late(tracker, wait, end, now);
	} else if (lt_task_has_cgroup_filter(&wakeup_usecase)) {
		/* It may not be tracked. */
		latency_tracker_slot_try_end(tracker, lt_task_key(end->next),
					     end, now);
	} else {
		latency_tracker_slot_end(tracker, lt_task_key(end->next), end, now);
	}
}

/* @prev still could go on, and so waits now. */
static __always_inline bool loses_cpu(struct task_struct *prev, unsigned int prev_state)
{
	return READ_ONCE(preempted.on) && !is_idle_task(prev) &&
	       lt_switch_is_runnable(prev, prev_state);
}

/*
 * @next, which is not idle, gets the CPU of the current task. @now: 0 if the clock has not been
 * looked at. Returns when it was.
 */
static noinline u64 end_next(struct latency_tracker *tracker,
			     struct task_struct *next, u64 now)
{
	struct wakeup_end ends = { .prev = current, .next = next };
	const struct waiting *wait = this_cpu_ptr(&waiting);

	if (!lt_task_passes(&wakeup_usecase, next))
		return now;
	if (!now)
		now = latency_tracker_clock();
	end(tracker, wait, &ends, now);
	return now;
}

/* Any switch, that history_switch() has seen. */
static noinline void switch_any(struct latency_tracker *tracker, bool preempt,
				struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	struct waiting *wait = this_cpu_ptr(&waiting);
	u64 now = 0;

	if (is_idle_task(next))
		history_idle();
	else
		now = end_next(tracker, next, 0);
	if (wait->task == next)
		WRITE_ONCE(wait->task, NULL);
	if (loses_cpu(prev, prev_state))
		begin_preempted(tracker, wait, prev, preempt, prev_state, now);
}

static noinline void look_and_switch(struct latency_tracker *tracker, bool preempt,
				     struct task_struct *prev,
				     struct task_struct *next,
				     unsigned int prev_state)
{
	history_look(prev, next, preempt || !prev_state);
	switch_any(tracker, preempt, prev, next, prev_state);
}

/*
 * A wait that is kept by this CPU ends, as the next task @comes back, or one begins, as the
 * current one @loses the CPU, or both, and no task is filtered. Returns when; 0: it is more than
 * that, and nothing has changed.
 */
static __always_inline u64 try_turn(struct latency_tracker *tracker, bool preempt,
				    unsigned int prev_state, bool loses, bool comes)
{
	struct waiting *wait = this_cpu_ptr(&waiting);
	u64 now, delay;

	if (unlikely(loses && (prev_state || (wait->task && !comes))))
		return 0;
	now = latency_tracker_whole_begin(tracker);
	if (unlikely(!now ||
		     (comes && !latency_tracker_whole_is_plain(tracker, wait->start,
							       now))))
		return 0;
	delay = now - wait->start;
	WRITE_ONCE(wait->task, loses ? current : NULL);
	if (loses) {
		wait->start = now;
		wait->prio = current->prio;
		wait->preempt = preempt;
	}
	if (comes)
		latency_tracker_whole_count(tracker, delay);
	return now;
}

/*
 * Most switches need no call but the last: no register has to outlive one. @prev is the current
 * task, which is found again at less.
 */
static __always_inline void on_sched_switch(void *data, bool preempt,
					    struct task_struct *prev,
					    struct task_struct *next,
					    unsigned int prev_state)
{
	bool comes, loses;
	u64 now = 0;

	if (unlikely(!history_switch(prev, next, preempt || !prev_state))) {
		look_and_switch(data, preempt, prev, next, prev_state);
		return;
	}
	if (lt_task_is_filtered(&wakeup_usecase)) {
		switch_any(data, preempt, prev, next, prev_state);
		return;
	}
	comes = this_cpu_read(waiting.task) == next;
	loses = loses_cpu(prev, prev_state);
	if (comes || loses) {
		now = try_turn(data, preempt, prev_state, loses, comes);
		if (unlikely(!now))
			switch_any(data, preempt, current, next, prev_state);
		if (comes || unlikely(!now))
			return;
	}
	if (is_idle_task(next))
		history_idle();
	else if (unlikely(!latency_tracker_slot_end_in_time(data, lt_task_key(next),
							    now, NULL)))
		end_next(data, next, now);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_sched_switch)

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	lt_task_gone(data, task);
}

static struct lt_probe probes[] = {
	LT_PROBE(sched_process_free),
	/* As long as a switch may leave a task with a CPU, its move is seen. */
	LT_PROBE(sched_migrate_task),
	LT_PROBE(sched_switch),
	LT_PROBE(sched_wakeup),
	LT_PROBE(sched_waking),
	LT_PROBE(sched_wakeup_new),
};

static void ids(const void *key, const void *priv, const void *out_data, u64 *id)
{
	const struct wakeup_end *end = out_data;

	id[0] = lt_group_of_class(end->next);
	id[1] = lt_group_of_task(end->next);
}

static void belongs(const struct latency_tracker_verdict *verdict,
		    struct lt_belongs *to)
{
	const struct wakeup_end *end = verdict->out_data;
	const struct wakeup *wakeup = verdict->priv;

	lt_belongs_to_task(to, end ? end->next :
				     lt_task_find(verdict, wakeup->pid));
}

LT_GROUPING(grouping, ids, "class", "cgroup");

struct lt_usecase wakeup_usecase = {
	.name = "wakeup",
	.owner = THIS_MODULE,
	LT_PROBES(probes),
	LT_KEEPS(keeps),
	.report = report_wait,
	.is_false_alarm = report_is_doubtful,
	.usec_threshold = USEC_THRESHOLD,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct task_struct *),
	.priv_size = sizeof(struct wakeup),
	.slots = true,
	.grouping = &grouping,
	.group_name = lt_class_name,
	.threshold_names = LT_CLASS_NAMES,
	.threshold_find = lt_class_find,
	.belongs = belongs,
	.waited = report_waited,
	.is_of_task = true,
};

LT_USECASE_PARAMS(wakeup_usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_TASK_FILTER_PARAMS(wakeup_usecase);
LT_DOUBTFUL_PARAM(wakeup_usecase);

static int __init wakeup_init(void)
{
	int err;

	err = history_start();
	if (err)
		return err;
	err = throttle_start();
	if (err)
		goto err_history;
	err = report_start();
	if (err)
		goto err_throttle;
	err = lt_usecase_start(&wakeup_usecase);
	if (err)
		goto err_look;
	return 0;

err_look:
	report_stop();
err_throttle:
	throttle_stop();
err_history:
	history_stop();
	return err;
}
module_init(wakeup_init);

/* report_stop() comes behind it: until the tracker is gone, its thread may look. */
static void __exit wakeup_exit(void)
{
	lt_usecase_stop(&wakeup_usecase);
	report_stop();
	throttle_stop();
	history_stop();
}
module_exit(wakeup_exit);

MODULE_DESCRIPTION("Latency from wake-up to running, and who held the CPU");
MODULE_LICENSE("GPL");
