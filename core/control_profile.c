// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/latency_tracker/<tracker>/profile/: the distribution of all delays.
 */
#include <linux/build_bug.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/control_attr.h"
#include "core/control_profile.h"
#include "core/groups.h"
#include "core/profile.h"
#include "core/settings.h"
#include "core/worst.h"
#include "wrapper/sysfs.h"

static u64 get_profile(struct latency_tracker *tracker,
		       const struct lt_attr *attr)
{
	return latency_tracker_get_profile(tracker);
}

static int set_profile(struct latency_tracker *tracker, u64 value)
{
	return latency_tracker_set_profile(tracker, value);
}

static ssize_t show_window(struct latency_tracker *tracker,
			   const struct lt_attr *attr, char *buf)
{
	struct lt_profile_stats s;

	lt_profile_read(&tracker->profile, attr->window, &s);
	return sysfs_emit(buf, "count %llu\nsum_ns %llu\nmax_ns %llu\n"
			  "p50_ns %llu\np90_ns %llu\np99_ns %llu\n"
			  "p999_ns %llu\np9999_ns %llu\nspan_ns %llu\n",
			  s.count, s.sum_ns, s.max_ns, s.quantile_ns[0],
			  s.quantile_ns[1], s.quantile_ns[2], s.quantile_ns[3],
			  s.quantile_ns[4], s.span_ns);
}

static u64 get_groups_on(struct latency_tracker *tracker, const struct lt_attr *attr)
{
	return latency_tracker_get_groups(tracker);
}

static int set_groups_on(struct latency_tracker *tracker, u64 value)
{
	return latency_tracker_set_groups(tracker, value);
}

static u64 get_lost(struct latency_tracker *tracker, const struct lt_attr *attr)
{
	return lt_records_lost(tracker);
}

/* What is left of one record: a reader of all asks again. @fill: > 0 is the end of the file. */
static ssize_t read_record(struct kobject *kobj, char *buf, loff_t off,
			   size_t count,
			   int (*fill)(struct latency_tracker *tracker,
				       unsigned int nr, void *record))
{
	size_t in = off % LT_RECORD_BYTES;
	char *record;
	int err;

	record = kmalloc(LT_RECORD_BYTES, GFP_KERNEL);
	if (!record)
		return -ENOMEM;
	err = fill(lt_tracker_of(kobj), off / LT_RECORD_BYTES, record);
	count = err ? 0 : min_t(size_t, count, LT_RECORD_BYTES - in);
	memcpy(buf, record + in, count);
	kfree(record);
	return err < 0 ? err : count;
}

static int fill_buckets(struct latency_tracker *tracker, unsigned int nr,
			void *record)
{
	BUILD_BUG_ON(sizeof(struct lt_profile_record) != LT_RECORD_BYTES);
	lt_profile_fill(&tracker->profile, nr, record);
	return 0;
}

static ssize_t read_buckets(struct kobject *kobj, char *buf, loff_t off,
			    size_t count)
{
	return read_record(kobj, buf, off, count, fill_buckets);
}

static int fill_groups(struct latency_tracker *tracker, unsigned int nr,
		       void *record)
{
	BUILD_BUG_ON(sizeof(struct lt_groups_record) != LT_RECORD_BYTES);
	return !lt_groups_fill(&tracker->groups, nr, record);
}

static ssize_t read_groups(struct kobject *kobj, char *buf, loff_t off,
			   size_t count)
{
	return read_record(kobj, buf, off, count, fill_groups);
}

static int fill_last(struct latency_tracker *tracker, unsigned int nr,
		     void *record)
{
	BUILD_BUG_ON(sizeof(struct lt_record) != LT_RECORD_BYTES);
	return lt_record_of_last(tracker, nr, record);
}

static ssize_t read_last(struct kobject *kobj, char *buf, loff_t off,
			 size_t count)
{
	return read_record(kobj, buf, off, count, fill_last);
}

static int fill_worst(struct latency_tracker *tracker, unsigned int nr,
		      void *record)
{
	return lt_record_of_worst(tracker, nr, record);
}

static ssize_t read_worst(struct kobject *kobj, char *buf, loff_t off,
			  size_t count)
{
	return read_record(kobj, buf, off, count, fill_worst);
}

#define LT_WINDOW(_name, _window)					\
	static struct lt_attr attr_##_name = {				\
		.attr = { .name = #_name, .mode = 0444 },		\
		.show = show_window, .window = _window,			\
	}

LT_RW(on, get_profile, set_profile, 1);
LT_RW(groups_on, get_groups_on, set_groups_on, 1);
LT_WINDOW(1m, LT_PROFILE_1M);
LT_WINDOW(5m, LT_PROFILE_5M);
LT_WINDOW(1h, LT_PROFILE_1H);
LT_WINDOW(total, LT_PROFILE_TOTAL);
static struct lt_attr attr_lost = {
	.attr = { .name = "lost", .mode = 0444 },
	.get = get_lost,
};

LT_BIN_FILE(buckets, 0444, read_buckets, LT_PROFILE_RECORDS * LT_RECORD_BYTES);
LT_BIN_FILE(groups, 0444, read_groups, LT_GROUPS_RECORDS * LT_RECORD_BYTES);
/* With addresses of the kernel. */
LT_BIN_FILE(last, 0400, read_last, LT_PLACES_LAST * LT_RECORD_BYTES);
LT_BIN_FILE(worst, 0400, read_worst, LT_RECORDS_WORST * LT_RECORD_BYTES);

static struct attribute *profile_attrs[] = {
	&attr_on.attr, &attr_groups_on.attr, &attr_1m.attr, &attr_5m.attr,
	&attr_1h.attr, &attr_total.attr, &attr_lost.attr, NULL,
};

static struct bin_attribute *profile_bin_attrs[] = {
	&bin_attr_buckets, &bin_attr_groups, &bin_attr_last, &bin_attr_worst, NULL,
};

const struct attribute_group lt_profile_group = {
	.name = "profile",
	.attrs = profile_attrs,
	.bin_attrs = lt_bin_files(profile_bin_attrs),
};
