// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel stacks in trace events: taken, cut and printed alike everywhere.
 */
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/trace_seq.h>

#include "usecase/probe.h"
#include "usecase/stack.h"
#include "wrapper/stacktrace.h"

static void cut(struct lt_stack *stack, unsigned int first, unsigned int nr)
{
	stack->first = min(first, nr);
	stack->nr = min_t(unsigned int, nr - stack->first, LT_STACK_MAX);
}

/**
 * lt_stack_of_current() - take the stack of the current task
 * @stack: where to put it
 * @usecase: of the caller; its frames, and those of its tracepoints, are left out
 * @drop: how many more frames to leave out; 1 in a probe of sched_switch, where
 *	the innermost one is always __schedule()
 *
 * Context: Any.
 */
void lt_stack_of_current(struct lt_stack *stack,
			 const struct lt_usecase *usecase, unsigned int drop)
{
	unsigned int i, nr;

	nr = lt_stacktrace_current(stack->ip, ARRAY_SIZE(stack->ip));
	for (i = 0; i < nr; i++) {
		if (!within_module(stack->ip[i], THIS_MODULE) &&
		    !lt_probe_is_own(usecase, stack->ip[i]))
			break;
	}
	cut(stack, i + drop, nr);
}
EXPORT_SYMBOL_GPL(lt_stack_of_current);

/**
 * lt_stack_at() - take the stack of the current task at the begin of a function
 * @stack: where to put it
 * @regs: of a kprobe there
 *
 * Context: The handler of the kprobe, or that of the entry of a kretprobe.
 */
void lt_stack_at(struct lt_stack *stack, struct pt_regs *regs)
{
	cut(stack, 0, lt_stacktrace_at(regs, stack->ip, LT_STACK_MAX));
}
EXPORT_SYMBOL_GPL(lt_stack_at);

/**
 * lt_stack_of_interrupted() - take the stack of the current task, as it was when
 * the interrupt came
 * @stack: where to put it; empty if user space was interrupted
 *
 * Context: Hard interrupt.
 */
void lt_stack_of_interrupted(struct lt_stack *stack)
{
	cut(stack, 0, lt_stacktrace_interrupted(stack->ip, LT_STACK_MAX));
}
EXPORT_SYMBOL_GPL(lt_stack_of_interrupted);

/**
 * lt_stack_of_next() - take the stack of the task that is switched to
 * @stack: where to put it; without __schedule()
 * @next: of a probe of sched_switch
 *
 * Context: A probe of sched_switch.
 */
void lt_stack_of_next(struct lt_stack *stack, struct task_struct *next)
{
	cut(stack, 1, lt_stacktrace_switched_out(next, stack->ip,
						 LT_STACK_MAX + 1));
}
EXPORT_SYMBOL_GPL(lt_stack_of_next);

/**
 * lt_stack_of_other() - take the stack of a task in any state
 * @stack: where to put it; empty if the task runs, else without __schedule()
 * @task: not current; the caller makes sure that it is not freed
 *
 * Context: Task; preemption off.
 */
void lt_stack_of_other(struct lt_stack *stack, struct task_struct *task)
{
	cut(stack, 1, lt_stacktrace_other(task, stack->ip, LT_STACK_MAX + 1));
}
EXPORT_SYMBOL_GPL(lt_stack_of_other);

/**
 * lt_stack_print() - print a stack, for TP_printk()
 * @p: the sequence of the event that is being printed
 * @ip: return addresses, innermost first
 * @bytes: size of @ip
 *
 * Context: Any.
 * Return: the text, in @p: one line, "-" for an empty stack.
 */
const char *lt_stack_print(struct trace_seq *p, const unsigned long *ip,
			   unsigned int bytes)
{
	const char *text = trace_seq_buffer_ptr(p);
	unsigned int i, nr = bytes / sizeof(*ip);

	if (!nr)
		trace_seq_putc(p, '-');
	for (i = 0; i < nr; i++)
		trace_seq_printf(p, "%s%pS", i ? " <- " : "", (void *)ip[i]);
	trace_seq_putc(p, 0);
	return text;
}
EXPORT_SYMBOL_GPL(lt_stack_print);
