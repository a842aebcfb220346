/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Thresholds of groups of operations, as a parameter: NAME:TIME,NAME:TIME... A name that is
 * a path is a control group, with those below it; what else is a name, the tracker says.
 *
 * Of the groups of each dimension that an operation belongs to, the narrowest counts; of
 * both dimensions, the lesser threshold. An operation is asked for its groups only when it
 * has taken as long as the least of all thresholds.
 */
#ifndef _LT_USECASE_THRESHOLDS_H
#define _LT_USECASE_THRESHOLDS_H

#include <linux/compiler.h>
#include <linux/moduleparam.h>
#include <linux/types.h>

#include "usecase/data.h"

/* As the user writes them. */
#define LT_THRESHOLDS_MAX	64

/* One name may be that of so many groups. */
#define LT_THRESHOLD_FOUND	2

/* No group has this id. */
#define LT_THRESHOLD_NO_ID	U64_MAX

/**
 * struct lt_threshold - that of a group
 * @id: of the group, but for the bits that @mask has not
 * @mask: the bits of an id that count: from the highest one down, so that the larger mask
 *	is that of the narrower group
 * @ns: its threshold
 * @cgroup: a control group, with a reference, instead of @id and @mask; or NULL
 * @name: as it reads back, but for a control group
 */
struct lt_threshold {
	u64 id;
	u64 mask;
	u64 ns;
	struct cgroup *cgroup;
	char name[LATENCY_TRACKER_GROUP_NAME];
};

/**
 * struct lt_belongs - to which groups an operation belongs
 * @id: as struct lt_threshold has it
 * @task: by whose control group it is known, valid until the end of the RCU read-side
 *	section; NULL: by none
 * @cgroup_ns: what lt_threshold_of_task() has said when it began, if @task is NULL
 */
struct lt_belongs {
	u64 id;
	const struct task_struct *task;
	u64 cgroup_ns;
};

/**
 * struct lt_threshold_table - the parameter; never changed once it is published
 * @nr: number of entries
 * @has_cgroups: there are such among them
 * @entry: the entries; those of one name are next to each other, and the last may be two
 */
struct lt_threshold_table {
	unsigned int nr;
	bool has_cgroups;
	struct lt_threshold entry[LT_THRESHOLDS_MAX + LT_THRESHOLD_FOUND - 1];
};

/* For module_param_cb(); the argument is the address of the struct lt_usecase. */
extern const struct kernel_param_ops lt_thresholds_ops;

void lt_thresholds_begin(struct lt_usecase *usecase);
u64 lt_thresholds_own(const struct latency_tracker_verdict *verdict);
u64 lt_thresholds_of_cgroup(const struct lt_usecase *usecase,
			    const struct task_struct *task);

/*
 * The threshold of the control group of @task, NEVER if it has none: for an operation that is not
 * known by its task when it ends. In an RCU read-side section, of which preemption off is one.
 */
static __always_inline u64
lt_threshold_of_task(const struct lt_usecase *usecase,
		     const struct task_struct *task)
{
	if (likely(!READ_ONCE(usecase->thresholds)))
		return LATENCY_TRACKER_NEVER;
	return lt_thresholds_of_cgroup(usecase, task);
}

#endif /* _LT_USECASE_THRESHOLDS_H */
