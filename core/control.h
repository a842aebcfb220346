/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a tracker in sysfs.
 */
#ifndef _LT_CORE_CONTROL_H
#define _LT_CORE_CONTROL_H

struct latency_tracker;

int lt_control_init(void);
void lt_control_exit(void);
int lt_control_add(struct latency_tracker *tracker);
void lt_control_del(struct latency_tracker *tracker);

#endif /* _LT_CORE_CONTROL_H */
