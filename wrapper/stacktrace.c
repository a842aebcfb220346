// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel stacks of the current task and of others.
 *
 * stack_trace_save_tsk() is not exported in 6.1. x86 exports its unwinder since
 * 4.9, to any GPL module, so that is used there; elsewhere the kernel has to
 * export stack_trace_save_tsk(), as 7.2 does. Nothing is called by an address
 * that was looked up: with IBT the kernel seals functions whose address it does
 * not take itself.
 */
#include <linux/refcount.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/version.h>

#include "wrapper/sched.h"
#include "wrapper/stacktrace.h"

#ifdef CONFIG_X86
#include <asm/unwind.h>

static unsigned int unwind(struct task_struct *task, unsigned long *ip,
			   unsigned int max)
{
	struct unwind_state state;
	unsigned int nr = 0;

	for (unwind_start(&state, task, NULL, NULL);
	     nr < max && !unwind_done(&state) && !unwind_error(&state);
	     unwind_next_frame(&state)) {
		unsigned long addr = unwind_get_return_address(&state);

		if (!addr)
			break;
		ip[nr++] = addr;
	}
	return nr;
}

/* The interrupt's frames end where its registers are. */
static unsigned int unwind_interrupted(unsigned long *ip, unsigned int max)
{
	struct unwind_state state;
	bool interrupted = false;
	unsigned int nr = 0;

	for (unwind_start(&state, current, NULL, NULL);
	     nr < max && !unwind_done(&state) && !unwind_error(&state);
	     unwind_next_frame(&state)) {
		unsigned long addr = unwind_get_return_address(&state);

		if (!addr)
			break;
		if (unwind_get_entry_regs(&state, NULL))
			interrupted = true;
		if (interrupted)
			ip[nr++] = addr;
	}
	return nr;
}
#else
static unsigned int unwind(struct task_struct *task, unsigned long *ip,
			   unsigned int max)
{
	return stack_trace_save_tsk(task, ip, max, 0);
}

static unsigned int unwind_interrupted(unsigned long *ip, unsigned int max)
{
	return stack_trace_save(ip, max, 0);	/* with those of the interrupt */
}
#endif

/*
 * A stack whose last reference is dropped stays mapped for the preempt-off
 * sections that are running: freed by call_rcu() or kept in a cache that is
 * emptied with all CPUs stopped.
 *
 * 5.18 ("fork: Only cache the VMAP stack in finish_task_switch()"); before, it
 * was freed at once, and put_task_stack() is not exported to those who would
 * hold a reference.
 */
static bool stack_outlives_us(struct task_struct *task)
{
#ifndef CONFIG_X86
	return true;	/* stack_trace_save_tsk() takes a reference */
#elif !defined(CONFIG_THREAD_INFO_IN_TASK)
	return true;	/* goes with the task */
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
	return refcount_read(&task->stack_refcount);
#else
	return false;
#endif
}

/**
 * lt_stacktrace_current() - the stack of the current task
 * @ip: where to write the return addresses, innermost first
 * @max: room at @ip
 *
 * Context: Any.
 * Return: number of addresses written.
 */
unsigned int lt_stacktrace_current(unsigned long *ip, unsigned int max)
{
	return stack_trace_save(ip, max, 0);
}

/**
 * lt_stacktrace_interrupted() - the stack of the current task, without that of
 * the interrupt that it is in
 * @ip: where to write the return addresses, innermost first
 * @max: room at @ip
 *
 * Context: Hard interrupt.
 * Return: number of addresses written; 0 if user space was interrupted.
 */
unsigned int lt_stacktrace_interrupted(unsigned long *ip, unsigned int max)
{
	return unwind_interrupted(ip, max);
}

/**
 * lt_stacktrace_switched_out() - the stack of a task that is not running
 * @task: sits on a run queue whose lock the caller holds, and is not current:
 *	in a probe of sched_switch, the next task
 * @ip: where to write the return addresses, innermost first
 * @max: room at @ip
 *
 * The innermost one is in __schedule(), which every switched out task is in.
 *
 * Context: Any.
 * Return: number of addresses written.
 */
unsigned int lt_stacktrace_switched_out(struct task_struct *task,
					unsigned long *ip, unsigned int max)
{
	return unwind(task, ip, max);
}

/**
 * lt_stacktrace_other() - the stack of a task that may be running or dying
 * @task: any task but current; the caller sees to it that it is not freed
 * @ip: where to write the return addresses, innermost first
 * @max: room at @ip
 *
 * A task that runs meanwhile has no stack that could be told: 0.
 *
 * Context: Any; preemption off.
 * Return: number of addresses written.
 */
unsigned int lt_stacktrace_other(struct task_struct *task, unsigned long *ip,
				 unsigned int max)
{
	unsigned long switches = READ_ONCE(task->nvcsw) +
				 READ_ONCE(task->nivcsw);
	unsigned int nr;

	if (!stack_outlives_us(task) || lt_task_on_cpu(task))
		return 0;
	nr = unwind(task, ip, max);
	/* Has it run? Then it has been switched out since, or is on a CPU. */
	if (!stack_outlives_us(task) || lt_task_on_cpu(task) ||
	    switches != READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw))
		return 0;
	return nr;
}
