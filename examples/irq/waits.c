// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tasks have waited for, for critical paths: handlers that had interrupted them, and soft
 * interrupts that had waited themselves before they woke them.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "examples/irq/irq.h"
#include "examples/irq/key.h"
#include "latency_tracker.h"
#include "usecase/interrupt.h"

static void name(struct latency_tracker_wait *wait,
		 const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;
	const struct lt_irq_handler *handler = verdict->priv;

	if (key->stage == LT_IRQ_RUN)
		snprintf(wait->name, sizeof(wait->name), "irq %d", handler->irq);
	else
		strscpy_pad(wait->name, lt_softirq_name(key->vec), sizeof(wait->name));
}

/* In the context of its end: current is the task that was interrupted. */
void irq_waited(const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;
	struct latency_tracker_wait wait = {
		.kind = LATENCY_TRACKER_WAIT_INTERRUPT,
		.begin_ns = verdict->start_ns,
		.end_ns = verdict->now_ns,
		.pid = current->pid,
		.by_pid = -1,
		.by_comm = "-",
		.dev = key->cpu,
	};

	name(&wait, verdict);
	if (key->stage != LT_SOFTIRQ_RAISE) {
		memcpy(wait.comm, current->comm, TASK_COMM_LEN);
		if (!is_idle_task(current))
			latency_tracker_wait_publish(&wait);
		return;
	}
	/* A task that this run wakes publishes it. */
	wait.kind = LATENCY_TRACKER_WAIT_RAISED;
	wait.pid = -1;
	strscpy_pad(wait.comm, "-", TASK_COMM_LEN);
	lt_doing_note(LT_DOING_RAISED, &wait);
}
