// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thresholds of groups of operations, as a parameter. See thresholds.h.
 *
 * Lifetime: a table is read in RCU read-side sections. The old one is freed, and its control
 * groups are put, after a grace period, or when the module is gone. A group that is removed
 * meanwhile stays in the table, and has no task.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include "usecase/thresholds.h"
#include "wrapper/cgroup.h"

/* The largest first. */
static const struct {
	const char *name;
	u32 ns;
} units[] = {
	{ "s", NSEC_PER_SEC },
	{ "ms", NSEC_PER_MSEC },
	{ "us", NSEC_PER_USEC },
	{ "ns", 1 },
};

static int parse_time(char *text, u64 *ns)
{
	size_t digits = strspn(text, "0123456789");
	unsigned int i;
	u64 number;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(text + digits, units[i].name))
			continue;
		text[digits] = '\0';
		if (kstrtou64(text, 10, &number) ||
		    check_mul_overflow(number, (u64)units[i].ns, ns))
			return -EINVAL;
		return *ns == LATENCY_TRACKER_NEVER ? -EINVAL : 0;
	}
	return -EINVAL;
}

static int find_cgroup(const struct lt_usecase *usecase, const char *text,
		       struct lt_threshold *found)
{
	struct cgroup *cgroup;

	if (text[0] != '/' || !usecase->grouping->dimension[1])
		return -EINVAL;
	cgroup = lt_cgroup_by_path(text);
	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup) == -ENOMEM ? -ENOMEM : -EINVAL;
	found->cgroup = cgroup;
	return 1;
}

static bool is_known(const struct lt_threshold_table *table,
		     const struct lt_threshold *new)
{
	const struct lt_threshold *old;

	for (old = table->entry; old < table->entry + table->nr; old++)
		if (old->cgroup == new->cgroup && old->id == new->id &&
		    old->mask == new->mask)
			return true;
	return false;
}

/* NAME:TIME, where NAME may have a colon of its own. */
static int parse_entry(const struct lt_usecase *usecase, char *text,
		       struct lt_threshold_table *table)
{
	struct lt_threshold *new = &table->entry[table->nr];
	int i, nr, err;
	char *time;
	u64 ns;

	text = strim(text);
	time = strrchr(text, ':');
	if (!time || time == text || table->nr >= LT_THRESHOLDS_MAX)
		return -EINVAL;
	*time++ = '\0';
	err = parse_time(time, &ns);
	if (err)
		return err;
	nr = usecase->threshold_find(text, new);
	if (nr < 0) {
		memset(new, 0, sizeof(*new));
		nr = find_cgroup(usecase, text, new);
	}
	if (nr < 0)
		return nr;
	for (i = 0; i < nr; i++) {
		new[i].ns = ns;
		table->has_cgroups |= !!new[i].cgroup;
		err = is_known(table, &new[i]) ? -EINVAL : err;
	}
	table->nr += nr;	/* also of one that is to be put */
	return err;
}

static int parse(const struct lt_usecase *usecase, const char *val,
		 struct lt_threshold_table *table)
{
	char *copy, *rest, *text;
	int err = 0;

	copy = kstrdup(val, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = strim(copy);
	if (!*rest)
		rest = NULL;
	while (!err && (text = strsep(&rest, ",")))
		err = parse_entry(usecase, text, table);
	kfree(copy);
	return err;
}

static void free_table(struct lt_threshold_table *table)
{
	unsigned int i;

	for (i = 0; table && i < table->nr; i++)
		lt_cgroup_put(table->entry[i].cgroup);
	kvfree(table);
}

/**
 * lt_thresholds_begin() - tell the tracker of the least threshold
 * @usecase: which has a tracker
 *
 * Context: Task; under kernel_param_lock(owner).
 */
void lt_thresholds_begin(struct lt_usecase *usecase)
{
	const struct lt_threshold_table *table = usecase->thresholds;
	u64 least_ns = LATENCY_TRACKER_NEVER;
	unsigned int i;

	for (i = 0; table && i < table->nr; i++)
		least_ns = min(least_ns, table->entry[i].ns);
	latency_tracker_set_own_least(usecase->tracker, least_ns);
}

static int thresholds_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;
	struct lt_threshold_table *old = usecase->thresholds, *new;
	int err;

	new = kvzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	err = parse(usecase, val, new);
	if (err || !new->nr) {
		free_table(new);
		new = NULL;
	}
	if (err == -EINVAL)
		pr_err_ratelimited("%s: thresholds: NAME:TIME,... with a time such as 20ms or 500us, at most %u of them; a name is %s\n",
				   module_name(usecase->owner),
				   LT_THRESHOLDS_MAX, usecase->threshold_names);
	if (err)
		return err;
	/* Pairs with the address dependency in lt_thresholds_own(). */
	smp_store_release(&usecase->thresholds, new);
	if (usecase->tracker)
		lt_thresholds_begin(usecase);
	synchronize_rcu();
	free_table(old);
	return 0;
}

