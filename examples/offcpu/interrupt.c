// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which interrupt runs on this CPU, for the name of what has woken a task.
 *
 * The kernel does not keep that, so each handler of a line and each run of a vector
 * of soft interrupts notes it, for the CPU. Handlers of lines are not interrupted by
 * one another. A soft interrupt may be, but what that wakes is woken by the line. With
 * PREEMPT_RT a task may preempt a soft interrupt: what it wakes is woken by a task.
 */
#include <linux/module.h>
#include <linux/percpu.h>

#include "examples/offcpu/interrupt.h"
#include "usecase/stage.h"
#include "wrapper/irq.h"

/* Each one more than its number; 0: none, or it began before the stage was on. */
struct running {
	u32 line;
	u32 softirq;
};

static DEFINE_PER_CPU(struct running, running);

static void probe_irq_handler_entry(void *data, int irq,
				    struct irqaction *action)
{
	this_cpu_write(running.line, irq + 1);
}

static void probe_irq_handler_exit(void *data, int irq,
				   struct irqaction *action, int ret)
{
	this_cpu_write(running.line, 0);
}

static void probe_softirq_entry(void *data, unsigned int vec)
{
	this_cpu_write(running.softirq, vec + 1);
}

static void probe_softirq_exit(void *data, unsigned int vec)
{
	this_cpu_write(running.softirq, 0);
}

/* The number of the line whose handler runs here, or -1. */
int interrupt_line(void)
{
	return (int)this_cpu_read(running.line) - 1;
}

/* In a soft interrupt: its vector, or OFFCPU_NO_SOFTIRQ. */
u32 interrupt_softirq(void)
{
	u32 softirq = this_cpu_read(running.softirq);

	return softirq ? softirq - 1 : OFFCPU_NO_SOFTIRQ;
}

static struct lt_probe probes[] = {
	LT_PROBE(softirq_exit),
	LT_PROBE(softirq_entry),
	LT_PROBE(irq_handler_exit),
	LT_PROBE(irq_handler_entry),
};

/* The stage may have been switched off between an entry and its exit. */
static void forget_all(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(running, cpu) = (struct running){};
}

struct lt_stage interrupt_stage = {
	.name = "waker_irq",
	LT_PROBES(probes),
	.quiesce = forget_all,
	.only_tells = true,
	.on = true,
};
module_param_cb(waker_irq, &lt_stage_ops, &interrupt_stage, 0644);
MODULE_PARM_DESC(waker_irq, "Tell which interrupt has woken a task (default Y)");
