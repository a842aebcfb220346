/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A place for a task, by its address: one of four. It is taken by a compare-and-exchange, and given
 * back when the memory of the task is freed; the owner of a place never changes otherwise.
 */
#ifndef _LT_CRITICAL_PATH_OWNERS_H
#define _LT_CRITICAL_PATH_OWNERS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#define PATH_WAYS	4

/**
 * struct path_owners - which task has which place
 * @tasks: of each place, or NULL
 * @bits: there are PATH_WAYS << @bits
 */
struct path_owners {
	const struct task_struct **tasks;
	unsigned int bits;
};

static __always_inline unsigned int path_owners_set(const struct path_owners *owners,
						    const struct task_struct *task)
{
	return hash_ptr(task, owners->bits) * PATH_WAYS;
}

/* The number of its place, or -1. */
static __always_inline int path_owners_find(const struct path_owners *owners,
					    const struct task_struct *task)
{
	unsigned int set = path_owners_set(owners, task), way;

	for (way = 0; way < PATH_WAYS; way++) {
		if (READ_ONCE(owners->tasks[set + way]) == task)
			return set + way;
	}
	return -1;
}

/* A place for a task that has none: its number, or -1. */
static inline int path_owners_take(const struct path_owners *owners,
				   const struct task_struct *task)
{
	unsigned int set = path_owners_set(owners, task), way;

	for (way = 0; way < PATH_WAYS; way++) {
		if (!READ_ONCE(owners->tasks[set + way]) &&
		    !cmpxchg(&owners->tasks[set + way], NULL, task))
			return set + way;
	}
	return -1;
}

/* The memory of its owner is freed. */
static inline void path_owners_give(const struct path_owners *owners, int number)
{
	/* What was done for it comes first; pairs with the cmpxchg() of path_owners_take(). */
	smp_store_release(&owners->tasks[number], NULL);
}

static inline size_t path_owners_places(const struct path_owners *owners)
{
	return (size_t)PATH_WAYS << owners->bits;
}

/* May sleep; false if there is no memory. */
static inline bool path_owners_make(struct path_owners *owners, unsigned int bits)
{
	owners->bits = bits;
	owners->tasks = vzalloc(path_owners_places(owners) * sizeof(*owners->tasks));
	return owners->tasks;
}

static inline void path_owners_free(struct path_owners *owners)
{
	vfree(owners->tasks);
	owners->tasks = NULL;
}

#endif /* _LT_CRITICAL_PATH_OWNERS_H */
