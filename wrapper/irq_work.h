/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * irq_work that runs in hard interrupt context on PREEMPT_RT, too.
 *
 * 5.11 (7a9f50a05843, "irq_work: Cleanup") moved the flags into a call single
 * data node and brought IRQ_WORK_INIT_HARD(); before, they are set by hand.
 */
#ifndef _LT_WRAPPER_IRQ_WORK_H
#define _LT_WRAPPER_IRQ_WORK_H

#include <linux/irq_work.h>

static inline void lt_init_irq_work_hard(struct irq_work *work,
					 void (*func)(struct irq_work *))
{
#ifdef IRQ_WORK_INIT_HARD
	*work = IRQ_WORK_INIT_HARD(func);
#else
	init_irq_work(work, func);
	atomic_set(&work->flags, IRQ_WORK_HARD_IRQ);
#endif
}

#endif /* _LT_WRAPPER_IRQ_WORK_H */
