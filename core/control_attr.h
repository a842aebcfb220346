/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of a tracker in sysfs are made of.
 */
#ifndef _LT_CORE_CONTROL_ATTR_H
#define _LT_CORE_CONTROL_ATTR_H

#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "core/tracker.h"

/**
 * struct lt_attr - a file
 * @attr: sysfs's
 * @get: the value
 * @show: instead of @get, for more than one value
 * @set: change it, or NULL; returns 0 or a negative errno
 * @store: instead of @set, for more than one number; returns 0 or a negative errno
 * @max: the largest value that may be written
 * @counter: of a file that shows a counter
 * @window: of a file that shows a profile
 */
struct lt_attr {
	struct attribute attr;
	u64 (*get)(struct latency_tracker *tracker, const struct lt_attr *attr);
	ssize_t (*show)(struct latency_tracker *tracker,
			const struct lt_attr *attr, char *buf);
	int (*set)(struct latency_tracker *tracker, u64 value);
	int (*store)(struct latency_tracker *tracker, const char *buf);
	u64 max;
	enum lt_counter counter;
	enum lt_profile_window window;
};

#define LT_RW(_name, _get, _set, _max)					\
	static struct lt_attr attr_##_name = {				\
		.attr = { .name = #_name, .mode = 0644 },		\
		.get = _get, .set = _set, .max = _max,			\
	}

static inline struct latency_tracker *lt_tracker_of(struct kobject *kobj)
{
	return container_of(kobj, struct latency_tracker, kobj);
}

#endif /* _LT_CORE_CONTROL_ATTR_H */
