/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of one device: a disk, or a network device.
 */
#ifndef _LT_USECASE_FILTER_DEV_H
#define _LT_USECASE_FILTER_DEV_H

#include <linux/compiler.h>
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <linux/types.h>

#include "usecase/disk.h"

struct lt_usecase;

/**
 * struct lt_disk_filter - which disk to track
 * @dev: only this one, or this partition; 0 is all
 * @name: the name that @dev had, for paths of it that have no number
 * @usecase: whose filter it is
 *
 * A probe may see half of a change; lt_filter_changed() forgets what that let in.
 */
struct lt_disk_filter {
	dev_t dev;
	char name[LT_DISK_NAME_LEN];
	struct lt_usecase *usecase;
};

/**
 * struct lt_netdev_filter - which network device to track; nothing set is all
 * @ifindex: only the one of this number, in any namespace
 * @name: only the one of this name, in any namespace
 * @usecase: whose filter it is
 *
 * A probe may see half of a change; lt_filter_changed() forgets what that let in.
 */
struct lt_netdev_filter {
	int ifindex;
	char name[IFNAMSIZ];
	struct lt_usecase *usecase;
};

/* For module_param_cb(); the argument is the address of the filter. */
extern const struct kernel_param_ops lt_disk_ops;
extern const struct kernel_param_ops lt_netdev_ops;

/* The one disk to track, or 0. */
static __always_inline dev_t lt_disk_only(const struct lt_disk_filter *filter)
{
	return READ_ONCE(filter->dev);
}

static __always_inline bool
lt_netdev_passes(const struct lt_netdev_filter *filter,
		 const struct net_device *dev)
{
	int ifindex = READ_ONCE(filter->ifindex);

	if (ifindex)
		return dev->ifindex == ifindex;
	return !READ_ONCE(filter->name[0]) ||
	       !strncmp(dev->name, filter->name, IFNAMSIZ);
}

#endif /* _LT_USECASE_FILTER_DEV_H */
