/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_syscalls know of a call.
 */
#ifndef _LT_SYSCALLS_CALL_H
#define _LT_SYSCALLS_CALL_H

#include <trace/events/latency_tracker_syscalls.h>

#include "latency_tracker.h"

/**
 * struct pending_call - private data of an event
 * @call: what it is
 * @ret: what it returns, with @leaving
 * @leaving: sys_exit has been passed, but the task has work to do before it is
 *	back in user space
 * @early: it has not passed sys_enter yet
 *
 * Written by the calling task alone, before the call is an event or with a
 * reference to the event.
 */
struct pending_call {
	struct lt_syscall call;
	long ret;
	bool leaving;
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
