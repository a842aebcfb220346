// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of waits.
 */
#include <linux/sched.h>
#include <linux/smp.h>
#include <trace/events/latency_tracker_wakeup.h>

#include "examples/wakeup/history.h"
#include "examples/wakeup/report.h"
#include "examples/wakeup/wakeup.h"
#include "usecase/look.h"
#include "usecase/usecase.h"
#include "wrapper/sched.h"
#include "wrapper/syscalls.h"

static void describe(struct lt_wakeup_prev *prev,
		     const struct task_struct *task)
{
	prev->pid = task->pid;
	prev->tgid = task->tgid;
	prev->prio = task->prio;
	memcpy(prev->comm, task->comm, TASK_COMM_LEN);
}

/* It was preempted between the wake-up and the switch: then it is not the end of a wait. */
bool report_is_doubtful(const struct latency_tracker_verdict *verdict)
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
	lt_stack_of_current(&prev.stack, &wakeup_usecase, 1);
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
		.cpu = lt_task_cpu(verdict, wakeup->pid),
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

#define SAME_CAUSE(name)						\
	static_assert((int)LT_WAKEUP_##name - (int)LATENCY_TRACKER_CAUSE_##name == 0)
SAME_CAUSE(UNKNOWN);
SAME_CAUSE(CPU);
SAME_CAUSE(THROTTLED);
SAME_CAUSE(RT_THROTTLED);
SAME_CAUSE(DL_SERVER);
SAME_CAUSE(STEAL);

/* For critical paths: in time or not, who had the CPU. */
void report_waited(const struct latency_tracker_verdict *verdict)
{
	const struct wakeup *wakeup = verdict->priv;
	const struct wakeup_end *end = verdict->out_data;
	struct latency_tracker_wait published = {
		.kind = LATENCY_TRACKER_WAIT_CPU,
		.begin_ns = verdict->start_ns,
		.end_ns = verdict->now_ns,
		.pid = end->next->pid,
		.name = "-",
	};
	struct wait wait = {
		.task = end->next,
		.prio = wakeup->prio,
		.delay_ns = verdict->delay_ns,
		.stayed = has_stayed(wakeup, end->next),
	};
	struct lt_wakeup_why why;

	if (report_is_doubtful(verdict))
		return;
	history_explain(&wait, &why);
	published.part_ns = why.cause_ns;
	published.ready_ns = why.holder.ran;
	published.where = why.cgroup;
	published.cause = why.cause;
	published.by_pid = why.holder.pid;
	memcpy(published.by_comm, why.holder.comm, TASK_COMM_LEN);
	memcpy(published.comm, end->next->comm, TASK_COMM_LEN);
	latency_tracker_wait_publish(&published);
}

void report_wait(const struct latency_tracker_verdict *verdict)
{
	if (!trace_wakeup_latency_enabled())
		return;
	if (verdict->flag == LATENCY_TRACKER_ENDED)
		report_end(verdict, verdict->priv);
	else
		report_pending(verdict, verdict->priv);
}

LT_LOOK_PARAMS(look);

int report_start(void)
{
	return lt_look_start(&look);
}

/* Once no report looks any more. */
void report_stop(void)
{
	lt_look_end(&look);
}
