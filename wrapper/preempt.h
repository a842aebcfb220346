/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The context of this CPU.
 *
 * 5.11 ("preempt: Cleanup the macro maze a bit") brought in_hardirq(), for
 * what in_irq() had been.
 */
#ifndef _LT_WRAPPER_PREEMPT_H
#define _LT_WRAPPER_PREEMPT_H

#include <linux/preempt.h>

#ifdef in_hardirq
#define lt_in_hardirq()		in_hardirq()
#else
#define lt_in_hardirq()		in_irq()
#endif

#endif /* _LT_WRAPPER_PREEMPT_H */
