/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts: their tracepoints, and what the kernel knows of soft interrupts.
 *
 * The tracepoints have the same arguments from 5.10 to 7.3; lt_typed_probe()
 * tells when that ends.
 */
#ifndef _LT_WRAPPER_IRQ_H
#define _LT_WRAPPER_IRQ_H

#include <linux/bits.h>
#include <linux/interrupt.h>
#include <trace/events/irq.h>

#include "wrapper/tracepoint.h"

/*
 * In a probe of softirq_raise: has the vector been raised before, and not been
 * taken up since? The tracepoint comes before the vector is marked.
 *
 * "softirq: Use a dedicated thread for timer wakeups on PREEMPT_RT." (by 6.14,
 * in the RT patches before) marks the timers elsewhere: false for them.
 */
static inline bool lt_softirq_is_raised(unsigned int vec)
{
	return local_softirq_pending() & BIT(vec);
}

#endif /* _LT_WRAPPER_IRQ_H */
