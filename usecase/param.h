/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters that every tracker module has: threshold, timeout, size of the
 * pool, profile, action.
 *
 * The kernel takes kernel_param_lock(owner) around each get and set.
 */
#ifndef _LT_USECASE_PARAM_H
#define _LT_USECASE_PARAM_H

#include <linux/moduleparam.h>
#include <linux/stringify.h>

#include "usecase/action.h"
#include "usecase/thresholds.h"

/*
 * The standard parameters of @usecase. The numbers are the defaults, for the
 * descriptions; the module puts them into @usecase, too.
 */
#define LT_USECASE_PARAMS(usecase, threshold, events, limit)		\
	module_param_cb(usec_threshold, &lt_threshold_ops, &(usecase), 0644); \
	MODULE_PARM_DESC(usec_threshold,				\
		"Report what takes at least so many microseconds (default " \
		__stringify(threshold) ")");				\
	module_param_cb(usec_timeout, &lt_timeout_ops, &(usecase), 0644); \
	MODULE_PARM_DESC(usec_timeout,					\
		"Report what is still pending after so many microseconds (default 0: off)"); \
	module_param_named(max_events, usecase.max_events, uint, 0444); \
	MODULE_PARM_DESC(max_events,					\
		"Events that can be pending at once (default "		\
		__stringify(events) ")");				\
	module_param_named(grow_limit, usecase.grow_limit, uint, 0444); \
	MODULE_PARM_DESC(grow_limit,					\
		"Events up to which the pool may grow when it runs low, 0 for no growth (default " \
		__stringify(limit) ")");				\
	module_param_cb(profile, &lt_profile_ops, &(usecase), 0644);	\
	MODULE_PARM_DESC(profile,					\
		"Count the delays of all operations, see the directory profile of the tracker (default Y)"); \
	module_param_cb(groups, &lt_groups_ops, &(usecase), 0644);	\
	MODULE_PARM_DESC(groups,					\
		"Count the delays of each group of operations, too, see profile/groups of the tracker (default N)"); \
	module_param_cb(per_minute, &lt_per_minute_ops, &(usecase), 0644);	\
	MODULE_PARM_DESC(per_minute,					\
		"Move the threshold, from usec_threshold up, so that about so many operations per minute are late, up to 1000000 (default 0: it stays)"); \
	module_param_cb(thresholds, &lt_thresholds_ops, &(usecase), 0644); \
	MODULE_PARM_DESC(thresholds,					\
		"Thresholds of groups of operations, as NAME:TIME,NAME:TIME... with unit ns, us, ms or s (default empty: that of all)"); \
	module_param_cb(action, &lt_action_ops, &(usecase), 0644);	\
	MODULE_PARM_DESC(action,					\
		"On a crossing: none, snapshot or traceoff of the kernel's trace; with :COUNT only so often (default none)"); \
	module_param_cb(actions, &lt_action_taken_ops, &(usecase), 0444); \
	MODULE_PARM_DESC(actions, "How often the action was taken")

/* For module_param_cb(); the argument is the address of the struct lt_usecase. */
extern const struct kernel_param_ops lt_threshold_ops;
extern const struct kernel_param_ops lt_timeout_ops;
extern const struct kernel_param_ops lt_profile_ops;
extern const struct kernel_param_ops lt_groups_ops;
extern const struct kernel_param_ops lt_per_minute_ops;

/*
 * A time in microseconds that the module reads itself, with READ_ONCE(); the
 * argument is the address of a u64.
 */
extern const struct kernel_param_ops lt_usec_ops;

#endif /* _LT_USECASE_PARAM_H */
