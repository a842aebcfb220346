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

#include "wrapper/cgroup.h"

#ifndef _LT_SYSCALL
#define _LT_SYSCALL
/* The longest name and its 0. */
#define LT_SYSCALL_NAME_LEN	24

/**
 * struct lt_syscall - a system call
 * @nr: its number
 * @pid: of the calling thread, when it began
 * @tgid: of its process; of one that is an event only. After an exec it is the pid, too.
 * @compat: @nr is of the 32-bit table
 */
struct lt_syscall {
	long nr;
	pid_t pid;
	pid_t tgid;
	u32 compat;
};
#endif

#define LT_PROTO_SYSCALL_LATENCY					\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct task_struct *task,			\
		 const struct lt_syscall *call, const char *name, long ret)
#define LT_ARGS_SYSCALL_LATENCY	TP_ARGS(verdict, task, call, name, ret)
#define LT_FIELDS_SYSCALL_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(INT, u64, cgroup_id, lt_task_cgroup_id(task))			\
	F(INT, long, nr, call->nr)					\
	F(INT, long, ret, ret)						\
	F(TEXT, call, LT_SYSCALL_NAME_LEN, name)			\
	F(TEXT, comm, TASK_COMM_LEN, task->comm)			\
	F(INT, pid_t, pid, task->pid)					\
	F(INT, pid_t, tgid, task->tgid)					\
	F(ENUM, u16, flag, FLAG, verdict->flag)				\
	F(INT, u16, compat, call->compat)

TRACE_EVENT(syscall_latency,

	LT_PROTO_SYSCALL_LATENCY, LT_ARGS_SYSCALL_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_SYSCALL_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_SYSCALL_LATENCY(LT_ASSIGN)),

	TP_printk("comm=%s, pid=%d, tgid=%d, nr=%ld, call=%s, compat=%u, ret=%ld, delay=%llu, flag=%s, start=%llu, cgroup_id=%llu",
		  __entry->comm, __entry->pid, __entry->tgid, __entry->nr,
		  __entry->call, __entry->compat, __entry->ret, __entry->delay,
		  LT_SHOW(FLAG, __entry->flag), __entry->start,
		  __entry->cgroup_id)
);

#define LT_PROTO_SYSCALL_LATENCY_STACK					\
	TP_PROTO(const struct task_struct *task,			\
		 const struct lt_syscall *call, const char *name,	\
		 u64 start, u64 delay,					\
		 const struct lt_stack *stack)
#define LT_ARGS_SYSCALL_LATENCY_STACK	TP_ARGS(task, call, name, start, delay, stack)
#define LT_FIELDS_SYSCALL_LATENCY_STACK(F)				\
	F(INT, u64, delay, delay)					\
	F(INT, u64, start, start)					\
	F(INT, u64, cgroup_id, lt_task_cgroup_id(task))			\
	F(INT, long, nr, call->nr)					\
	F(TEXT, call, LT_SYSCALL_NAME_LEN, name)			\
	F(TEXT, comm, TASK_COMM_LEN, task->comm)			\
	F(INT, pid_t, pid, task->pid)					\
	F(INT, pid_t, tgid, task->tgid)					\
	F(ENUM, u16, flag, FLAG, LATENCY_TRACKER_PENDING)		\
	F(INT, u16, compat, call->compat)				\
	F(STACK, stack, stack)

TRACE_EVENT(syscall_latency_stack,

	LT_PROTO_SYSCALL_LATENCY_STACK, LT_ARGS_SYSCALL_LATENCY_STACK,

	TP_STRUCT__entry(LT_FIELDS_SYSCALL_LATENCY_STACK(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_SYSCALL_LATENCY_STACK(LT_ASSIGN)),

	TP_printk("comm=%s, pid=%d, tgid=%d, nr=%ld, call=%s, compat=%u, delay=%llu, flag=%s, start=%llu, cgroup_id=%llu, stack="
		  LT_STACK_FMT,
		  __entry->comm, __entry->pid, __entry->tgid, __entry->nr,
		  __entry->call, __entry->compat, __entry->delay,
		  LT_SHOW(FLAG, __entry->flag), __entry->start,
		  __entry->cgroup_id,
		  LT_SHOW_STACK(stack))
);

#endif /* _LT_TRACE_SYSCALLS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_syscalls
#include <trace/define_trace.h>
