// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hard interrupts: the run of each handler of a line.
 */
#include <linux/sched.h>
#include <linux/string.h>

#include "examples/irq/filter.h"
#include "examples/irq/irq.h"
#include "examples/irq/key.h"
#include "usecase/report.h"
#include "wrapper/irq.h"

/* What a handler that has not returned returns. */
#define LT_IRQ_PENDING		255

void probe_irq_handler_entry(void *data, int irq, struct irqaction *action)
{
	struct lt_irq_handler handler;
	struct latency_tracker_in in = {
		.priv = &handler,
		.priv_len = sizeof(handler),
	};
	struct irq_key key;

	if (!wants(&irq_filter, irq))
		return;
	/* Copy: the action may be freed while its event is pending. */
	handler.func = action->handler;
	handler.irq = irq;
	handler.cgroup_id = lt_task_cgroup_id(current);
	handler.pid = current->pid;
	handler.tgid = current->tgid;
	memcpy(handler.comm, current->comm, TASK_COMM_LEN);
	strscpy_pad(handler.name, action->name ?: "-", LT_IRQ_NAME_LEN);
	key = irq_key(action);
	latency_tracker_event_in(data, &key, sizeof(key), 0, &in);
}

void probe_irq_handler_exit(void *data, int irq, struct irqaction *action,
			    int ret)
{
	struct irq_key key;

	if (!wants(&irq_filter, irq))
		return;
	key = irq_key(action);
	latency_tracker_event_out(data, &key, sizeof(key), LT_IRQ_RUN, &ret, 0);
}

void report_irq(const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;
	struct lt_stack stack;
	u32 ret = LT_IRQ_PENDING;

	if (!trace_irq_latency_enabled())
		return;
	stack.first = 0;
	stack.nr = 0;
	if (verdict->flag == LATENCY_TRACKER_ENDED) {
		ret = *(int *)verdict->out_data;
		lt_stack_of_interrupted(&stack);
	}
	lt_trace(irq_latency, verdict, verdict->priv, key->cpu, ret, &stack);
}
