/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of latency_tracker_offcpu.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_OFFCPU_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_OFFCPU_H

#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#include "wrapper/cgroup.h"

#ifndef LT_OFFCPU_WAKER
#define LT_OFFCPU_WAKER
/**
 * struct lt_offcpu_waker - what has woken a task
 * @runqueue: how long it has waited for a CPU, ns; -1 if that is not known
 * @comm: the task that woke it; "-" if none did, or none is known
 * @pid: likewise; -1
 * @context: where the wake-up came from, enum offcpu_context
 * @irq: the line of that interrupt, or -1
 * @softirq: the vector of that soft interrupt; 255 is none
 */
struct lt_offcpu_waker {
	s64 runqueue;
	char comm[TASK_COMM_LEN];
	pid_t pid;
	u32 context;
	int irq;
	u32 softirq;
};
#endif

/* enum offcpu_context of usecase/interrupt.h */
#define LT_VALUES_OFFCPU_CONTEXT(FIRST, NEXT)				\
	FIRST(0, "unknown") NEXT(1, "task") NEXT(2, "softirq")		\
	NEXT(3, "hardirq") NEXT(4, "nmi")

/* enum offcpu_state of usecase/off_cpu.h */
#define LT_VALUES_OFFCPU_STATE(FIRST, NEXT)				\
	FIRST(0, "preempted") NEXT(1, "runnable") NEXT(2, "sleeping")	\
	NEXT(3, "blocked") NEXT(4, "other") NEXT(5, "yielded")		\
	NEXT(6, "throttled") NEXT(7, "stopped") NEXT(8, "traced")	\
	NEXT(9, "frozen") NEXT(10, "unknown")

/* enum offcpu_stall of usecase/off_cpu.h */
#define LT_VALUES_OFFCPU_STALL(FIRST, NEXT)				\
	FIRST(0, "-") NEXT(1, "memory") NEXT(2, "io") NEXT(3, "memory+io")

#define LT_PROTO_OFFCPU_SCHED_SWITCH					\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct task_struct *task, u32 state, u32 stall,	\
		 const struct lt_offcpu_waker *waker,			\
		 const struct lt_stack *stack)
#define LT_ARGS_OFFCPU_SCHED_SWITCH					\
	TP_ARGS(verdict, task, state, stall, waker, stack)
#define LT_FIELDS_OFFCPU_SCHED_SWITCH(F)				\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(INT, s64, runqueue, waker->runqueue)				\
	F(INT, u64, cgroup_id, lt_task_cgroup_id(task))			\
	F(TEXT, comm, TASK_COMM_LEN, task->comm)			\
	F(TEXT, waker_comm, TASK_COMM_LEN, waker->comm)			\
	F(INT, pid_t, pid, task->pid)					\
	F(INT, pid_t, tgid, task->tgid)					\
	F(INT, pid_t, waker_pid, waker->pid)				\
	F(ENUM, u32, waker_context, OFFCPU_CONTEXT, waker->context)	\
	F(ENUM, u32, waker_softirq, SOFTIRQ, waker->softirq)		\
	F(INT, int, waker_irq, waker->irq)				\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(ENUM, u32, state, OFFCPU_STATE, state)			\
	F(ENUM, u32, stall, OFFCPU_STALL, stall)			\
	F(INT, int, cpu, task_cpu(task))				\
	F(STACK, stack, stack)

TRACE_EVENT(offcpu_sched_switch,

	LT_PROTO_OFFCPU_SCHED_SWITCH, LT_ARGS_OFFCPU_SCHED_SWITCH,

	TP_STRUCT__entry(LT_FIELDS_OFFCPU_SCHED_SWITCH(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_OFFCPU_SCHED_SWITCH(LT_ASSIGN)),

	TP_printk("comm=%s, pid=%d, tgid=%d, cpu=%d, delay=%llu, flag=%s, start=%llu, state=%s, waker_comm=%s, waker_pid=%d, waker_context=%s, waker_irq=%d, waker_softirq=%s, runqueue=%lld, stall=%s, cgroup_id=%llu, stack="
		  LT_STACK_FMT,
		  __entry->comm, __entry->pid, __entry->tgid, __entry->cpu,
		  __entry->delay, LT_SHOW(FLAG, __entry->flag), __entry->start,
		  LT_SHOW(OFFCPU_STATE, __entry->state),
		  __entry->waker_comm, __entry->waker_pid,
		  LT_SHOW(OFFCPU_CONTEXT, __entry->waker_context),
		  __entry->waker_irq,
		  LT_SHOW(SOFTIRQ, __entry->waker_softirq),
		  __entry->runqueue, LT_SHOW(OFFCPU_STALL, __entry->stall),
		  __entry->cgroup_id,
		  LT_SHOW_STACK(stack))
);

#define LT_PROTO_OFFCPU_SCHED_WAKEUP					\
	TP_PROTO(const struct task_struct *wakee, u64 start, u64 delay,	\
		 const struct lt_stack *stack)
#define LT_ARGS_OFFCPU_SCHED_WAKEUP	TP_ARGS(wakee, start, delay, stack)
#define LT_FIELDS_OFFCPU_SCHED_WAKEUP(F)				\
	F(INT, u64, delay, delay)					\
	F(INT, u64, start, start)					\
	F(TEXT, waker_comm, TASK_COMM_LEN, current->comm)		\
	F(TEXT, wakee_comm, TASK_COMM_LEN, wakee->comm)			\
	F(INT, pid_t, waker_pid, current->pid)				\
	F(INT, pid_t, wakee_pid, wakee->pid)				\
	F(ENUM, u32, flag, FLAG, LATENCY_TRACKER_PENDING)		\
	F(STACK, waker_stack, stack)

TRACE_EVENT(offcpu_sched_wakeup,

	LT_PROTO_OFFCPU_SCHED_WAKEUP, LT_ARGS_OFFCPU_SCHED_WAKEUP,

	TP_STRUCT__entry(LT_FIELDS_OFFCPU_SCHED_WAKEUP(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_OFFCPU_SCHED_WAKEUP(LT_ASSIGN)),

	TP_printk("waker_comm=%s (%d), wakee_comm=%s (%d), wakee_offcpu_delay=%llu, flag=%s, start=%llu, waker_stack="
		  LT_STACK_FMT,
		  __entry->waker_comm, __entry->waker_pid, __entry->wakee_comm,
		  __entry->wakee_pid, __entry->delay,
		  LT_SHOW(FLAG, __entry->flag), __entry->start,
		  LT_SHOW_STACK(waker_stack))
);

#endif /* _LT_TRACE_OFFCPU_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_offcpu
#include <trace/define_trace.h>
