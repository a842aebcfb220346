// SPDX-License-Identifier: GPL-2.0-only
/*
 * System call latency: from entry to exit.
 *
 * Default threshold: 1 s. An event syscall_latency tells of a call that took
 * that long. While it does, an event syscall_latency_stack at every switch to
 * the task has the stack on which it was blocked.
 *
 * Every task that sleeps in a system call holds an event, hence the size of the
 * pool: 8192 events, growing up to 65536. exit and exit_group do not return and
 * are not tracked; a task that dies in another call takes its event with it.
 */
#include "wrapper/sched.h"
#include "wrapper/syscalls.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_syscalls.h>

#define TRK_NAME		"syscalls"
#define TRK_USEC_THRESHOLD	1000000
#define TRK_MAX_EVENTS		8192
#define TRK_GROW_LIMIT		65536
#define TRK_TASK_FILTER
#include "examples/tracker.h"

static void probe_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	struct task_struct *task = current;
	struct lt_syscall call = {
		.nr = nr,
		.pid = task->pid,
		.compat = lt_syscall_is_32bit(),
	};
	struct latency_tracker_in in = {
		.priv = &call,
		.priv_len = sizeof(call),
	};

	if (!trk_wants(task) || lt_syscall_is_final(nr))
		return;
	latency_tracker_event_in(data, &task, sizeof(task),
				 LATENCY_TRACKER_UNIQUE, &in);
}

static void probe_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	struct task_struct *task = current;

	if (trk_wants(task))
		latency_tracker_event_out(data, &task, sizeof(task), 0, &ret,
					  0);
}

static noinline void report_stack(struct task_struct *next,
				  const struct lt_syscall *call, u64 start,
				  u64 delay)
{
	struct lt_stack stack;

	lt_stack_of_next(&stack, next);
	trace_syscall_latency_stack(next, call, start, delay, &stack);
}

/* Is @next in a call that is late already? One look-up for each switch. */
static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	struct latency_tracker_event *event;
	struct lt_syscall call;
	u64 start, now;

	if (!trace_syscall_latency_stack_enabled() ||
	    (next->flags & PF_KTHREAD) || !trk_wants(next))
		return;
	event = latency_tracker_get_event(data, &next, sizeof(next));
	if (!event)
		return;
	start = latency_tracker_event_start(event);
	call = *(struct lt_syscall *)latency_tracker_event_priv(event);
	latency_tracker_put_event(data, event);
	now = latency_tracker_clock();
	if (now > start && now - start >= latency_tracker_get_threshold(data))
		report_stack(next, &call, start, now - start);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_sched_switch)

/* What has no end by now, will have none. */
static void on_exit(void *data, struct task_struct *task)
{
	trk_forget(data, task);
}

LT_DEFINE_PROBE_SCHED_PROCESS_EXIT(on_exit)

static struct trk_probe probes[] = {
	TRK_PROBE(sched_process_exit),
	TRK_PROBE(sched_switch),
	TRK_PROBE(sys_exit),
	TRK_PROBE(sys_enter),
};

static void report_pending(const struct latency_tracker_verdict *verdict,
			   const struct lt_syscall *call)
{
	struct task_struct *task;
	struct lt_stack stack;

	/* A stack that is given up meanwhile stays for a section like this. */
	preempt_disable();
	rcu_read_lock();
	task = trk_find_task(verdict, call->pid);
	if (task) {
		trace_syscall_latency(verdict, task, call, 0);
		lt_stack_of_other(&stack, task);
		trace_syscall_latency_stack(task, call, verdict->start_ns,
					    verdict->delay_ns, &stack);
	}
	rcu_read_unlock();
	preempt_enable();
}

static void callback(const struct latency_tracker_verdict *verdict)
{
	const struct lt_syscall *call = verdict->priv;
	const long *ret = verdict->out_data;

	if (verdict->flag == LATENCY_TRACKER_ENDED)
		trace_syscall_latency(verdict, current, call, *ret);
	else
		report_pending(verdict, call);
}

static int __init syscalls_init(void)
{
	struct latency_tracker_config config = {
		.callback = callback,
		.key_size = sizeof(struct task_struct *),
		.priv_size = sizeof(struct lt_syscall),
	};

	return trk_start(&config, probes, ARRAY_SIZE(probes));
}
module_init(syscalls_init);

static void __exit syscalls_exit(void)
{
	trk_stop();
}
module_exit(syscalls_exit);

MODULE_DESCRIPTION("Latency of system calls, and where they are blocked");
MODULE_LICENSE("GPL");
