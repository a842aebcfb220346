/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_irq know of each other: the probes and the
 * reports of hard interrupts and of soft interrupts.
 */
#ifndef _LT_IRQ_IRQ_H
#define _LT_IRQ_IRQ_H

#include "usecase/data.h"

struct irqaction;

extern struct lt_usecase irq_usecase;

/* groups.c */
void irq_group_ids(const void *key, const void *priv, const void *out_data,
		   u64 *id);
int irq_group_name(u64 id, char *name);
int irq_threshold_find(const char *text, struct lt_threshold *found);
void irq_belongs(const struct latency_tracker_verdict *verdict,
		 struct lt_belongs *to);

/* waits.c */
void irq_waited(const struct latency_tracker_verdict *verdict);

/* hardirq.c */
void probe_irq_handler_entry(void *data, int irq, struct irqaction *action);
void probe_irq_handler_exit(void *data, int irq, struct irqaction *action,
			    int ret);
void report_irq(const struct latency_tracker_verdict *verdict);

/* softirq.c */
void probe_softirq_raise(void *data, unsigned int vec);
void probe_softirq_entry(void *data, unsigned int vec);
void probe_softirq_exit(void *data, unsigned int vec);
void report_softirq(const struct latency_tracker_verdict *verdict);

#endif /* _LT_IRQ_IRQ_H */
