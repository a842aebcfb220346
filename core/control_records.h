/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of records in the directory profile of a tracker.
 */
#ifndef _LT_CORE_CONTROL_RECORDS_H
#define _LT_CORE_CONTROL_RECORDS_H

#include <linux/types.h>

struct kobject;

ssize_t lt_control_read_last(struct kobject *kobj, char *buf, loff_t off,
			     size_t count);
ssize_t lt_control_read_worst(struct kobject *kobj, char *buf, loff_t off,
			      size_t count);

#endif /* _LT_CORE_CONTROL_RECORDS_H */
