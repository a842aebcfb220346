// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thresholds of groups of operations, as a parameter.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/time64.h>
#include <linux/tracepoint.h>

#include "usecase/data.h"
#include "usecase/thresholds.h"

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
		return 0;
	}
	return -EINVAL;
}

/* NAME:TIME, where NAME may have a colon of its own. */
static int parse_entry(const struct lt_thresholds *thresholds, char *text,
		       struct lt_threshold_table *table)
{
	unsigned int nr = table->nr;
	char *time;
	int err;

	text = strim(text);
	time = strrchr(text, ':');
	if (nr == LT_THRESHOLDS_MAX || !time || time == text)
		return -EINVAL;
	*time++ = '\0';
	err = parse_time(time, &table->ns[nr]);
	if (!err)
		err = thresholds->find(text, &table->id[nr], table->name[nr]);
	if (err)
		return err;
	if (lt_threshold_by_id(table, table->id[nr]) >= 0)
		return -EINVAL;
	table->nr++;
	return 0;
}

static int parse(const struct lt_thresholds *thresholds, const char *val,
		 struct lt_threshold_table *table)
{
	char *copy, *rest, *text;
	int err = 0;

	memset(table, 0, sizeof(*table));
	copy = kstrdup(val, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = strim(copy);
	if (!*rest)
		rest = NULL;
	while (!err && (text = strsep(&rest, ",")))
		err = parse_entry(thresholds, text, table);
	kfree(copy);
	return err;
}

static int thresholds_set(const char *val, const struct kernel_param *kp)
{
	struct lt_thresholds *thresholds = kp->arg;
	struct lt_threshold_table *new = &thresholds->table[0];
	int err;

	if (new == thresholds->live)
		new++;
	err = parse(thresholds, val, new);
	if (err)
		return err;
	/* Pairs with lt_thresholds_live(). */
	smp_store_release(&thresholds->live, new->nr ? new : NULL);
	/* No probe sees the other table any more when it is filled next. */
	if (thresholds->usecase->tracker)
		tracepoint_synchronize_unregister();
	return 0;
}

static int thresholds_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_thresholds *thresholds = kp->arg;
	const struct lt_threshold_table *table = thresholds->live;
	unsigned int i, u;
	u32 rest;
	int len = 0;

	for (i = 0; table && i < table->nr; i++) {
		for (u = 0; u < ARRAY_SIZE(units) - 1; u++) {
			div_u64_rem(table->ns[i], units[u].ns, &rest);
			if (!rest)
				break;
		}
		len += sysfs_emit_at(buffer, len, "%s%s:%llu%s", i ? "," : "",
				     table->name[i],
				     div_u64(table->ns[i], units[u].ns),
				     units[u].name);
	}
	return len + sysfs_emit_at(buffer, len, "\n");
}

const struct kernel_param_ops lt_thresholds_ops = {
	.set = thresholds_set,
	.get = thresholds_get,
};
EXPORT_SYMBOL_GPL(lt_thresholds_ops);
