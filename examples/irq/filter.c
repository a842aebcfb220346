// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of latency_tracker_irq: the line, the vector, the CPU.
 */
#include <linux/build_bug.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "examples/irq/filter.h"
#include "examples/irq/irq.h"
#include "usecase/interrupt.h"

static bool vector_is_valid(int vector)
{
	return vector < NR_SOFTIRQS;
}

static bool cpu_is_valid(int cpu)
{
	return cpu < nr_cpu_ids && cpu_possible(cpu);
}

static const char *const softirq_names[] = { LT_SOFTIRQ_NAMES };

/* A device may bring a line of any number. */
struct lt_choice irq_filter = {
	.value = LT_CHOICE_ALL,
	.usecase = &irq_usecase,
	.none = true,
};
module_param_cb(irq, &lt_choice_ops, &irq_filter, 0644);
MODULE_PARM_DESC(irq, "Track only this line of hard interrupts, or none (default empty: all)");

struct lt_choice vector_filter = {
	.value = LT_CHOICE_ALL,
	.usecase = &irq_usecase,
	.is_valid = vector_is_valid,
	.names = softirq_names,
	.nr_names = ARRAY_SIZE(softirq_names),
	.none = true,
};
module_param_cb(vector, &lt_choice_ops, &vector_filter, 0644);
MODULE_PARM_DESC(vector, "Track only this soft interrupt, by name or number, or none (default empty: all)");

struct lt_choice cpu_filter = {
	.value = LT_CHOICE_ALL,
	.usecase = &irq_usecase,
	.is_valid = cpu_is_valid,
};
module_param_cb(cpu, &lt_choice_ops, &cpu_filter, 0644);
MODULE_PARM_DESC(cpu, "Track only on this CPU (default empty: all)");
