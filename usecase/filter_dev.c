// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of one device: a disk, or a network device.
 */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/kdev_t.h>
#include <linux/kernel.h>
#include <linux/sysfs.h>

#include "usecase/disk.h"
#include "usecase/filter.h"
#include "usecase/filter_dev.h"

static int disk_set(const char *val, const struct kernel_param *kp)
{
	struct lt_disk_filter *filter = kp->arg;
	struct lt_disk new;
	int err;

	err = lt_disk_find(val, &new);
	if (err)
		return err;
	if (new.dev == filter->dev && !strcmp(new.name, filter->name))
		return 0;
	WRITE_ONCE(filter->dev, new.dev);	/* pairs with lt_disk_only() */
	memcpy(filter->name, new.name, sizeof(new.name));
	lt_filter_changed(filter->usecase);
	return 0;
}

static int disk_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_disk_filter *filter = kp->arg;

	if (!filter->dev)
		return sysfs_emit(buffer, "\n");
	return sysfs_emit(buffer, "%u:%u\n", MAJOR(filter->dev),
			  MINOR(filter->dev));
}

const struct kernel_param_ops lt_disk_ops = {
	.set = disk_set,
	.get = disk_get,
};
EXPORT_SYMBOL_GPL(lt_disk_ops);

/* What the kernel lets a device be called, but for control characters. */
static bool is_netdev_name(const char *name)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (; *name; name++)
		if (iscntrl(*name) || isspace(*name) || *name == '/' ||
		    *name == ':')
			return false;
	return true;
}

static int netdev_set(const char *val, const struct kernel_param *kp)
{
	struct lt_netdev_filter *filter = kp->arg;
	size_t len = strchrnul(val, '\n') - val;
	char name[IFNAMSIZ] = "";
	int ifindex = 0;

	if (len >= IFNAMSIZ || (val[len] && val[len + 1]))
		return -EINVAL;
	memcpy(name, val, len);
	if (isdigit(*name) || *name == '-') {
		if (kstrtoint(name, 10, &ifindex) || ifindex <= 0)
			return -EINVAL;
		memset(name, 0, sizeof(name));
	} else if (!is_netdev_name(name)) {
		return -EINVAL;
	}
	if (ifindex == filter->ifindex &&
	    !memcmp(name, filter->name, sizeof(name)))
		return 0;
	WRITE_ONCE(filter->ifindex, ifindex); /* pairs with lt_netdev_passes() */
	memcpy(filter->name, name, sizeof(name));
	lt_filter_changed(filter->usecase);
	return 0;
}

static int netdev_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_netdev_filter *filter = kp->arg;

	if (filter->ifindex)
		return sysfs_emit(buffer, "%d\n", filter->ifindex);
	return sysfs_emit(buffer, "%s\n", filter->name);
}

const struct kernel_param_ops lt_netdev_ops = {
	.set = netdev_set,
	.get = netdev_get,
};
EXPORT_SYMBOL_GPL(lt_netdev_ops);
