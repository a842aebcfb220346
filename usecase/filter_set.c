// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters that let several numbers pass, by their names; and those that are on or
 * off.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "usecase/data.h"
#include "usecase/filter.h"
#include "usecase/filter_set.h"

static u32 all_of(const struct lt_set *set)
{
	u32 all = 0;
	unsigned int i;

	for (i = 0; i < set->nr_names; i++) {
		if (set->names[i])
			all |= BIT(i);
	}
	return all;
}

/* The bit of the name of @len bytes; all bits for "all"; 0 for no name. */
static u32 bits_of(const struct lt_set *set, const char *name, size_t len)
{
	unsigned int i;

	if (len == 3 && !strncmp(name, "all", len))
		return all_of(set);
	for (i = 0; i < set->nr_names; i++) {
		if (set->names[i] && strlen(set->names[i]) == len &&
		    !strncmp(name, set->names[i], len))
			return BIT(i);
	}
	return 0;
}

/* Names with commas between them; a newline may end them. */
static int parse(const struct lt_set *set, const char *val, u32 *mask)
{
	*mask = 0;
	for (;;) {
		size_t len = strcspn(val, ",\n");
		u32 bits = bits_of(set, val, len);

		if (!bits)
			return -EINVAL;
		*mask |= bits;
		val += len;
		if (*val != ',')
			return sysfs_streq(val, "") ? 0 : -EINVAL;
		val++;
	}
}

static int set_set(const char *val, const struct kernel_param *kp)
{
	struct lt_set *set = kp->arg;
	u32 mask;
	int err;

	err = parse(set, val, &mask);
	if (err || mask == set->mask)
		return err;
	WRITE_ONCE(set->mask, mask);	/* pairs with lt_set_passes() */
	lt_filter_changed(set->usecase);
	return 0;
}

static int set_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_set *set = kp->arg;
	unsigned int i;
	int len = 0;

	if (set->mask == all_of(set))
		return sysfs_emit(buffer, "all\n");
	for (i = 0; i < set->nr_names; i++) {
		if (set->mask & BIT(i))
			len += sysfs_emit_at(buffer, len, "%s%s",
					     len ? "," : "", set->names[i]);
	}
	return len + sysfs_emit_at(buffer, len, "\n");
}

const struct kernel_param_ops lt_set_ops = {
	.set = set_set,
	.get = set_get,
};
EXPORT_SYMBOL_GPL(lt_set_ops);

/* Y, N, 1 or 0, and nothing else: kstrtobool() looks at the first letters only. */
int lt_parse_toggle(const char *val, bool *on)
{
	*on = sysfs_streq(val, "Y") || sysfs_streq(val, "1");
	if (!*on && !sysfs_streq(val, "N") && !sysfs_streq(val, "0"))
		return -EINVAL;
	return 0;
}

static int toggle_set(const char *val, const struct kernel_param *kp)
{
	struct lt_toggle *toggle = kp->arg;
	bool on;

	if (lt_parse_toggle(val, &on))
		return -EINVAL;
	if (on == toggle->on)
		return 0;
	WRITE_ONCE(toggle->on, on);	/* pairs with READ_ONCE() of the module */
	lt_filter_changed(toggle->usecase);
	return 0;
}

static int toggle_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_toggle *toggle = kp->arg;

	return sysfs_emit(buffer, "%c\n", toggle->on ? 'Y' : 'N');
}

const struct kernel_param_ops lt_toggle_ops = {
	.set = toggle_set,
	.get = toggle_get,
};
EXPORT_SYMBOL_GPL(lt_toggle_ops);
