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
 * A second wake-up of a task that has not run since the first is not traced:
 * the first one has left it in state TASK_RUNNING, in which it is not woken, until
 * it runs and sets another. So if a begin finds an event of the same task, that
 * one is stale, and is replaced.
 */
#include <linux/sched.h>
#include <linux/smp.h>

#include "examples/wakeup/history.h"
#include "examples/wakeup/steal.h"
#include "examples/wakeup/throttle.h"
#include "usecase/filter_set.h"
#include "usecase/look.h"
#include "usecase/usecase.h"
#include "wrapper/sched.h"
#include "wrapper/syscalls.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_wakeup.h>

#define USEC_THRESHOLD	10000
#define MAX_EVENTS	1024
#define GROW_LIMIT	65536

static struct lt_usecase usecase;

static struct lt_toggle preempted = { .usecase = &usecase, .on = true };
module_param_cb(preempted, &lt_toggle_ops, &preempted, 0644);
MODULE_PARM_DESC(preempted, "Track the wait of a task that lost its CPU, too, not only that of one that is woken (default Y)");

/**
 * struct wakeup - private data of an event
 * @preempted: how often the task had been preempted when it was woken, modulo 2^32
 * @pid: of the task
 * @prio: its priority when it was woken
 * @cpu: where it was preempted; where it was when it was woken, or -1
 * @reason: of enum lt_wakeup_reason
 * @moves: how often it had been moved to another CPU when it was woken, modulo 2^16; with
 *	@cpu only
 * @waker_pid: of the task that woke it, or -1
 * @waker_comm: likewise
 */
struct wakeup {
	u32 preempted;
	pid_t pid;
	int prio;
	int cpu;
	u16 reason;
	u16 moves;
	pid_t waker_pid;
	char waker_comm[TASK_COMM_LEN];
};

struct wakeup_end {
	struct task_struct *prev;
	struct task_struct *next;
};

static void begin(struct latency_tracker *tracker, struct task_struct *task,
		  struct wakeup *wakeup, u32 flags)
{
	struct latency_tracker_in in = {
		.priv = wakeup,
		.priv_len = sizeof(*wakeup),
	};

	wakeup->preempted = READ_ONCE(task->nivcsw);
	wakeup->pid = task->pid;
	wakeup->prio = task->prio;
	latency_tracker_event_in(tracker, &task, sizeof(task), flags, &in);
}

static void begin_woken(struct latency_tracker *tracker,
			struct task_struct *task, u32 flags)
{
	struct wakeup wakeup = {
		.cpu = -1,
		.reason = LT_WAKEUP_WOKEN,
		.waker_pid = current->pid,
	};

	if (!lt_task_passes(&usecase, task) || !lt_task_in_cgroup(&usecase, task))
		return;
	memcpy(wakeup.waker_comm, current->comm, TASK_COMM_LEN);
	if (steal_is_known()) {
		wakeup.cpu = task_cpu(task);
		wakeup.moves = task->se.nr_migrations;
	}
	begin(tracker, task, &wakeup, flags);
}

/*
 * A task on a run queue runs, or waits since it was preempted. That does not change
 * meanwhile, other than that it gets its CPU: pi_lock of the task is held.
 */
static void probe_sched_waking(void *data, struct task_struct *task)
{
	if (task == current)	/* it is not asleep */
		return;
	begin_woken(data, task, READ_ONCE(preempted.on) && READ_ONCE(task->on_rq) ?
				LATENCY_TRACKER_KEEP : LATENCY_TRACKER_UNIQUE);
}

static void probe_sched_wakeup_new(void *data, struct task_struct *task)
{
	begin_woken(data, task, LATENCY_TRACKER_UNIQUE);
}

/* Whether a task has called sched_yield() is only known when it is back. */
static void begin_preempted(struct latency_tracker *tracker,
			    struct task_struct *prev, bool preempt)
{
	struct wakeup wakeup = {
		.cpu = raw_smp_processor_id(),
		.reason = preempt ? LT_WAKEUP_PREEMPTED : LT_WAKEUP_RUNNABLE,
		.waker_pid = -1,
		.waker_comm = "-",
	};

	if (lt_task_passes(&usecase, prev) && lt_task_in_cgroup(&usecase, prev))
		begin(tracker, prev, &wakeup, LATENCY_TRACKER_UNIQUE);
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
	    lt_task_passes(&usecase, task)) {
		if (lt_task_has_cgroup_filter(&usecase))
			forget_known(data, task);
		else
			lt_task_forget(data, task);
	}
}

