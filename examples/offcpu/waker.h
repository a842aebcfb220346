/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What has woken a task.
 */
#ifndef _LT_OFFCPU_WAKER_H
#define _LT_OFFCPU_WAKER_H

#include <linux/sched.h>
#include <linux/types.h>

#include "usecase/off_cpu.h"

struct latency_tracker_verdict;
struct lt_offcpu_waker;

/**
 * struct offcpu - private data of an event
 * @pid: of the task
 * @state: why it is out, enum offcpu_state
 * @waker_context: enum offcpu_context
 * @waker_softirq: the vector of the soft interrupt that woke it, or OFFCPU_NO_SOFTIRQ
 * @woken_ns: when it was woken; 0 if it was not, or if that was not seen. What is named
 *	waker is valid if it is not 0.
 * @waker_comm: the task that woke it
 * @waker_pid: likewise; -1 if no task did
 * @waker_irq: the line of the interrupt that woke it, or -1
 *
 * The begin gives what is before @woken_ns. As small as can be: with a few bytes more an
 * event would take another cache line.
 */
struct offcpu {
	pid_t pid;
	u8 state;
	u8 waker_context;
	u8 waker_softirq;
	u64 woken_ns;
	char waker_comm[TASK_COMM_LEN];
	pid_t waker_pid;
	int waker_irq;
};

void offcpu_waker_note(struct offcpu *offcpu, u64 now);
void offcpu_waker_tell(struct lt_offcpu_waker *waker,
		       const struct latency_tracker_verdict *verdict,
		       enum offcpu_state state);

#endif /* _LT_OFFCPU_WAKER_H */
