// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for locks in kernels that do not tell of them, before 5.19: calls of the functions in
 * which a lock that is not free is waited for.
 *
 * As long as such a call lasts, its return address is another one, and the stack of its task
 * ends there. So the stack is noted before that.
 */
#include <linux/err.h>
#include <linux/kernel.h>

#include "examples/lock/lock.h"
#include "usecase/kprobe.h"
#include "usecase/usecase.h"
#include "wrapper/kprobes.h"

#ifndef LT_HAVE_CONTENTION
/*
 * The data of a call: the address of the lock. More than MAX_ACTIVE calls of a function at a
 * time are counted in the parameter missed.
 */
#define MAX_ACTIVE	1024
#define CALL(name, on_entry, on_return) {				\
	.kp.symbol_name = name, .entry_handler = on_entry,		\
	.handler = on_return, .maxactive = MAX_ACTIVE,			\
	.data_size = sizeof(const void *),				\
}

/* Returns 0 if the return of the call is of interest. */
static int begin_seen(struct kretprobe_instance *call, struct pt_regs *regs,
		      struct lock_wait *wait)
{
	memcpy(call->data, &wait->lock, sizeof(wait->lock));
	return lock_wait_begin(lock_usecase.tracker, wait, regs);
}

static int begin(struct kretprobe_instance *call, struct pt_regs *regs,
		 enum lt_lock_kind kind)
{
	struct lock_wait wait = { .lock = lt_kprobe_arg(regs, 0), .kind = kind };

	return begin_seen(call, regs, &wait);
}

static int end(struct kretprobe_instance *call, int ret)
{
	const void *lock;

	memcpy(&lock, call->data, sizeof(lock));
	lock_wait_end(lock_usecase.tracker, lock, ret, NULL);
	return 0;
}

#define ON_ENTRY(name, kind)						\
static int on_##name(struct kretprobe_instance *call, struct pt_regs *regs) \
{									\
	return begin(call, regs, LT_LOCK_IS_##kind);			\
}

ON_ENTRY(mutex, MUTEX)
ON_ENTRY(semaphore, SEMAPHORE)
ON_ENTRY(rwsem_read, RWSEM_READ)
ON_ENTRY(rwsem_write, RWSEM_WRITE)
ON_ENTRY(rt_mutex, RT_MUTEX)
ON_ENTRY(percpu_write, PERCPU_WRITE)

/* __percpu_down_read(semaphore, try) */
static int on_percpu_read(struct kretprobe_instance *call, struct pt_regs *regs)
{
	return (u8)(unsigned long)lt_kprobe_arg(regs, 1) ? -EAGAIN :
				begin(call, regs, LT_LOCK_IS_PERCPU_READ);
}

/* futex_wait(word, flags, value, ...) */
static int on_futex(struct kretprobe_instance *call, struct pt_regs *regs)
{
	struct lock_wait wait;

	lock_futex_see(&wait, lt_kprobe_arg(regs, 0),
		       (u32)(unsigned long)lt_kprobe_arg(regs, 2),
		       LT_LOCK_IS_FUTEX);
	return begin_seen(call, regs, &wait);
}

/* futex_lock_pi(word, ...) */
static int on_futex_pi(struct kretprobe_instance *call, struct pt_regs *regs)
{
	struct lock_wait wait;

	lock_futex_see(&wait, lt_kprobe_arg(regs, 0), 0, LT_LOCK_IS_FUTEX_PI);
	return begin_seen(call, regs, &wait);
}

static int return_nothing(struct kretprobe_instance *call, struct pt_regs *regs)
{
	return end(call, 0);
}

static int return_error(struct kretprobe_instance *call, struct pt_regs *regs)
{
	return end(call, (int)regs_return_value(regs));
}

/* The semaphore, or an error. */
static int return_pointer(struct kretprobe_instance *call, struct pt_regs *regs)
{
	return end(call, PTR_ERR_OR_ZERO((void *)regs_return_value(regs)));
}

#endif

static struct kretprobe hooks[] = {
#ifndef LT_HAVE_CONTENTION
	CALL("__mutex_lock_slowpath", on_mutex, return_nothing),
	CALL("__mutex_lock_interruptible_slowpath", on_mutex, return_error),
	CALL("__mutex_lock_killable_slowpath", on_mutex, return_error),
	CALL("__down", on_semaphore, return_nothing),
	CALL("__down_interruptible", on_semaphore, return_error),
	CALL("__down_killable", on_semaphore, return_error),
	CALL("__down_timeout", on_semaphore, return_error),
	CALL("rwsem_down_read_slowpath", on_rwsem_read, return_pointer),
	CALL("rwsem_down_write_slowpath", on_rwsem_write, return_pointer),
	CALL("rt_mutex_slowlock", on_rt_mutex, return_error),
	CALL("__percpu_down_read", on_percpu_read, return_nothing),
	CALL("percpu_down_write", on_percpu_write, return_nothing),
	CALL("futex_wait", on_futex, return_error),
	CALL("futex_lock_pi", on_futex_pi, return_error),
#endif
};

int lock_calls_hook(void)
{
	return lt_kretprobe_register(&lock_usecase, hooks, ARRAY_SIZE(hooks));
}

void lock_calls_unhook(void)
{
	lt_kretprobe_unregister(hooks, ARRAY_SIZE(hooks));
}

unsigned long lock_calls_missed(void)
{
	return lt_kretprobe_missed(hooks, ARRAY_SIZE(hooks));
}
