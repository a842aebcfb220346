/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The waits of all tasks: what trackers know of each that was long, for the critical path of
 * a late operation.
 *
 * A tracker publishes a wait when it is over. So what is in time, and shorter than the least,
 * costs nothing. No tracker knows its readers, nor what others publish: a reader puts together
 * what is told of one task, by its pid.
 *
 * Each CPU writes to a ring of its own, the oldest wait is overwritten; all waits with the same
 * hash of the pid are chained, the last one first. The chain of a task so leads to all of its
 * waits, up to one that was overwritten: the reader sees that, too.
 *
 * There is one reader at a time. Without one nothing is published, nor is there any memory.
 */
#ifndef _LT_CORE_WAITS_H
#define _LT_CORE_WAITS_H

#include <linux/sched.h>
#include <linux/types.h>

#include "core/types.h"

struct latency_tracker;

/* Entries of a ring. */
#define LATENCY_TRACKER_WAITS_MIN	64U
#define LATENCY_TRACKER_WAITS_MAX	65536U

/* struct latency_tracker_wait.name */
#define LATENCY_TRACKER_WAIT_NAME	16

/**
 * enum latency_tracker_wait_kind - what a task has waited for
 * @LATENCY_TRACKER_WAIT_OFFCPU: it was off the CPU, for whatever reason
 * @LATENCY_TRACKER_WAIT_CPU: for a CPU
 * @LATENCY_TRACKER_WAIT_LOCK: for a lock
 * @LATENCY_TRACKER_WAIT_DISK: for what a disk was to do
 * @LATENCY_TRACKER_WAIT_INTERRUPT: until a handler was through that had interrupted it
 * @LATENCY_TRACKER_WAIT_RAISED: no task, but a soft interrupt has waited until it ran
 * @LATENCY_TRACKER_WAIT_WORK: nor this, but a work item until its worker began with it
 */
enum latency_tracker_wait_kind {
	LATENCY_TRACKER_WAIT_OFFCPU,
	LATENCY_TRACKER_WAIT_CPU,
	LATENCY_TRACKER_WAIT_LOCK,
	LATENCY_TRACKER_WAIT_DISK,
	LATENCY_TRACKER_WAIT_INTERRUPT,
	LATENCY_TRACKER_WAIT_RAISED,
	LATENCY_TRACKER_WAIT_WORK,
};

/* Why a task had no CPU for the larger part of a wait. */
enum latency_tracker_wait_cause {
	LATENCY_TRACKER_CAUSE_UNKNOWN,
	LATENCY_TRACKER_CAUSE_CPU,		/* other tasks had it */
	LATENCY_TRACKER_CAUSE_THROTTLED,	/* its control group had used up its quota */
	LATENCY_TRACKER_CAUSE_RT_THROTTLED,	/* real-time tasks had */
	LATENCY_TRACKER_CAUSE_DL_SERVER,
	LATENCY_TRACKER_CAUSE_STEAL,		/* a hypervisor had it */
};

