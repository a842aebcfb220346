/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often the end of a packet may not have been seen.
 */
#ifndef _LT_NETWORK_MISSED_H
#define _LT_NETWORK_MISSED_H

#include <linux/atomic.h>
#include <linux/kprobes.h>

#include "examples/network/network.h"
#include "wrapper/skbuff.h"

#ifdef LT_HAVE_SKB_ATTEMPT_DEFER_FREE
#define NR_HOOKS	3
#else
#define NR_HOOKS	2
#endif

extern struct kprobe network_hooks[NR_HOOKS];

/*
 * Set by hooks_begin(), once the kprobes work; never cleared: the kprobes are
 * unregistered before the tracker is destroyed.
 */
extern struct latency_tracker *network_hooked;

/*
 * How often a packet may have ended unseen. Only a change counts, so
 * increments that were lost do no harm.
 */
static inline u32 missed(void)
{
	u32 n = atomic_read(&gro_missed);
	unsigned int i;

	if (unlikely(!READ_ONCE(network_hooked)))
		return ~0U;
	for (i = 0; i < NR_HOOKS; i++)
		n += READ_ONCE(network_hooks[i].nmissed);
	return n;
}

#endif /* _LT_NETWORK_MISSED_H */
