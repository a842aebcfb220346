// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter of a control group and those below it. See task.h for how it is used.
 *
 * Lifetime: the filter holds a reference. The old group is put once no probe uses
 * the old filter any more, or when the module is gone. A group that is removed
 * meanwhile stays the filter, and has no task.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "usecase/filter.h"
#include "usecase/task.h"
#include "wrapper/cgroup.h"

/* NULL for the empty name. */
static struct cgroup *group_of(const char *val)
{
	struct cgroup *cgroup;
	size_t len = strlen(val);
	char *name;
	u64 id;

	if (sysfs_streq(val, ""))
		return NULL;
	if (!kstrtou64(val, 10, &id))
		return lt_cgroup_by_id(id);
	if (val[0] != '/')
		return ERR_PTR(-EINVAL);
	/* echo(1) has added a newline. */
	name = kstrndup(val, len - (val[len - 1] == '\n'), GFP_KERNEL);
	if (!name)
		return ERR_PTR(-ENOMEM);
	cgroup = lt_cgroup_by_path(name);
	kfree(name);
	return cgroup;
}

static int group_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;
	struct cgroup *old = usecase->task.cgroup, *new = group_of(val);

	if (IS_ERR(new)) {
		pr_err_ratelimited("%s: cgroup: no such group: a path as in /proc/PID/cgroup, such as /system.slice, or the inode of its directory\n",
				   module_name(usecase->owner));
		return PTR_ERR(new) == -ENOMEM ? -ENOMEM : -EINVAL;
	}
	if (new == old) {
		lt_cgroup_put(new);
		return 0;
	}
	/* Pairs with the address dependency in lt_task_in_cgroup(). */
	smp_store_release(&usecase->task.cgroup, new);
	lt_task_filter_set(usecase);
	lt_filter_changed(usecase);
	lt_cgroup_put(old);
	return 0;
}

static int group_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;
	struct cgroup *cgroup = usecase->task.cgroup;
	char *path;
	int len;

	if (!cgroup)
		return sysfs_emit(buffer, "\n");
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	len = lt_cgroup_path(cgroup, path, PATH_MAX);
	if (len >= 0)
		len = sysfs_emit(buffer, "%s%s\n", path,
				 lt_cgroup_is_removed(cgroup) ? " (removed)" : "");
	kfree(path);
	return len;
}

static void group_free(void *arg)
{
	struct lt_usecase *usecase = arg;

	lt_cgroup_put(usecase->task.cgroup);
	usecase->task.cgroup = NULL;
}

const struct kernel_param_ops lt_cgroup_ops = {
	.set = group_set,
	.get = group_get,
	.free = group_free,
};
EXPORT_SYMBOL_GPL(lt_cgroup_ops);
