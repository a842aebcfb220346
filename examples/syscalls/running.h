/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call of the task that a CPU runs, while that is no event.
 */
#ifndef _LT_SYSCALLS_RUNNING_H
#define _LT_SYSCALLS_RUNNING_H

#include <linux/compiler.h>
#include <linux/percpu.h>

#include "examples/syscalls/call.h"
#include "latency_tracker.h"

/**
 * struct running - the call of the task that a CPU runs, while that is no event
 * @task: whose; NULL: there is none
 * @special: the task in a call that is not tracked, or that is an event and has not
 *	passed sys_enter; or @task, with CALL_SWITCHES; or NULL
 * @is_early: it is the second
 * @start: when it began
 * @left: when it passed sys_exit, with CALL_SWITCHES
 * @call: what it is
 *
 * Of its own CPU, with preemption off.
 */
struct running {
	struct task_struct *task;
	struct task_struct *special;
	bool is_early;
	u64 start;
	struct pending_call call;
	u64 left;
};

DECLARE_PER_CPU_ALIGNED(struct running, running);

/* The call of @task, if this CPU has it; it is not there any more. */
static __always_inline struct running *take_running(struct task_struct *task)
{
	struct running *mine = this_cpu_ptr(&running);

	if (mine->task != task)
		return NULL;
	mine->task = NULL;
	return mine;
}

void finish_late(u64 end_ns);

/*
 * It never was pending, and ended at @end_ns; 0 is now. Nothing of the caller's is needed any
 * more, which saves registers.
 */
static __always_inline void finish(struct latency_tracker *tracker,
				   struct running *mine, long ret, u64 end_ns)
{
	mine->call.ret = ret;
	end_ns = latency_tracker_whole_in_time(tracker, mine->start, end_ns,
					       &mine->call, NULL);
	if (unlikely(end_ns))
		finish_late(end_ns);
}

#endif /* _LT_SYSCALLS_RUNNING_H */
