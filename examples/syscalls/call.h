/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_syscalls know of a call.
 */
#ifndef _LT_SYSCALLS_CALL_H
#define _LT_SYSCALLS_CALL_H

#include <trace/events/latency_tracker_syscalls.h>

/**
 * struct pending_call - private data of an event
 * @call: what it is
 * @ret: what it returns, with @leaving
 * @leaving: sys_exit has been passed, but the task has work to do before it is
 *	back in user space
 * @early: it has not passed sys_enter yet
 * @final: it does not return: exit, exit_group
 *
 * Written by the calling task alone, before the call is an event or with a
 * reference to the event.
 */
struct pending_call {
	struct lt_syscall call;
	long ret;
	bool leaving;
	bool early;
	bool final;
};

/* main.c: with interrupts off, when the current task is about to be in user space. */
void syscall_returned(void);

#endif /* _LT_SYSCALLS_CALL_H */
