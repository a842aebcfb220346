// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is a CPU doing?
 */
#include <linux/delay.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <trace/events/latency_tracker_irq.h>

#include "examples/irq/look.h"
#include "usecase/stack.h"
#include "wrapper/preempt.h"

/* How long the tracker's thread waits for a CPU to tell what it is doing. */
#define LOOK_USEC		50000

/**
 * struct look - a question to a CPU, by an interrupt, and its answer
 * @csd: of the interrupt
 * @asked: the CPU has not answered yet
 * @found: the answer is in @place; else the CPU ran the tracker's thread
 * @place: what the interrupt has interrupted
 */
struct look {
	call_single_data_t csd;
	bool asked;
	bool found;
	struct lt_softirq_place place;
};

/* Of the tracker's thread, which alone calls look_at(). */
static struct look look;

/* The task of this CPU; its stack is left out. */
void look_here(struct lt_softirq_place *place)
{
	place->pid = current->pid;
	place->tgid = current->tgid;
	memcpy(place->comm, current->comm, TASK_COMM_LEN);
}

static void look_answer(void *data)
{
	struct look *answer = data;

	/* Else this is the thread itself, by chance. */
	answer->found = lt_in_hardirq();
	if (answer->found) {
		look_here(&answer->place);
		lt_stack_of_interrupted(&answer->place.stack);
	}
	/* Pairs with smp_load_acquire() of look_at() and look_end(). */
	smp_store_release(&answer->asked, false);
}

/*
 * What CPU @cpu is doing, valid until the next call; NULL if that is not known.
 *
 * Not with smp_call_function_single(): a CPU that is stuck in a hard interrupt
 * does not answer until that is over, and it, too, has to be reported now. The
 * question stays with that CPU; others are not asked until it has answered.
 */
const struct lt_softirq_place *look_at(int cpu)
{
	unsigned int usec;

	/* Pairs with smp_store_release() of look_answer(), like the others. */
	if (smp_load_acquire(&look.asked))
		return NULL;
	look.csd.func = look_answer;
	look.csd.info = &look;
	look.asked = true;
	if (smp_call_function_single_async(cpu, &look.csd)) {
		look.asked = false;
		return NULL;
	}
	for (usec = 0; usec < LOOK_USEC; usec += 100) {
		/* Pairs with look_answer(): the answer is complete. */
		if (!smp_load_acquire(&look.asked))
			return look.found ? &look.place : NULL;
		usleep_range(100, 200);
	}
	return NULL;
}

/* Until no CPU has a question that it may still answer. */
void look_end(void)
{
	/* Pairs with look_answer(). */
	while (smp_load_acquire(&look.asked))
		usleep_range(1000, 2000);
	synchronize_rcu();	/* for the last instructions of look_answer() */
}
