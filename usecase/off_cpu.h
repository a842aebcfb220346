/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a task is off the CPU.
 */
#ifndef _LT_USECASE_OFF_CPU_H
#define _LT_USECASE_OFF_CPU_H

#include <linux/sched.h>
#include <linux/types.h>

#include "wrapper/sched.h"

struct lt_stack;

/* Named by LT_VALUES_OFFCPU_STATE; the numbers are part of the ABI. */
enum offcpu_state {
	OFFCPU_PREEMPTED,
	OFFCPU_RUNNABLE,	/* preempted or yielded: the stack tells */
	OFFCPU_SLEEPING,
	OFFCPU_BLOCKED,
	OFFCPU_OTHER,		/* parked, ... */
	OFFCPU_YIELDED,
	OFFCPU_THROTTLED,
	OFFCPU_STOPPED,
	OFFCPU_TRACED,
	OFFCPU_FROZEN,
	OFFCPU_UNKNOWN,		/* the state was overwritten before it was read */
	NR_OFFCPU_STATES,
};

/* What its sleep is for, as the task has told the kernel; LT_VALUES_OFFCPU_STALL. */
enum offcpu_stall {
	OFFCPU_STALL_NONE,
	OFFCPU_STALL_MEMORY,
	OFFCPU_STALL_IO,
	OFFCPU_STALL_MEMORY_IO,
};

/* It did not sleep: nothing has to wake it, and all of the time it waited for a CPU. */
static inline bool lt_offcpu_could_run(enum offcpu_state state)
{
	return state == OFFCPU_PREEMPTED || state == OFFCPU_YIELDED ||
	       state == OFFCPU_RUNNABLE || state == OFFCPU_THROTTLED;
}

/*
 * What lt_offcpu_state() says of most tasks, which sleep or could go on; UNKNOWN: that is to be
 * asked. In the same probe.
 */
static __always_inline enum offcpu_state
lt_offcpu_state_at_once(struct task_struct *prev, bool preempt,
			unsigned int prev_state)
{
	if (lt_switch_is_runnable(prev, prev_state)) {
		if (unlikely(lt_switch_is_throttled(prev)))
			return OFFCPU_UNKNOWN;
		if (preempt)
			return OFFCPU_PREEMPTED;
		return prev_state ? OFFCPU_UNKNOWN : OFFCPU_RUNNABLE;
	}
	if ((prev_state & (TASK_INTERRUPTIBLE | __TASK_STOPPED | __TASK_TRACED |
			   TASK_WAKING)) != TASK_INTERRUPTIBLE ||
	    lt_switch_is_frozen(prev, prev_state))
		return OFFCPU_UNKNOWN;
	return OFFCPU_SLEEPING;
}

void lt_offcpu_init(void);
enum offcpu_state lt_offcpu_state(struct task_struct *prev, bool preempt,
				  unsigned int prev_state);
enum offcpu_state lt_offcpu_state_by_stack(enum offcpu_state state,
					   const struct lt_stack *stack);
enum offcpu_stall lt_offcpu_stall(const struct task_struct *task,
				  enum offcpu_state state);

#endif /* _LT_USECASE_OFF_CPU_H */
