// SPDX-License-Identifier: GPL-2.0-only
/*
 * System call latency: from the entry until the task is back in user space.
 *
 * Default threshold: 1 s. An event syscall_latency tells of a call that took
 * that long. While it does, an event syscall_latency_stack at every switch to
 * the task has the stack on which it was blocked.
 *
 * Most calls end before their task leaves its CPU, so the CPU keeps the begin, and
 * the tracker is told when all is over. Only the call of a task that is switched
 * away from becomes an event, that is pending. A timeout has to find all of them:
 * with one, each is an event from its begin on.
 *
 * A tracer or a seccomp filter may stop a call before sys_enter: then it begins when its
 * task leaves the CPU there, see enter.c.
 *
 * The task may have work to do between sys_exit and user space; then the call ends
 * when that is done, where that can be told (leave.c), else at sys_exit. exit and
 * exit_group do not return: they end when the task leaves its CPU for the last time.
 * A task that dies in another call takes its event with it.
 *
 * Every task that has been switched away from in a tracked call has a slot, hence the size
 * of the pool: 8192 events, growing up to a million.
 */
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "examples/syscalls/call.h"
#include "examples/syscalls/enter.h"
#include "examples/syscalls/leave.h"
#include "examples/syscalls/names.h"
#include "examples/syscalls/report.h"
#include "examples/syscalls/running.h"
#include "usecase/look_task.h"
#include "usecase/usecase.h"
#include "wrapper/sched.h"
#include "wrapper/syscalls.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_syscalls.h>

LT_KEEP_EVENT(syscall_latency, SYSCALL_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(syscall_latency),
};

#define USEC_THRESHOLD	1000000
#define MAX_EVENTS	8192
#define GROW_LIMIT	1048576

DEFINE_PER_CPU_ALIGNED(struct running, running);

static __always_inline void describe(struct pending_call *call,
				     const struct running *mine,
				     const struct task_struct *task)
{
	*call = mine->call;
	call->call.pid = task->pid;
	call->call.tgid = task->tgid;
}

/* From now on it is pending. */
static noinline void publish(struct latency_tracker *tracker,
			     struct task_struct *task, struct running *mine)
{
	struct pending_call *call = latency_tracker_slot_begin(tracker,
							       lt_task_key(task), 0);

	if (IS_ERR_OR_NULL(call))
		return;
	describe(call, mine, task);
	if (mine->call.leaving)
		leave_mark(task);
	latency_tracker_slot_publish(tracker, call, mine->start);
}

/* The same for a call that has not passed sys_exit. Most need no call but the last. */
static __always_inline void publish_quick(struct latency_tracker *tracker,
					  struct task_struct *task,
					  struct running *mine)
{
	struct pending_call *call;
	u64 start = mine->start;

	call = latency_tracker_slot_try_begin(tracker, lt_task_key(task), &start);
	if (unlikely(!call)) {
		publish(tracker, task, mine);
		return;
	}
	describe(call, mine, task);
	latency_tracker_slot_publish_begun(tracker, call, start);
}

/*
 * The call of the current task never was pending, but is late, or something is wrong with its
 * end.
 */
noinline void finish_late(u64 end_ns)
{
	struct running *mine = this_cpu_ptr(&running);
	struct task_struct *task = current;
	struct latency_tracker_in in = {
		.priv = &mine->call,
		.priv_len = sizeof(mine->call),
		.start_ns = mine->start,
	};

	mine->call.call.pid = task->pid;
	mine->call.call.tgid = task->tgid;
	latency_tracker_event_whole(syscalls_usecase.tracker, &task,
				    sizeof(task), LATENCY_TRACKER_START, &in, 0,
				    &mine->call.ret, end_ns);
}

/* The call of @task, which was stopped, goes on, as @nr maybe. False: it is not tracked. */
static noinline bool pass_enter(struct latency_tracker *tracker,
				struct task_struct *task, long nr)
{
	struct latency_tracker_event *event;
	struct pending_call *call;

	__this_cpu_write(running.special, NULL);
	event = call_find(tracker, task, &call);
	if (!event)
		return false;
	if (call->early)
		unmark(&enter_marks, task);
	call->early = false;
	/* It is another one by now, or none. */
	if (nr >= 0 && call->call.nr != nr)
		call->call.nr = nr;
	latency_tracker_put_event(tracker, event);
	return true;
}

/* Is there nothing that @task has to pass, nor anything that is known of this call? */
static __always_inline bool is_plain(const struct running *mine, long nr,
				     bool compat)
{
	return likely(mine->special != current) &&
	       !lt_task_is_filtered(&syscalls_usecase) &&
	       calls_pass_surely(nr, compat);
}

/* With a timeout, or another clock. */
static noinline void enter_other(struct latency_tracker *tracker,
				 struct running *mine)
{
	mine->start = latency_tracker_whole_begin_other(tracker);
	if (mine->start) {
		mine->task = current;
		return;
	}
	mine->task = NULL;
	mine->start = latency_tracker_clock();
	publish(tracker, current, mine);
}

