/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When was a control group throttled by cpu.max?
 */
#ifndef _LT_WAKEUP_THROTTLE_H
#define _LT_WAKEUP_THROTTLE_H

#include <linux/types.h>

struct task_struct;
struct throttled;

int throttle_start(void);
void throttle_stop(void);
const struct throttled *throttle_of(const struct task_struct *task, u64 from,
				    u64 to);
u64 throttle_overlap(const struct throttled *group, u64 from, u64 to);
u64 throttle_cgroup(const struct throttled *group);

#endif /* _LT_WAKEUP_THROTTLE_H */
