/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_chain.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_CHAIN_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_CHAIN_H

#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#include "wrapper/cgroup.h"

#ifndef _LT_CHAIN_REPORT
#define _LT_CHAIN_REPORT
/* By which way the wake-up came; LT_VALUES_CHAIN_VIA has the names. */
enum lt_chain_via {
	LT_CHAIN_HARDIRQ,
	LT_CHAIN_SOFTIRQ,
	LT_CHAIN_THREAD,
};

/* How far it has come; LT_VALUES_CHAIN_STAGE has the names. */
enum lt_chain_stage {
	LT_CHAIN_WAITING,
	LT_CHAIN_WORKING,
	LT_CHAIN_DONE,
	LT_CHAIN_RETURNING,
};

/* What has told that the work is done; LT_VALUES_CHAIN_DONE has the names. */
enum lt_chain_done {
	LT_CHAIN_NOT_DONE,
	LT_CHAIN_BY_SLEEP,
	LT_CHAIN_BY_MARK,
};

/**
 * struct lt_chain_origin - what has woken a task
 * @start_ns: when the timer should have expired; of a line the same as @handler_ns
 * @handler_ns: when its handler began
 * @slack_ns: how much later the timer was allowed to expire
 * @function: of the timer, or the handler of the line
 * @irq: the line; -1: a timer
 * @cpu: of the handler
 * @pid: of the task that the handler has interrupted
 * @comm: likewise
 * @via: of enum lt_chain_via
 */
struct lt_chain_origin {
	u64 start_ns;
	u64 handler_ns;
	u64 slack_ns;
	const void *function;
	int irq;
	int cpu;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	u32 via;
};

/**
 * struct lt_chain - an activation: private data of an event
 * @origin: what has begun it
 * @waking_ns: when the task was woken
 * @ran_ns: when it had a CPU; 0: not yet, then the next ones up to @is_watched are not known
 * @user_ns: when it was back in user space first behind that; 0: not yet
 * @run_cpu: which
 * @prev_pid: of the task that had that CPU before; -1 if it is not known
 * @prev_prio: likewise its priority
 * @prev_comm: likewise its name, "-"
 * @is_watched: it is known when the task is back in user space
 * @pid: of the task that was woken
 * @stack: what the interrupt has found; empty if it was not taken, or was user space
 */
struct lt_chain {
	struct lt_chain_origin origin;
	u64 waking_ns;
	u64 ran_ns;
	u64 user_ns;
	int run_cpu;
	pid_t prev_pid;
	int prev_prio;
	char prev_comm[TASK_COMM_LEN];
	bool is_watched;
	pid_t pid;
	struct lt_stack stack;
};

/* Clocks of two CPUs may differ by some ns. */
static inline s64 lt_chain_from_to(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

static inline s64 lt_chain_raise(const struct lt_chain *chain)
{
	if (chain->origin.irq >= 0)
		return -1;
	return lt_chain_from_to(chain->origin.start_ns, chain->origin.handler_ns);
}

static inline s64 lt_chain_handling(const struct lt_chain *chain)
{
	return lt_chain_from_to(chain->origin.handler_ns, chain->waking_ns);
}

static inline s64 lt_chain_waiting(const struct lt_chain *chain, u64 now_ns)
{
	return lt_chain_from_to(chain->waking_ns, chain->ran_ns ?: now_ns);
}

/* It has a CPU, and is in the kernel. */
static inline bool lt_chain_is_returning(const struct lt_chain *chain)
{
	return READ_ONCE(chain->ran_ns) && READ_ONCE(chain->is_watched) &&
	       !READ_ONCE(chain->user_ns);
}

static inline s64 lt_chain_returning(const struct lt_chain *chain, u64 now_ns)
{
	if (!chain->ran_ns || !READ_ONCE(chain->is_watched))
		return -1;
	return lt_chain_from_to(chain->ran_ns,
				min(READ_ONCE(chain->user_ns) ?: now_ns, now_ns));
}

static inline s64 lt_chain_working(const struct lt_chain *chain, u64 now_ns)
{
	if (!chain->ran_ns || lt_chain_is_returning(chain))
		return -1;
	return lt_chain_from_to(READ_ONCE(chain->user_ns) ?: chain->ran_ns, now_ns);
}

static inline u32 lt_chain_stage(const struct lt_chain *chain, enum lt_chain_done by)
{
	if (by != LT_CHAIN_NOT_DONE)
		return LT_CHAIN_DONE;
	if (lt_chain_is_returning(chain))
		return LT_CHAIN_RETURNING;
	return chain->ran_ns ? LT_CHAIN_WORKING : LT_CHAIN_WAITING;
}
#endif

/* enum lt_chain_via */
#define LT_VALUES_CHAIN_VIA(FIRST, NEXT)				\
	FIRST(0, "hardirq") NEXT(1, "softirq") NEXT(2, "thread")

/* enum lt_chain_stage */
#define LT_VALUES_CHAIN_STAGE(FIRST, NEXT)				\
	FIRST(0, "waiting") NEXT(1, "working") NEXT(2, "done")		\
	NEXT(3, "returning")

/* enum lt_chain_done */
#define LT_VALUES_CHAIN_DONE(FIRST, NEXT)				\
	FIRST(0, "nothing") NEXT(1, "sleep") NEXT(2, "mark")

#define LT_PROTO_CHAIN_LATENCY						\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct task_struct *task,			\
		 const struct lt_chain *chain, enum lt_chain_done by)
