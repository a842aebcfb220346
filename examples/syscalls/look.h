/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stack of a task that has a CPU.
 */
#ifndef _LT_SYSCALLS_LOOK_H
#define _LT_SYSCALLS_LOOK_H

#include <linux/types.h>

struct lt_stack;
struct task_struct;

int look_start(void);
void look_end(void);
bool look_at(struct lt_stack *stack, const struct task_struct *task, int cpu);

#endif /* _LT_SYSCALLS_LOOK_H */
