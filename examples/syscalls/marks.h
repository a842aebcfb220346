/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks that a probe has to find again among all others, at the cost of a load.
 */
#ifndef _LT_SYSCALLS_MARKS_H
#define _LT_SYSCALLS_MARKS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/hash.h>

#define MARKS_BITS	8

struct task_struct;

/**
 * struct marks - a set of tasks, which may have more than were put in
 * @of: how many tasks with the same hash are in it
 *
 * A mark that is left over costs time, and does no harm.
 */
struct marks {
	atomic_t of[1 << MARKS_BITS];
};

static __always_inline bool is_marked(const struct marks *marks,
				      const struct task_struct *task)
{
	return atomic_read(&marks->of[hash_ptr(task, MARKS_BITS)]);
}

static inline void mark(struct marks *marks, const struct task_struct *task)
{
	atomic_inc(&marks->of[hash_ptr(task, MARKS_BITS)]);
}

static inline void unmark(struct marks *marks, const struct task_struct *task)
{
	atomic_dec(&marks->of[hash_ptr(task, MARKS_BITS)]);
}

#endif /* _LT_SYSCALLS_MARKS_H */
