/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stack of a task that has a CPU.
 */
#ifndef _LT_USECASE_LOOK_TASK_H
#define _LT_USECASE_LOOK_TASK_H

#include "usecase/look.h"

struct lt_stack;
struct task_struct;

int lt_look_at_tasks_start(struct lt_look *look);
bool lt_look_at_task(struct lt_look *look, struct lt_stack *stack,
		     const struct task_struct *task, int cpu);

#endif /* _LT_USECASE_LOOK_TASK_H */
