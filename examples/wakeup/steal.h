/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much of a CPU's time had a hypervisor given to others when a task was queued there?
 */
#ifndef _LT_WAKEUP_STEAL_H
#define _LT_WAKEUP_STEAL_H

#include <linux/compiler.h>
#include <linux/types.h>

struct task_struct;

extern bool steal_counts;

void steal_start(void);
void steal_changed(void);
void steal_queued(const struct task_struct *task);
bool steal_at(u64 queued, u64 *count);

/* Has a hypervisor ever taken time from a CPU of this machine? */
static inline bool steal_is_known(void)
{
	return unlikely(READ_ONCE(steal_counts));
}

#endif /* _LT_WAKEUP_STEAL_H */
