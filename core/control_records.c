// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/latency_tracker/<tracker>/profile/last and worst: records of reports.
 */
#include <linux/build_bug.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/control_attr.h"
#include "core/control_records.h"
#include "core/worst.h"

/* What is left of one record: a reader of all asks again. */
static ssize_t read_record(struct kobject *kobj, char *buf, loff_t off,
			   size_t count,
			   int (*fill)(struct latency_tracker *tracker,
				       unsigned int nr, struct lt_record *record))
{
	struct lt_record *record;
	size_t in = off % sizeof(*record);
	int err;

	BUILD_BUG_ON(sizeof(*record) != LT_RECORD_BYTES);
	record = kmalloc(sizeof(*record), GFP_KERNEL);
	if (!record)
		return -ENOMEM;
	err = fill(lt_tracker_of(kobj), off / sizeof(*record), record);
	count = min(count, sizeof(*record) - in);
	if (!err)
		memcpy(buf, (char *)record + in, count);
	kfree(record);
	return err ? err : count;
}

/* For LT_BIN_FILE(). */
ssize_t lt_control_read_last(struct kobject *kobj, char *buf, loff_t off,
			     size_t count)
{
	return read_record(kobj, buf, off, count, lt_record_of_last);
}

/* Likewise. */
ssize_t lt_control_read_worst(struct kobject *kobj, char *buf, loff_t off,
			      size_t count)
{
	return read_record(kobj, buf, off, count, lt_record_of_worst);
}
