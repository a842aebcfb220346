/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups of operations: the first dimension is the tracker's own, such as the system
 * call; the second, if there is one, is the control group of the task.
 */
#ifndef _LT_USECASE_GROUPS_H
#define _LT_USECASE_GROUPS_H

#include <linux/sched.h>
#include <linux/sched/prio.h>

#include "usecase/data.h"
#include "wrapper/cgroup.h"

/**
 * LT_GROUPING() - define a struct latency_tracker_grouping
 * @_name: of the variable
 * @_ids: its function; see below for the second dimension
 * @...: "call", and "cgroup" where operations have a task
 *
 * The names of the first dimension are those of lt_usecase.group_name().
 */
#define LT_GROUPING(_name, _ids, ...)					\
	static const struct latency_tracker_grouping _name = {		\
		.dimension = { __VA_ARGS__ },				\
		.ids = _ids,						\
		.open = lt_group_open,					\
		.is_gone = lt_group_is_gone,				\
		.close = lt_group_close,				\
	}

/*
 * The id of the group of @task in the second dimension: that of its cgroup, which is the
 * inode of its directory. For an operation without a task it is 0.
 */
static __always_inline u64 lt_group_of_task(const struct task_struct *task)
{
	return lt_task_cgroup_id(task);
}

/**
 * enum lt_class - how a task is scheduled now, with a priority that it was lent
 * @LT_CLASS_DEADLINE: by deadlines
 * @LT_CLASS_REALTIME: by real-time priorities, as those that stop a CPU seem to be
 * @LT_CLASS_NORMAL: by a share of the time
 * @LT_CLASS_IDLE: SCHED_IDLE
 */
enum lt_class {
	LT_CLASS_DEADLINE,
	LT_CLASS_REALTIME,
	LT_CLASS_NORMAL,
	LT_CLASS_IDLE,
};

/* The id of the group of @task, where the first dimension is "class". */
static __always_inline u64 lt_group_of_class(const struct task_struct *task)
{
	if (unlikely(task->prio < MAX_RT_PRIO))
		return task->prio < 0 ? LT_CLASS_DEADLINE : LT_CLASS_REALTIME;
	return task->policy == SCHED_IDLE ? LT_CLASS_IDLE : LT_CLASS_NORMAL;
}

#define LT_CLASS_NAMES	"deadline, realtime, normal, idle, or the path of a control group"

int lt_class_name(u64 id, char *name);
int lt_class_find(const char *text, struct lt_threshold *found);
void lt_belongs_to_task(struct lt_belongs *to, const struct task_struct *task);
void *lt_group_open(void *data, unsigned int dimension, u64 id, char *name);
bool lt_group_is_gone(void *data, unsigned int dimension, u64 id,
		      const char *name, void *handle);
void lt_group_close(void *data, unsigned int dimension, void *handle);

#endif /* _LT_USECASE_GROUPS_H */
