// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a task is off the CPU.
 *
 * Whether it sleeps is asked of the run queue, not of the state: a task may have
 * set a state, and then go on running since a signal or a wake-up came first.
 *
 * The kernel switches in the same way from a task that calls sched_yield() and
 * from one that is preempted on its way to user space. The stack tells which: it
 * is the same when the task comes back, so it is only looked at then, and only
 * if the task is late.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "usecase/function.h"
#include "usecase/off_cpu.h"
#include "usecase/stack.h"
#include "wrapper/sched.h"

/* sched_yield() calls schedule() in one of these, some of which are inlined. */
static struct lt_function yields[] = {
	{ .name = "do_sched_yield" },
	{ .name = "__do_sys_sched_yield" },
	{ .name = "__x64_sys_sched_yield" },
	{ .name = "__arm64_sys_sched_yield" },
};

/* schedule(), do_sched_yield() and the system call. */
#define YIELD_FRAMES	3

static bool yields_are_known;

/**
 * lt_offcpu_init() - before there is a tracker that asks
 *
 * The first one looks for what all of them need; others may be asking already.
 *
 * Context: Task, may sleep.
 */
void lt_offcpu_init(void)
{
	static DEFINE_MUTEX(lock);	/* the look */

	mutex_lock(&lock);
	if (!yields_are_known)
		yields_are_known = lt_function_find(yields, ARRAY_SIZE(yields)) > 0;
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(lt_offcpu_init);

/* Of a task that does not run any more until something wakes it. */
static enum offcpu_state asleep(const struct task_struct *prev,
				unsigned int state)
{
	/* Before 5.18: what a waker has set, see wrapper/sched.h. */
	if (state == TASK_RUNNING || state & TASK_WAKING)
		return OFFCPU_UNKNOWN;
	if (state & __TASK_TRACED)
		return OFFCPU_TRACED;
	if (state & __TASK_STOPPED)
		return OFFCPU_STOPPED;
	if (lt_switch_is_frozen(prev, state))
		return OFFCPU_FROZEN;
	if (state & TASK_INTERRUPTIBLE)
		return OFFCPU_SLEEPING;
	if (lt_state_is_uninterruptible(state))
		return OFFCPU_BLOCKED;
	return OFFCPU_OTHER;
}

/**
 * lt_offcpu_state() - why is a task switched from?
 * @prev: as told to a probe of sched_switch
 * @preempt: likewise
 * @prev_state: likewise
 *
 * Context: A probe of sched_switch.
 * Return: the state; RUNNABLE for what lt_offcpu_state_by_stack() has to tell.
 */
enum offcpu_state lt_offcpu_state(struct task_struct *prev, bool preempt,
				  unsigned int prev_state)
{
	if (!lt_switch_is_runnable(prev, prev_state))
		return asleep(prev, prev_state);
	if (lt_switch_is_throttled(prev))
		return OFFCPU_THROTTLED;
	return preempt ? OFFCPU_PREEMPTED : OFFCPU_RUNNABLE;
}
EXPORT_SYMBOL_GPL(lt_offcpu_state);

static bool is_yield(const struct lt_stack *stack)
{
	unsigned int i, j;

	for (i = 0; i < YIELD_FRAMES && i < stack->nr; i++) {
		for (j = 0; j < ARRAY_SIZE(yields); j++) {
			if (lt_function_has(&yields[j],
					    stack->ip[stack->first + i]))
				return true;
		}
	}
	return false;
}

/**
 * lt_offcpu_state_by_stack() - the state of a task, when its stack is known
 * @state: of lt_offcpu_state()
 * @stack: where the task is switched out, without __schedule()
 *
 * Context: Any.
 * Return: the state; RUNNABLE if there is no stack, or if this kernel does not
 *	tell where its functions are.
 */
enum offcpu_state lt_offcpu_state_by_stack(enum offcpu_state state,
					   const struct lt_stack *stack)
{
	if (state != OFFCPU_RUNNABLE || !stack->nr || !yields_are_known)
		return state;
	return is_yield(stack) ? OFFCPU_YIELDED : OFFCPU_PREEMPTED;
}
EXPORT_SYMBOL_GPL(lt_offcpu_state_by_stack);

/**
 * lt_offcpu_stall() - is it for memory, or for I/O, that a task sleeps?
 * @task: off the CPU, or switched to just now
 * @state: why it is off the CPU
 *
 * The task marks itself before it sleeps, and takes the mark back once it runs
 * again: nothing has to be kept from the switch away on. It may be preempted in
 * between, which is no wait for either.
 *
 * Context: Any.
 * Return: for what; both if memory is to be had by I/O. Without pressure stall
 *	information (CONFIG_PSI, not psi=0) memory is never told.
 */
enum offcpu_stall lt_offcpu_stall(const struct task_struct *task,
				  enum offcpu_state state)
{
	unsigned int stall = OFFCPU_STALL_NONE;

	if (state != OFFCPU_SLEEPING && state != OFFCPU_BLOCKED)
		return OFFCPU_STALL_NONE;
	if (lt_task_waits_for_memory(task))
		stall |= OFFCPU_STALL_MEMORY;
	if (task->in_iowait)
		stall |= OFFCPU_STALL_IO;
	return stall;
}
EXPORT_SYMBOL_GPL(lt_offcpu_stall);
