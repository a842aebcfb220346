/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a task has ended a piece of work: what one module knows, and another one asks for. Part of
 * latency_tracker.h.
 *
 * The work has a name. One module at a time wants the ends of one name; one knows ends. Each may
 * come first, and go while the other one is there.
 */
#ifndef _LT_CORE_ENDS_H
#define _LT_CORE_ENDS_H

#include <linux/types.h>

struct task_struct;

/* Bytes of a name of work, with its 0. */
#define LATENCY_TRACKER_END_NAME	48

/**
 * struct latency_tracker_ends - what knows the ends of work
 * @want: from now on @last is asked about the work of that name; "" for none. Returns 0 or an
 *	error: then it goes on with the one before. May sleep.
 * @last: when has this task ended the work last, ns of latency_tracker_clock(); 0: never yet. It
 *	is the word of the task, and may be anything. Returns 0; -ENOENT: the task has no such work.
 *	It is called in any context, with preemption off, also for a task that runs elsewhere.
 */
struct latency_tracker_ends {
	int (*want)(const char *name);
	int (*last)(const struct task_struct *task, u64 *end_ns);
};

bool latency_tracker_end_name_is_valid(const char *name);
int latency_tracker_ends_provide(const struct latency_tracker_ends *ends);
void latency_tracker_ends_withdraw(void);
int latency_tracker_ends_want(const char *name);
int latency_tracker_end_last(const struct task_struct *task, u64 *end_ns);

#endif /* _LT_CORE_ENDS_H */
