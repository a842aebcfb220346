/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tracker module does on a crossing, besides the report: keep the trace
 * of the kernel, by a snapshot, or by stopping it.
 */
#ifndef _LT_USECASE_ACTION_H
#define _LT_USECASE_ACTION_H

#include <linux/moduleparam.h>

struct latency_tracker_verdict;
struct lt_action;

/* For module_param_cb(); the argument is the address of the struct lt_usecase. */
extern const struct kernel_param_ops lt_action_ops;
extern const struct kernel_param_ops lt_action_taken_ops;

void lt_action_init(struct lt_action *action);
void lt_action_exit(struct lt_action *action);
void lt_act(struct lt_action *action,
	    const struct latency_tracker_verdict *verdict);

#endif /* _LT_USECASE_ACTION_H */
