/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys of the events of latency_tracker_irq.
 *
 * Each run has a key of its own, however the runs are nested: a handler of hard
 * interrupts is not entered again on its CPU before it has returned; of soft
 * interrupts there is one run for each task in whose name they run.
 */
#ifndef _LT_IRQ_KEY_H
#define _LT_IRQ_KEY_H

#include <linux/build_bug.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <trace/events/latency_tracker_irq.h>

struct irqaction;

/**
 * struct irq_key - key of an event; without padding, which would be part of it
 * @owner: the irqaction, the task in whose name a soft interrupt runs, or NULL
 * @cpu: the CPU of the interrupt
 * @stage: of enum lt_irq_stage
 * @vec: of a soft interrupt, else 0
 */
struct irq_key {
	const void *owner;
	u32 cpu;
	u16 stage;
	u16 vec;
};

static_assert(sizeof(struct irq_key) == sizeof(void *) + 8);

static __always_inline struct irq_key
softirq_key(enum lt_irq_stage stage, unsigned int vec, const void *owner)
{
	return (struct irq_key) {
		.owner = owner,
		.cpu = raw_smp_processor_id(),
		.stage = stage,
		.vec = vec,
	};
}

static __always_inline struct irq_key irq_key(const struct irqaction *action)
{
	return (struct irq_key) {
		.owner = action,
		.cpu = raw_smp_processor_id(),
		.stage = LT_IRQ_RUN,
	};
}

#endif /* _LT_IRQ_KEY_H */
