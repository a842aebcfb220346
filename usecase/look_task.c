// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stack of a task that has a CPU: that CPU is asked.
 */
#include <linux/export.h>
#include <linux/sched.h>

#include "usecase/look_task.h"
#include "usecase/stack.h"

/**
 * struct question - to a CPU
 * @task: does it run there? May be freed: only to compare
 * @runs: it does
 * @stack: then its stack
 */
struct question {
	const struct task_struct *task;
	bool runs;
	struct lt_stack stack;
};

static void answer(void *data)
{
	struct question *question = data;

	question->runs = current == question->task;
	if (question->runs)
		lt_stack_of_interrupted(&question->stack);
}

/**
 * lt_look_at_tasks_start() - lt_look_start() for lt_look_at_task()
 * @look: the questions; a static variable of the module, of which nothing is set
 *
 * Context: Task; may sleep. Before the tracker's thread may report.
 * Return: 0 or -ENOMEM.
 */
int lt_look_at_tasks_start(struct lt_look *look)
{
	look->answer = answer;
	look->data_size = sizeof(struct question);
	return lt_look_start(look);
}
EXPORT_SYMBOL_GPL(lt_look_at_tasks_start);

/**
 * lt_look_at_task() - take the stack of a task that had a CPU a moment ago
 * @look: of lt_look_at_tasks_start()
 * @stack: where to put it; empty if the task runs in user space
 * @task: the task; may be freed
 * @cpu: where it ran
 *
 * Context: The tracker's thread; sleeps for up to 20 ms or so.
 * Return: false if it is not known, and @stack as it was: the CPU is isolated or did not
 *	answer in time, which has been counted, or the task does not run there any more.
 */
bool lt_look_at_task(struct lt_look *look, struct lt_stack *stack,
		     const struct task_struct *task, int cpu)
{
	struct question *question = lt_look_prepare(look, cpu);

	if (!question)
		return false;
	question->task = task;
	if (!lt_look_ask(look, cpu) || !question->runs)
		return false;
	*stack = question->stack;
	return true;
}
EXPORT_SYMBOL_GPL(lt_look_at_task);
