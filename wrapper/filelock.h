/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks on files: flock() and fcntl().
 */
#ifndef _LT_WRAPPER_FILELOCK_H
#define _LT_WRAPPER_FILELOCK_H

#include <linux/fs.h>
#include <linux/version.h>

/* 6.3 (5970e15dbcfe, "filelock: move file locking definitions to separate header file") */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <linux/filelock.h>
#endif
#include <trace/events/filelock.h>

#include "wrapper/lock.h"

/*
 * What all kinds of locks on files have in common, and the function that follows each wait,
 * with that as its argument.
 *
 * 6.9 (the changes around 587a67b6830b, "filelock: rename some fields in tracepoints")
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#define LT_FILE_LOCK_WAITED		"__locks_delete_block"
#define lt_file_lock			struct file_lock_core
#define lt_file_lock_of(lock)		(&(lock)->c)
#define lt_file_lock_field(lock, name)	((lock)->flc_##name)
#else
#define LT_FILE_LOCK_WAITED		"locks_delete_block"
#define lt_file_lock			struct file_lock
#define lt_file_lock_of(lock)		(lock)
#define lt_file_lock_field(lock, name)	((lock)->fl_##name)
#endif

/* One that waits may wait behind another one that does. */
#define LT_FILE_LOCKS_MAX	8

/*
 * Do the @nr locks of @chain wait for the next one each, and does a process have the last
 * one? A request is in no list of its file, also when it waits for none any more.
 */
static inline bool
lt_file_lock_is_chain(const lt_file_lock *const *chain, unsigned int nr)
{
	const lt_file_lock *last = chain[nr - 1], *next;
	const struct list_head *after;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!lt_lock_read(&lt_file_lock_field(chain[i], blocker),
				  &next, sizeof(next)) ||
		    next != (i + 1 < nr ? chain[i + 1] : NULL))
			return false;
	return lt_lock_read(&lt_file_lock_field(last, list.next), &after,
			    sizeof(after)) &&
	       after != &lt_file_lock_field(last, list);
}

/*
 * The process that took the lock for which @lock waits; 0 if that is not known. A lock that
 * is given up first stops to be what others wait for, in __locks_wake_up_blocks(), and is
 * freed then: what still is in the chain after the read was there during the read.
 */
static inline pid_t lt_file_lock_holder(const lt_file_lock *lock)
{
	const lt_file_lock *chain[LT_FILE_LOCKS_MAX], *next = lock;
	unsigned int nr = 0;
	pid_t pid;

	while (next) {
		if (nr == LT_FILE_LOCKS_MAX)
			return 0;
		chain[nr++] = next;
		if (!lt_lock_read(&lt_file_lock_field(chain[nr - 1], blocker),
				  &next, sizeof(next)))
			return 0;
	}
	if (nr < 2 || !lt_lock_read(&lt_file_lock_field(chain[nr - 1], pid),
				    &pid, sizeof(pid)))
		return 0;
	/* Pairs with smp_store_release() of the blocker in __locks_wake_up_blocks(). */
	smp_rmb();
	return lt_file_lock_is_chain(chain, nr) && pid > 0 ? pid : 0;
}

#endif /* _LT_WRAPPER_FILELOCK_H */
