/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_chain know of each other.
 */
#ifndef _LT_CHAIN_CHAIN_H
#define _LT_CHAIN_CHAIN_H

#include <trace/events/latency_tracker_chain.h>

#include "usecase/data.h"

struct irqaction;
struct hrtimer;
struct lt_threshold;

extern struct lt_usecase chain_usecase;

/**
 * struct chain_ended - an activation that ends: out_data of its verdict
 * @task: whose
 * @by: what has told that the work is done
 */
struct chain_ended {
	struct task_struct *task;
	enum lt_chain_done by;
};

/* done.c */
enum lt_chain_done chain_done(const struct task_struct *task, u64 ran_ns, u64 *end_ns);
void chain_done_count(enum lt_chain_done by);
bool chain_is_wanted(const struct latency_tracker_verdict *verdict);
int chain_done_start(void);
void chain_done_stop(void);

/* origin.c */
const struct lt_chain_origin *chain_origin_here(void);
bool chain_origin_is_wanted(const struct lt_chain_origin *origin);
bool chain_is_passed_on(const struct task_struct *task,
			const struct lt_chain_origin *origin);
void chain_thread_sleeps(const struct task_struct *task);
void chain_thread_gone(const struct task_struct *task);
void chain_timer_begins(struct hrtimer *timer);
void probe_hrtimer_expire_exit(void *data, struct hrtimer *timer);
void probe_irq_handler_entry(void *data, int irq, struct irqaction *action);
void probe_irq_handler_exit(void *data, int irq, struct irqaction *action,
			    int ret);
void probe_softirq_raise(void *data, unsigned int vec);
void probe_softirq_entry(void *data, unsigned int vec);
void probe_softirq_exit(void *data, unsigned int vec);

/* stages.c */
int chain_stages_start(void);
void chain_stages_stop(void);
void chain_stages_count(const struct lt_chain *chain, u64 end_ns);

/* report.c */
int chain_report_start(void);
void chain_report_stop(void);
void chain_report(const struct latency_tracker_verdict *verdict);

/* groups.c */
void chain_group_ids(const void *key, const void *priv, const void *out_data,
		     u64 *id);
int chain_group_name(u64 id, char *name);
int chain_threshold_find(const char *text, struct lt_threshold *found);
void chain_belongs(const struct latency_tracker_verdict *verdict,
		   struct lt_belongs *to);

#endif /* _LT_CHAIN_CHAIN_H */
