// SPDX-License-Identifier: GPL-2.0-only
/*
 * To which group an interrupt belongs: its line, or its vector and stage.
 */
#include <linux/kernel.h>

#include "examples/irq/filter.h"
#include "examples/irq/irq.h"
#include "examples/irq/key.h"

void irq_group_ids(const void *key, const void *priv, const void *out_data,
		   u64 *id)
{
	const struct irq_key *of = key;
	const struct lt_irq_handler *handler = priv;

	id[0] = (u64)of->stage << 32 |
		(of->stage == LT_IRQ_RUN ? (u32)handler->irq : of->vec);
}

/* What a line is for, /proc/interrupts tells. */
int irq_group_name(u64 id, char *name)
{
	u32 nr = id;

	switch (id >> 32) {
	case LT_IRQ_RUN:
		snprintf(name, LATENCY_TRACKER_GROUP_NAME, "irq %u", nr);
		return 0;
	case LT_SOFTIRQ_RAISE:
	case LT_SOFTIRQ_RUN:
		snprintf(name, LATENCY_TRACKER_GROUP_NAME, "softirq %s %s",
			 nr < vector_filter.nr_names ? vector_filter.names[nr] :
						       "-",
			 id >> 32 == LT_SOFTIRQ_RUN ? "run" : "raise");
		return 0;
	default:
		return -ENOENT;
	}
}