#define LT_ARGS_CHAIN_LATENCY	TP_ARGS(verdict, task, chain, by)
#define LT_FIELDS_CHAIN_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(INT, s64, raise, lt_chain_raise(chain))			\
	F(INT, s64, handling, lt_chain_handling(chain))			\
	F(INT, s64, waiting, lt_chain_waiting(chain, verdict->now_ns))	\
	F(INT, s64, returning, lt_chain_returning(chain, verdict->now_ns)) \
	F(INT, s64, working, lt_chain_working(chain, verdict->now_ns))	\
	F(INT, u64, slack, chain->origin.slack_ns)			\
	F(INT, u64, cgroup_id, lt_task_cgroup_id(task))			\
	F(ADDR, function, chain->origin.function)			\
	F(TEXT, comm, TASK_COMM_LEN, task->comm)			\
	F(TEXT, interrupted_comm, TASK_COMM_LEN, chain->origin.comm)	\
	F(TEXT, prev_comm, TASK_COMM_LEN, chain->prev_comm)		\
	F(INT, pid_t, pid, task->pid)					\
	F(INT, pid_t, tgid, task->tgid)					\
	F(INT, int, prio, task->prio)					\
	F(INT, int, irq, chain->origin.irq)				\
	F(INT, int, cpu, chain->origin.cpu)				\
	F(INT, int, run_cpu, chain->run_cpu)				\
	F(INT, pid_t, interrupted_pid, chain->origin.pid)		\
	F(INT, pid_t, prev_pid, chain->prev_pid)			\
	F(INT, int, prev_prio, chain->prev_prio)			\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(ENUM, u32, via, CHAIN_VIA, chain->origin.via)			\
	F(ENUM, u32, stage, CHAIN_STAGE, lt_chain_stage(chain, by))	\
	F(ENUM, u32, done_by, CHAIN_DONE, by)				\
	F(STACK, stack, &chain->stack)

TRACE_EVENT(chain_latency,

	LT_PROTO_CHAIN_LATENCY, LT_ARGS_CHAIN_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_CHAIN_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_CHAIN_LATENCY(LT_ASSIGN)),

	TP_printk("comm=%s, pid=%d, tgid=%d, prio=%d, delay=%llu, flag=%s, start=%llu, stage=%s, done_by=%s, irq=%d, function=%ps, via=%s, cpu=%d, raise=%lld, slack=%llu, handling=%lld, waiting=%lld, returning=%lld, working=%lld, interrupted_comm=%s, interrupted_pid=%d, run_cpu=%d, prev_comm=%s, prev_pid=%d, prev_prio=%d, cgroup_id=%llu, stack="
		  LT_STACK_FMT,
		  __entry->comm, __entry->pid, __entry->tgid, __entry->prio,
		  __entry->delay, LT_SHOW(FLAG, __entry->flag), __entry->start,
		  LT_SHOW(CHAIN_STAGE, __entry->stage),
		  LT_SHOW(CHAIN_DONE, __entry->done_by), __entry->irq,
		  LT_SHOW_ADDR(__entry->function),
		  LT_SHOW(CHAIN_VIA, __entry->via), __entry->cpu,
		  __entry->raise, __entry->slack, __entry->handling,
		  __entry->waiting, __entry->returning, __entry->working,
		  __entry->interrupted_comm, __entry->interrupted_pid,
		  __entry->run_cpu, __entry->prev_comm, __entry->prev_pid,
		  __entry->prev_prio, __entry->cgroup_id,
		  LT_SHOW_STACK(stack))
);

#endif /* _LT_TRACE_CHAIN_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_chain
#include <trace/define_trace.h>
