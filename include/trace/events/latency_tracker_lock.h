/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_lock.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_LOCK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_LOCK_H

#include <linux/kdev_t.h>
#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#include "wrapper/cgroup.h"

#ifndef LT_LOCK_REPORT
#define LT_LOCK_REPORT
/**
 * struct lt_lock_holder - who holds a lock
 * @lock: the lock that it waits for itself, if it is known; else NULL
 * @comm: of the task; "-" if it is not known which
 * @pid: likewise; -1
 * @tgid: likewise; -1
 * @held: what is known, enum lt_lock_held
 * @state: what the task is doing, enum lock_holder_state
 * @cpu: where; -1
 */
struct lt_lock_holder {
	const void *lock;
	char comm[TASK_COMM_LEN];
	pid_t pid;
	pid_t tgid;
	u32 held;
	u32 state;
	int cpu;
};

/**
 * struct lt_lock_waker - what has woken the waiter last
 * @handover: how long ago, ns; -1 if it is not known
 * @comm: the task that woke it; "-" if none did, or none is known
 * @pid: likewise; -1
 */
struct lt_lock_waker {
	s64 handover;
	char comm[TASK_COMM_LEN];
	pid_t pid;
};

/**
 * struct lt_lock_wait - for a lock
 * @lock: its address; of a lock on a file that of the inode
 * @ino: the number of that inode, else 0
 * @dev: of its file system, else 0
 * @kind: enum lt_lock_kind
 * @ret: 0 if the waiter has it, or an error, such as of a signal
 * @cpu: of the waiter
 */
struct lt_lock_wait {
	const void *lock;
	u64 ino;
	dev_t dev;
	u32 kind;
	int ret;
	int cpu;
};
#endif

/*
 * The name of a lock that is a variable; without CONFIG_KALLSYMS_ALL it would be that of the
 * function before it.
 */
#ifdef CONFIG_KALLSYMS_ALL
#define LT_LOCK_FMT	"%ps"
#else
#define LT_LOCK_FMT	"%p"
#endif

/* enum lt_lock_kind of wrapper/lock.h */
#define LT_VALUES_LOCK_KIND(FIRST, NEXT)				\
	FIRST(0, "mutex") NEXT(1, "semaphore") NEXT(2, "rwsem_read")	\
	NEXT(3, "rwsem_write") NEXT(4, "rt_mutex") NEXT(5, "rwbase_read") \
	NEXT(6, "rwbase_write") NEXT(7, "percpu_read")			\
	NEXT(8, "percpu_write") NEXT(9, "spinlock")			\
	NEXT(10, "rwlock_read") NEXT(11, "rwlock_write")		\
	NEXT(12, "futex") NEXT(13, "futex_pi") NEXT(14, "futex_other")	\
	NEXT(15, "flock") NEXT(16, "posix")

/* enum lt_lock_held of wrapper/lock.h */
#define LT_VALUES_LOCK_HELD(FIRST, NEXT)				\
	FIRST(0, "unknown") NEXT(1, "task") NEXT(2, "readers")		\
	NEXT(3, "hint") NEXT(4, "process")

/* enum lock_holder_state of examples/lock/lock.h */
#define LT_VALUES_LOCK_HOLDER(FIRST, NEXT)				\
	FIRST(0, "unknown") NEXT(1, "running") NEXT(2, "runnable")	\
	NEXT(3, "blocked") NEXT(4, "sleeping") NEXT(5, "other")

#define LT_PROTO_LOCK_LATENCY						\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct task_struct *task,			\
		 const struct lt_lock_wait *wait,			\
		 const struct lt_lock_holder *holder,			\
		 const struct lt_lock_waker *waker,			\
		 const struct lt_stack *stack,				\
		 const struct lt_stack *holder_stack)
#define LT_ARGS_LOCK_LATENCY						\
	TP_ARGS(verdict, task, wait, holder, waker, stack, holder_stack)
#define LT_FIELDS_LOCK_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(INT, s64, handover, waker->handover)				\
	F(INT, u64, cgroup_id, lt_task_cgroup_id(task))			\
	F(INT, u64, ino, wait->ino)					\
	F(ADDR, lock, wait->lock)					\
	F(ADDR, holder_lock, holder->lock)				\
	F(TEXT, comm, TASK_COMM_LEN, task->comm)			\
	F(TEXT, holder_comm, TASK_COMM_LEN, holder->comm)		\
	F(TEXT, waker_comm, TASK_COMM_LEN, waker->comm)			\
	F(INT, pid_t, pid, task->pid)					\
	F(INT, pid_t, tgid, task->tgid)					\
	F(INT, pid_t, holder_pid, holder->pid)				\
	F(INT, pid_t, holder_tgid, holder->tgid)			\
	F(INT, pid_t, waker_pid, waker->pid)				\
	F(INT, dev_t, dev, wait->dev)					\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(ENUM, u32, kind, LOCK_KIND, wait->kind)			\
	F(ENUM, u32, held_by, LOCK_HELD, holder->held)			\
	F(ENUM, u32, holder_state, LOCK_HOLDER, holder->state)		\
	F(INT, int, holder_cpu, holder->cpu)				\
	F(INT, int, ret, wait->ret)					\
	F(INT, int, cpu, wait->cpu)					\
	F(STACK, stack, stack)						\
	F(STACK, holder_stack, holder_stack)

TRACE_EVENT(lock_latency,

	LT_PROTO_LOCK_LATENCY, LT_ARGS_LOCK_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_LOCK_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_LOCK_LATENCY(LT_ASSIGN)),

	TP_printk("comm=%s, pid=%d, tgid=%d, cpu=%d, delay=%llu, flag=%s, start=%llu, lock=" LT_LOCK_FMT ", kind=%s, dev=%d,%d, ino=%llu, ret=%d, held_by=%s, holder_comm=%s, holder_pid=%d, holder_tgid=%d, holder_state=%s, holder_cpu=%d, holder_lock=" LT_LOCK_FMT ", waker_comm=%s, waker_pid=%d, handover=%lld, cgroup_id=%llu, stack="
		  LT_STACK_FMT ", holder_stack=" LT_STACK_FMT,
		  __entry->comm, __entry->pid, __entry->tgid, __entry->cpu,
		  __entry->delay, LT_SHOW(FLAG, __entry->flag), __entry->start,
		  LT_SHOW_ADDR(__entry->lock),
		  LT_SHOW(LOCK_KIND, __entry->kind),
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino,
		  __entry->ret,
		  LT_SHOW(LOCK_HELD, __entry->held_by),
		  __entry->holder_comm, __entry->holder_pid,
		  __entry->holder_tgid,
		  LT_SHOW(LOCK_HOLDER, __entry->holder_state),
		  __entry->holder_cpu, LT_SHOW_ADDR(__entry->holder_lock),
		  __entry->waker_comm, __entry->waker_pid,
		  __entry->handover, __entry->cgroup_id,
		  LT_SHOW_STACK(stack), LT_SHOW_STACK(holder_stack))
);

#endif /* _LT_TRACE_LOCK_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_lock
#include <trace/define_trace.h>
