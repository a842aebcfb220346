/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_critical_path know of each other.
 */
#ifndef _LT_CRITICAL_PATH_PATH_H
#define _LT_CRITICAL_PATH_PATH_H

#include <linux/types.h>
#include <trace/events/latency_tracker_critical_path.h>

#include "latency_tracker.h"
#include "usecase/usecase.h"

#define PATH_HOPS	8
#define PATH_SEGMENTS	64
/* A segment is longer than such a part of the operation. */
#define PATH_PARTS	1000
/* Waits of one task in one hop. */
#define PATH_WAITS	64

/**
 * struct path_told - what a late operation consisted of
 * @of: the operation
 * @nr: number of @segments
 * @is_cut: there were more
 * @least_ns: those that are not longer are told together
 * @hops: how many there may be
 * @segments: depth first
 */
struct path_told {
	struct lt_path_of of;
	u32 nr;
	bool is_cut;
	u64 least_ns;
	u32 hops;
	struct lt_path_segment segments[PATH_SEGMENTS];
};

/**
 * struct path_now - what a task is doing, or has done last
 * @out_ns: since when it is off the CPU; 0: it has one
 * @woken_ns: when it was woken since; 0: it was not
 * @since_ns: when its last long wait was over
 * @exec_ns: for how long it has had a CPU since
 * @first_out_ns: when it was switched away from first since; 0: it was not
 * @in_ns: when it got a CPU last
 * @state: why it is off the CPU, enum offcpu_state
 * @user: its time in user space since @since_ns, as in struct latency_tracker_wait
 * @system: likewise in the kernel
 */
struct path_now {
	u64 out_ns;
	u64 woken_ns;
	u64 since_ns;
	u64 exec_ns;
	u64 first_out_ns;
	u64 in_ns;
	u8 state;
	u8 user;
	u8 system;
};

/* tasks.c: the waits of all tasks */
extern struct lt_probe path_probes[];
extern const unsigned int path_nr_probes;
extern u64 path_least_ns;
extern u64 path_usec_stack;
int path_tasks_start(unsigned int nr);
void path_tasks_stop(void);
unsigned long path_tasks_lost(void);
u64 path_tasks_memory(void);
bool path_task_now(pid_t pid, struct path_now *now);

/* works.c: the work items of workers */
extern struct lt_probe path_work_probes[];
extern const unsigned int path_nr_work_probes;
int path_works_start(void);
void path_works_stop(void);
void path_works_forget(const struct task_struct *task);
u64 path_work_publish(void);
u64 path_works_memory(void);
unsigned long path_works_unseen(void);

/* stacks.c: of long waits */
int path_stacks_start(void);
void path_stacks_stop(void);
u32 path_stack_keep(struct task_struct *next);
u32 path_stack_asleep(struct task_struct *task);
void path_stack_get(u32 number, struct lt_stack *stack);

/* history.c: the waits of one task in a time */
struct path_history {
	unsigned int nr;
	bool is_lost;
	bool is_cut;
	struct latency_tracker_wait waits[PATH_WAITS + 1];
};

void path_history_read(struct path_history *history, pid_t pid, u64 from, u64 to);

/* walk.c: the segments */
int path_walk_start(void);
void path_walk_stop(void);
void path_walk(struct path_told *path, const struct latency_tracker_late *late);

/* late.c: which operations are late */
int path_late_start(void);
void path_late_stop(void);
void path_late(const struct latency_tracker_late *late);

/* How much of a wait is in a time, ns. */
static inline u64 path_overlap(u64 begin, u64 end, u64 from, u64 to)
{
	begin = max(begin, from);
	end = min(end, to);
	return begin < end ? end - begin : 0;
}

#endif /* _LT_CRITICAL_PATH_PATH_H */