/* Nothing of the caller's is needed any more, which saves registers. */
static __always_inline void enter(struct latency_tracker *tracker,
				  struct running *mine, long nr, bool compat)
{
	mine->call.call.nr = nr;
	mine->call.call.compat = compat;
	mine->call.leaving = CALL_STAYS;
	mine->start = latency_tracker_whole_begin(tracker);
	if (likely(mine->start))
		mine->task = current;
	else
		enter_other(tracker, mine);
}

/* A call begins, maybe one that is not to be tracked. */
static noinline void enter_special(struct latency_tracker *tracker,
				   struct running *mine, long nr)
{
	struct task_struct *task = current;
	bool compat = lt_syscall_is_32bit();

	if (mine->special == task && mine->is_early &&
	    pass_enter(tracker, task, nr))
		return;
	if (mine->special == task && mine->task == task)
		leave_is_over(tracker, mine);
	mine->special = NULL;
	if (lt_task_passes(&syscalls_usecase, task) &&
	    calls_pass(nr, compat) &&
	    lt_task_in_cgroup(&syscalls_usecase, task)) {
		enter(tracker, mine, nr, compat);
		return;
	}
	mine->task = NULL;
	mine->special = task;
	mine->is_early = false;
}

static void probe_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	bool compat = lt_syscall_is_32bit();
	struct running *mine;

	lt_syscall_probe_begin();
	mine = this_cpu_ptr(&running);
	if (likely(is_plain(mine, nr, compat)))
		enter(data, mine, nr, compat);
	else
		enter_special(data, mine, nr);
	lt_syscall_probe_end();
}

/* A call that may not be tracked. */
static noinline void end_known(struct latency_tracker *tracker,
			       struct task_struct *task, long ret)
{
	latency_tracker_slot_try_end(tracker, lt_task_key(task), &ret, 0);
}

/* The call of @task has been off its CPU, is not tracked, or began before the tracker. */
static noinline void exit_other(struct latency_tracker *tracker,
				struct task_struct *task, long ret)
{
	if (__this_cpu_read(running.special) == task) {
		__this_cpu_write(running.special, NULL);
		if (!__this_cpu_read(running.is_early))
			return;
		/* Its call was not made. */
		pass_enter(tracker, task, lt_syscall_nr(task));
	}
	if (!lt_task_passes(&syscalls_usecase, task) ||
	    (unlikely(lt_has_work_before_user(task)) &&
	     leave_event(tracker, task, ret)))
		return;
	if (calls_are_filtered() || lt_task_has_cgroup_filter(&syscalls_usecase))
		end_known(tracker, task, ret);
	else
		latency_tracker_slot_end(tracker, lt_task_key(task), &ret, 0);
}

/*
 * What @mine has is filtered now, or has work to do before user space. Or it was over when it last
 * passed here, and the probe of sys_enter is gone.
 */
static noinline void exit_special(struct latency_tracker *tracker,
				  struct running *mine, long ret)
{
	struct task_struct *task = current;

	if (mine->special == task) {
		mine->special = NULL;
		leave_is_over(tracker, mine);
		return;
	}
	mine->task = NULL;
	if (!lt_task_passes(&syscalls_usecase, task))
		return;
	if (!lt_has_work_before_user(task) || !leave(tracker, mine, ret))
		finish(tracker, mine, ret, 0);
}

static void probe_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	struct running *mine;

	lt_syscall_probe_begin();
	mine = this_cpu_ptr(&running);
	if (unlikely(mine->task != current)) {
		exit_other(data, current, ret);
	} else if (lt_task_is_filtered(&syscalls_usecase) ||
		   unlikely(mine->special) ||
		   unlikely(lt_has_work_before_user(current))) {
		exit_special(data, mine, ret);
	} else {
		mine->task = NULL;
		finish(data, mine, ret, 0);
	}
	lt_syscall_probe_end();
}

/* @task leaves its CPU for the last time. What is left of it does not return. */
static noinline void end_final(struct latency_tracker *tracker,
			       struct task_struct *task, struct running *mine)
{
	if (mine)
		finish(tracker, mine, 0, 0);
	else
		end_known(tracker, task, 0);
}

/* @task leaves its CPU: in the call that @mine had? */
static __always_inline bool is_in_call(struct latency_tracker *tracker,
				       struct task_struct *task,
				       struct running *mine, unsigned int state)
{
	return likely(mine->call.leaving != CALL_SWITCHES) ||
	       leave_goes_on(tracker, task, mine, state);
}

