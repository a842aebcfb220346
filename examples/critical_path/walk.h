/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of a task, which is made into segments from its begin on.
 */
#ifndef _LT_CRITICAL_PATH_WALK_H
#define _LT_CRITICAL_PATH_WALK_H

#include "examples/critical_path/path.h"

/**
 * struct hop - the time of one task
 * @path: the result
 * @history: its waits
 * @from: begin of the time
 * @to: its end
 * @next: what is before is in segments, but for what @skipped is
 * @skipped: too short for segments of their own, it is in the last one; or goes to the first one
 * @rest: likewise, of which there is too much for that
 * @last: number of the last segment of this task, or -1
 * @user: how long the task was in user space in the times that were looked at, which may begin
 *	before @from and end behind @to, as in struct latency_tracker_wait
 * @system: likewise in the kernel
 * @pid: the task
 * @hop: how many tasks are before it
 * @parent: number of the segment that it explains, or -1
 * @comm: of the task
 */
struct hop {
	struct path_told *path;
	struct path_history *history;
	u64 from;
	u64 to;
	u64 next;
	u64 skipped;
	u64 rest;
	int last;
	u32 user;
	u32 system;
	pid_t pid;
	u32 hop;
	int parent;
	char comm[TASK_COMM_LEN];
};

/* segments.c */
struct lt_path_segment *path_add(struct hop *hop, u64 ns,
				 enum lt_path_cause cause);
void path_add_until(struct hop *hop, u64 end, enum lt_path_cause cause);
void path_add_rest(struct hop *hop);
void path_name_by(struct lt_path_segment *segment, const char *comm, pid_t pid);

/* walk.c */
void path_walk_task(struct hop *hop);

/* behind.c */
enum lt_path_cause path_cause_of_waker(const struct latency_tracker_wait *wait);
void path_name_function(struct lt_path_segment *segment, u64 function);
void path_explain(struct hop *hop, int number,
		  const struct latency_tracker_wait *wait,
		  const struct latency_tracker_wait *lock,
		  const struct latency_tracker_wait *done);

/* cpu.c: of the time between two long waits; of that without a CPU */
/**
 * struct between - a time between two long waits of a task
 * @begin: when the one was over
 * @end: when the next one began, or now
 * @ran: for how long it had a CPU
 * @first: for so long from @begin on it had one without a break
 * @last: likewise up to @end
 */
struct between {
	u64 begin;
	u64 end;
	u64 ran;
	u64 first;
	u64 last;
};

/* In units of about 4 ms, the ticks of most kernels: fewer do not tell where a task has run. */
#define PATH_TICKS	7

void path_count_ticks(struct hop *hop, u8 user, u8 system);
void path_name_running(struct hop *hop, u32 first);
void path_between(struct hop *hop, const struct between *between);
void path_without_cpu(struct hop *hop, u64 end, u8 state);
const struct latency_tracker_wait *
path_longest(const struct path_history *history,
	     enum latency_tracker_wait_kind kind, u64 from, u64 to);

#endif /* _LT_CRITICAL_PATH_WALK_H */
