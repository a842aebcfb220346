/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_syscalls know of a call.
 */
#ifndef _LT_SYSCALLS_CALL_H
#define _LT_SYSCALLS_CALL_H

#include <trace/events/latency_tracker_syscalls.h>

#include "latency_tracker.h"

/* How far a call is on its way back to user space. */
enum {
	CALL_STAYS,	/* in front of sys_exit */
	CALL_LEAVES,	/* the kernel tells of its return */
	CALL_SWITCHES,	/* nothing does: another task wants its CPU, and that is all */
};

/**
 * struct pending_call - private data of an event
 * @call: what it is
 * @ret: what it returns, with @leaving
 * @leaving: sys_exit has been passed, but the task has work to do before it is
 *	back in user space: not CALL_STAYS
 * @early: it has not passed sys_enter yet
 *
 * Written by the calling task alone, or by a switch to it, before the call is an event or with a
 * reference to the event.
 */
struct pending_call {
	struct lt_syscall call;
	long ret;
	u8 leaving;
	bool early;
};

/* The call of @task, if it is an event; to be put. */
static inline struct latency_tracker_event *
call_find(struct latency_tracker *tracker, struct task_struct *task,
	  struct pending_call **call)
{
	struct latency_tracker_event *event =
		latency_tracker_get_event(tracker, &task, sizeof(task));

	*call = latency_tracker_event_priv(event);
	return event;
}

#endif /* _LT_SYSCALLS_CALL_H */
