/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Callbacks of ftrace at the entry of a function.
 */
#ifndef _LT_WRAPPER_FTRACE_H
#define _LT_WRAPPER_FTRACE_H

#include <linux/ftrace.h>
#include <linux/ptrace.h>
#include <linux/version.h>

#if defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) || \
	defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#define LT_HAVE_FUNCTION_ENTRY

/*
 * 5.11 (d19ad0775dcd, "ftrace: Have the callbacks receive a struct ftrace_regs
 * instead of pt_regs")
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define lt_ftrace_regs		struct ftrace_regs
#else
#define lt_ftrace_regs		struct pt_regs
#define ftrace_get_regs(regs)	(regs)
#endif

/*
 * The first argument of the function, a pointer, and the flag that it takes.
 *
 * 6.2 (94d095ffa0e1, "ftrace: abstract DYNAMIC_FTRACE_WITH_ARGS accesses"): the
 * arguments are there without all other registers.
 */
#ifdef ftrace_regs_get_argument
#define lt_ftrace_arg(regs)	((void *)ftrace_regs_get_argument(regs, 0))
#define LT_FTRACE_REGS		0
#else
#define lt_ftrace_arg(regs)						\
	((void *)regs_get_kernel_argument(ftrace_get_regs(regs), 0))
#define LT_FTRACE_REGS		FTRACE_OPS_FL_SAVE_REGS
#endif

/*
 * The kernel keeps a callback from being called in itself, but calls it in an
 * interrupt of itself.
 *
 * 5.11 (a25d036d939a, "ftrace: Reverse what the RECURSION flag means in the
 * ftrace_ops"): before, that was the default.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define LT_FTRACE_RECURSION	FTRACE_OPS_FL_RECURSION
#else
#define LT_FTRACE_RECURSION	0
#endif

/* Only where RCU is watching, and kernel.ftrace_enabled can't switch it off. */
#define LT_FTRACE_FLAGS							\
	(LT_FTRACE_REGS | LT_FTRACE_RECURSION | FTRACE_OPS_FL_RCU |	\
	 FTRACE_OPS_FL_PERMANENT)
#endif

#endif /* _LT_WRAPPER_FTRACE_H */
