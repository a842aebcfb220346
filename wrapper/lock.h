/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits for locks of the kernel, and who holds one.
 */
#ifndef _LT_WRAPPER_LOCK_H
#define _LT_WRAPPER_LOCK_H

#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/version.h>

/*
 * 5.19 (16edd9b511a1, "locking: Add lock contention tracepoints") brought
 * contention_begin and contention_end. Before, a lock that is not free is waited for in a
 * function of its own.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
#define LT_HAVE_CONTENTION
#include <trace/events/lock.h>
#else
#define LCB_F_SPIN	BIT(0)
#define LCB_F_READ	BIT(1)
#define LCB_F_WRITE	BIT(2)
#define LCB_F_RT	BIT(3)
#define LCB_F_PERCPU	BIT(4)
#endif

/*
 * 6.0 (dc1f7893a70f, "locking/mutex: Make contention tracepoints more consistent wrt
 * adaptive spinning") brought LCB_F_MUTEX. A mutex has no flag before, and a semaphore
 * has none since.
 */
#ifdef LCB_F_MUTEX
#define LT_LOCK_MUTEX	LCB_F_MUTEX
#else
#define LT_LOCK_MUTEX	0
#endif

/**
 * enum lt_lock_kind - what is waited for
 * @LT_LOCK_IS_MUTEX: struct mutex
 * @LT_LOCK_IS_SEMAPHORE: struct semaphore
 * @LT_LOCK_IS_RWSEM_READ: struct rw_semaphore, to read
 * @LT_LOCK_IS_RWSEM_WRITE: the same, to write
 * @LT_LOCK_IS_RT_MUTEX: struct rt_mutex_base; with PREEMPT_RT also a mutex or a spinlock
 * @LT_LOCK_IS_RWBASE_READ: with PREEMPT_RT, a struct rw_semaphore or rwlock_t, to read
 * @LT_LOCK_IS_RWBASE_WRITE: the same, to write, when no other writer is before it
 * @LT_LOCK_IS_PERCPU_READ: struct percpu_rw_semaphore, to read
 * @LT_LOCK_IS_PERCPU_WRITE: the same, to write
 * @LT_LOCK_IS_SPINLOCK: a spinlock whose waiters have a queue
 * @LT_LOCK_IS_RWLOCK_READ: rwlock_t, to read
 * @LT_LOCK_IS_RWLOCK_WRITE: the same, to write
 * @LT_LOCK_IS_FUTEX: a lock of user space whose memory says who has it
 * @LT_LOCK_IS_FUTEX_PI: a lock of user space with priority inheritance
 * @LT_LOCK_IS_FUTEX_OTHER: another wait in futex(), such as for a condition
 * @LT_LOCK_IS_FLOCK: flock()
 * @LT_LOCK_IS_POSIX: a lock on a range of a file, by fcntl()
 * @NR_LT_LOCKS: how many kinds there are
 */
enum lt_lock_kind {
	LT_LOCK_IS_MUTEX,
	LT_LOCK_IS_SEMAPHORE,
	LT_LOCK_IS_RWSEM_READ,
	LT_LOCK_IS_RWSEM_WRITE,
	LT_LOCK_IS_RT_MUTEX,
	LT_LOCK_IS_RWBASE_READ,
	LT_LOCK_IS_RWBASE_WRITE,
	LT_LOCK_IS_PERCPU_READ,
	LT_LOCK_IS_PERCPU_WRITE,
	LT_LOCK_IS_SPINLOCK,
	LT_LOCK_IS_RWLOCK_READ,
	LT_LOCK_IS_RWLOCK_WRITE,
	LT_LOCK_IS_FUTEX,
	LT_LOCK_IS_FUTEX_PI,
	LT_LOCK_IS_FUTEX_OTHER,
	LT_LOCK_IS_FLOCK,
	LT_LOCK_IS_POSIX,
	NR_LT_LOCKS,
};

/* Of the flags of contention_begin. */
static __always_inline enum lt_lock_kind lt_lock_kind(unsigned int flags)
{
	bool writes = flags & LCB_F_WRITE, reads = flags & LCB_F_READ;

	if (LT_LOCK_MUTEX && flags & LT_LOCK_MUTEX)
		return LT_LOCK_IS_MUTEX;
	if (flags & LCB_F_SPIN)
		return writes ? LT_LOCK_IS_RWLOCK_WRITE :
		       reads ? LT_LOCK_IS_RWLOCK_READ : LT_LOCK_IS_SPINLOCK;
	if (flags & LCB_F_PERCPU)
		return writes ? LT_LOCK_IS_PERCPU_WRITE : LT_LOCK_IS_PERCPU_READ;
	if (flags & LCB_F_RT)
		return writes ? LT_LOCK_IS_RWBASE_WRITE :
		       reads ? LT_LOCK_IS_RWBASE_READ : LT_LOCK_IS_RT_MUTEX;
	if (writes || reads)
		return writes ? LT_LOCK_IS_RWSEM_WRITE : LT_LOCK_IS_RWSEM_READ;
	return LT_LOCK_MUTEX ? LT_LOCK_IS_SEMAPHORE : LT_LOCK_IS_MUTEX;
}

