/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way from the end of a system call back to user space.
 *
 * sys_exit is traced before the work that a task has to do on that way: works of
 * its own (umount, the last fput() of a file), signals and stops, memory.high, a
 * switch to another task. On x86 the kernel tells when that is over: a notifier of
 * the CPU runs right before user space (CONFIG_USER_RETURN_NOTIFIER, for KVM).
 */
#ifndef _LT_WRAPPER_USER_RETURN_H
#define _LT_WRAPPER_USER_RETURN_H

#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/version.h>

#if defined(CONFIG_X86) && defined(CONFIG_USER_RETURN_NOTIFIER)
#include <linux/entry-common.h>
#include <linux/user-return-notifier.h>

#define LT_HAVE_USER_RETURN

/* What TIF_NOTIFY_RESUME stands for, and may take long. */
static inline bool lt_resume_takes_long(const struct task_struct *task)
{
	if (READ_ONCE(task->task_works))
		return true;
#ifdef CONFIG_MEMCG
	if (task->memcg_nr_pages_over_high)
		return true;
#endif
#ifdef CONFIG_BLK_CGROUP
	/* 6.3 (f05837ed73d0, "blk-cgroup: store a gendisk to throttle in struct task_struct") */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	if (task->throttle_disk)
		return true;
#else
	if (task->throttle_queue)
		return true;
#endif
#endif
	return false;
}

/*
 * In a probe of sys_exit: has the current task to do more than to go back to user
 * space? Restartable sequences, which each task of a newer C library has, take no
 * time: TIF_NOTIFY_RESUME alone says nothing, nor does TIF_RSEQ, which 6.19 has for
 * them ("rseq: Switch to TIF_RSEQ if supported").
 */
static __always_inline bool lt_has_work_before_user(void)
{
	const struct task_struct *task = current;
	unsigned long work = READ_ONCE(current_thread_info()->flags) &
			     EXIT_TO_USER_MODE_WORK;

#ifdef TIF_RSEQ
	if (TIF_RSEQ != TIF_NOTIFY_RESUME)
		work &= ~_TIF_RSEQ;
#endif
	/* A tracer may want to see the end of the call. */
	if (likely(!work && !task->ptrace))
		return false;
	return task->ptrace || (work & ~_TIF_NOTIFY_RESUME) ||
	       lt_resume_takes_long(task);
}
#else
static __always_inline bool lt_has_work_before_user(void)
{
	return false;
}
#endif

#endif /* _LT_WRAPPER_USER_RETURN_H */
