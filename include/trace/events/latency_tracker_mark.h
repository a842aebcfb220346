/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_mark.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_MARK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_MARK_H

#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#include "include/uapi/latency_tracker_mark.h"

#ifndef _LT_MARK_OPERATION
#define _LT_MARK_OPERATION

#define LT_MARK_OUTER_LEN	96

/* Values of by_id. */
#define LT_MARK_BY_THREAD	1
#define LT_MARK_BY_PROCESS	2

#define LT_MARK_NOBODY		((u32)-1)

/**
 * struct lt_mark_operation - an operation of a program
 * @id: which one, as the program calls it
 * @start_run_ns: CPU time of its thread when it began, or LT_MARK_NO_TIME
 * @cgroup_id: of its thread
 * @task: address of its thread, which may be gone
 * @mark: the mark, as the module numbers them
 * @by_id: another thread may end it than has begun it (LT_MARK_BY_THREAD), or another process
 * @pid: of its thread
 * @tgid: of its process
 * @uid: whose limit of reports counts, as in the initial namespace; LT_MARK_NOBODY: nobody's
 * @comm: of its thread
 * @name: of the mark
 * @outer: the names of those that it is part of, the outermost one first, with '>' between
 *	them; "-"
 */
struct lt_mark_operation {
	u64 id;
	u64 start_run_ns;
	u64 cgroup_id;
	u64 task;
	u32 mark;
	u32 by_id;
	pid_t pid;
	pid_t tgid;
	u32 uid;
	char comm[TASK_COMM_LEN];
	char name[LT_MARK_NAME];
	char outer[LT_MARK_OUTER_LEN];
};
#endif

#define LT_PROTO_MARK_LATENCY						\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct lt_mark_operation *of, s64 run_ns, int cpu, \
		 const struct lt_stack *stack)
#define LT_ARGS_MARK_LATENCY	TP_ARGS(verdict, of, run_ns, cpu, stack)
#define LT_FIELDS_MARK_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(INT, u64, id, of->id)						\
	F(INT, s64, cpu_time, run_ns)					\
	F(INT, u64, cgroup_id, of->cgroup_id)				\
	F(TEXT, mark, LT_MARK_NAME, of->name)				\
	F(TEXT, outer, LT_MARK_OUTER_LEN, of->outer)			\
	F(TEXT, comm, TASK_COMM_LEN, of->comm)				\
	F(INT, pid_t, pid, of->pid)					\
	F(INT, pid_t, tgid, of->tgid)					\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(INT, u32, by_id, of->by_id)					\
	F(INT, int, cpu, cpu)						\
	F(STACK, stack, stack)

TRACE_EVENT(mark_latency,

	LT_PROTO_MARK_LATENCY, LT_ARGS_MARK_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_MARK_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_MARK_LATENCY(LT_ASSIGN)),

	TP_printk("mark=%s, outer=%s, comm=%s, pid=%d, tgid=%d, cpu=%d, id=%llu, by_id=%u, delay=%llu, flag=%s, start=%llu, cpu_time=%lld, cgroup_id=%llu, stack="
		  LT_STACK_FMT,
		  __entry->mark, __entry->outer, __entry->comm, __entry->pid,
		  __entry->tgid, __entry->cpu, __entry->id,
		  __entry->by_id, __entry->delay, LT_SHOW(FLAG, __entry->flag), __entry->start, __entry->cpu_time, __entry->cgroup_id,
		  LT_SHOW_STACK(stack))
);

#endif /* _LT_TRACE_MARK_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_mark
#include <trace/define_trace.h>
