/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kprobes at the entry of a function.
 */
#ifndef _LT_WRAPPER_KPROBES_H
#define _LT_WRAPPER_KPROBES_H

#include <linux/kprobes.h>
#include <linux/ptrace.h>

#ifndef CONFIG_KPROBES
#error "this module needs a kernel with CONFIG_KPROBES"
#endif

/* Argument @n, from 0, of the function that is about to run; a pointer. */
static inline void *lt_kprobe_arg(struct pt_regs *regs, unsigned int n)
{
	return (void *)regs_get_kernel_argument(regs, n);
}

/* Where it will return to. */
static inline unsigned long lt_kprobe_caller(struct pt_regs *regs)
{
#ifdef CONFIG_X86
	return regs_get_kernel_stack_nth(regs, 0);
#else
	return procedure_link_pointer(regs);
#endif
}

#endif /* _LT_WRAPPER_KPROBES_H */
