/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which interrupt runs on this CPU.
 */
#ifndef _LT_OFFCPU_INTERRUPT_H
#define _LT_OFFCPU_INTERRUPT_H

#include <linux/types.h>

#include "usecase/usecase.h"

/* "-" of LT_VALUES_SOFTIRQ. */
#define OFFCPU_NO_SOFTIRQ	255

extern struct lt_stage interrupt_stage;

int interrupt_line(void);
u32 interrupt_softirq(void);

#endif /* _LT_OFFCPU_INTERRUPT_H */
