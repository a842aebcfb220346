/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_wakeup know of a wait.
 */
#ifndef _LT_WAKEUP_WAKEUP_H
#define _LT_WAKEUP_WAKEUP_H

#include <linux/sched.h>
#include <linux/types.h>

struct lt_usecase;

/**
 * struct wakeup - private data of an event
 * @preempted: how often the task had been preempted when it was woken, modulo 2^32
 * @pid: of the task
 * @prio: its priority when it was woken
 * @cpu: where it was preempted; where it was when it was woken, or -1
 * @reason: of enum lt_wakeup_reason
 * @moves: how often it had been moved to another CPU when it was woken, modulo 2^16; with
 *	@cpu only
 * @waker_pid: of the task that woke it, or -1
 * @waker_comm: likewise
 */
struct wakeup {
	u32 preempted;
	pid_t pid;
	int prio;
	int cpu;
	u16 reason;
	u16 moves;
	pid_t waker_pid;
	char waker_comm[TASK_COMM_LEN];
};

/**
 * struct wakeup_end - a switch
 * @prev: the task that leaves the CPU
 * @next: the one that gets it
 */
struct wakeup_end {
	struct task_struct *prev;
	struct task_struct *next;
};

extern struct lt_usecase wakeup_usecase;

#endif /* _LT_WAKEUP_WAKEUP_H */
