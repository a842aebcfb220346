/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_wakeup.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_WAKEUP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_WAKEUP_H

#include <linux/minmax.h>
#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#include "wrapper/cgroup.h"

#ifndef _LT_WAKEUP_REPORT
#define _LT_WAKEUP_REPORT
/**
 * struct lt_wakeup_prev - the task that had the CPU last before the end of a wait
 * @pid: of the thread, -1 if it is not known
 * @tgid: of the process
 * @prio: kernel priority, 0 is the highest
 * @comm: name
 * @stack: kernel stack
 */
struct lt_wakeup_prev {
	pid_t pid;
	pid_t tgid;
	int prio;
	char comm[TASK_COMM_LEN];
	struct lt_stack stack;
};

/**
 * struct lt_wakeup_holder - the task that had that CPU for most of the wait
 * @ran: how long, ns
 * @pid: of the thread, -1 if it is not known
 * @prio: kernel priority
 * @comm: name
 */
struct lt_wakeup_holder {
	u64 ran;
	pid_t pid;
	int prio;
	char comm[TASK_COMM_LEN];
};

/* Most of the wait; LT_VALUES_WAKEUP_CAUSE has the names. */
enum lt_wakeup_cause {
	LT_WAKEUP_UNKNOWN,
	LT_WAKEUP_CPU,
	LT_WAKEUP_THROTTLED,
	LT_WAKEUP_RT_THROTTLED,
	LT_WAKEUP_DL_SERVER,
	LT_WAKEUP_STEAL,
};

/* Since when it waits; LT_VALUES_WAKEUP_REASON has the names. */
enum lt_wakeup_reason {
	LT_WAKEUP_WOKEN,
	LT_WAKEUP_PREEMPTED,
	LT_WAKEUP_YIELDED,
	LT_WAKEUP_RUNNABLE,	/* one of these two, while it waits */
	LT_WAKEUP_MIGRATED,	/* it lost its CPU, and got another one */
};

/**
 * struct lt_wakeup_why - why a task had no CPU
 * @cause_ns: how much of the wait @cause was
 * @cgroup: id of the control group that was throttled, or 0
 * @cause: of enum lt_wakeup_cause
 * @holder: the task that had the CPU longest, if tasks are the largest part that
 *	is known
 */
struct lt_wakeup_why {
	u64 cause_ns;
	u64 cgroup;
	u32 cause;
	struct lt_wakeup_holder holder;
};

/**
 * struct lt_wakeup_report - the task that waited for a CPU
 * @task: the task
 * @waker_comm: of the task that woke @task
 * @waker_pid: likewise
 * @cpu: the CPU
 * @reason: of enum lt_wakeup_reason
 */
struct lt_wakeup_report {
	const struct task_struct *task;
	const char *waker_comm;
	pid_t waker_pid;
	int cpu;
	u32 reason;
};
#endif

/* enum lt_wakeup_reason */
#define LT_VALUES_WAKEUP_REASON(FIRST, NEXT)				\
	FIRST(0, "woken") NEXT(1, "preempted") NEXT(2, "yielded")	\
	NEXT(3, "runnable") NEXT(4, "migrated")

/* enum lt_wakeup_cause */
#define LT_VALUES_WAKEUP_CAUSE(FIRST, NEXT)				\
	FIRST(0, "unknown") NEXT(1, "cpu") NEXT(2, "throttled")		\
	NEXT(3, "rt_throttled") NEXT(4, "dl_server") NEXT(5, "steal")

#define LT_PROTO_WAKEUP_LATENCY						\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct lt_wakeup_report *report,			\
		 const struct lt_wakeup_prev *prev,			\
		 const struct lt_wakeup_why *why)
#define LT_ARGS_WAKEUP_LATENCY	TP_ARGS(verdict, report, prev, why)
#define LT_FIELDS_WAKEUP_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(INT, u64, holder_ran, min(why->holder.ran, verdict->delay_ns)) \
	F(INT, u64, cause_ran, min(why->cause_ns, verdict->delay_ns))	\
	F(INT, u64, cgroup, why->cgroup)				\
	F(INT, u64, cgroup_id, lt_task_cgroup_id(report->task))		\
	F(TEXT, comm, TASK_COMM_LEN, report->task->comm)		\
	F(TEXT, waker_comm, TASK_COMM_LEN, report->waker_comm)		\
	F(TEXT, prev_comm, TASK_COMM_LEN, prev->comm)			\
	F(TEXT, holder_comm, TASK_COMM_LEN, why->holder.comm)	\
	F(INT, pid_t, pid, report->task->pid)				\
	F(INT, pid_t, tgid, report->task->tgid)				\
	F(INT, int, prio, report->task->prio)				\
	F(INT, int, cpu, report->cpu)					\
	F(INT, pid_t, waker_pid, report->waker_pid)			\
	F(INT, pid_t, prev_pid, prev->pid)				\
	F(INT, pid_t, prev_tgid, prev->tgid)				\
	F(INT, int, prev_prio, prev->prio)				\
	F(INT, pid_t, holder_pid, why->holder.pid)				\
	F(INT, int, holder_prio, why->holder.prio)				\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(ENUM, u32, cause, WAKEUP_CAUSE, why->cause)			\
	F(ENUM, u32, reason, WAKEUP_REASON, report->reason)		\
	F(STACK, prev_stack, &prev->stack)

TRACE_EVENT(wakeup_latency,

	LT_PROTO_WAKEUP_LATENCY, LT_ARGS_WAKEUP_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_WAKEUP_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_WAKEUP_LATENCY(LT_ASSIGN)),

	TP_printk("comm=%s, pid=%d, tgid=%d, prio=%d, cpu=%d, delay=%llu, flag=%s, start=%llu, waker_comm=%s, waker_pid=%d, prev_comm=%s, prev_pid=%d, prev_tgid=%d, prev_prio=%d, holder_comm=%s, holder_pid=%d, holder_prio=%d, holder_ran=%llu, cause=%s, cause_ran=%llu, cgroup=%llu, reason=%s, cgroup_id=%llu, prev_stack="
		  LT_STACK_FMT,
		  __entry->comm, __entry->pid, __entry->tgid, __entry->prio,
		  __entry->cpu, __entry->delay, LT_SHOW(FLAG, __entry->flag),
		  __entry->start, __entry->waker_comm, __entry->waker_pid,
		  __entry->prev_comm, __entry->prev_pid, __entry->prev_tgid,
		  __entry->prev_prio, __entry->holder_comm,
		  __entry->holder_pid, __entry->holder_prio,
		  __entry->holder_ran,
		  LT_SHOW(WAKEUP_CAUSE, __entry->cause), __entry->cause_ran,
		  __entry->cgroup, LT_SHOW(WAKEUP_REASON, __entry->reason),
		  __entry->cgroup_id,
		  LT_SHOW_STACK(prev_stack))
);

#endif /* _LT_TRACE_WAKEUP_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_wakeup
#include <trace/define_trace.h>
