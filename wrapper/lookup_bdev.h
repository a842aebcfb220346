/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The number of a block device, by the path of its node.
 */
#ifndef _LT_WRAPPER_LOOKUP_BDEV_H
#define _LT_WRAPPER_LOOKUP_BDEV_H

#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/version.h>

/*
 * 5.11 (4e7b5671c6a8, "block: remove i_bdev") returns the number instead of the
 * device.
 */
static inline int lt_lookup_bdev(const char *path, dev_t *dev)
{
#ifndef CONFIG_BLOCK
	return -ENODEV;
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
	return lookup_bdev(path, dev);
#else
	struct block_device *bdev = lookup_bdev(path);

	if (IS_ERR(bdev))
		return PTR_ERR(bdev);
	*dev = bdev->bd_dev;
	bdput(bdev);
	return 0;
#endif
}

#endif /* _LT_WRAPPER_LOOKUP_BDEV_H */
