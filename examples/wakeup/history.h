/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of the time in which a task waited for a CPU.
 */
#ifndef _LT_WAKEUP_HISTORY_H
#define _LT_WAKEUP_HISTORY_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/string.h>
#include <linux/types.h>
#include <trace/events/latency_tracker_wakeup.h>

#include "wrapper/sched.h"

#define HISTORY	128

/**
 * struct stint - a task was on a CPU, until the next stint began
 * @arrival: when it got the CPU, ns of lt_sched_clock(); 0 if it is not known, or there was none
 * @ran: of its task, in all stints; last_of()'s and take()'s, in the last stint of the task
 * @chain: the next of split.last; last_of()'s
 * @steal: lt_sched_steal() when it began
 * @idle: it was the idle task
 * @kept: a runnable real-time task was kept back for it
 * @pid: of the task
 * @prio: likewise, at the end
 * @picked: likewise, at the begin
 * @comm: likewise
 *
 * Of the size of a cache line, so that the next one is found with a shift.
 */
struct stint {
	u64 arrival;
	u64 ran;
	u64 steal;
	bool idle;
	bool kept;
	u8 chain;
	pid_t pid;
	int prio;
	int picked;
	char comm[TASK_COMM_LEN];
} __aligned(64);

/**
 * struct history - the last stints of a CPU, changed by it with interrupts off
 * @idle_since: when the idle task got the CPU last, which the kernel does not
 *	record; 0 if it had it before the tracker came
 * @steal: lt_sched_steal() when the task that runs got the CPU
 * @next: index, modulo HISTORY, of the next stint
 * @picked: the priority of the task that runs, when it got the CPU
 * @kept: of the stint that is not over
 * @left: the real-time task that was preempted last; may be freed, or elsewhere
 * @left_pid: of it
 * @stints: a ring
 */
struct history {
	u64 idle_since;
	u64 steal;
	struct task_struct *left;
	pid_t left_pid;
	unsigned int next;
	int picked;
	bool kept;
	struct stint stints[HISTORY];
};

extern struct history __percpu *wakeup_histories;

/**
 * struct wait - of a task for the CPU that this runs on
 * @task: the task
 * @prio: its priority when the wait began
 * @delay_ns: how long it has waited so far
 * @stayed: it was put on the run queue of no other CPU
 */
struct wait {
	const struct task_struct *task;
	int prio;
	u64 delay_ns;
	bool stayed;
};

int history_start(void);
void history_stop(void);
void history_look(struct task_struct *prev, const struct task_struct *next,
		  bool runnable);
void history_idle(void);
void history_explain(const struct wait *wait, struct lt_wakeup_why *why);
void history_explain_now(const struct wait *wait, struct lt_wakeup_why *why);
void history_unknown(struct lt_wakeup_why *why, u64 delay_ns);

static __always_inline bool history_is_rt(int prio)
{
	return prio >= 0 && prio < MAX_RT_PRIO;
}

/* The stint of @task on this CPU is over. */
static __always_inline void history_record(struct history *history,
					   const struct task_struct *task)
{
	struct stint *stint = &history->stints[history->next++ % HISTORY];

	stint->idle = is_idle_task(task);
	stint->arrival = stint->idle ? history->idle_since :
			 lt_sched_arrival(task);
	stint->steal = history->steal;
	stint->kept = history->kept;
	stint->pid = task->pid;
	stint->prio = task->prio;
	stint->picked = history->picked;
	memcpy(stint->comm, task->comm, TASK_COMM_LEN);
}

/*
 * In a probe of sched_switch; is @prev still @runnable? False: history_look() is to see the rest.
 * Where @next is the idle task, history_idle() comes behind it.
 */
static __always_inline bool
history_switch(const struct task_struct *prev, const struct task_struct *next,
	       bool runnable)
{
	struct history *history = this_cpu_ptr(wakeup_histories);

	history_record(history, prev);
	history->picked = next->prio;
	history->kept = false;
	return likely(lt_sched_steal_here() == history->steal && !history->left &&
		      !(history_is_rt(prev->prio) && runnable));
}

#endif /* _LT_WAKEUP_HISTORY_H */
