// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of operations. See groups.h.
 *
 * A handle is the control group, with a reference: its memory stays until it is seen, some
 * seconds later, that it was removed. In the first dimension there is none.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "usecase/groups.h"
#include "usecase/thresholds.h"

/**
 * lt_class_name() - the group_name() of trackers whose first dimension is "class"
 * @id: enum lt_class
 * @name: result
 *
 * Context: Any.
 * Return: 0; -ENOENT for other ids.
 */
int lt_class_name(u64 id, char *name)
{
	static const char *const names[] = {
		[LT_CLASS_DEADLINE] = "deadline",
		[LT_CLASS_REALTIME] = "realtime",
		[LT_CLASS_NORMAL] = "normal",
		[LT_CLASS_IDLE] = "idle",
	};

	if (id >= ARRAY_SIZE(names))
		return -ENOENT;
	strscpy(name, names[id], LATENCY_TRACKER_GROUP_NAME);
	return 0;
}
EXPORT_SYMBOL_GPL(lt_class_name);

/**
 * lt_class_find() - their threshold_find()
 * @text: name of a class
 * @found: result
 *
 * Context: Any.
 * Return: 1; -EINVAL for other names.
 */
int lt_class_find(const char *text, struct lt_threshold *found)
{
	for (found->id = 0; !lt_class_name(found->id, found->name); found->id++) {
		found->mask = ~0ULL;
		if (!strcmp(found->name, text))
			return 1;
	}
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(lt_class_find);

/**
 * lt_belongs_to_task() - to which groups the operation of a task belongs there
 * @to: result
 * @task: the task; NULL if it is not known
 *
 * Context: Any; in an RCU read-side section, until the end of which @task is valid.
 */
void lt_belongs_to_task(struct lt_belongs *to, const struct task_struct *task)
{
	if (!task)
		return;
	to->task = task;
	to->id = lt_group_of_class(task);
}
EXPORT_SYMBOL_GPL(lt_belongs_to_task);

/* The end of a path that is too long. */
static int name_of_cgroup(struct cgroup *cgroup, char *name)
{
	char *path = kmalloc(PATH_MAX, GFP_KERNEL);
	int len;

	if (!path)
		return -ENOMEM;
	len = lt_cgroup_path(cgroup, path, PATH_MAX);
	if (len >= LATENCY_TRACKER_GROUP_NAME)
		snprintf(name, LATENCY_TRACKER_GROUP_NAME, "...%s",
			 path + len + 4 - LATENCY_TRACKER_GROUP_NAME);
	else if (len >= 0)
		strscpy(name, path, LATENCY_TRACKER_GROUP_NAME);
	kfree(path);
	return min(len, 0);
}

static struct cgroup *open_cgroup(u64 id, char *name)
{
	struct cgroup *cgroup;
	int err;

	if (!id) {
		strscpy(name, "-", LATENCY_TRACKER_GROUP_NAME);
		return NULL;
	}
	cgroup = lt_cgroup_by_id(id);
	if (IS_ERR(cgroup))
		return cgroup;
	err = name_of_cgroup(cgroup, name);
	if (!err)
		return cgroup;
	lt_cgroup_put(cgroup);
	return ERR_PTR(err);
}

/**
 * lt_group_open() - a group has its first operation
 * @data: struct lt_usecase
 * @dimension: 0 is that of the tracker, 1 that of control groups
 * @id: of the group
 * @name: result, LATENCY_TRACKER_GROUP_NAME bytes
 *
 * Context: Task, may sleep.
 * Return: a handle, or NULL; ERR_PTR() if there is no such group.
 */
void *lt_group_open(void *data, unsigned int dimension, u64 id, char *name)
{
	const struct lt_usecase *usecase = data;

	if (dimension)
		return open_cgroup(id, name);
	return ERR_PTR(usecase->group_name(id, name));
}
EXPORT_SYMBOL_GPL(lt_group_open);

/**
 * lt_group_is_gone() - can a group have no operations any more?
 * @data: struct lt_usecase
 * @dimension: as for lt_group_open()
 * @id: of the group
 * @name: what lt_group_open() has called it
 * @handle: what lt_group_open() has returned
 *
 * The number of a device is used again, and a device may get another name.
 *
 * Context: Task, may sleep.
 * Return: true if it was removed, or has another name.
 */
bool lt_group_is_gone(void *data, unsigned int dimension, u64 id,
		      const char *name, void *handle)
{
	const struct lt_usecase *usecase = data;
	char now[LATENCY_TRACKER_GROUP_NAME];

	if (dimension)
		return handle && lt_cgroup_is_removed(handle);
	return usecase->group_name(id, now) || strcmp(now, name);
}
EXPORT_SYMBOL_GPL(lt_group_is_gone);

/**
 * lt_group_close() - a group is forgotten
 * @data: struct lt_usecase
 * @dimension: as for lt_group_open()
 * @handle: what lt_group_open() has returned
 *
 * Context: Task, may sleep.
 */
void lt_group_close(void *data, unsigned int dimension, void *handle)
{
	if (dimension)
		lt_cgroup_put(handle);
}
EXPORT_SYMBOL_GPL(lt_group_close);
