// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stack of a task that is in a late call and has a CPU: that CPU is asked.
 */
#include <linux/module.h>
#include <linux/sched.h>

#include "examples/syscalls/look.h"
#include "usecase/look.h"
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

static struct lt_look look = {
	.answer = answer,
	.data_size = sizeof(struct question),
};

LT_LOOK_PARAMS(look);

int look_start(void)
{
	return lt_look_start(&look);
}

/* Once no report looks any more. */
void look_end(void)
{
	lt_look_end(&look);
}

/* Into @stack that of @task, which ran on @cpu; false if it is not known. */
bool look_at(struct lt_stack *stack, const struct task_struct *task, int cpu)
{
	struct question *question = lt_look_prepare(&look, cpu);

	if (!question)
		return false;
	question->task = task;
	if (!lt_look_ask(&look, cpu) || !question->runs)
		return false;
	*stack = question->stack;
	return true;
}
