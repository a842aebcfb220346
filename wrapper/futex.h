/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits in futex().
 */
#ifndef _LT_WRAPPER_FUTEX_H
#define _LT_WRAPPER_FUTEX_H

#include <linux/futex.h>
#include <linux/plist.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/version.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

/*
 * The function in which a task sleeps until its futex is woken.
 *
 * 6.16 ("futex: Move futex_queue() into futex_wait_setup()") renamed it.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define LT_FUTEX_WAIT	"futex_do_wait"
#else
#define LT_FUTEX_WAIT	"futex_wait_queue"
#endif

/*
 * 6.7 (cb8c4312afca, "futex: Add sys_futex_wait()") brought a system call that waits only;
 * its second argument is no operation.
 */
static inline bool lt_futex_only_waits(struct pt_regs *regs)
{
#ifdef __NR_futex_wait
	return syscall_get_nr(current, regs) == __NR_futex_wait;
#else
	return false;
#endif
}

/**
 * struct lt_futex_call - a system call of a task
 * @word: the address that it is about
 * @value: what it expects there
 * @op: what it is for
 */
struct lt_futex_call {
	const void *word;
	u32 value;
	unsigned int op;
};

/*
 * That of the current task, which is not a thread of the kernel. Also one that is begun again
 * after a signal: the arguments are the same.
 */
static inline void lt_futex_call_get(struct lt_futex_call *call)
{
	struct pt_regs *regs = task_pt_regs(current);
	bool only_waits = lt_futex_only_waits(regs);
	unsigned long args[6];

	syscall_get_arguments(current, regs, args);
	call->word = (const void *)args[0];
	call->value = only_waits ? args[1] : args[2];
	call->op = only_waits ? FUTEX_WAIT : args[1] & FUTEX_CMD_MASK;
}

/* Is the current task in a simple wait? */
static inline bool lt_futex_waits(struct lt_futex_call *call)
{
	if (current->flags & PF_KTHREAD)
		return false;
	lt_futex_call_get(call);
	return call->op == FUTEX_WAIT || call->op == FUTEX_WAIT_BITSET;
}

/*
 * Does it lock with priority inheritance?
 *
 * 5.14 (bf22a6976897, "futex: Provide FUTEX_LOCK_PI2 to support clock selection")
 */
static inline bool lt_futex_locks_pi(struct lt_futex_call *call)
{
	if (current->flags & PF_KTHREAD)
		return false;
	lt_futex_call_get(call);
#ifdef FUTEX_LOCK_PI2
	if (call->op == FUTEX_LOCK_PI2)
		return true;
#endif
	return call->op == FUTEX_LOCK_PI;
}

/* A struct futex_q begins with its node in the list of those that wait. */
static inline bool lt_futex_was_woken(const struct plist_node *q)
{
	return plist_node_empty(q);
}

#endif /* _LT_WRAPPER_FUTEX_H */