static bool end_event(struct latency_tracker_event *event, void *end)
{
	latency_tracker_event_end(READ_ONCE(usecase.tracker), event, 0, end, 0);
	return false;
}

/* A wait that may not be tracked: no end without a begin is counted. */
static noinline void end_known(struct latency_tracker *tracker,
			       struct wakeup_end *end)
{
	latency_tracker_for_each_event(tracker, &end->next, sizeof(end->next),
				       end_event, end);
}

static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	struct wakeup_end end = { .prev = prev, .next = next };

	history_switch(prev, next, preempt || !prev_state);
	if (!is_idle_task(next) && lt_task_passes(&usecase, next)) {
		if (lt_task_has_cgroup_filter(&usecase))
			end_known(data, &end);
		else
			latency_tracker_event_out(data, &next, sizeof(next), 0,
						  &end, 0);
	}
	if (READ_ONCE(preempted.on) && !is_idle_task(prev) &&
	    lt_switch_is_runnable(prev, prev_state))
		begin_preempted(data, prev, preempt);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_sched_switch)

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	lt_task_forget(data, task);
}

static struct lt_probe probes[] = {
	LT_PROBE(sched_process_free),
	LT_PROBE(sched_switch),
	LT_PROBE(sched_wakeup),
	LT_PROBE(sched_waking),
	LT_PROBE(sched_wakeup_new),
};

static void describe(struct lt_wakeup_prev *prev,
		     const struct task_struct *task)
{
	prev->pid = task->pid;
	prev->tgid = task->tgid;
	prev->prio = task->prio;
	memcpy(prev->comm, task->comm, TASK_COMM_LEN);
}

/* Between the wake-up and the switch: then it is not the end of a wait. */
static bool was_preempted(const struct latency_tracker_verdict *verdict)
{
	const struct wakeup *wakeup = verdict->priv;
	const struct wakeup_end *end = verdict->out_data;

	return end && (u32)READ_ONCE(end->next->nivcsw) != wakeup->preempted;
}

/* @task has got a CPU again, and is still where it was switched from. */
static u32 reason_of(const struct wakeup *wakeup, struct task_struct *task)
{
	if (wakeup->reason == LT_WAKEUP_WOKEN)
		return LT_WAKEUP_WOKEN;
	if (wakeup->cpu != raw_smp_processor_id())
		return LT_WAKEUP_MIGRATED;
	if (wakeup->reason == LT_WAKEUP_RUNNABLE && lt_syscall_is_yield(task))
		return LT_WAKEUP_YIELDED;
	return LT_WAKEUP_PREEMPTED;
}

/* Was it put on the run queue of this CPU, and of no other one, since it was woken? */
static bool has_stayed(const struct wakeup *wakeup,
		       const struct task_struct *task)
{
	return wakeup->reason == LT_WAKEUP_WOKEN && wakeup->cpu >= 0 &&
	       (u16)(task->se.nr_migrations - wakeup->moves) ==
		       (wakeup->cpu != raw_smp_processor_id());
}

static void report_end(const struct latency_tracker_verdict *verdict,
		       const struct wakeup *wakeup)
{
	const struct wakeup_end *end = verdict->out_data;
	struct lt_wakeup_report report = {
		.task = end->next,
		.waker_comm = wakeup->waker_comm,
		.waker_pid = wakeup->waker_pid,
		.cpu = raw_smp_processor_id(),
		.reason = reason_of(wakeup, end->next),
	};
	struct wait wait = {
		.task = end->next,
		.prio = wakeup->prio,
		.delay_ns = verdict->delay_ns,
		.stayed = has_stayed(wakeup, end->next),
	};
	struct lt_wakeup_prev prev;
	struct lt_wakeup_why why;

	describe(&prev, end->prev);
	history_explain(&wait, &why);
	/* At sched_switch the previous task is still the current one. */
	lt_stack_of_current(&prev.stack, &usecase, 1);
	lt_trace(wakeup_latency, verdict, &report, &prev, &why);
}

/**
 * struct answer - of the CPU that a task waits for
 * @wait: of the task, of which there may be only the address any more
 * @pid: of the task when it was woken
 * @prev: the task that runs there
 * @why: why the other one does not
 */
struct answer {
	struct wait wait;
	pid_t pid;
	struct lt_wakeup_prev prev;
	struct lt_wakeup_why why;
};

