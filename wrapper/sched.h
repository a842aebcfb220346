/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler: its tracepoints, and the fields of a task.
 */
#ifndef _LT_WRAPPER_SCHED_H
#define _LT_WRAPPER_SCHED_H

/* 6.12: linux/sched/numa_balancing.h names struct folio undeclared. */
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/trace_clock.h>
#include <trace/events/sched.h>

#include "wrapper/tracepoint.h"

/*
 * 5.14 (2f064a59a11f, "sched: Change task_struct::state") renamed state to
 * __state and brought task_is_running() as a macro of it.
 */
#ifdef task_is_running
#define lt_task_state(task)	READ_ONCE((task)->__state)
#else
#define lt_task_state(task)	((unsigned int)READ_ONCE((task)->state))
#endif

/*
 * No signal ends a sleep in this state.
 *
 * 5.15 ("sched/wakeup: Introduce the TASK_RTLOCK_WAIT state bit"): a task that
 * waits for a spinlock of PREEMPT_RT has a state of its own, which the kernel's
 * own sched_switch shows as D, too.
 */
static inline bool lt_state_is_uninterruptible(unsigned int state)
{
#ifdef TASK_RTLOCK_WAIT
	if (state & TASK_RTLOCK_WAIT)
		return true;
#endif
	return state & TASK_UNINTERRUPTIBLE;
}

/*
 * LT_DEFINE_PROBE_SCHED_SWITCH(handler) defines probe_sched_switch, which calls
 *
 *	handler(void *data, bool preempt, struct task_struct *prev,
 *		struct task_struct *next, unsigned int prev_state)
 *
 * 5.18 (fa2c3254d7cf, "sched/tracing: Don't re-read p->state when emitting
 * sched_switch event", and 9c2136be0878, "sched/tracing: Append prev_state to
 * tp args instead") added prev_state. Before, the state is read again, and may
 * be what a waker has set meanwhile: TASK_WAKING or TASK_RUNNING.
 */
#define LT_DEFINE_PROBE_SCHED_SWITCH(handler)				\
static void __maybe_unused						\
probe_sched_switch_last(void *data, bool preempt,			\
			struct task_struct *prev,			\
			struct task_struct *next,			\
			unsigned int prev_state)			\
{									\
	handler(data, preempt, prev, next, prev_state);			\
}									\
static void __maybe_unused						\
probe_sched_switch_none(void *data, bool preempt,			\
			struct task_struct *prev,			\
			struct task_struct *next)			\
{									\
	handler(data, preempt, prev, next, lt_task_state(prev));	\
}

#define probe_sched_switch						\
	lt_pick_probe(sched_switch, probe_sched_switch_last,		\
		      probe_sched_switch_none)

/*
 * LT_DEFINE_PROBE_SCHED_PROCESS_EXIT(handler) defines
 * probe_sched_process_exit, which calls handler(void *data, struct
 * task_struct *task).
 *
 * 6.16 ("exit: move and extend sched_process_exit() tracepoint") added
 * group_dead.
 */
#define LT_DEFINE_PROBE_SCHED_PROCESS_EXIT(handler)			\
static void __maybe_unused						\
probe_sched_process_exit_group(void *data, struct task_struct *task,	\
			       bool group_dead)				\
{									\
	handler(data, task);						\
}									\
static void __maybe_unused						\
probe_sched_process_exit_task(void *data, struct task_struct *task)	\
{									\
	handler(data, task);						\
}

#define probe_sched_process_exit					\
	lt_pick_probe(sched_process_exit, probe_sched_process_exit_group, \
		      probe_sched_process_exit_task)

/* The task is on a CPU now: it is current there. */
static inline bool lt_task_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return READ_ONCE(task->on_cpu);
#else
	return task == current;
#endif
}

/*
 * When did a task get its CPU, and when was it put on the run queue of the one
 * that it waits for? By the clock of that CPU; 0 where the kernel does not
 * record it, as for idle tasks.
 */
static inline u64 lt_sched_arrival(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_INFO
	return task->sched_info.last_arrival;
#else
	return 0;
#endif
}

static inline u64 lt_sched_queued(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_INFO
	return task->sched_info.last_queued;
#else
	return 0;
#endif
}

/* That clock of this CPU now: local_clock(), which 6.1 exports only so. */
static inline u64 lt_sched_clock(void)
{
	return trace_clock();
}

#endif /* _LT_WRAPPER_SCHED_H */
