/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of latency_tracker_irq.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_IRQ_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_IRQ_H

#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#include "wrapper/cgroup.h"

#ifndef _LT_IRQ_REPORT
#define _LT_IRQ_REPORT
#define LT_IRQ_NAME_LEN	32

enum lt_irq_stage {
	LT_SOFTIRQ_RAISE,	/* raised, until it runs */
	LT_SOFTIRQ_RUN,		/* the run of its handler */
	LT_IRQ_RUN,		/* the run of a handler of a hard interrupt */
};

/**
 * struct lt_irq_handler - a handler of an interrupt line
 * @func: its function
 * @cgroup_id: of the thread that was interrupted
 * @irq: number of the line
 * @pid: of the thread that was interrupted
 * @tgid: of its process
 * @comm: its name
 * @name: of the handler, as in /proc/interrupts, maybe cut
 */
struct lt_irq_handler {
	const void *func;
	u64 cgroup_id;
	int irq;
	pid_t pid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
	char name[LT_IRQ_NAME_LEN];
};

/**
 * struct lt_softirq_place - where a soft interrupt runs, or is kept from it
 * @cgroup_id: of the thread that has the CPU, 0 if it is not known
 * @pid: of that thread, -1 if it is not known
 * @tgid: of its process
 * @comm: its name
 * @stack: its stack
 */
struct lt_softirq_place {
	u64 cgroup_id;
	pid_t pid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
	struct lt_stack stack;
};
#endif

/* irqreturn_t, and LT_IRQ_PENDING of examples/irq/hardirq.c */
#define LT_VALUES_IRQ_RET(FIRST, NEXT)					\
	FIRST(0, "none") NEXT(1, "handled") NEXT(2, "wake_thread")	\
	NEXT(255, "-")

/* enum lt_irq_stage */
#define LT_VALUES_SOFTIRQ_STAGE(FIRST, NEXT)				\
	FIRST(0, "raise") NEXT(1, "run")

#define LT_PROTO_IRQ_LATENCY						\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct lt_irq_handler *handler, int cpu, u32 ret,	\
		 const struct lt_stack *stack)
#define LT_ARGS_IRQ_LATENCY	TP_ARGS(verdict, handler, cpu, ret, stack)
#define LT_FIELDS_IRQ_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(ADDR, handler, handler->func)					\
	F(INT, int, irq, handler->irq)					\
	F(INT, int, cpu, cpu)						\
	F(ENUM, u32, ret, IRQ_RET, ret)					\
	F(INT, pid_t, pid, handler->pid)				\
	F(INT, pid_t, tgid, handler->tgid)				\
	F(INT, u64, cgroup_id, handler->cgroup_id)			\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(TEXT, comm, TASK_COMM_LEN, handler->comm)			\
	F(TEXT, name, LT_IRQ_NAME_LEN, handler->name)			\
	F(STACK, stack, stack)

TRACE_EVENT(irq_latency,

	LT_PROTO_IRQ_LATENCY, LT_ARGS_IRQ_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_IRQ_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_IRQ_LATENCY(LT_ASSIGN)),

	TP_printk("irq=%d, name=%s, handler=%ps, cpu=%d, ret=%s, comm=%s, pid=%d, tgid=%d, delay=%llu, flag=%s, start=%llu, cgroup_id=%llu, stack="
		  LT_STACK_FMT,
		  __entry->irq, __entry->name, __entry->handler,
		  __entry->cpu, LT_SHOW(IRQ_RET, __entry->ret), __entry->comm,
		  __entry->pid, __entry->tgid, __entry->delay,
		  LT_SHOW(FLAG, __entry->flag), __entry->start,
		  __entry->cgroup_id,
		  LT_SHOW_STACK(stack))
);

#define LT_PROTO_SOFTIRQ_LATENCY					\
	TP_PROTO(const struct latency_tracker_verdict *verdict, u32 vec,	\
		 u32 stage, int cpu, const struct lt_softirq_place *place)
#define LT_ARGS_SOFTIRQ_LATENCY	TP_ARGS(verdict, vec, stage, cpu, place)
#define LT_FIELDS_SOFTIRQ_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(ENUM, u32, vec, SOFTIRQ, vec)					\
	F(ENUM, u32, stage, SOFTIRQ_STAGE, stage)			\
	F(INT, int, cpu, cpu)						\
	F(INT, pid_t, pid, place->pid)					\
	F(INT, pid_t, tgid, place->tgid)				\
	F(INT, u64, cgroup_id, place->cgroup_id)			\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(TEXT, comm, TASK_COMM_LEN, place->comm)			\
	F(STACK, stack, &place->stack)

TRACE_EVENT(softirq_latency,

	LT_PROTO_SOFTIRQ_LATENCY, LT_ARGS_SOFTIRQ_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_SOFTIRQ_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_SOFTIRQ_LATENCY(LT_ASSIGN)),

	TP_printk("vec=%u, name=%s, stage=%s, cpu=%d, comm=%s, pid=%d, tgid=%d, delay=%llu, flag=%s, start=%llu, cgroup_id=%llu, stack="
		  LT_STACK_FMT,
		  __entry->vec, LT_SHOW(SOFTIRQ, __entry->vec),
		  LT_SHOW(SOFTIRQ_STAGE, __entry->stage),
		  __entry->cpu, __entry->comm, __entry->pid, __entry->tgid,
		  __entry->delay, LT_SHOW(FLAG, __entry->flag), __entry->start,
		  __entry->cgroup_id,
		  LT_SHOW_STACK(stack))
);

#endif /* _LT_TRACE_IRQ_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_irq
#include <trace/define_trace.h>
