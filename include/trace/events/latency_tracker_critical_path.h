/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_critical_path.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_CRITICAL_PATH_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_CRITICAL_PATH_H

#include <linux/kdev_t.h>
#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#ifndef _LT_CRITICAL_PATH
#define _LT_CRITICAL_PATH
#define LT_PATH_NAME	32

/* What a segment was; LT_VALUES_PATH_CAUSE has the names. */
enum lt_path_cause {
	LT_PATH_UNKNOWN,
	LT_PATH_RUNNING,
	LT_PATH_SHORT,		/* waits that each were shorter than usec_wait */
	LT_PATH_INTERRUPT,	/* handlers took its time */
	LT_PATH_CPU,		/* it waited for a CPU, which another task had */
	LT_PATH_THROTTLED,	/* its control group had used up its quota */
	LT_PATH_RT_THROTTLED,
	LT_PATH_DL_SERVER,
	LT_PATH_STEAL,
	LT_PATH_LOCK,
	LT_PATH_DISK,		/* until a request was completed */
	LT_PATH_QUEUE,		/* of that, before it was issued */
	LT_PATH_DEVICE,		/* and after that */
	LT_PATH_MEMORY,
	LT_PATH_TASK,		/* until another task woke it */
	LT_PATH_TIMER,
	LT_PATH_PACKET,
	LT_PATH_SOFTIRQ,
	LT_PATH_HARDIRQ,
	LT_PATH_STOPPED,
	LT_PATH_TRACED,
	LT_PATH_FROZEN,
	LT_PATH_YIELDED,
	LT_PATH_LOST,		/* what was known of it was overwritten */
	LT_PATH_CUT,		/* a limit of hops or segments */
	LT_PATH_RAISED,		/* a soft interrupt waited until it ran */
	LT_PATH_WORK,		/* a work item waited until its worker began with it */
};

/**
 * struct lt_path_segment - a part of a path
 * @start: when it began, ns
 * @delay: how long it was, ns
 * @lock: address of the lock, or NULL
 * @sector: of the request
 * @cgroup: id of the control group that was throttled, or 0
 * @cause: of enum lt_path_cause
 * @hop: 0 for the task of the operation, 1 for what that waited for, ...
 * @parent: number of the segment that it explains, or -1
 * @dev: of the disk
 * @stack: number of its stack, 0: none
 * @pid: of the task whose time it is; -1
 * @by_pid: of the task that had the CPU or the lock, woke it, or queued the work item; -1
 * @comm: of @pid
 * @by_comm: of @by_pid
 * @name: of the kind of lock, the disk, the vector, the function of the work item
 */
struct lt_path_segment {
	u64 start;
	u64 delay;
	const void *lock;
	u64 sector;
	u64 cgroup;
	u32 cause;
	u32 hop;
	int parent;
	u32 dev;
	u32 stack;
	pid_t pid;
	pid_t by_pid;
	char comm[TASK_COMM_LEN];
	char by_comm[TASK_COMM_LEN];
	char name[LT_PATH_NAME];
};

/**
 * struct lt_path_of - the path that a segment is of
 * @number: of the operation
 * @total: its delay, ns
 * @flag: has it ended?
 * @nr: how many segments the path has
 * @tracker: that reported it
 * @operation: what it was
 */
struct lt_path_of {
	u64 number;
	u64 total;
	u32 flag;
	u32 nr;
	char tracker[TASK_COMM_LEN];
	char operation[LT_PATH_NAME];
};
#endif

/* enum lt_path_cause */
#define LT_VALUES_PATH_CAUSE(FIRST, NEXT)				\
	FIRST(0, "unknown") NEXT(1, "running") NEXT(2, "short")		\
	NEXT(3, "interrupt") NEXT(4, "cpu") NEXT(5, "throttled")	\
	NEXT(6, "rt_throttled") NEXT(7, "dl_server") NEXT(8, "steal")	\
	NEXT(9, "lock") NEXT(10, "disk") NEXT(11, "queue")		\
	NEXT(12, "device") NEXT(13, "memory") NEXT(14, "task")		\
	NEXT(15, "timer") NEXT(16, "packet") NEXT(17, "softirq")	\
	NEXT(18, "hardirq") NEXT(19, "stopped") NEXT(20, "traced")	\
	NEXT(21, "frozen") NEXT(22, "yielded") NEXT(23, "lost")		\
	NEXT(24, "cut") NEXT(25, "raised") NEXT(26, "work")

#define LT_PROTO_CRITICAL_PATH						\
	TP_PROTO(const struct lt_path_of *path,				\
		 const struct lt_path_segment *segment, u32 number,	\
		 const struct lt_stack *stack)
#define LT_ARGS_CRITICAL_PATH	TP_ARGS(path, segment, number, stack)
#define LT_FIELDS_CRITICAL_PATH(F)					\
	F(INT, u64, delay, segment->delay)				\
	F(INT, u64, start, segment->start)				\
	F(INT, u64, op, path->number)					\
	F(INT, u64, total, path->total)					\
	F(ADDR, lock, segment->lock)					\
	F(INT, u64, sector, segment->sector)				\
	F(INT, u64, cgroup_id, segment->cgroup)				\
	F(TEXT, tracker, TASK_COMM_LEN, path->tracker)			\
	F(TEXT, operation, LT_PATH_NAME, path->operation)		\
	F(TEXT, comm, TASK_COMM_LEN, segment->comm)			\
	F(TEXT, by_comm, TASK_COMM_LEN, segment->by_comm)		\
	F(TEXT, name, LT_PATH_NAME, segment->name)			\
	F(INT, pid_t, pid, segment->pid)				\
	F(INT, pid_t, by_pid, segment->by_pid)				\
	F(INT, u32, dev, segment->dev)					\
	F(ENUM, u32, flag, FLAG, path->flag)				\
	F(ENUM, u32, cause, PATH_CAUSE, segment->cause)			\
	F(INT, u32, hop, segment->hop)					\
	F(INT, u32, segment, number)					\
	F(INT, u32, segments, path->nr)					\
	F(INT, int, parent, segment->parent)				\
	F(STACK, stack, stack)

TRACE_EVENT(critical_path,

	LT_PROTO_CRITICAL_PATH, LT_ARGS_CRITICAL_PATH,

	TP_STRUCT__entry(LT_FIELDS_CRITICAL_PATH(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_CRITICAL_PATH(LT_ASSIGN)),

	TP_printk("comm=%s, pid=%d, delay=%llu, cause=%s, op=%llu, tracker=%s, operation=%s, flag=%s, total=%llu, start=%llu, hop=%u, segment=%u, parent=%d, segments=%u, by_comm=%s, by_pid=%d, name=%s, dev=%u,%u, sector=%llu, lock=%pS, cgroup_id=%llu, stack="
		  LT_STACK_FMT,
		  __entry->comm, __entry->pid, __entry->delay,
		  LT_SHOW(PATH_CAUSE, __entry->cause), __entry->op,
		  __entry->tracker, __entry->operation,
		  LT_SHOW(FLAG, __entry->flag), __entry->total, __entry->start,
		  __entry->hop, __entry->segment, __entry->parent,
		  __entry->segments, __entry->by_comm, __entry->by_pid,
		  __entry->name, MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->sector, LT_SHOW_ADDR(__entry->lock),
		  __entry->cgroup_id,
		  LT_SHOW_STACK(stack))
);

#endif /* _LT_TRACE_CRITICAL_PATH_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_critical_path
#include <trace/define_trace.h>
