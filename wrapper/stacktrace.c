// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel stacks of the current task and of others.
 *
 * stack_trace_save_tsk() is not exported in 6.1. x86 exports its unwinder since
 * 4.9, to any GPL module, so that is used there. arm64 exports none, but always
 * has frame pointers, and they are followed here. Elsewhere the kernel has to
 * export stack_trace_save_tsk(), as 7.2 does. Nothing is called by an address
 * that was looked up: with IBT the kernel seals functions whose address it does
 * not take itself.
 */
#include <linux/bits.h>
#include <linux/refcount.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/version.h>

#include "wrapper/sched.h"
#include "wrapper/stacktrace.h"

#ifdef CONFIG_X86
#include <asm/unwind.h>

/*
 * From 5.18 (54ecbe6f1ed5, "rethook: Add a generic return hook") on, to look for
 * the return address of a function with a kretprobe warns when another task can
 * run, as it can at its sched_switch. 6.10 ended that (5120d167e21c, "rethook:
 * Remove warning messages printed for finding return address of a frame.").
 */
static bool is_hooked(const struct task_struct *task)
{
#if defined(CONFIG_RETHOOK) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
	return task != current && !llist_empty(&task->rethooks);
#else
	return false;
#endif
}

static unsigned int unwind_from(struct task_struct *task, struct pt_regs *regs,
				unsigned long *ip, unsigned int max)
{
	struct unwind_state state;
	unsigned int nr = 0;

	if (is_hooked(task))
		return 0;
	for (unwind_start(&state, task, regs, NULL);
	     nr < max && !unwind_done(&state) && !unwind_error(&state);
	     unwind_next_frame(&state)) {
		unsigned long addr = unwind_get_return_address(&state);

		if (!addr)
			break;
		ip[nr++] = addr;
	}
	return nr;
}

static unsigned int unwind(struct task_struct *task, unsigned long *ip,
			   unsigned int max)
{
	return unwind_from(task, NULL, ip, max);
}

