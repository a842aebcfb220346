/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call whose task has work to do between sys_exit and user space.
 */
#ifndef _LT_SYSCALLS_LEAVE_H
#define _LT_SYSCALLS_LEAVE_H

#include <linux/types.h>

#include "examples/syscalls/marks.h"
#include "usecase/user_return.h"

struct latency_tracker;
struct running;
struct task_struct;

extern struct lt_user_return leave_return;

/* Tasks on their way out of a call that is an event: the switch to one sees to its end. */
extern struct marks leave_marks;

bool leave(struct latency_tracker *tracker, struct running *mine, long ret);
bool leave_event(struct latency_tracker *tracker, struct task_struct *task,
		 long ret);
void leave_is_over(struct latency_tracker *tracker, struct running *mine);
bool leave_goes_on(struct latency_tracker *tracker, struct task_struct *task,
		   struct running *mine, unsigned int state);
void leave_next(struct latency_tracker *tracker, struct task_struct *next);

static __always_inline bool leave_is_marked(const struct task_struct *task)
{
	return is_marked(&leave_marks, task);
}

static inline void leave_mark(const struct task_struct *task)
{
	mark(&leave_marks, task);
}

static inline void leave_unmark(const struct task_struct *task)
{
	unmark(&leave_marks, task);
}

#endif /* _LT_SYSCALLS_LEAVE_H */
