/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of the time in which a task waited for a CPU.
 */
#ifndef _LT_WAKEUP_HISTORY_H
#define _LT_WAKEUP_HISTORY_H

#include <linux/types.h>
#include <trace/events/latency_tracker_wakeup.h>

struct task_struct;

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
void history_switch(struct task_struct *prev, const struct task_struct *next,
		    bool runnable);
void history_explain(const struct wait *wait, struct lt_wakeup_why *why);
void history_explain_now(const struct wait *wait, struct lt_wakeup_why *why);
void history_unknown(struct lt_wakeup_why *why, u64 delay_ns);

#endif /* _LT_WAKEUP_HISTORY_H */
