/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The moment at which a task is back in user space.
 */
#ifndef _LT_SYSCALLS_LEAVE_H
#define _LT_SYSCALLS_LEAVE_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/types.h>

#include "wrapper/user_return.h"

struct task_struct;

#ifdef LT_HAVE_USER_RETURN
#define LEAVE_BITS	8

/*
 * How many tasks with the same hash are on their way out of a call that is an
 * event: the switch to such a task has to watch for its return. A mark that is
 * left over costs time, and does no harm.
 */
extern atomic_t leave_marks[1 << LEAVE_BITS];

static __always_inline bool leave_is_marked(const struct task_struct *task)
{
	return atomic_read(&leave_marks[hash_ptr(task, LEAVE_BITS)]);
}

static inline void leave_mark(const struct task_struct *task)
{
	atomic_inc(&leave_marks[hash_ptr(task, LEAVE_BITS)]);
}

static inline void leave_unmark(const struct task_struct *task)
{
	atomic_dec(&leave_marks[hash_ptr(task, LEAVE_BITS)]);
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
