/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler: its tracepoints, and the fields of a task.
 */
#ifndef _LT_WRAPPER_SCHED_H
#define _LT_WRAPPER_SCHED_H

/* 6.12: linux/sched/numa_balancing.h names struct folio undeclared. */
#include <linux/mm_types.h>
#include <linux/kernel_stat.h>
#include <linux/sched.h>
#include <linux/trace_clock.h>
#include <linux/version.h>
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
 * Does a task in this state wait for a spinlock of PREEMPT_RT? Other kernels spin there.
 *
 * 5.15 ("sched/wakeup: Introduce the TASK_RTLOCK_WAIT state bit"): it has a state of its own, and
 * what wakes it for anything else meanwhile is remembered, and not traced.
 */
static inline bool lt_state_is_in_spinlock(unsigned int state)
{
#ifdef TASK_RTLOCK_WAIT
	return state & TASK_RTLOCK_WAIT;
#else
	return false;
#endif
}

/*
 * No signal ends a sleep in this state. The kernel's own sched_switch shows a task that waits for a
 * spinlock as D, too.
 */
static inline bool lt_state_is_uninterruptible(unsigned int state)
{
	return lt_state_is_in_spinlock(state) || (state & TASK_UNINTERRUPTIBLE);
}

/*
 * Does the scheduler keep @prev as a task that can run? Exact in a probe of
 * sched_switch, even where the state is read too late: on_rq changes with the
 * lock of the run queue held only, and the probe runs with that lock.
 *
 * 6.12 (152e11f6df29, "sched/fair: Implement delayed dequeue") leaves a task
 * that sleeps on the run queue for a while, and added task_is_runnable().
 *
 * 6.17 ("sched: Add CONFIG_SCHED_PROXY_EXEC & boot argument to enable/disable"):
 * so does proxy execution with a task that waits for a mutex.
 */
static inline bool lt_switch_is_runnable(struct task_struct *prev,
					 unsigned int prev_state)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	bool runnable = task_is_runnable(prev);
#else
	bool runnable = prev->on_rq;
#endif

#ifdef CONFIG_SCHED_PROXY_EXEC
	if (lt_state_is_uninterruptible(prev_state))
		return false;
#endif
	return runnable;
}

/*
 * Has @prev, which can run, used up the quota of its cgroup (cpu.max)? In a probe
 * of sched_switch.
 *
 * 6.18 (e1fad12dcb66, "sched/fair: Switch to task based throttle model") marks
 * the task itself. Before, the group is taken off the run queue of the CPU
 * while its tasks stay on that of the group, which nothing else does. A task of
 * another class is not on it.
 */
static inline bool lt_switch_is_throttled(const struct task_struct *prev)
{
#if !defined(CONFIG_CFS_BANDWIDTH)
	return false;
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return prev->throttled;
#else
	const struct sched_entity *entity = &prev->se;

	if (!entity->on_rq)
		return false;
	while (entity && entity->on_rq)
		entity = entity->parent;
	return entity;
#endif
}

/*
 * Does the freezer keep @prev, which sleeps? It is the one of cgroup v2, which
 * lets tasks sleep interruptibly, or the one of cgroup v1 and of suspend: that
 * has a state of its own from 6.1 on (f5d39b020809, "freezer,sched: Rewrite core
 * freezer logic"), and a flag before.
 */
static inline bool lt_switch_is_frozen(const struct task_struct *prev,
				       unsigned int prev_state)
{
#ifdef TASK_FROZEN
	if (prev_state & TASK_FROZEN)
		return true;
#else
	if (prev->flags & PF_FROZEN)
		return true;
#endif
#ifdef CONFIG_CGROUPS
	return (prev_state & TASK_INTERRUPTIBLE) && prev->frozen;
#else
	return false;
#endif
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

/*
 * It has a CPU, or waits for one.
 *
 * 6.12 (152e11f6df29, "sched/fair: Implement delayed dequeue"): a task that sleeps may stay
 * on its run queue for a while.
 */
static inline bool lt_task_is_runnable(const struct task_struct *task)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	if (READ_ONCE(task->se.sched_delayed))
		return false;
#endif
	return READ_ONCE(task->on_rq);
}

/*
 * Does the task ever go to user space? Those that the kernel has made do not, nor do the workers of
 * io_uring, and of vhost since 6.4, though they are threads of a program.
 */
static inline bool lt_task_has_user_space(const struct task_struct *task)
{
#ifdef PF_USER_WORKER
	if (task->flags & PF_USER_WORKER)
		return false;
#endif
	return !(task->flags & (PF_KTHREAD | PF_IO_WORKER));
}

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

/*
 * How long @task has waited for a CPU in all, ns, without the wait that lasts. Where the
 * kernel does not record it, nothing that a task does is told from waiting for a CPU.
 */
static inline u64 lt_sched_run_delay(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_INFO
	return task->sched_info.run_delay;
#else
	return ktime_get_mono_fast_ns();
#endif
}

/*
 * Has @task said that it waits for memory, as in reclaim, for memory.high, or for a
 * page that was evicted a short time ago? Not with psi=0.
 */
static inline bool lt_task_waits_for_memory(const struct task_struct *task)
{
#ifdef CONFIG_PSI
	return task->in_memstall;
#else
	return false;
#endif
}

/*
 * How much of its time a hypervisor has not given to a CPU that wanted to run, ns: the count
 * of /proc/stat. A CPU counts at its next tick, and when it is not idle any more.
 */
static inline u64 lt_sched_steal(int cpu)
{
	return READ_ONCE(kcpustat_cpu(cpu).cpustat[CPUTIME_STEAL]);
}

/* The same of this CPU, with preemption off. */
static inline u64 lt_sched_steal_here(void)
{
	return __this_cpu_read(kernel_cpustat.cpustat[CPUTIME_STEAL]);
}

/* That clock of this CPU now: local_clock(), which 6.1 exports only so. */
static inline u64 lt_sched_clock(void)
{
	return trace_clock();
}

enum lt_kept {
	LT_KEPT_UNKNOWN,
	LT_KEPT_RT_THROTTLED,
	LT_KEPT_DL_SERVER,
};

/*
 * Why does the scheduler give a CPU to a task of the fair class, or to none
 * (@idle), while a real-time task is runnable there?
 *
 * 6.12 (5f6bd380c7bd, "sched/rt: Remove default bandwidth control"): a deadline
 * server of the fair class, which always has a task; groups of real-time tasks
 * have a limit of their own still. Before, real-time tasks are throttled. With core
 * scheduling a sibling may be the reason.
 */
static inline enum lt_kept lt_sched_kept(bool idle)
{
	if (IS_ENABLED(CONFIG_SCHED_CORE))
		return LT_KEPT_UNKNOWN;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	if (idle || IS_ENABLED(CONFIG_RT_GROUP_SCHED))
		return LT_KEPT_UNKNOWN;
	return LT_KEPT_DL_SERVER;
#else
	return LT_KEPT_RT_THROTTLED;
#endif
}

#endif /* _LT_WRAPPER_SCHED_H */
