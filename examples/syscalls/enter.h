/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that are stopped before sys_enter.
 */
#ifndef _LT_SYSCALLS_ENTER_H
#define _LT_SYSCALLS_ENTER_H

#include <linux/sched.h>

#include "examples/syscalls/marks.h"

struct latency_tracker;

/* Tasks whose call is an event and has not passed sys_enter. */
extern struct marks enter_marks;

void enter_stop(struct latency_tracker *tracker, struct task_struct *task,
		unsigned int state);
bool enter_is_next(struct latency_tracker *tracker, struct task_struct *next);

/* May @task, which leaves its CPU in @state, be stopped there? What follows is expensive. */
static __always_inline bool enter_may_stop(const struct task_struct *task,
					   unsigned int state)
{
#ifdef CONFIG_SECCOMP
	if (READ_ONCE(task->seccomp.mode))
		return state;
#endif
	return READ_ONCE(task->ptrace) && state;
}

#endif /* _LT_SYSCALLS_ENTER_H */
