/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is a CPU doing? The thread of a tracker asks it by an interrupt, and does
 * not wait long for the answer.
 *
 * Each possible CPU has one question, which lives from lt_look_start() to
 * lt_look_end():
 *
 *	free:	the tracker's thread alone writes to it, the data included.
 *	asked:	from lt_look_ask() on. The CPU reads and writes the data, the
 *		thread does not touch it.
 *	free:	the CPU has answered. The data is the answer until the thread
 *		prepares the next question to this CPU.
 *
 * A CPU that does not answer in time keeps its question, however long, and is not
 * asked another one meanwhile. The others are.
 */
#ifndef _LT_USECASE_LOOK_H
#define _LT_USECASE_LOOK_H

#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/types.h>

/**
 * struct lt_look - the questions of one tracker
 * @answer: called on the CPU that was asked, in a hard interrupt, with its data
 * @data_size: bytes that @answer reads and writes
 * @interrupt_isolated: ask isolated CPUs, too; a parameter of the module
 * @unasked: how often a CPU was not asked, since it is isolated
 * @unanswered: how often a CPU did not answer in time, or could not be asked:
 *	it has not answered the question before, or is offline
 * @questions: of each CPU, with its data
 *
 * The first two are the module's to set.
 */
struct lt_look {
	void (*answer)(void *data);
	size_t data_size;
	bool interrupt_isolated;
	unsigned int unasked;
	unsigned int unanswered;
	void __percpu *questions;
};

#define LT_LOOK_PARAMS(look)						\
	module_param_named(interrupt_isolated, (look).interrupt_isolated, \
			   bool, 0644);					\
	MODULE_PARM_DESC(interrupt_isolated,				\
		"Ask an isolated or nohz_full CPU by an interrupt what it is doing when something on it is pending past the timeout (default N)"); \
	module_param_named(unasked, (look).unasked, uint, 0444);	\
	MODULE_PARM_DESC(unasked,					\
		"Reports without what the CPU was doing, since it is isolated"); \
	module_param_named(unanswered, (look).unanswered, uint, 0444);	\
	MODULE_PARM_DESC(unanswered,					\
		"Reports without what the CPU was doing, since it did not answer in time")

int lt_look_start(struct lt_look *look);
void lt_look_end(struct lt_look *look);
void *lt_look_prepare(struct lt_look *look, int cpu);
bool lt_look_ask(struct lt_look *look, int cpu);

#endif /* _LT_USECASE_LOOK_H */
