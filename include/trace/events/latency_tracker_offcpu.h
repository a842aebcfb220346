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

/* LT_OFFCPU_* of examples/latency_tracker_offcpu.c */
#define lt_show_offcpu_state(state)					\
	__print_symbolic(state, { 0, "preempted" }, { 1, "runnable" },	\
			 { 2, "S" }, { 3, "D" }, { 4, "other" })

TRACE_EVENT(offcpu_sched_switch,

	TP_PROTO(const struct latency_tracker_verdict *verdict,
		 const struct task_struct *task, u32 state,
		 const struct lt_stack *stack),

	TP_ARGS(verdict, task, state, stack),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(pid_t, tgid)
		__field(u32, flag)
		__field(u32, state)
		__field(int, cpu)
		__dynamic_array(unsigned long, stack, stack->nr)
	),

	TP_fast_assign(
		__entry->delay = verdict->delay_ns;
		__entry->start = verdict->start_ns;
		memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
		__entry->pid = task->pid;
		__entry->tgid = task->tgid;
		__entry->flag = verdict->flag;
		__entry->state = state;
		__entry->cpu = task_cpu(task);
		lt_stack_copy(__get_dynamic_array(stack), stack);
	),

	TP_printk("comm=%s, pid=%d, tgid=%d, cpu=%d, delay=%llu, flag=%s, start=%llu, state=%s, stack=%s",
		  __entry->comm, __entry->pid, __entry->tgid, __entry->cpu,
		  __entry->delay, lt_show_flag(__entry->flag), __entry->start,
		  lt_show_offcpu_state(__entry->state),
		  lt_stack_print(p, __get_dynamic_array(stack),
				 __get_dynamic_array_len(stack)))
);

TRACE_EVENT(offcpu_sched_wakeup,

	TP_PROTO(const struct task_struct *wakee, u64 start, u64 delay,
		 const struct lt_stack *stack),

	TP_ARGS(wakee, start, delay, stack),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__array(char, waker_comm, TASK_COMM_LEN)
		__array(char, wakee_comm, TASK_COMM_LEN)
		__field(pid_t, waker_pid)
		__field(pid_t, wakee_pid)
		__field(u32, flag)
		__dynamic_array(unsigned long, waker_stack, stack->nr)
	),

	TP_fast_assign(
		__entry->delay = delay;
		__entry->start = start;
		memcpy(__entry->waker_comm, current->comm, TASK_COMM_LEN);
		memcpy(__entry->wakee_comm, wakee->comm, TASK_COMM_LEN);
		__entry->waker_pid = current->pid;
		__entry->wakee_pid = wakee->pid;
		__entry->flag = LATENCY_TRACKER_PENDING;
		lt_stack_copy(__get_dynamic_array(waker_stack), stack);
	),

	TP_printk("waker_comm=%s (%d), wakee_comm=%s (%d), wakee_offcpu_delay=%llu, flag=%s, start=%llu, waker_stack=%s",
		  __entry->waker_comm, __entry->waker_pid, __entry->wakee_comm,
		  __entry->wakee_pid, __entry->delay,
		  lt_show_flag(__entry->flag), __entry->start,
		  lt_stack_print(p, __get_dynamic_array(waker_stack),
				 __get_dynamic_array_len(waker_stack)))
);

#endif /* _LT_TRACE_OFFCPU_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_offcpu
#include <trace/define_trace.h>