/* In an interrupt on the CPU that a task waits for. */
static void look_at_current(void *data)
{
	struct answer *answer = data;
	struct task_struct *task;

	describe(&answer->prev, current);
	lt_stack_of_interrupted(&answer->prev.stack);
	history_unknown(&answer->why, answer->wait.delay_ns);
	rcu_read_lock();
	task = lt_task_alive(answer->wait.task, answer->pid);
	if (task && task_cpu(task) == raw_smp_processor_id())
		history_explain_now(&answer->wait, &answer->why);
	rcu_read_unlock();
}

static struct lt_look look = {
	.answer = look_at_current,
	.data_size = sizeof(struct answer),
};

static int cpu_of(const struct latency_tracker_verdict *verdict, pid_t pid)
{
	struct task_struct *task;
	int cpu = -1;

	rcu_read_lock();
	task = lt_task_find(verdict, pid);
	if (task)
		cpu = task_cpu(task);
	rcu_read_unlock();
	return cpu;
}

/* What @cpu does while a task waits for it; false: that is not known. */
static bool ask(int cpu, const struct latency_tracker_verdict *verdict,
		const struct wakeup *wakeup, struct lt_wakeup_prev *prev,
		struct lt_wakeup_why *why)
{
	struct answer *answer = lt_look_prepare(&look, cpu);

	if (!answer)
		return false;
	answer->wait = (struct wait) {
		.task = *(struct task_struct *const *)verdict->key,
		.prio = wakeup->prio,
		.delay_ns = verdict->delay_ns,
	};
	answer->pid = wakeup->pid;
	/* If the task has run meanwhile, it did not wait for what runs now. */
	if (!lt_look_ask(&look, cpu) || !lt_is_pending(verdict))
		return false;
	*prev = answer->prev;
	*why = answer->why;
	return true;
}

/* At the end, the previous task had the CPU; here, ask the CPU which task runs. */
static void report_pending(const struct latency_tracker_verdict *verdict,
			   const struct wakeup *wakeup)
{
	struct lt_wakeup_report report = {
		.waker_comm = wakeup->waker_comm,
		.waker_pid = wakeup->waker_pid,
		.cpu = cpu_of(verdict, wakeup->pid),
		.reason = wakeup->reason,
	};
	struct lt_wakeup_prev prev = {
		.pid = -1,
		.tgid = -1,
		.prio = -1,
		.comm = "-",
	};
	struct lt_wakeup_why why;

	if (report.cpu < 0)
		return;
	if (!ask(report.cpu, verdict, wakeup, &prev, &why))
		history_unknown(&why, verdict->delay_ns);
	rcu_read_lock();
	report.task = lt_task_find(verdict, wakeup->pid);
	if (report.task)
		lt_trace(wakeup_latency, verdict, &report, &prev, &why);
	rcu_read_unlock();
}

static void callback(const struct latency_tracker_verdict *verdict)
{
	if (!trace_wakeup_latency_enabled())
		return;
	if (verdict->flag == LATENCY_TRACKER_ENDED)
		report_end(verdict, verdict->priv);
	else
		report_pending(verdict, verdict->priv);
}

static struct lt_usecase usecase = {
	.name = "wakeup",
	.owner = THIS_MODULE,
	LT_PROBES(probes),
	.report = callback,
	.is_false_alarm = was_preempted,
	.usec_threshold = USEC_THRESHOLD,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct task_struct *),
	.priv_size = sizeof(struct wakeup),
};

LT_USECASE_PARAMS(usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_TASK_FILTER_PARAMS(usecase);
LT_DOUBTFUL_PARAM(usecase);
LT_LOOK_PARAMS(look);

static int __init wakeup_init(void)
{
	int err;

	history_start();
	err = throttle_start();
	if (err)
		return err;
	err = lt_look_start(&look);
	if (err)
		goto err_throttle;
	err = lt_usecase_start(&usecase);
	if (err)
		goto err_look;
	return 0;

err_look:
	lt_look_end(&look);
err_throttle:
	throttle_stop();
	return err;
}
module_init(wakeup_init);

/* lt_look_end() comes last: until the tracker is gone, its thread may look. */
static void __exit wakeup_exit(void)
{
	lt_usecase_stop(&usecase);
	lt_look_end(&look);
	throttle_stop();
}
module_exit(wakeup_exit);

MODULE_DESCRIPTION("Latency from wake-up to running, and who held the CPU");
MODULE_LICENSE("GPL");
