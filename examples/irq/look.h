/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is a CPU doing?
 */
#ifndef _LT_IRQ_LOOK_H
#define _LT_IRQ_LOOK_H

struct lt_look;
struct lt_softirq_place;

extern struct lt_look irq_look;

void look_here(struct lt_softirq_place *place);
const struct lt_softirq_place *look_at(int cpu);

#endif /* _LT_IRQ_LOOK_H */
