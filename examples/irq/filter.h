/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of latency_tracker_irq: the line, the vector, the CPU.
 */
#ifndef _LT_IRQ_FILTER_H
#define _LT_IRQ_FILTER_H

#include <linux/smp.h>

#include "usecase/filter.h"

extern struct lt_choice irq_filter;
extern struct lt_choice vector_filter;
extern struct lt_choice cpu_filter;

static __always_inline bool wants(const struct lt_choice *filter, int value)
{
	return lt_choice_passes(filter, value) &&
	       lt_choice_passes(&cpu_filter, raw_smp_processor_id());
}

#endif /* _LT_IRQ_FILTER_H */