/**
 * enum lt_lock_held - who holds a lock
 * @LT_LOCK_HELD_UNKNOWN: the kernel does not note it, or nobody does at this moment
 * @LT_LOCK_HELD_BY_TASK: a task that is known
 * @LT_LOCK_HELD_BY_READERS: one or several readers, which are not known
 * @LT_LOCK_HELD_BY_HINT: a task, as far as the memory of its users tells
 * @LT_LOCK_HELD_BY_PROCESS: a process, which is named by its first thread
 */
enum lt_lock_held {
	LT_LOCK_HELD_UNKNOWN,
	LT_LOCK_HELD_BY_TASK,
	LT_LOCK_HELD_BY_READERS,
	LT_LOCK_HELD_BY_HINT,
	LT_LOCK_HELD_BY_PROCESS,
};

/* May be unmapped by now, if nobody waits for the lock any more. */
static inline bool lt_lock_read(const void *from, void *to, size_t size)
{
	return !copy_from_kernel_nofault(to, from, size);
}

/*
 * An @owner is a word of a lock with flags: MUTEX_FLAGS of kernel/locking/mutex.h,
 * RWSEM_OWNER_FLAGS_MASK of kernel/locking/rwsem.c or RT_MUTEX_HAS_WAITERS, which are at
 * most three bits.
 */
static inline enum lt_lock_held
lt_lock_owner_at(const void *owner, struct task_struct **task)
{
	unsigned long word;

	if (!lt_lock_read(owner, &word, sizeof(word)) || !(word & ~7UL))
		return LT_LOCK_HELD_UNKNOWN;
	*task = (struct task_struct *)(word & ~7UL);
	return LT_LOCK_HELD_BY_TASK;
}

#ifdef CONFIG_PREEMPT_RT
static inline enum lt_lock_held
lt_lock_owner_mutex(const void *lock, struct task_struct **task)
{
	return LT_LOCK_HELD_UNKNOWN;	/* it is an rt_mutex */
}

static inline enum lt_lock_held
lt_lock_owner_rwsem(const void *lock, struct task_struct **task)
{
	return LT_LOCK_HELD_UNKNOWN;	/* it is an rwbase */
}

/* A writer holds the rt_mutex also while it waits until the readers have gone. */
static inline enum lt_lock_held
lt_lock_owner_rwbase(const struct rwbase_rt *lock, struct task_struct **task)
{
	int readers;

	if (!lt_lock_read(&lock->readers, &readers, sizeof(readers)) ||
	    readers != WRITER_BIAS)
		return LT_LOCK_HELD_UNKNOWN;
	return lt_lock_owner_at(&lock->rtmutex.owner, task);
}
#else
static inline enum lt_lock_held
lt_lock_owner_mutex(const struct mutex *lock, struct task_struct **task)
{
	return lt_lock_owner_at(&lock->owner, task);
}

static inline enum lt_lock_held
lt_lock_owner_rwsem(const struct rw_semaphore *lock, struct task_struct **task)
{
	unsigned long owner;

	if (!lt_lock_read(&lock->owner, &owner, sizeof(owner)))
		return LT_LOCK_HELD_UNKNOWN;
	/* RWSEM_READER_OWNED, and maybe a reader that has gone long ago. */
	if (owner & 1)
		return LT_LOCK_HELD_BY_READERS;
	return lt_lock_owner_at(&lock->owner, task);
}

static inline enum lt_lock_held
lt_lock_owner_rwbase(const void *lock, struct task_struct **task)
{
	return LT_LOCK_HELD_UNKNOWN;	/* there is none */
}
#endif

/* 5.15 (830e6acc8a1c, "locking/rtmutex: Split out the inner parts of 'struct rtmutex'") */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
#define lt_rt_mutex	struct rt_mutex_base
#else
#define lt_rt_mutex	struct rt_mutex
#endif

static inline enum lt_lock_held
lt_lock_owner_rt_mutex(const lt_rt_mutex *lock, struct task_struct **task)
{
	return lt_lock_owner_at(&lock->owner, task);
}

/*
 * Who holds @lock, one of the kernel, now: into @task, if it is a task. An owner gives the
 * lock back before it dies, and is freed after a grace period: in an RCU read-side section
 * in which @lock is still waited for behind this call, @task is valid to the end of the
 * section.
 */
static inline enum lt_lock_held
lt_lock_owner(const void *lock, enum lt_lock_kind kind,
	      struct task_struct **task)
{
	*task = NULL;
	switch (kind) {
	case LT_LOCK_IS_MUTEX:
		return lt_lock_owner_mutex(lock, task);
	case LT_LOCK_IS_RWSEM_READ:
	case LT_LOCK_IS_RWSEM_WRITE:
		return lt_lock_owner_rwsem(lock, task);
	case LT_LOCK_IS_RT_MUTEX:
		return lt_lock_owner_rt_mutex(lock, task);
	case LT_LOCK_IS_RWBASE_READ:
		return lt_lock_owner_rwbase(lock, task);
	case LT_LOCK_IS_RWBASE_WRITE:
		return LT_LOCK_HELD_BY_READERS;
	default:
		return LT_LOCK_HELD_UNKNOWN;
	}
}

#endif /* _LT_WRAPPER_LOCK_H */
