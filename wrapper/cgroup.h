/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Control groups, of version 2: that of a task, and one by its name or id.
 */
#ifndef _LT_WRAPPER_CGROUP_H
#define _LT_WRAPPER_CGROUP_H

#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/types.h>

#ifdef CONFIG_CGROUPS
#include <linux/cgroup.h>

/*
 * In an RCU read-side section, of which preemption off is one, until the end of which
 * it is valid.
 */
static inline struct cgroup *lt_task_cgroup(const struct task_struct *task)
{
	return rcu_dereference_raw(task->cgroups)->dfl_cgrp;
}

/* As lt_task_cgroup(). */
static inline u64 lt_task_cgroup_id(const struct task_struct *task)
{
	return cgroup_id(lt_task_cgroup(task));
}

/* Is @task in @cgroup, or in one below it? As lt_task_cgroup(). */
static inline bool lt_cgroup_has(struct cgroup *cgroup,
				 const struct task_struct *task)
{
	return cgroup_is_descendant(lt_task_cgroup(task), cgroup);
}

/* How far it is below the root. */
static inline int lt_cgroup_level(const struct cgroup *cgroup)
{
	return cgroup->level;
}

/* With a reference; ERR_PTR() if there is none of that path, such as /system.slice. */
static inline struct cgroup *lt_cgroup_by_path(const char *path)
{
	return cgroup_get_from_path(path);
}

/*
 * With a reference; ERR_PTR() if there is none. cgroup_get_from_id() came in 5.14 only
 * (6b658c4863c1, "scsi: cgroup: Add cgroup_get_from_id()").
 */
static inline struct cgroup *lt_cgroup_by_id(u64 id)
{
	struct cgroup *found = ERR_PTR(-ENOENT);
	struct cgroup_subsys_state *css;

	rcu_read_lock();
	css_for_each_descendant_pre(css, &cgrp_dfl_root.cgrp.self) {
		if (cgroup_id(css->cgroup) == id && css_tryget_online(css)) {
			found = css->cgroup;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/* The root, which is never, is not marked as on line. */
static inline bool lt_cgroup_is_removed(const struct cgroup *cgroup)
{
	return !(READ_ONCE(cgroup->self.flags) & (CSS_ONLINE | CSS_NO_REF));
}

/* Returns the length, or a negative errno. */
static inline int lt_cgroup_path(struct cgroup *cgroup, char *buffer, size_t size)
{
	return cgroup_path(cgroup, buffer, size);
}

static inline void lt_cgroup_put(struct cgroup *cgroup)
{
	if (cgroup)
		css_put(&cgroup->self);
}
#else
struct cgroup;

static inline u64 lt_task_cgroup_id(const struct task_struct *task)
{
	return 0;
}

static inline bool lt_cgroup_has(struct cgroup *cgroup,
				 const struct task_struct *task)
{
	return false;
}

static inline int lt_cgroup_level(const struct cgroup *cgroup)
{
	return 0;
}

static inline struct cgroup *lt_cgroup_by_path(const char *path)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct cgroup *lt_cgroup_by_id(u64 id)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline bool lt_cgroup_is_removed(const struct cgroup *cgroup)
{
	return true;
}

static inline int lt_cgroup_path(struct cgroup *cgroup, char *buffer, size_t size)
{
	return -EOPNOTSUPP;
}

static inline void lt_cgroup_put(struct cgroup *cgroup)
{
}
#endif

#endif /* _LT_WRAPPER_CGROUP_H */
