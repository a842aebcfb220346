/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is a CPU doing?
 */
#ifndef _LT_IRQ_LOOK_H
#define _LT_IRQ_LOOK_H

struct lt_softirq_place;

void look_here(struct lt_softirq_place *place);
const struct lt_softirq_place *look_at(int cpu);
void look_end(void);

#endif /* _LT_IRQ_LOOK_H */
