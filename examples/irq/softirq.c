// SPDX-License-Identifier: GPL-2.0-only
/*
 * Soft interrupts: from raise to run, and the run.
 *
 * A soft interrupt that is raised again before it runs is served by that one
 * run: the first raise counts. One that is raised while it runs, runs again,
 * and is an operation of its own. So that a wrong begin never counts:
 *
 * - A vector that is marked already is not begun: its first raise was before
 *   the tracker was there, or when no event was free. Unless that was served:
 *   the loop that runs the soft interrupts of a CPU takes all marks at once, so
 *   a vector may be marked again before its run begins, and the mark stays.
 * - A vector that is not marked, but has an event, has been taken by that loop
 *   and waits in it. If there is no loop, the event is stale, and is replaced.
 */
#include <linux/bits.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/stringify.h>
#include <linux/time64.h>

#include "examples/irq/filter.h"
#include "examples/irq/irq.h"
#include "examples/irq/key.h"
#include "examples/irq/look.h"
#include "usecase/param.h"
#include "usecase/report.h"
#include "wrapper/irq.h"

#define USEC_THRESHOLD_RAISE	10000

/* Threshold from raise to run; each event brings its own. */
static u64 usec_threshold_raise = USEC_THRESHOLD_RAISE;
module_param_cb(usec_threshold_raise, &lt_usec_ops, &usec_threshold_raise,
		0644);
MODULE_PARM_DESC(usec_threshold_raise,
		 "Report soft interrupts that run so many microseconds after they were raised (default "
		 __stringify(USEC_THRESHOLD_RAISE) ")");

/*
 * The loop takes all marked vectors at once and unmarks them. On PREEMPT_RT it
 * may have been preempted, and then nothing tells that it is there.
 */
static __always_inline bool may_be_in_loop(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) || in_serving_softirq();
}

/* Vectors whose mark was set before their last run began; by this CPU alone. */
static DEFINE_PER_CPU(unsigned long, served);

/* Interrupts are off. */
void probe_softirq_raise(void *data, unsigned int vec)
{
	struct latency_tracker_in in = {};
	u32 flags = 0;
	struct irq_key key;

	if (!wants(&vector_filter, vec))
		return;
	if (lt_softirq_is_raised(vec)) {
		if (!(this_cpu_read(served) & BIT(vec)))
			return;
		this_cpu_and(served, ~BIT(vec));
		flags = LATENCY_TRACKER_KEEP;
	} else if (may_be_in_loop()) {
		flags = LATENCY_TRACKER_KEEP;
	}
	in.threshold_ns = READ_ONCE(usec_threshold_raise) * NSEC_PER_USEC;
	key = softirq_key(LT_SOFTIRQ_RAISE, vec, NULL);
	latency_tracker_event_in(data, &key, sizeof(key),
				 flags | LATENCY_TRACKER_THRESHOLD, &in);
}

void probe_softirq_entry(void *data, unsigned int vec)
{
	struct latency_tracker_in in = {};
	struct irq_key key;

	if (!wants(&vector_filter, vec))
		return;
	in.start_ns = latency_tracker_clock();
	key = softirq_key(LT_SOFTIRQ_RAISE, vec, NULL);
	/* The time for a report is not that of the handler. */
	if (latency_tracker_event_out(data, &key, sizeof(key),
				      LT_SOFTIRQ_RAISE, NULL,
				      in.start_ns) == 1)
		in.start_ns = latency_tracker_clock();
	/* Whatever is raised from here on, has an event. */
	if (lt_softirq_is_raised(vec))
		this_cpu_or(served, BIT(vec));
	else
		this_cpu_and(served, ~BIT(vec));
	key = softirq_key(LT_SOFTIRQ_RUN, vec, current);
	latency_tracker_event_in(data, &key, sizeof(key),
				 LATENCY_TRACKER_START, &in);
}

void probe_softirq_exit(void *data, unsigned int vec)
{
	struct irq_key key;

	if (!wants(&vector_filter, vec))
		return;
	key = softirq_key(LT_SOFTIRQ_RUN, vec, current);
	latency_tracker_event_out(data, &key, sizeof(key), LT_SOFTIRQ_RUN, NULL,
				  0);
}

static void report_softirq_end(const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;
	struct lt_softirq_place place;

	look_here(&place);
	lt_stack_of_current(&place.stack, &irq_usecase, 0);
	lt_trace(softirq_latency, verdict, key->vec, key->stage, key->cpu,
		 &place);
}

static void report_softirq_pending(const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;
	static const struct lt_softirq_place unknown = {
		.pid = -1,
		.tgid = -1,
		.comm = "-",
	};
	const struct lt_softirq_place *place = look_at(key->cpu);

	/* If it has ended meanwhile, what the CPU does now did not delay it. */
	if (!place || !lt_is_pending(verdict))
		place = &unknown;
	lt_trace(softirq_latency, verdict, key->vec, key->stage, key->cpu,
		 place);
}

void report_softirq(const struct latency_tracker_verdict *verdict)
{
	if (!trace_softirq_latency_enabled())
		return;
	if (verdict->flag == LATENCY_TRACKER_ENDED)
		report_softirq_end(verdict);
	else
		report_softirq_pending(verdict);
}