static unsigned int unwind_at(struct pt_regs *regs, unsigned long *ip,
			      unsigned int max)
{
	unsigned int nr = unwind_from(current, regs, ip, max);

	/* The function itself, where the probe is a breakpoint. */
	if (nr && ip[0] == instruction_pointer(regs))
		memmove(ip, ip + 1, --nr * sizeof(*ip));
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
#else /* !CONFIG_X86 */
#include <asm/irq_regs.h>
#include <asm/ptrace.h>

#ifdef CONFIG_ARM64
/* What the frame pointer points to. */
struct record {
	unsigned long fp;
	unsigned long lr;
};

/*
 * The record of an exception, in its pt_regs, leads back to what was
 * interrupted.
 *
 * 6.13 ("arm64: stacktrace: unwind exception boundaries") left that to the
 * unwinder, with two zeros and a type in the record.
 */
static bool cross_exception(unsigned long fp, unsigned long low,
			    unsigned long high, struct record *record)
{
#ifdef FRAME_META_TYPE_PT_REGS
	struct pt_regs *regs = container_of((struct frame_record_meta *)fp,
					    struct pt_regs, stackframe);

	if ((unsigned long)regs < low || (unsigned long)(regs + 1) > high ||
	    READ_ONCE_NOCHECK(regs->stackframe.type) != FRAME_META_TYPE_PT_REGS)
		return false;
	record->fp = READ_ONCE_NOCHECK(regs->regs[29]);
	record->lr = READ_ONCE_NOCHECK(regs->pc);
	return true;
#else
	return false;
#endif
}

/*
 * Begins with the caller of __switch_to(), as x86 does. The task may run and
 * overwrite all this: what is read is always on its stack, and every step leads
 * further up.
 *
 * A signed return address has its signature in bits that are ones in any
 * address of the kernel's or of a module's code.
 */
static unsigned int unwind_from(struct task_struct *task, unsigned long fp,
				unsigned long *ip, unsigned int max)
{
	unsigned long low = (unsigned long)task_stack_page(task);
	unsigned long high = low + THREAD_SIZE;
	unsigned int nr = 0;

	while (nr < max && fp >= low && fp <= high - sizeof(struct record) &&
	       IS_ALIGNED(fp, sizeof(long))) {
		struct record record = {
			.fp = READ_ONCE_NOCHECK(((struct record *)fp)->fp),
			.lr = READ_ONCE_NOCHECK(((struct record *)fp)->lr),
		};

		if (!record.lr && !cross_exception(fp, low, high, &record))
			break;
		ip[nr++] = record.lr | GENMASK(63, VA_BITS_MIN);
		low = fp + sizeof(record);
		fp = record.fp;
	}
	return nr;
}

static unsigned int unwind(struct task_struct *task, unsigned long *ip,
			   unsigned int max)
{
	return unwind_from(task, READ_ONCE(task->thread.cpu_context.fp), ip,
			   max);
}

/* A function that begins has no record of its own yet. */
static unsigned int unwind_at(struct pt_regs *regs, unsigned long *ip,
			      unsigned int max)
{
	if (!max)
		return 0;
	ip[0] = procedure_link_pointer(regs) | GENMASK(63, VA_BITS_MIN);
	return 1 + unwind_from(current, regs->regs[29], ip + 1, max - 1);
}
#else
static unsigned int unwind(struct task_struct *task, unsigned long *ip,
			   unsigned int max)
{
	return stack_trace_save_tsk(task, ip, max, 0);
}

/* With the frames of the probe in front. */
static unsigned int unwind_at(struct pt_regs *regs, unsigned long *ip,
			      unsigned int max)
{
	return stack_trace_save(ip, max, 0);
}
#endif

/* The interrupt's frames end where it has interrupted. */
static unsigned int unwind_interrupted(unsigned long *ip, unsigned int max)
{
	struct pt_regs *regs = get_irq_regs();
	unsigned int i, nr, skip = 0;

	if (!regs || user_mode(regs))
		return 0;
	do {
		nr = stack_trace_save(ip, max, skip);
		for (i = 0; i < nr; i++)
			if (ip[i] == instruction_pointer(regs))
				return stack_trace_save(ip, max, skip + i);
		skip += nr;
	} while (nr);
	return 0;
}
#endif /* !CONFIG_X86 */

/*
 * The stack of @task, which stays mapped meanwhile; 0 if it has none any more.
 *
 * 5.18 (e540bf3162e8, "fork: Only cache the VMAP stack in
 * finish_task_switch()"): one whose last reference is dropped stays for the
 * preempt-off sections that are running: freed by call_rcu() or kept in a cache
 * that is emptied with all CPUs stopped.
 *
 * Before, it was freed at once, and put_task_stack() is not exported, so
 * no reference can be held. A task that dies lets go of its files first, with
 * its alloc_lock held. On PREEMPT_RT that lock may sleep.
 */
static unsigned int unwind_mapped(struct task_struct *task, unsigned long *ip,
				  unsigned int max)
{
	unsigned int nr = 0;

#if !defined(CONFIG_THREAD_INFO_IN_TASK) || \
	!(defined(CONFIG_X86) || defined(CONFIG_ARM64))
	/* stack_trace_save_tsk() takes a reference; or it goes with the task */
	nr = unwind(task, ip, max);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
	if (refcount_read(&task->stack_refcount))
		nr = unwind(task, ip, max);
	if (!refcount_read(&task->stack_refcount))
		nr = 0;
#elif !defined(CONFIG_PREEMPT_RT)
	task_lock(task);
	if (task->files)
		nr = unwind(task, ip, max);
	task_unlock(task);
#endif
	return nr;
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
 * lt_stacktrace_at() - the stack of the current task at the begin of a function
 * @regs: of a kprobe there
 * @ip: where to write the return addresses, innermost first
 * @max: room at @ip
 *
 * Context: The handler of the kprobe, or that of the entry of a kretprobe.
 * Return: number of addresses written.
 */
unsigned int lt_stacktrace_at(struct pt_regs *regs, unsigned long *ip,
			      unsigned int max)
{
	return unwind_at(regs, ip, max);
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
 * Context: Task; preemption off.
 * Return: number of addresses written.
 */
unsigned int lt_stacktrace_other(struct task_struct *task, unsigned long *ip,
				 unsigned int max)
{
	unsigned long switches = READ_ONCE(task->nvcsw) +
				 READ_ONCE(task->nivcsw);
	unsigned int nr;

	if (lt_task_on_cpu(task))
		return 0;
	nr = unwind_mapped(task, ip, max);
	/* Has it run? Then it has been switched out since, or is on a CPU. */
	if (lt_task_on_cpu(task) ||
	    switches != READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw))
		return 0;
	return nr;
}
