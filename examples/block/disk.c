// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of which disks operations are tracked, with which threshold, and what a report says
 * of a disk.
 */
#include "examples/block/block.h"
#include "usecase/filter_dev.h"
#include "usecase/thresholds.h"

static struct lt_disk_filter disk_filter = { .usecase = &block_usecase };
module_param_cb(dev, &lt_disk_ops, &disk_filter, 0644);
MODULE_PARM_DESC(dev, "Track only this disk or partition, as MAJOR:MINOR or by name (default empty: all)");

static int find_disk(const char *text, u64 *id, char *name)
{
	struct lt_disk disk;
	int err;

	err = lt_disk_find(text, &disk);
	if (err)
		return err;
	if (!disk.name[0] || disk.is_part)
		return -EINVAL;
	*id = disk.dev;
	strscpy(name, disk.name, LT_THRESHOLD_NAME_LEN);
	return 0;
}

static struct lt_thresholds thresholds = {
	.usecase = &block_usecase,
	.find = find_disk,
};
module_param_cb(thresholds, &lt_thresholds_ops, &thresholds, 0644);
MODULE_PARM_DESC(thresholds, "Thresholds of disks, as DISK:TIME,DISK:TIME... with unit ns, us, ms or s (default empty: that of all)");

/* 0 and false if the disk has none of its own. */
static noinline bool look_threshold_up(const struct lt_threshold_table *table,
				       const struct gendisk *disk, u64 *ns)
{
	int i = lt_threshold_by_id(table, lt_disk_dev(disk));

	if (i < 0 && disk && lt_disk_is_hidden(disk)) {
		for (i = table->nr - 1; i >= 0; i--) {
			if (lt_disk_is_path_of(table->name[i], disk->disk_name))
				break;
		}
	}
	*ns = i >= 0 ? table->ns[i] : 0;
	return i >= 0;
}

/* Returns what goes into the flags of the begin. */
u32 set_threshold(struct latency_tracker_in *in, const struct gendisk *disk)
{
	const struct lt_threshold_table *table = lt_thresholds_live(&thresholds);

	if (likely(!table) || !look_threshold_up(table, disk, &in->threshold_ns))
		return 0;
	return LATENCY_TRACKER_THRESHOLD;
}

/* @part is the partition, 0 if it is not known. */
bool wants_disk(const struct gendisk *disk, dev_t part)
{
	dev_t only = lt_disk_only(&disk_filter);

	if (!only || lt_disk_dev(disk) == only || part == only)
		return true;
	return disk && lt_disk_is_hidden(disk) &&
	       lt_disk_is_path_of(disk_filter.name, disk->disk_name);
}

/* The disk, and the current task. */
void describe(struct lt_block_report *report, const struct gendisk *disk)
{
	report->dev = lt_disk_dev(disk);
	if (disk)
		memcpy(report->disk, disk->disk_name, DISK_NAME_LEN);
	else
		strscpy(report->disk, "-", DISK_NAME_LEN);
	report->cgroup_id = lt_task_cgroup_id(current);
	report->pid = current->pid;
	memcpy(report->comm, current->comm, TASK_COMM_LEN);
}
