// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that are stopped before sys_enter: a tracer (ptrace), or the supervisor of a seccomp
 * filter, looks at a call first, and may take its time. No tracepoint tells. But the task leaves
 * its CPU, and where it does so is known.
 */
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/signal.h>
#include <linux/string.h>

#include "examples/syscalls/call.h"
#include "examples/syscalls/enter.h"
#include "examples/syscalls/names.h"
#include "usecase/stack.h"
#include "usecase/usecase.h"
#include "wrapper/syscalls.h"

struct marks enter_marks;

/* The filter and what it calls may be one function for the compiler. */
static bool is_filter(unsigned long ip)
{
	char name[24];

	snprintf(name, sizeof(name), "%ps", (void *)ip);
	return str_has_prefix(name, "__secure_computing") ||
	       str_has_prefix(name, "__seccomp_filter");
}

/* @task is current. */
static bool is_in_filter(void)
{
	struct lt_stack stack;
	unsigned int i;

	lt_stack_of_current(&stack, &syscalls_usecase, 1);
	for (i = stack.first; i < stack.first + stack.nr; i++) {
		if (is_filter(stack.ip[i]))
			return true;
	}
	return false;
}

/*
 * It tells its tracer why it stops, in what is on its stack until it goes on. The tracer may
 * have taken exit_code away by now.
 */
static bool is_before_call(const struct task_struct *task)
{
	const struct kernel_siginfo *info = task->last_siginfo;

	if (!info || info->si_signo != SIGTRAP)
		return false;
	return info->si_code >> 8 == PTRACE_EVENT_SECCOMP ||
	       ((info->si_code & 0x7f) == SIGTRAP && !(info->si_code >> 8) &&
		task->ptrace_message == PTRACE_EVENTMSG_SYSCALL_ENTRY);
}

/* Does @task, which is current and leaves its CPU in @state, wait for a look at its call? */
static bool is_stopped(struct task_struct *task, unsigned int state)
{
	if (state & __TASK_TRACED)
		return is_before_call(task);
	return !(state & (TASK_DEAD | __TASK_STOPPED)) && is_in_filter();
}

/*
 * @task, which is current, leaves its CPU in @state, maybe before sys_enter: then its call is an
 * event from now on.
 */
void enter_stop(struct latency_tracker *tracker, struct task_struct *task,
		unsigned int state)
{
	struct pending_call *known, call = {
		.call.nr = lt_syscall_nr(task),
		.call.pid = task->pid,
		.call.tgid = task->tgid,
		.call.compat = lt_task_is_32bit(task),
		.early = true,
	};
	struct latency_tracker_in in = {
		.priv = &call,
		.priv_len = sizeof(call),
	};
	struct latency_tracker_event *event;

	if (lt_task_makes_no_calls(task) || call.call.nr < 0 ||
	    !calls_pass(call.call.nr, call.call.compat) ||
	    !lt_task_in_cgroup(&syscalls_usecase, task))
		return;
	event = call_find(tracker, task, &known);
	latency_tracker_put_event(tracker, event);
	if (event || !is_stopped(task, state))
		return;
	if (!latency_tracker_event_in(tracker, &task, sizeof(task), 0, &in))
		mark(&enter_marks, task);
}

/* Is the call of @next, which gets a CPU, such an event? */
bool enter_is_next(struct latency_tracker *tracker, struct task_struct *next)
{
	struct latency_tracker_event *event;
	struct pending_call *call;
	bool is_next;

	event = call_find(tracker, next, &call);
	is_next = event && call->early;
	latency_tracker_put_event(tracker, event);
	return is_next;
}
