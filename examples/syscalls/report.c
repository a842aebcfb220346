// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of late calls.
 */
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "examples/syscalls/call.h"
#include "examples/syscalls/names.h"
#include "examples/syscalls/report.h"
#include "usecase/look_task.h"
#include "usecase/usecase.h"
#include "wrapper/sched.h"

struct lt_look syscalls_look;
LT_LOOK_PARAMS(syscalls_look);

static void report_stack(struct task_struct *next,
			 const struct lt_syscall *call, u64 start, u64 delay)
{
	char name[LT_SYSCALL_NAME_LEN];
	struct lt_stack stack;

	call_name(name, call->nr, call->compat);
	lt_stack_of_next(&stack, next);
	trace_syscall_latency_stack(next, call, name, start, delay, &stack);
}

/* Is @next in a call that is late already? One look-up for each switch. */
void syscall_sample(struct latency_tracker *tracker, struct task_struct *next)
{
	struct latency_tracker_event *event;
	struct pending_call *pending;
	struct lt_syscall call;
	u64 start, now;
	bool is_late;

	event = call_find(tracker, next, &pending);
	if (!event)
		return;
	start = latency_tracker_event_start(event);
	call = pending->call;
	now = latency_tracker_clock();
	is_late = latency_tracker_is_late(tracker, event, now);
	latency_tracker_put_event(tracker, event);
	if (is_late)
		report_stack(next, &call, start, now - start);
}

/* A thread that calls execve() becomes the leader of its process meanwhile. */
static struct task_struct *task_of(const struct latency_tracker_verdict *verdict,
				   const struct lt_syscall *call)
{
	return lt_task_find(verdict, call->pid) ?:
	       lt_task_find(verdict, call->tgid);
}

/* To which groups of thresholds it belongs. */
void syscall_belongs(const struct latency_tracker_verdict *verdict,
		     struct lt_belongs *to)
{
	const struct pending_call *pending = verdict->priv;
	const struct lt_syscall *call = &pending->call;

	to->id = call_group(call->nr, call->compat);
	to->task = verdict->flag == LATENCY_TRACKER_ENDED ? current :
							    task_of(verdict, call);
}

/* Of a task that has a CPU: in its own words. */
static bool ask_for_stack(struct lt_stack *stack,
			  const struct latency_tracker_verdict *verdict,
			  const struct lt_syscall *call)
{
	const struct task_struct *task;
	int cpu = -1;

	if (!trace_syscall_latency_stack_enabled())
		return false;
	rcu_read_lock();
	task = task_of(verdict, call);
	if (task && lt_task_on_cpu(task))
		cpu = task_cpu(task);
	rcu_read_unlock();
	/* If the call has ended meanwhile, it is the stack of another one. */
	return cpu >= 0 && lt_look_at_task(&syscalls_look, stack, task, cpu) &&
	       lt_is_pending(verdict);
}

static void report_pending(const struct latency_tracker_verdict *verdict,
			   const struct lt_syscall *call, const char *name)
{
	struct task_struct *task;
	struct lt_stack stack;
	bool is_known = ask_for_stack(&stack, verdict, call);

	/* A stack that is given up meanwhile stays for a section like this. */
	preempt_disable();
	rcu_read_lock();
	task = task_of(verdict, call);
	if (task) {
		trace_syscall_latency(verdict, task, call, name, 0);
		if (!is_known)
			lt_stack_of_other(&stack, task);
		trace_syscall_latency_stack(task, call, name, verdict->start_ns,
					    verdict->delay_ns, &stack);
	}
	rcu_read_unlock();
	preempt_enable();
}

/* The callback of the tracker. */
void syscall_report(const struct latency_tracker_verdict *verdict)
{
	const struct pending_call *pending = verdict->priv;
	const struct lt_syscall *call = &pending->call;
	const long *ret = verdict->out_data;
	char name[LT_SYSCALL_NAME_LEN];

	call_name(name, call->nr, call->compat);
	if (verdict->flag == LATENCY_TRACKER_ENDED)
		trace_syscall_latency(verdict, current, call, name, *ret);
	else
		report_pending(verdict, call, name);
}
