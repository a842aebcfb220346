/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_lock know of each other.
 */
#ifndef _LT_LOCK_LOCK_H
#define _LT_LOCK_LOCK_H

#include <trace/events/latency_tracker_lock.h>

#include "usecase/look_task.h"
#include "wrapper/lock.h"

struct lt_threshold;

/**
 * enum lock_holder_state - what the holder of a lock is doing
 * @LOCK_HOLDER_UNKNOWN: it is not known which task it is
 * @LOCK_HOLDER_RUNNING: it has a CPU
 * @LOCK_HOLDER_RUNNABLE: it waits for one
 * @LOCK_HOLDER_BLOCKED: it sleeps, and no signal ends that
 * @LOCK_HOLDER_SLEEPING: it sleeps
 * @LOCK_HOLDER_OTHER: it was stopped, is traced, or dies
 */
enum lock_holder_state {
	LOCK_HOLDER_UNKNOWN,
	LOCK_HOLDER_RUNNING,
	LOCK_HOLDER_RUNNABLE,
	LOCK_HOLDER_BLOCKED,
	LOCK_HOLDER_SLEEPING,
	LOCK_HOLDER_OTHER,
};

/**
 * struct lock_wait - private data of an event: a task waits for a lock
 * @lock: the lock
 * @woken_ns: when it was woken last, ns of latency_tracker_clock(); 0 if it was not
 * @waker_pid: of the task that woke it; -1 if that was an interrupt
 * @waker_comm: likewise; "-"
 * @waking: odd while these three are written, by a waker: with p->pi_lock held, or in an
 *	interrupt of the waiter's own CPU. 0: it was not woken.
 * @holder_comm: of the task that held the lock at the begin, with @held
 * @holder_pid: likewise; -1
 * @holder_tgid: likewise; -1
 * @pid: of the waiter
 * @held: enum lt_lock_held, at the begin
 * @kind: enum lt_lock_kind
 */
struct lock_wait {
	const void *lock;
	u64 woken_ns;
	char waker_comm[TASK_COMM_LEN];
	char holder_comm[TASK_COMM_LEN];
	pid_t waker_pid;
	u32 waking;
	pid_t holder_pid;
	pid_t holder_tgid;
	pid_t pid;
	u8 held;
	u8 kind;
};

extern struct lt_look lock_look;
extern const char *const lock_kind_names[NR_LT_LOCKS];

void holder_note(struct lock_wait *wait);
void holder_at_begin(struct lt_lock_holder *holder, const struct lock_wait *wait);
void holder_now(struct lt_lock_holder *holder, struct lt_stack *stack,
		const struct latency_tracker_verdict *verdict);

int lock_group_name(u64 id, char *name);
int lock_threshold_find(const char *text, struct lt_threshold *found);

#endif /* _LT_LOCK_LOCK_H */
