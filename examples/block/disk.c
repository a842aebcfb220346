// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of which disks operations are tracked, and what a report says of a disk.
 */
#include <linux/compiler.h>
#include <linux/device.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "examples/block/block.h"
#include "usecase/filter_dev.h"

static struct lt_disk_filter disk_filter = { .usecase = &block_usecase };
module_param_cb(dev, &lt_disk_ops, &disk_filter, 0644);
MODULE_PARM_DESC(dev, "Track only this disk or partition, as MAJOR:MINOR or by name (default empty: all)");

/* @part is the partition, 0 if it is not known. */
bool wants_disk(const struct gendisk *disk, dev_t part)
{
	dev_t only = lt_disk_only(&disk_filter);

	if (!only || lt_disk_dev(disk) == only || part == only)
		return true;
	return disk && lt_disk_is_hidden(disk) &&
	       lt_disk_is_path_of(disk_filter.name, disk->disk_name);
}

/*
 * That of all block devices, which modules cannot name; set by the first operation. It is
 * part of the kernel and stays.
 */
static const struct class *disk_class;

static void note_class(const struct gendisk *disk)
{
	/* Pairs with that of name_of_disk(): several may write the same. */
	if (!READ_ONCE(disk_class))
		WRITE_ONCE(disk_class, disk_to_dev(disk)->class);
}

/*
 * The name in sysfs of a disk that had an operation, -ENOENT if it is gone. May sleep. By no
 * path: in newer kernels, such as 7.3, the root directory of a work item is empty.
 */
int name_of_disk(dev_t dev, char *name, size_t len)
{
	struct class *class = (struct class *)READ_ONCE(disk_class);
	struct device *found;

	found = class ? class_find_device_by_devt(class, dev) : NULL;
	if (!found)
		return -ENOENT;
	strscpy(name, dev_name(found), len);
	put_device(found);
	return 0;
}

/*
 * The disk, and the current task. Of the thresholds of control groups the lesser counts: a work
 * item may issue what another task has inserted, and insert what was requeued.
 */
void describe(struct lt_block_report *report, const struct gendisk *disk)
{
	report->dev = lt_disk_dev(disk);
	if (disk) {
		note_class(disk);
		memcpy(report->disk, disk->disk_name, DISK_NAME_LEN);
	} else {
		strscpy(report->disk, "-", DISK_NAME_LEN);
	}
	/* Newer kernels, such as 7.3, do not disable preemption for a probe. */
	rcu_read_lock();
	report->cgroup_id = lt_task_cgroup_id(current);
	report->cgroup_ns = min(report->cgroup_ns,
				lt_threshold_of_task(&block_usecase, current));
	rcu_read_unlock();
	report->pid = current->pid;
	memcpy(report->comm, current->comm, TASK_COMM_LEN);
}
