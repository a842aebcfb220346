// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of user space that wait in futex().
 *
 * The kernel does not know which task has one: what it waits for is a number in memory. But that
 * memory says so, in two forms, and is read without a fault:
 *
 *	the word is the thread's id, with a flag for waiters: locks with priority inheritance,
 *	whose word the kernel itself keeps, robust ones, those of musl
 *	the waiter expects 2, and the thread's id is 8 bytes behind: a pthread_mutex_t of glibc
 *
 * What has neither, such as a condition variable, is another kind of wait. It is not tracked
 * by default: a task that waits there may just have nothing to do.
 *
 * The memory of a process may say anything. So the thread must exist, and be one of the
 * waiter's process, but where processes may share a lock. Still it is a hint.
 */
#include <linux/atomic.h>
#include <linux/compat.h>
#include <linux/futex.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "examples/lock/lock.h"
#include "usecase/kprobe.h"
#include "usecase/usecase.h"
#include "wrapper/futex.h"
#include "wrapper/kprobes.h"

/* A pthread_mutex_t of glibc, on a 64-bit machine. futex() gets the first word. */
struct glibc_mutex {
	u32 lock;
	u32 count;
	u32 owner;
	u32 nusers;
	u32 kind;
};

#define GLIBC_LOCK_WAITERS	2
#define GLIBC_KINDS		0x3ff
#define GLIBC_KIND_SHARED	0x80

/* How often a lock of glibc had no owner: it was just taken, or about to be given back. */
static atomic_t without_owner = ATOMIC_INIT(0);

#define NO_OWNER	(-1)

/*
 * The thread's id; 0 if there is none, NO_OWNER if it might be a lock all the same. @shared:
 * the thread may be one of another process. What the waiter expects in the word tells what
 * it is; the word itself may have changed.
 */
static pid_t owner_id(const struct lock_wait *wait, bool *shared)
{
	const void __user *word = (const void __user *)READ_ONCE(wait->lock);
	bool is_pi = wait->kind == LT_LOCK_IS_FUTEX_PI, is_glibc;
	struct glibc_mutex mutex = {};

	is_glibc = !copy_from_user_nofault(&mutex, word, sizeof(mutex)) &&
		   !wait->compat && !(mutex.kind & ~GLIBC_KINDS);
	*shared = is_pi || (is_glibc && mutex.kind & GLIBC_KIND_SHARED);
	if (is_pi || wait->value & FUTEX_WAITERS) {
		/* What is behind it may be of another page. */
		if (!is_glibc && copy_from_user_nofault(&mutex.lock, word,
							sizeof(mutex.lock)))
			return 0;
		return mutex.lock & FUTEX_TID_MASK ?: NO_OWNER;
	}
	if (!is_glibc || wait->value != GLIBC_LOCK_WAITERS ||
	    mutex.lock > GLIBC_LOCK_WAITERS)
		return 0;
	return mutex.owner & FUTEX_TID_MASK ?: NO_OWNER;
}

/**
 * lock_futex_owner() - which task has a lock of user space?
 * @wait: for the lock
 * @waiter: the task that waits; its memory is that of the caller
 * @owner: result, or NULL
 *
 * Context: Any; in an RCU read-side section, until the end of which @owner is valid.
 * Return: what is known of @owner.
 */
enum lt_lock_held lock_futex_owner(const struct lock_wait *wait,
				   struct task_struct *waiter,
				   struct task_struct **owner)
{
	struct pid_namespace *ns;
	struct task_struct *task;
	bool shared;
	pid_t id;

	*owner = NULL;
	id = owner_id(wait, &shared);
	ns = id > 0 ? task_active_pid_ns(waiter) : NULL;
	task = ns ? pid_task(find_pid_ns(id, ns), PIDTYPE_PID) : NULL;
	if (!task || (!shared && !same_thread_group(task, waiter)))
		return LT_LOCK_HELD_UNKNOWN;
	*owner = task;
	return wait->kind == LT_LOCK_IS_FUTEX_PI ? LT_LOCK_HELD_BY_TASK :
						   LT_LOCK_HELD_BY_HINT;
}

/**
 * lock_futex_use_memory() - use the memory of a task that waits for a lock of user space
 * @verdict: of the callback
 *
 * Context: The tracker's thread. May sleep.
 * Return: for lock_futex_unuse_memory(); NULL if the task is gone.
 */
