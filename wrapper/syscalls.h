/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls: their tracepoints and their numbers.
 */
#ifndef _LT_WRAPPER_SYSCALLS_H
#define _LT_WRAPPER_SYSCALLS_H

#include <linux/compat.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/unistd.h>
#include <linux/version.h>
#include <asm/syscall.h>
#include <trace/events/syscalls.h>

#include "wrapper/tracepoint.h"

/*
 * Numbers of the 32-bit table, which no header of every kernel names. They are
 * the same for i386 and arm; an ABI never changes.
 */
#define LT_NR_COMPAT_EXIT	1
#define LT_NR_COMPAT_SCHED_YIELD	158
#ifdef CONFIG_X86
#define LT_NR_COMPAT_EXIT_GROUP	252
#else
#define LT_NR_COMPAT_EXIT_GROUP	248
#endif

/* The current task is in a system call of the 32-bit table. */
static inline bool lt_syscall_is_32bit(void)
{
#if defined(CONFIG_X86) && defined(CONFIG_IA32_EMULATION)
	return in_ia32_syscall();	/* in_compat_syscall() is true for x32 */
#elif defined(CONFIG_X86)
	return false;
#elif defined(CONFIG_COMPAT)
	return in_compat_syscall();
#else
	return false;
#endif
}

/* System call @nr of the current task does not return: it has no end. */
static inline bool lt_syscall_is_final(long nr)
{
	if (lt_syscall_is_32bit())
		return nr == LT_NR_COMPAT_EXIT || nr == LT_NR_COMPAT_EXIT_GROUP;
#ifdef __X32_SYSCALL_BIT
	nr &= ~(long)__X32_SYSCALL_BIT;
#endif
	return nr == __NR_exit || nr == __NR_exit_group;
}

/* Its last system call was of the 32-bit table. */
static inline bool lt_task_is_32bit(struct task_struct *task)
{
#if defined(CONFIG_X86) && defined(CONFIG_IA32_EMULATION)
	return task_thread_info(task)->status & TS_COMPAT;
#elif defined(CONFIG_ARM64) && defined(CONFIG_COMPAT)
	return is_compat_thread(task_thread_info(task));
#else
	return false;
#endif
}

/*
 * Does @task never make a system call, whatever its registers say?
 *
 * 6.4 (54e6842d0775, "fork/vm: Move common PF_IO_WORKER behavior to new flag")
 */
static inline bool lt_task_makes_no_calls(const struct task_struct *task)
{
#ifdef PF_USER_WORKER
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
#else
	return task->flags & (PF_KTHREAD | PF_IO_WORKER);
#endif
}

/* The number of the call that @task is in; negative: it is in none. Its stack must not go away. */
static inline long lt_syscall_nr(struct task_struct *task)
{
	return syscall_get_nr(task, task_pt_regs(task));
}

/*
 * @task, which is not the current one and can run, gives its CPU up by itself: is it
 * in sched_yield()? What else it may be in does not let it go while it can run. A
 * kernel thread has no system call, but does not come here otherwise either. Its stack
 * must not go away.
 */
static inline bool lt_syscall_is_yield(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		return true;
	return lt_syscall_nr(task) ==
	       (lt_task_is_32bit(task) ? LT_NR_COMPAT_SCHED_YIELD :
					 __NR_sched_yield);
}

/*
 * A probe of sys_enter or sys_exit: from here on it keeps its CPU. All probes of tracepoints do,
 * but 6.13 calls these with preemption on (a363d27cdbc2, "tracing: Allow system call tracepoints
 * to handle page faults").
 */
static __always_inline void lt_syscall_probe_begin(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	preempt_disable_notrace();
#else
	lockdep_assert_preemption_disabled();
#endif
}

static __always_inline void lt_syscall_probe_end(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	preempt_enable_notrace();
#endif
}

#endif /* _LT_WRAPPER_SYSCALLS_H */
