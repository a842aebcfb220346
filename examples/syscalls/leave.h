/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The moment at which a task is back in user space.
 */
#ifndef _LT_SYSCALLS_LEAVE_H
#define _LT_SYSCALLS_LEAVE_H

#include <linux/types.h>

#include "examples/syscalls/marks.h"
#include "wrapper/user_return.h"

struct task_struct;

#ifdef LT_HAVE_USER_RETURN
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

bool leave_watch(void);
int leave_begin(void);
void leave_stop(void);
void leave_end(void);
#else
static inline bool leave_is_marked(const struct task_struct *task)
{
	return false;
}

static inline void leave_mark(const struct task_struct *task) {}
static inline void leave_unmark(const struct task_struct *task) {}

static inline bool leave_watch(void)
{
	return false;
}

static inline int leave_begin(void)
{
	return 0;
}

static inline void leave_stop(void) {}
static inline void leave_end(void) {}
#endif

#endif /* _LT_SYSCALLS_LEAVE_H */
