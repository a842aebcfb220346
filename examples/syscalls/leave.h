/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call that is an event, while its task has work to do between sys_exit and user space.
 */
#ifndef _LT_SYSCALLS_LEAVE_H
#define _LT_SYSCALLS_LEAVE_H

#include <linux/types.h>

#include "examples/syscalls/marks.h"
#include "usecase/user_return.h"

struct task_struct;

extern struct lt_user_return leave_return;

/* Tasks on their way out of a call that is an event: the switch to one watches for its return. */
extern struct marks leave_marks;

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

/* As lt_user_return_watch(). */
static inline bool leave_watch(void)
{
	return lt_user_return_watch(&leave_return);
}

#endif /* _LT_SYSCALLS_LEAVE_H */