/* Any switch. @mine: NULL, or has the call of @prev. */
static noinline void switch_any(struct latency_tracker *tracker, bool preempt,
				struct task_struct *prev,
				struct task_struct *next,
				unsigned int prev_state, struct running *mine)
{
	if (unlikely(prev_state == TASK_DEAD)) {
		if (lt_task_passes(&syscalls_usecase, prev))
			end_final(tracker, prev, mine);
	} else if (mine && lt_task_passes(&syscalls_usecase, prev) &&
		   is_in_call(tracker, prev, mine, preempt ? 0 : prev_state)) {
		publish(tracker, prev, mine);
	} else if (unlikely(enter_may_stop(prev, preempt ? 0 : prev_state)) &&
		   lt_task_passes(&syscalls_usecase, prev)) {
		enter_stop(tracker, prev, prev_state);
	}
	if (unlikely(leave_is_marked(next)))
		leave_next(tracker, next);
	if (unlikely(is_marked(&enter_marks, next)) &&
	    enter_is_next(tracker, next)) {
		__this_cpu_write(running.special, next);
		__this_cpu_write(running.is_early, true);
	}
	if (trace_syscall_latency_stack_enabled() &&
	    !(next->flags & PF_KTHREAD) && lt_task_passes(&syscalls_usecase, next))
		syscall_sample(tracker, next);
}

/* Most switches need no call but the last: no register has to outlive one. */
static __always_inline void on_sched_switch(void *data, bool preempt,
					    struct task_struct *prev,
					    struct task_struct *next,
					    unsigned int prev_state)
{
	struct running *mine = take_running(prev);

	__this_cpu_write(running.special, NULL);
	if (unlikely(prev_state == TASK_DEAD || leave_is_marked(next) ||
		     is_marked(&enter_marks, next)) ||
	    trace_syscall_latency_stack_enabled())
		switch_any(data, preempt, prev, next, prev_state, mine);
	else if (mine && likely(mine->call.leaving == CALL_STAYS) &&
		 !lt_task_is_filtered(&syscalls_usecase))
		publish_quick(data, prev, mine);
	else if (mine || unlikely(enter_may_stop(prev, preempt ? 0 : prev_state)))
		switch_any(data, preempt, prev, next, prev_state, mine);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_sched_switch)

/* Exit and exit_group go on; what else has no end by now, will have none. */
static noinline void forget_others(struct latency_tracker *tracker,
				   struct task_struct *task)
{
	struct latency_tracker_event *event;
	struct pending_call *call;

	event = call_find(tracker, task, &call);
	if (!event)
		return;
	if (call->leaving)
		leave_unmark(task);
	if (call->early)
		unmark(&enter_marks, task);
	if (!lt_syscall_is_final(call->call.nr))
		lt_task_forget(tracker, task);
	latency_tracker_put_event(tracker, event);
}

static void on_exit(void *data, struct task_struct *task)
{
	struct running *mine;

	preempt_disable_notrace();
	mine = take_running(task);
	if (mine && mine->call.leaving == CALL_SWITCHES)
		leave_is_over(data, mine);
	else if (mine && lt_syscall_is_final(mine->call.call.nr))
		mine->task = task;
	if (!mine)
		forget_others(data, task);
	preempt_enable_notrace();
}

LT_DEFINE_PROBE_SCHED_PROCESS_EXIT(on_exit)

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	lt_task_gone(data, task);
}

static struct lt_probe probes[] = {
	LT_PROBE(sched_process_free),
	LT_PROBE(sched_process_exit),
	LT_PROBE(sched_switch),
	LT_PROBE(sys_exit),
	LT_PROBE(sys_enter),
};

/* All ends are of the current task. */
static void ids(const void *key, const void *priv, const void *out_data, u64 *id)
{
	const struct pending_call *pending = priv;

	id[0] = call_group(pending->call.nr, pending->call.compat);
	id[1] = lt_group_of_task(current);
}

LT_GROUPING(grouping, ids, "call", "cgroup");

struct lt_usecase syscalls_usecase = {
	.name = "syscalls",
	.owner = THIS_MODULE,
	LT_PROBES(probes),
	LT_KEEPS(keeps),
	.report = syscall_report,
	.usec_threshold = USEC_THRESHOLD,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct task_struct *),
	.priv_size = sizeof(struct pending_call),
	.slots = true,
	.grouping = &grouping,
	.group_name = call_group_name,
	.threshold_names = "a system call, or the path of a control group",
	.threshold_find = call_threshold_find,
	.belongs = syscall_belongs,
	.is_of_task = true,
};

LT_USECASE_PARAMS(syscalls_usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_TASK_FILTER_PARAMS(syscalls_usecase);

static int __init syscalls_init(void)
{
	int err;

	err = calls_init();
	if (err)
		return err;
	err = lt_look_at_tasks_start(&syscalls_look);
	if (err)
		return err;
	err = lt_user_return_start(&leave_return);
	if (err)
		goto err_look;
	err = lt_usecase_start(&syscalls_usecase);
	if (err)
		goto err_leave;
	return 0;

err_leave:
	lt_user_return_stop(&leave_return);
err_look:
	lt_look_end(&syscalls_look);
	return err;
}
module_init(syscalls_init);

/* What is told of a return uses the tracker. */
static void __exit syscalls_exit(void)
{
	lt_user_return_stop(&leave_return);
	lt_usecase_stop(&syscalls_usecase);
	lt_look_end(&syscalls_look);
}
module_exit(syscalls_exit);

MODULE_DESCRIPTION("Latency of system calls, and where they are blocked");
MODULE_LICENSE("GPL");
