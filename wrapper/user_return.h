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

#include <linux/err.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/version.h>

#include "wrapper/syscalls.h"

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
 * Restartable sequences, which each task of a newer C library has, take no time:
 * TIF_NOTIFY_RESUME alone says nothing, nor does TIF_RSEQ, which 6.19 has for them ("rseq:
 * Switch to TIF_RSEQ if supported").
 */
static __always_inline unsigned long
lt_work_before_user(struct task_struct *task)
{
	unsigned long work = READ_ONCE(task_thread_info(task)->flags) &
			     EXIT_TO_USER_MODE_WORK;

#ifdef TIF_RSEQ
	if (TIF_RSEQ != TIF_NOTIFY_RESUME)
		work &= ~_TIF_RSEQ;
#endif
	return work;
}

static inline bool lt_work_takes_long(const struct task_struct *task,
				      unsigned long work)
{
	/* A tracer may want to see the end of the call. */
	return task->ptrace || (work & ~_TIF_NOTIFY_RESUME) ||
	       lt_resume_takes_long(task);
}

/*
 * In a probe of sys_exit, or of sched_switch: has @task, which is the current one or becomes it,
 * to do more than to go back to user space?
 */
static __always_inline bool
lt_has_work_before_user(struct task_struct *task)
{
	unsigned long work = lt_work_before_user(task);

	if (likely(!work && !task->ptrace))
		return false;
	return lt_work_takes_long(task, work);
}

/*
 * In a probe of sys_exit, where there is something: is it only that another task wants the CPU?
 * And will lt_syscall_is_returning() tell how far the current task is?
 */
static inline bool lt_may_only_switch_before_user(struct task_struct *task,
						  long ret)
{
	unsigned long work = lt_work_before_user(task) & ~_TIF_NEED_RESCHED;

#ifdef _TIF_NEED_RESCHED_LAZY
	work &= ~_TIF_NEED_RESCHED_LAZY;
#endif
#ifdef CONFIG_SECCOMP
	/* A filter may stop the next call before sys_enter. */
	if (READ_ONCE(task->seccomp.mode))
		return false;
#endif
	return !lt_work_takes_long(task, work) && !IS_ERR_VALUE(ret) &&
	       lt_syscall_nr(task) >= 0;
}

/*
 * Is @task, which leaves its CPU, still on its way out of the call that returned @ret? Else it
 * has been in user space since, and maybe on its way to sys_enter: an interrupt or an exception
 * there is no call, and one that begins has an error to return (ENOSYS).
 */
static inline bool lt_syscall_is_returning(struct task_struct *task, long ret)
{
	struct pt_regs *regs = task_pt_regs(task);

	return syscall_get_nr(task, regs) >= 0 &&
	       syscall_get_return_value(task, regs) == ret;
}
#else
static __always_inline bool
lt_has_work_before_user(struct task_struct *task)
{
	return false;
}

static inline bool lt_may_only_switch_before_user(struct task_struct *task,
						  long ret)
{
	return false;
}

static inline bool lt_syscall_is_returning(struct task_struct *task, long ret)
{
	return false;
}
#endif

#endif /* _LT_WRAPPER_USER_RETURN_H */
