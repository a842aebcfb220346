// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is a CPU doing?
 */
#include <linux/sched.h>
#include <linux/string.h>
#include <trace/events/latency_tracker_irq.h>

#include "examples/irq/look.h"
#include "usecase/look.h"
#include "usecase/stack.h"

/* The task of this CPU; its stack is left out. */
void look_here(struct lt_softirq_place *place)
{
	place->cgroup_id = lt_task_cgroup_id(current);
	place->pid = current->pid;
	place->tgid = current->tgid;
	memcpy(place->comm, current->comm, TASK_COMM_LEN);
}

/* What the interrupt has interrupted. */
static void answer(void *data)
{
	struct lt_softirq_place *place = data;

	look_here(place);
	lt_stack_of_interrupted(&place->stack);
}

struct lt_look irq_look = {
	.answer = answer,
	.data_size = sizeof(struct lt_softirq_place),
};

LT_LOOK_PARAMS(irq_look);

/* What CPU @cpu is doing, valid until the next call; NULL if that is not known. */
const struct lt_softirq_place *look_at(int cpu)
{
	const struct lt_softirq_place *place = lt_look_prepare(&irq_look, cpu);

	return place && lt_look_ask(&irq_look, cpu) ? place : NULL;
}
