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
 * @irq: number of the line
 * @pid: of the thread that was interrupted
 * @tgid: of its process
 * @comm: its name
 * @name: of the handler, as in /proc/interrupts, maybe cut
 */
struct lt_irq_handler {
	unsigned long func;
	int irq;
	pid_t pid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
	char name[LT_IRQ_NAME_LEN];
};

/**
 * struct lt_softirq_place - where a soft interrupt runs, or is kept from it
 * @pid: of the thread that has the CPU, -1 if it is not known
 * @tgid: of its process
 * @comm: its name
 * @stack: its stack
 */
struct lt_softirq_place {
	pid_t pid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
	struct lt_stack stack;
};
#endif

/* irqreturn_t, and LT_IRQ_PENDING of examples/latency_tracker_irq.c */
#define lt_show_irq_ret(ret)						\
	__print_symbolic(ret, { 0, "none" }, { 1, "handled" },		\
			 { 2, "wake_thread" }, { 255, "-" })

/* Numbers of the kernel's ABI: /proc/softirqs has them in this order. */
#define lt_show_softirq(vec)						\
	__print_symbolic(vec, { 0, "HI" }, { 1, "TIMER" },		\
			 { 2, "NET_TX" }, { 3, "NET_RX" },		\
			 { 4, "BLOCK" }, { 5, "IRQ_POLL" },		\
			 { 6, "TASKLET" }, { 7, "SCHED" },		\
			 { 8, "HRTIMER" }, { 9, "RCU" })

TRACE_EVENT(irq_latency,

	TP_PROTO(const struct latency_tracker_verdict *verdict,
		 const struct lt_irq_handler *handler, int cpu, u32 ret,
		 const struct lt_stack *stack),

	TP_ARGS(verdict, handler, cpu, ret, stack),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__field(unsigned long, handler)
		__field(int, irq)
		__field(int, cpu)
		__field(u32, ret)
		__field(pid_t, pid)
		__field(pid_t, tgid)
		__field(u32, flag)
		__array(char, comm, TASK_COMM_LEN)
		__array(char, name, LT_IRQ_NAME_LEN)
		__dynamic_array(unsigned long, stack, stack->nr)
	),

	TP_fast_assign(
		__entry->delay = verdict->delay_ns;
		__entry->start = verdict->start_ns;
		__entry->handler = handler->func;
		__entry->irq = handler->irq;
		__entry->cpu = cpu;
		__entry->ret = ret;
		__entry->pid = handler->pid;
		__entry->tgid = handler->tgid;
		__entry->flag = verdict->flag;
		memcpy(__entry->comm, handler->comm, TASK_COMM_LEN);
		memcpy(__entry->name, handler->name, LT_IRQ_NAME_LEN);
		lt_stack_copy(__get_dynamic_array(stack), stack);
	),

	TP_printk("irq=%d, name=%s, handler=%ps, cpu=%d, ret=%s, comm=%s, pid=%d, tgid=%d, delay=%llu, flag=%s, start=%llu, stack=%s",
		  __entry->irq, __entry->name, (void *)__entry->handler,
		  __entry->cpu, lt_show_irq_ret(__entry->ret), __entry->comm,
		  __entry->pid, __entry->tgid, __entry->delay,
		  lt_show_flag(__entry->flag), __entry->start,
		  lt_stack_print(p, __get_dynamic_array(stack),
				 __get_dynamic_array_len(stack)))
);

TRACE_EVENT(softirq_latency,

	TP_PROTO(const struct latency_tracker_verdict *verdict, u32 vec,
		 u32 stage, int cpu, const struct lt_softirq_place *place),

	TP_ARGS(verdict, vec, stage, cpu, place),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__field(u32, vec)
		__field(u32, stage)
		__field(int, cpu)
		__field(pid_t, pid)
		__field(pid_t, tgid)
		__field(u32, flag)
		__array(char, comm, TASK_COMM_LEN)
		__dynamic_array(unsigned long, stack, place->stack.nr)
	),

	TP_fast_assign(
		__entry->delay = verdict->delay_ns;
		__entry->start = verdict->start_ns;
		__entry->vec = vec;
		__entry->stage = stage;
		__entry->cpu = cpu;
		__entry->pid = place->pid;
		__entry->tgid = place->tgid;
		__entry->flag = verdict->flag;
		memcpy(__entry->comm, place->comm, TASK_COMM_LEN);
		lt_stack_copy(__get_dynamic_array(stack), &place->stack);
	),

	TP_printk("vec=%u, name=%s, stage=%s, cpu=%d, comm=%s, pid=%d, tgid=%d, delay=%llu, flag=%s, start=%llu, stack=%s",
		  __entry->vec, lt_show_softirq(__entry->vec),
		  __print_symbolic(__entry->stage, { 0, "raise" },
				   { 1, "run" }),
		  __entry->cpu, __entry->comm, __entry->pid, __entry->tgid,
		  __entry->delay, lt_show_flag(__entry->flag), __entry->start,
		  lt_stack_print(p, __get_dynamic_array(stack),
				 __get_dynamic_array_len(stack)))
);

#endif /* _LT_TRACE_IRQ_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_irq
#include <trace/define_trace.h>
