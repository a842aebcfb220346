// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupt latency: the run time of each handler of a hard interrupt line; of
 * each soft interrupt the delay from its raise until it runs, and its run time.
 *
 * Default thresholds: 1 ms for what runs, 10 ms from raise to run. The events
 * irq_latency and softirq_latency tell what was kept from running, and where.
 *
 * A CPU may go with a vector marked, when a thread runs its soft interrupts; if
 * it comes back, the vector runs then. That is no latency: the event is
 * forgotten once the CPU is dead.
 *
 * The files: filter.c has the filters, hardirq.c and softirq.c the probes and the
 * reports, key.h the keys; look.c asks a CPU what it is doing.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>

#include "examples/irq/irq.h"
#include "examples/irq/key.h"
#include "examples/irq/look.h"
#include "usecase/look.h"
#include "usecase/usecase.h"
#include "wrapper/irq.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_irq.h>

LT_KEEP_EVENT(irq_latency, IRQ_LATENCY)
LT_KEEP_EVENT(softirq_latency, SOFTIRQ_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(irq_latency),
	LT_KEEP(softirq_latency),
};

#define USEC_THRESHOLD	1000
#define MAX_EVENTS	8192
#define GROW_LIMIT	65536

static struct lt_probe probes[] = {
	LT_PROBE(softirq_exit),
	LT_PROBE(softirq_entry),
	LT_PROBE(softirq_raise),
	LT_PROBE(irq_handler_exit),
	LT_PROBE(irq_handler_entry),
};

static void callback(const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;

	if (key->stage == LT_IRQ_RUN)
		report_irq(verdict);
	else
		report_softirq(verdict);
}

LT_GROUPING(grouping, irq_group_ids, "interrupt");

struct lt_usecase irq_usecase = {
	.name = "irq",
	.owner = THIS_MODULE,
	LT_PROBES(probes),
	LT_KEEPS(keeps),
	.report = callback,
	.usec_threshold = USEC_THRESHOLD,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct irq_key),
	.priv_size = sizeof(struct lt_irq_handler),
	.grouping = &grouping,
	.group_name = irq_group_name,
	.threshold_names = "a line or a vector, as in irq 24, softirq NET_RX, softirq NET_RX run",
	.threshold_find = irq_threshold_find,
	.belongs = irq_belongs,
	.waited = irq_waited,
};

LT_USECASE_PARAMS(irq_usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);

/* Forget the vectors that were marked when the CPU went. */
static int cpu_dead(unsigned int cpu)
{
	struct irq_key key = { .cpu = cpu, .stage = LT_SOFTIRQ_RAISE };

	for (key.vec = 0; key.vec < NR_SOFTIRQS; key.vec++)
		latency_tracker_event_cancel(irq_usecase.tracker, &key, sizeof(key));
	return 0;
}

static enum cpuhp_state dead_state;

/* Nothing has told of the CPUs that went before this; they are off now. */
static int watch_cpus(void)
{
	unsigned int cpu;
	int state;

	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					  "latency_tracker/irq:dead", NULL,
					  cpu_dead);
	if (state < 0) {
		pr_err("%s: can't watch CPUs go: %d\n", KBUILD_MODNAME, state);
		return state;
	}
	dead_state = state;
	for_each_possible_cpu(cpu) {
		if (!cpu_online(cpu))
			cpu_dead(cpu);
	}
	return 0;
}

static int __init latency_irq_init(void)
{
	int err;

	err = lt_look_start(&irq_look);
	if (err)
		return err;
	err = lt_usecase_start(&irq_usecase);
	if (err)
		goto err_look;
	err = watch_cpus();
	if (err)
		goto err_stop;
	return 0;

err_stop:
	lt_usecase_stop(&irq_usecase);
err_look:
	lt_look_end(&irq_look);
	return err;
}
module_init(latency_irq_init);

/* lt_look_end() comes last: until the tracker is gone, its thread may look. */
static void __exit latency_irq_exit(void)
{
	cpuhp_remove_state_nocalls(dead_state);
	lt_usecase_stop(&irq_usecase);
	lt_look_end(&irq_look);
}
module_exit(latency_irq_exit);

MODULE_DESCRIPTION("Run time of interrupt handlers, and delay of soft interrupts");
MODULE_LICENSE("GPL");
