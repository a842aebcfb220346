// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: what is common to all, and the filter of one number out of several.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/tracepoint.h>

#include "usecase/data.h"
#include "usecase/filter.h"

/**
 * lt_filter_changed() - forget what an old filter let in
 * @usecase: whose filter it is
 *
 * Both ends of an operation are filtered, so that what is filtered out never
 * touches the table. What an old filter let in would not find its end, so it
 * is forgotten as soon as no probe uses that filter any more.
 *
 * Context: Task; may sleep. Under kernel_param_lock() of the module.
 */
void lt_filter_changed(struct lt_usecase *usecase)
{
	if (!usecase->tracker)
		return;
	tracepoint_synchronize_unregister();
	if (usecase->stage)
		synchronize_rcu();	/* its entries, with preemption off */
	latency_tracker_clear(usecase->tracker);
}
EXPORT_SYMBOL_GPL(lt_filter_changed);

static int number_of(const struct lt_choice *choice, const char *name)
{
	int i;

	for (i = 0; i < choice->nr_names; i++) {
		if (sysfs_streq(name, choice->names[i]))
			return i;
	}
	return -EINVAL;
}

static int choice_set(const char *val, const struct kernel_param *kp)
{
	struct lt_choice *choice = kp->arg;
	int new;

	if (sysfs_streq(val, "")) {
		new = LT_CHOICE_ALL;
	} else if (choice->none && sysfs_streq(val, "none")) {
		new = LT_CHOICE_NONE;
	} else if (kstrtoint(val, 10, &new) == 0) {
		if (new < 0 || (choice->is_valid && !choice->is_valid(new)))
			return -EINVAL;
	} else {
		new = number_of(choice, val);
		if (new < 0)
			return new;
	}
	if (new == choice->value)
		return 0;
	WRITE_ONCE(choice->value, new);	/* pairs with lt_choice_passes() */
	lt_filter_changed(choice->usecase);
	return 0;
}

static int choice_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_choice *choice = kp->arg;

	if (choice->value == LT_CHOICE_ALL)
		return sysfs_emit(buffer, "\n");
	if (choice->value == LT_CHOICE_NONE)
		return sysfs_emit(buffer, "none\n");
	if (choice->value < choice->nr_names)
		return sysfs_emit(buffer, "%s\n", choice->names[choice->value]);
	return sysfs_emit(buffer, "%d\n", choice->value);
}

const struct kernel_param_ops lt_choice_ops = {
	.set = choice_set,
	.get = choice_get,
};
EXPORT_SYMBOL_GPL(lt_choice_ops);