static int print_name(char *buffer, int len, const struct lt_threshold *entry)
{
	char *path;
	int n;

	if (!entry->cgroup)
		return sysfs_emit_at(buffer, len, "%s", entry->name);
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	n = lt_cgroup_path(entry->cgroup, path, PATH_MAX);
	if (n >= 0)
		n = sysfs_emit_at(buffer, len, "%s%s", path,
				  lt_cgroup_is_removed(entry->cgroup) ?
					  " (removed)" : "");
	kfree(path);
	return n;
}

static int print_entry(char *buffer, int len, const struct lt_threshold *entry)
{
	unsigned int u;
	u32 rest;
	int n;

	n = print_name(buffer, len, entry);
	if (n < 0)
		return n;
	for (u = 0; u < ARRAY_SIZE(units) - 1; u++) {
		div_u64_rem(entry->ns, units[u].ns, &rest);
		if (!rest)
			break;
	}
	return n + sysfs_emit_at(buffer, len + n, ":%llu%s",
				 div_u64(entry->ns, units[u].ns), units[u].name);
}

static int thresholds_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;
	const struct lt_threshold_table *table = usecase->thresholds;
	unsigned int i;
	int n, len = 0;

	for (i = 0; table && i < table->nr; i++) {
		/* One name may be that of two. */
		if (i && !table->entry[i].cgroup &&
		    !strcmp(table->entry[i].name, table->entry[i - 1].name))
			continue;
		if (len)
			len += sysfs_emit_at(buffer, len, ",");
		n = print_entry(buffer, len, &table->entry[i]);
		if (n < 0)
			return n;
		len += n;
	}
	return len + sysfs_emit_at(buffer, len, "\n");
}

static void thresholds_free(void *arg)
{
	struct lt_usecase *usecase = arg;

	free_table(usecase->thresholds);
	usecase->thresholds = NULL;
}

const struct kernel_param_ops lt_thresholds_ops = {
	.set = thresholds_set,
	.get = thresholds_get,
	.free = thresholds_free,
};
EXPORT_SYMBOL_GPL(lt_thresholds_ops);

/* That of the lowest control group that @task is in or below; NEVER if there is none. */
static u64 of_cgroup(const struct lt_threshold_table *table,
		     const struct task_struct *task)
{
	const struct lt_threshold *entry, *narrowest = NULL;

	for (entry = table->entry; entry < table->entry + table->nr; entry++)
		if (entry->cgroup && lt_cgroup_has(entry->cgroup, task) &&
		    (!narrowest || lt_cgroup_level(entry->cgroup) >
				   lt_cgroup_level(narrowest->cgroup)))
			narrowest = entry;
	return narrowest ? narrowest->ns : LATENCY_TRACKER_NEVER;
}

static u64 of_id(const struct lt_threshold_table *table, u64 id)
{
	const struct lt_threshold *entry, *narrowest = NULL;

	for (entry = table->entry; entry < table->entry + table->nr; entry++)
		if (!entry->cgroup && (id & entry->mask) == entry->id &&
		    (!narrowest || entry->mask > narrowest->mask))
			narrowest = entry;
	return narrowest ? narrowest->ns : LATENCY_TRACKER_NEVER;
}

static u64 look_up(const struct lt_usecase *usecase,
		   const struct lt_threshold_table *table,
		   const struct latency_tracker_verdict *verdict)
{
	struct lt_belongs to = {
		.id = LT_THRESHOLD_NO_ID,
		.cgroup_ns = LATENCY_TRACKER_NEVER,
	};

	usecase->belongs(verdict, &to);
	if (to.task && table->has_cgroups)
		to.cgroup_ns = of_cgroup(table, to.task);
	return min(to.cgroup_ns, of_id(table, to.id));
}

/**
 * lt_thresholds_own() - see latency_tracker_own_threshold
 * @verdict: of a tracker whose data is a struct lt_usecase
 *
 * Context: Any.
 * Return: the threshold of its groups, ns; that of the tracker if they have none.
 */
u64 lt_thresholds_own(const struct latency_tracker_verdict *verdict)
{
	const struct lt_usecase *usecase = latency_tracker_data(verdict->tracker);
	const struct lt_threshold_table *table;
	u64 ns = LATENCY_TRACKER_NEVER;

	if (likely(!READ_ONCE(usecase->thresholds)))
		return verdict->threshold_ns;
	rcu_read_lock();
	/* Pairs with thresholds_set(). */
	table = READ_ONCE(usecase->thresholds);
	if (table)
		ns = look_up(usecase, table, verdict);
	rcu_read_unlock();
	return ns == LATENCY_TRACKER_NEVER ? verdict->threshold_ns : ns;
}
EXPORT_SYMBOL_GPL(lt_thresholds_own);

/**
 * lt_thresholds_of_cgroup() - the threshold of the control group of a task
 * @usecase: the tracker
 * @task: the task
 *
 * Context: Any; in an RCU read-side section.
 * Return: that of the lowest group that it is in or below, ns; LATENCY_TRACKER_NEVER if there
 *	is none.
 */
u64 lt_thresholds_of_cgroup(const struct lt_usecase *usecase,
			    const struct task_struct *task)
{
	const struct lt_threshold_table *table = READ_ONCE(usecase->thresholds);

	return table && table->has_cgroups ? of_cgroup(table, task) :
					     LATENCY_TRACKER_NEVER;
}
EXPORT_SYMBOL_GPL(lt_thresholds_of_cgroup);
