// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of which disks operations are tracked, and what a report says of a disk.
 */
#include <linux/minmax.h>
#include <linux/rcupdate.h>

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
 * The disk, and the current task. Of the thresholds of control groups the lesser counts: a work
 * item may issue what another task has inserted, and insert what was requeued.
 */
void describe(struct lt_block_report *report, const struct gendisk *disk)
{
	report->dev = lt_disk_dev(disk);
	if (disk)
		memcpy(report->disk, disk->disk_name, DISK_NAME_LEN);
	else
		strscpy(report->disk, "-", DISK_NAME_LEN);
	/* Newer kernels, such as 7.3, do not disable preemption for a probe. */
	rcu_read_lock();
	report->cgroup_id = lt_task_cgroup_id(current);
	report->cgroup_ns = min(report->cgroup_ns,
				lt_threshold_of_task(&block_usecase, current));
	rcu_read_unlock();
	report->pid = current->pid;
	memcpy(report->comm, current->comm, TASK_COMM_LEN);
}
