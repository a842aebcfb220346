/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel stacks of the current task and of others.
 */
#ifndef _LT_WRAPPER_STACKTRACE_H
#define _LT_WRAPPER_STACKTRACE_H

#include <linux/sched.h>
#include <linux/types.h>

struct pt_regs;

unsigned int lt_stacktrace_current(unsigned long *ip, unsigned int max);
unsigned int lt_stacktrace_at(struct pt_regs *regs, unsigned long *ip,
			      unsigned int max);
unsigned int lt_stacktrace_interrupted(unsigned long *ip, unsigned int max);
unsigned int lt_stacktrace_switched_out(struct task_struct *task,
					unsigned long *ip, unsigned int max);
unsigned int lt_stacktrace_other(struct task_struct *task, unsigned long *ip,
				 unsigned int max);

#endif /* _LT_WRAPPER_STACKTRACE_H */