/**
 * struct latency_tracker_wait - a wait that is over
 * @begin_ns: when it began, ns of latency_tracker_clock(), as all times; WORK: 0: not known
 * @end_ns: when it was over
 * @ready_ns: OFFCPU: when the task was woken, or lost its CPU; DISK: when the request was
 *	issued; 0: not known; CPU: for how long @by_pid had it
 * @part_ns: CPU: how much of it @cause was; OFFCPU: for how long the task had a CPU since
 *	@where; DISK: when the request began
 * @where: LOCK, and WORK its function: the address; DISK: the first sector; CPU: id of the
 *	control group that was throttled, or 0; OFFCPU: when the one before was over
 * @ended_by: OFFCPU: the wait, of whatever kind, that was over when the task was woken; 0
 * @pid: of the task; of DISK, of the one that submitted it; WORK: of the worker; -1 is none
 * @by_pid: of the one that had the CPU or the lock, or that woke the task; RAISED: that had the
 *	CPU, or that was to run the soft interrupt; WORK: that queued it; -1: none is known
 * @dev: DISK: its number; OFFCPU: of a stack, the reader's; INTERRUPT, RAISED: the CPU
 * @kind: of enum latency_tracker_wait_kind
 * @cause: CPU: of enum latency_tracker_wait_cause; OFFCPU: the state, as in
 *	offcpu_sched_switch; DISK: how often it was requeued, up to 255
 * @context: OFFCPU: where the wake-up came from, as in offcpu_sched_switch; WORK: where it was
 *	queued
 * @more: OFFCPU: what the sleep was for, as in offcpu_sched_switch
 * @comm: of @pid
 * @by_comm: of @by_pid; "-"
 * @name: of the disk, the kind of lock, the line or the vector; but of OFFCPU, WORK
 * @first_ns: OFFCPU: for so long after @where it had a CPU without a break; up to 4 s
 * @last_ns: OFFCPU: likewise before @begin_ns
 * @line: OFFCPU: of the interrupt that woke it, or -1
 * @softirq: OFFCPU: likewise the vector, or 255
 * @is_timer: OFFCPU: a timer that expired woke it; WORK: or queued it
 * @user: OFFCPU: its time in user space since @where, by the ticks of the kernel, in units of
 *	about 4 ms; 255: that, or more
 * @system: OFFCPU: likewise in the kernel
 */
struct latency_tracker_wait {
	u64 begin_ns;
	u64 end_ns;
	u64 ready_ns;
	u64 part_ns;
	u64 where;
	u64 ended_by;
	pid_t pid;
	pid_t by_pid;
	u32 dev;
	u8 kind;
	u8 cause;
	u8 context;
	u8 more;
	char comm[TASK_COMM_LEN];
	char by_comm[TASK_COMM_LEN];
	union {
		char name[LATENCY_TRACKER_WAIT_NAME];
		struct {
			u32 first_ns;
			u32 last_ns;
			int line;
			u8 softirq;
			bool is_timer;
			u8 user;
			u8 system;
		};
	};
};

/**
 * struct latency_tracker_late - a late operation of a task, or one that is still pending
 * @tracker: name of the tracker that reported it
 * @operation: what it was, such as the system call; "-"
 * @start_ns: begin
 * @now_ns: end, or when it was found pending
 * @pid: of the task; -1: that is gone, or not known
 * @flag: which of the two
 * @comm: of the task
 */
struct latency_tracker_late {
	const char *tracker;
	u64 start_ns;
	u64 now_ns;
	pid_t pid;
	enum latency_tracker_flag flag;
	char comm[TASK_COMM_LEN];
	char operation[LATENCY_TRACKER_GROUP_NAME];
};

/**
 * struct latency_tracker_waits_config - what a reader wants
 * @least_ns: shorter waits are not published
 * @entries: of the ring of each CPU, a power of two
 * @late: told of each late operation of a task, in any context, with preemption off
 */
struct latency_tracker_waits_config {
	u64 least_ns;
	u32 entries;
	void (*late)(const struct latency_tracker_late *late);
};

bool latency_tracker_waits_are_read(void);
u64 latency_tracker_wait_publish(const struct latency_tracker_wait *wait);
void latency_tracker_wait_late(const struct latency_tracker_late *late);

int latency_tracker_waits_open(const struct latency_tracker_waits_config *config);
void latency_tracker_waits_close(void);
int latency_tracker_waits_set_least(u64 least_ns);
u64 latency_tracker_waits_memory(void);
u64 latency_tracker_waits_lost(void);
u64 latency_tracker_wait_last(pid_t pid);
int latency_tracker_wait_read(u64 id, struct latency_tracker_wait *wait,
			      u64 *before);
bool latency_tracker_wait_pending(struct task_struct *task,
				  struct latency_tracker_wait *wait);

/* For lifecycle.c. */
void lt_waits_join(struct latency_tracker *tracker);
void lt_waits_leave(struct latency_tracker *tracker);

#endif /* _LT_CORE_WAITS_H */
