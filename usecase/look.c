// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is a CPU doing?
 *
 * Not with smp_call_function_single(): that spins until the CPU answers. A CPU
 * with interrupts off does not answer until that is over, and so would keep the
 * real-time thread of a tracker on another CPU busy for as long.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include "usecase/look.h"
#include "wrapper/isolation.h"
#include "wrapper/preempt.h"

/* How long the tracker's thread waits for an answer, and how it looks for it. */
#define WAIT_USEC	20000
#define STEP_MIN_USEC	100
#define STEP_MAX_USEC	4000

/**
 * struct question - to one CPU
 * @csd: of the interrupt; free whenever @asked is false
 * @look: of which tracker
 * @asked: the CPU has not answered yet
 * @found: it has answered from an interrupt; else it ran the tracker's thread
 * @data: of the tracker
 */
struct question {
	call_single_data_t csd;
	struct lt_look *look;
	bool asked;
	bool found;
	u8 data[] __aligned(8);
};

static struct question *question_of(const struct lt_look *look, int cpu)
{
	struct question __percpu *questions = look->questions;

	return per_cpu_ptr(questions, cpu);
}

static void give_answer(void *info)
{
	struct question *question = info;

	/* Else this is the thread itself, or the CPU is on its way offline. */
	question->found = lt_in_hardirq();
	if (question->found)
		question->look->answer(question->data);
	/* Pairs with smp_load_acquire() of is_asked(): the answer is complete. */
	smp_store_release(&question->asked, false);
}

static bool is_asked(const struct question *question)
{
	/* Pairs with smp_store_release() of give_answer(). */
	return smp_load_acquire(&question->asked);
}

/**
 * lt_look_start() - allocate the questions
 * @look: the questions; a static variable of the module
 *
 * Context: Task; may sleep. Before the tracker's thread may report.
 * Return: 0 or -ENOMEM.
 */
int lt_look_start(struct lt_look *look)
{
	struct question *question;
	int cpu;

	look->questions = __alloc_percpu(sizeof(*question) + look->data_size,
					 __alignof__(*question));
	if (!look->questions)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		question = question_of(look, cpu);
		question->look = look;
		question->csd.func = give_answer;
		question->csd.info = question;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(lt_look_start);

/**
 * lt_look_end() - wait until no CPU may still answer, and free the questions
 * @look: of lt_look_start(), also if that has failed
 *
 * Context: Task; may sleep, for as long as a CPU has interrupts off. Behind
 *	lt_usecase_stop(), so that nothing asks any more.
 */
void lt_look_end(struct lt_look *look)
{
	int cpu;

	if (!look->questions)
		return;
	for_each_possible_cpu(cpu) {
		while (is_asked(question_of(look, cpu)))
			usleep_range(1000, 2000);
	}
	synchronize_rcu();	/* for the last instructions of give_answer() */
	free_percpu(look->questions);
	look->questions = NULL;
}
EXPORT_SYMBOL_GPL(lt_look_end);

/**
 * lt_look_prepare() - may a CPU be asked?
 * @look: the questions
 * @cpu: a possible CPU
 *
 * Context: The tracker's thread.
 * Return: the data of the question, for the caller to fill in what the answer
 *	needs; NULL if the CPU is not asked, which has been counted.
 */
void *lt_look_prepare(struct lt_look *look, int cpu)
{
	struct question *question = question_of(look, cpu);

	if (!READ_ONCE(look->interrupt_isolated) && lt_cpu_is_isolated(cpu)) {
		WRITE_ONCE(look->unasked, look->unasked + 1);
		return NULL;
	}
	if (is_asked(question)) {
		WRITE_ONCE(look->unanswered, look->unanswered + 1);
		return NULL;
	}
	return question->data;
}
EXPORT_SYMBOL_GPL(lt_look_prepare);

static bool wait_for_answer(const struct question *question)
{
	unsigned int usec = 0, step = STEP_MIN_USEC;

	while (is_asked(question)) {
		if (usec >= WAIT_USEC)
			return false;
		usleep_range(step, 2 * step);
		usec += step;
		step = min(2 * step, STEP_MAX_USEC + 0U);
	}
	return question->found;
}

/**
 * lt_look_ask() - ask a CPU what it is doing
 * @look: the questions
 * @cpu: for which lt_look_prepare() has just returned data
 *
 * Context: The tracker's thread; sleeps for up to 20 ms or so.
 * Return: whether the data has the answer. It is valid until the next
 *	lt_look_prepare() for this CPU. No answer has been counted.
 */
bool lt_look_ask(struct lt_look *look, int cpu)
{
	struct question *question = question_of(look, cpu);

	question->found = false;
	question->asked = true;
	if (smp_call_function_single_async(cpu, &question->csd))
		question->asked = false;
	else if (wait_for_answer(question))
		return true;
	WRITE_ONCE(look->unanswered, look->unanswered + 1);
	return false;
}
EXPORT_SYMBOL_GPL(lt_look_ask);
