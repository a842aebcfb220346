/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of latency_tracker_syscalls.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_SYSCALLS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_SYSCALLS_H

#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#ifndef _LT_SYSCALL
#define _LT_SYSCALL
/**
 * struct lt_syscall - a system call
 * @nr: its number
 * @pid: of the calling thread
 * @compat: @nr is of the 32-bit table
 */
struct lt_syscall {
	long nr;
	pid_t pid;
	u32 compat;
};
#endif

TRACE_EVENT(syscall_latency,

	TP_PROTO(const struct latency_tracker_verdict *verdict,
		 const struct task_struct *task,
		 const struct lt_syscall *call, long ret),

	TP_ARGS(verdict, task, call, ret),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__field(long, nr)
		__field(long, ret)
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(pid_t, tgid)
		__field(u16, flag)
		__field(u16, compat)
	),

	TP_fast_assign(
		__entry->delay = verdict->delay_ns;
		__entry->start = verdict->start_ns;
		__entry->nr = call->nr;
		__entry->compat = call->compat;
		__entry->ret = ret;
		memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
		__entry->pid = task->pid;
		__entry->tgid = task->tgid;
		__entry->flag = verdict->flag;
	),

	TP_printk("comm=%s, pid=%d, tgid=%d, nr=%ld, compat=%u, ret=%ld, delay=%llu, flag=%s, start=%llu",
		  __entry->comm, __entry->pid, __entry->tgid, __entry->nr,
		  __entry->compat, __entry->ret, __entry->delay,
		  lt_show_flag(__entry->flag), __entry->start)
);

TRACE_EVENT(syscall_latency_stack,

	TP_PROTO(const struct task_struct *task,
		 const struct lt_syscall *call, u64 start, u64 delay,
		 const struct lt_stack *stack),

	TP_ARGS(task, call, start, delay, stack),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__field(long, nr)
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(pid_t, tgid)
		__field(u16, flag)
		__field(u16, compat)
		__dynamic_array(unsigned long, stack, stack->nr)
	),

	TP_fast_assign(
		__entry->delay = delay;
		__entry->start = start;
		__entry->nr = call->nr;
		__entry->compat = call->compat;
		memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
		__entry->pid = task->pid;
		__entry->tgid = task->tgid;
		__entry->flag = LATENCY_TRACKER_PENDING;
		lt_stack_copy(__get_dynamic_array(stack), stack);
	),

	TP_printk("comm=%s, pid=%d, tgid=%d, nr=%ld, compat=%u, delay=%llu, flag=%s, start=%llu, stack=%s",
		  __entry->comm, __entry->pid, __entry->tgid, __entry->nr,
		  __entry->compat, __entry->delay,
		  lt_show_flag(__entry->flag), __entry->start,
		  lt_stack_print(p, __get_dynamic_array(stack),
				 __get_dynamic_array_len(stack)))
);

#endif /* _LT_TRACE_SYSCALLS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_syscalls
#include <trace/define_trace.h>