struct mm_struct *
lock_futex_use_memory(const struct latency_tracker_verdict *verdict)
{
	const struct lock_wait *wait = verdict->priv;
	struct task_struct *waiter;
	struct mm_struct *mm;

	rcu_read_lock();
	waiter = lt_task_find(verdict, wait->pid);
	mm = waiter ? get_task_mm(waiter) : NULL;
	rcu_read_unlock();
	if (mm)
		kthread_use_mm(mm);
	return mm;
}

/**
 * lock_futex_unuse_memory() - do so no more
 * @mm: of lock_futex_use_memory()
 *
 * Context: The same thread.
 */
void lock_futex_unuse_memory(struct mm_struct *mm)
{
	kthread_unuse_mm(mm);
	/* The task may be gone: this thread, of real-time priority, must not give it all back. */
	mmput_async(mm);
}

/* The current task is about to wait for @word: what kind of wait is it? */
void lock_futex_see(struct lock_wait *wait, const void *word, u32 value,
		    enum lt_lock_kind kind)
{
	bool shared;
	pid_t id;

	*wait = (struct lock_wait){
		.lock = word,
		.value = value,
		.kind = kind,
		.compat = in_compat_syscall(),
	};
	if (kind != LT_LOCK_IS_FUTEX)
		return;
	/* Has it the form of a lock? The task that has it may be gone. */
	id = owner_id(wait, &shared);
	if (id <= 0)
		wait->kind = LT_LOCK_IS_FUTEX_OTHER;
	if (id == NO_OWNER)
		atomic_inc(&without_owner);
}

#ifdef LT_HAVE_CONTENTION
static void begin(const struct lt_futex_call *call, enum lt_lock_kind kind)
{
	struct lock_wait wait;

	lock_futex_see(&wait, call->word, call->value, kind);
	lock_wait_begin(lock_usecase.tracker, &wait, NULL);
}

static int on_wait(struct kprobe *kp, struct pt_regs *regs)
{
	struct lt_futex_call call;

	if (lt_futex_waits(&call))
		begin(&call, LT_LOCK_IS_FUTEX);
	return 0;
}

/* futex_unqueue(q) follows each wait. */
static int on_waited(struct kprobe *kp, struct pt_regs *regs)
{
	struct lt_futex_call call;
	int ret = 0;

	if (!lt_futex_waits(&call))
		return 0;
	if (!lt_futex_was_woken(lt_kprobe_arg(regs, 0)))
		ret = signal_pending(current) ? -EINTR : -ETIMEDOUT;
	lock_wait_end(lock_usecase.tracker, call.word, ret, regs);
	return 0;
}

static int on_wait_pi(struct kprobe *kp, struct pt_regs *regs)
{
	struct lt_futex_call call;

	if (lt_futex_locks_pi(&call))
		begin(&call, LT_LOCK_IS_FUTEX_PI);
	return 0;
}

/* fixup_pi_owner(word, q, locked) follows each wait. */
static int on_waited_pi(struct kprobe *kp, struct pt_regs *regs)
{
	int ret = 0;

	if (!(u32)(unsigned long)lt_kprobe_arg(regs, 2))
		ret = signal_pending(current) ? -EINTR : -ETIMEDOUT;
	lock_wait_end(lock_usecase.tracker, lt_kprobe_arg(regs, 0), ret, regs);
	return 0;
}
#endif

/* What ends a wait comes first. Before 5.19: see calls.c. */
static struct kprobe hooks[] = {
#ifdef LT_HAVE_CONTENTION
	{ .symbol_name = "futex_unqueue", .pre_handler = on_waited },
	{ .symbol_name = LT_FUTEX_WAIT, .pre_handler = on_wait },
	{ .symbol_name = "fixup_pi_owner", .pre_handler = on_waited_pi },
	{ .symbol_name = "rt_mutex_wait_proxy_lock", .pre_handler = on_wait_pi },
#endif
};

int lock_futex_hook(void)
{
	return lt_kprobe_register(&lock_usecase, hooks, ARRAY_SIZE(hooks));
}

void lock_futex_unhook(void)
{
	lt_kprobe_unregister(hooks, ARRAY_SIZE(hooks));
}

unsigned long lock_futex_missed(void)
{
	return atomic_read(&without_owner) +
	       lt_kprobe_missed(hooks, ARRAY_SIZE(hooks));
}
