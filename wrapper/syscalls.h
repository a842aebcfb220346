/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls: their tracepoints and their numbers.
 */
#ifndef _LT_WRAPPER_SYSCALLS_H
#define _LT_WRAPPER_SYSCALLS_H

#include <linux/compat.h>
#include <linux/unistd.h>
#include <trace/events/syscalls.h>

#include "wrapper/tracepoint.h"

/*
 * Numbers of the 32-bit table, which no header of every kernel names. They are
 * the same for i386 and arm; an ABI never changes.
 */
#define LT_NR_COMPAT_EXIT	1
#ifdef CONFIG_X86
#define LT_NR_COMPAT_EXIT_GROUP	252
#else
#define LT_NR_COMPAT_EXIT_GROUP	248
#endif

/* The current task is in a system call of the 32-bit table. */
static inline bool lt_syscall_is_32bit(void)
{
#if defined(CONFIG_X86) && defined(CONFIG_IA32_EMULATION)
	return in_ia32_syscall();	/* in_compat_syscall() is true for x32 */
#elif defined(CONFIG_X86)
	return false;
#elif defined(CONFIG_COMPAT)
	return in_compat_syscall();
#else
	return false;
#endif
}

/* System call @nr of the current task does not return: it has no end. */
static inline bool lt_syscall_is_final(long nr)
{
	if (lt_syscall_is_32bit())
		return nr == LT_NR_COMPAT_EXIT || nr == LT_NR_COMPAT_EXIT_GROUP;
#ifdef __X32_SYSCALL_BIT
	nr &= ~(long)__X32_SYSCALL_BIT;
#endif
	return nr == __NR_exit || nr == __NR_exit_group;
}

#endif /* _LT_WRAPPER_SYSCALLS_H */
