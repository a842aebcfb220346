// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/latency_tracker/<tracker>/: one value per file.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "core/ask.h"
#include "core/control.h"
#include "core/control_attr.h"
#include "core/control_profile.h"
#include "core/crossings.h"
#include "core/pending.h"
#include "core/settings.h"

static struct kset *lt_kset;
static DEFINE_MUTEX(lt_names); /* look a name up and take it in one step */

static u64 get_threshold(struct latency_tracker *tracker,
			 const struct lt_attr *attr)
{
	return latency_tracker_get_least_threshold(tracker);
}

static u64 get_threshold_now(struct latency_tracker *tracker,
			     const struct lt_attr *attr)
{
	return latency_tracker_get_threshold(tracker);
}

static u64 get_timeout(struct latency_tracker *tracker,
		       const struct lt_attr *attr)
{
	return READ_ONCE(tracker->timeout_ns);
}

static u64 get_collect(struct latency_tracker *tracker,
		       const struct lt_attr *attr)
{
	return READ_ONCE(tracker->collect_ns);
}

static u64 get_tracking(struct latency_tracker *tracker,
			const struct lt_attr *attr)
{
	return READ_ONCE(tracker->tracking_on);
}

static int set_tracking(struct latency_tracker *tracker, u64 value)
{
	return latency_tracker_set_tracking(tracker, value);
}

static u64 get_per_minute(struct latency_tracker *tracker,
			  const struct lt_attr *attr)
{
	return latency_tracker_get_per_minute(tracker);
}

static int set_per_minute(struct latency_tracker *tracker, u64 value)
{
	return latency_tracker_set_per_minute(tracker, value);
}

static u64 pool_capacity(struct latency_tracker *tracker,
			 const struct lt_attr *attr)
{
	return READ_ONCE(tracker->pool.capacity);
}

static u64 get_grow_limit(struct latency_tracker *tracker,
			  const struct lt_attr *attr)
{
	return tracker->grow_limit;
}

static u64 get_memory(struct latency_tracker *tracker,
		      const struct lt_attr *attr)
{
	return lt_memory(tracker);
}

static u64 get_pending(struct latency_tracker *tracker,
		       const struct lt_attr *attr)
{
	return lt_pending_count(tracker);
}

static u64 get_crossings(struct latency_tracker *tracker,
			 const struct lt_attr *attr)
{
	return lt_crossings_sum(tracker);
}

static u64 get_interval(struct latency_tracker *tracker,
			const struct lt_attr *attr)
{
	return READ_ONCE(tracker->crossings.interval_ns);
}

static u64 get_suppressed(struct latency_tracker *tracker,
			  const struct lt_attr *attr)
{
	return READ_ONCE(tracker->crossings.suppressed);
}

static u64 get_counter(struct latency_tracker *tracker,
		       const struct lt_attr *attr)
{
	return lt_counter_sum(tracker->counters, attr->counter);
}

#define LT_RO(_name, _get)						\
	static struct lt_attr attr_##_name = {				\
		.attr = { .name = #_name, .mode = 0444 },		\
		.get = _get,						\
	}
#define LT_COUNTER(_name, _counter)					\
	static struct lt_attr attr_##_name = {				\
		.attr = { .name = #_name, .mode = 0444 },		\
		.get = get_counter, .counter = _counter,		\
	}

/* Base 0 would take a 0 in front for octal. */
static unsigned int base_of(const char *buf)
{
	return strncmp(buf, "0x", 2) ? 10 : 16;
}

/* One number, up to a space or the end of the line. Returns what is behind it; NULL: it is none. */
static const char *parse_number(const char *buf, u64 *value)
{
	char text[24];
	size_t len = strcspn(buf, "\n ");

	if (len >= sizeof(text))
		return NULL;
	memcpy(text, buf, len);
	text[len] = 0;
	return kstrtoull(text, base_of(text), value) ? NULL : buf + len;
}

static int store_report_pending(struct latency_tracker *tracker, const char *buf)
{
	u64 age_ns, after_ns = 0;

	buf = parse_number(buf, &age_ns);
	if (buf && *buf == ' ')
		buf = parse_number(buf + 1, &after_ns);
	if (!buf || strcmp(buf + (*buf == '\n'), ""))
		return -EINVAL;
	return latency_tracker_report_pending(tracker, age_ns, after_ns);
}

static struct lt_attr attr_report_pending = {
	.attr = { .name = "report_pending", .mode = 0644 },
	.get = get_counter, .counter = LT_ASKED, .store = store_report_pending,
};

LT_RW(threshold_ns, get_threshold, latency_tracker_set_threshold, U64_MAX);
LT_RW(timeout_ns, get_timeout, latency_tracker_set_timeout, U64_MAX);
LT_RW(collect_ns, get_collect, latency_tracker_set_collect, U64_MAX);
LT_RW(tracking_on, get_tracking, set_tracking, 1);
LT_RW(per_minute, get_per_minute, set_per_minute, LATENCY_TRACKER_PER_MINUTE_MAX);
LT_RW(crossings_interval_ns, get_interval, lt_crossings_set_interval, U64_MAX);
LT_RO(threshold_now_ns, get_threshold_now);
LT_RO(crossings, get_crossings);
LT_RO(crossings_suppressed, get_suppressed);
LT_RO(capacity, pool_capacity);
LT_RO(grow_limit, get_grow_limit);
LT_RO(memory_bytes, get_memory);
LT_RO(pending, get_pending);
LT_COUNTER(started, LT_STARTED);
LT_COUNTER(finished, LT_FINISHED);
LT_COUNTER(late, LT_LATE);
LT_COUNTER(timeouts, LT_TIMEOUTS);
LT_COUNTER(collected, LT_COLLECTED);
LT_COUNTER(cleared, LT_CLEARED);
LT_COUNTER(replaced, LT_REPLACED);
LT_COUNTER(skipped, LT_SKIPPED);
LT_COUNTER(kept, LT_KEPT);
LT_COUNTER(unmatched, LT_UNMATCHED);
LT_COUNTER(clock_back, LT_CLOCK_BACK);
LT_COUNTER(unwatched, LT_UNWATCHED);

static struct attribute *lt_attrs[] = {
	&attr_threshold_ns.attr, &attr_timeout_ns.attr, &attr_collect_ns.attr,
	&attr_tracking_on.attr, &attr_capacity.attr, &attr_grow_limit.attr,
	&attr_memory_bytes.attr, &attr_pending.attr, &attr_started.attr,
	&attr_finished.attr, &attr_late.attr, &attr_timeouts.attr,
	&attr_collected.attr, &attr_cleared.attr, &attr_replaced.attr,
	&attr_skipped.attr, &attr_kept.attr, &attr_unmatched.attr,
	&attr_clock_back.attr, &attr_unwatched.attr,
	&attr_crossings.attr, &attr_crossings_suppressed.attr,
	&attr_crossings_interval_ns.attr, &attr_per_minute.attr,
	&attr_threshold_now_ns.attr, &attr_report_pending.attr,
	NULL,
};

static const struct attribute_group lt_group = { .attrs = lt_attrs };

static const struct attribute_group *lt_groups[] = {
	&lt_group, &lt_profile_group, NULL,
};

static ssize_t lt_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct lt_attr *a = container_of(attr, struct lt_attr, attr);

	if (a->show)
		return a->show(lt_tracker_of(kobj), a, buf);
	return sysfs_emit(buf, "%llu\n", a->get(lt_tracker_of(kobj), a));
}

static ssize_t lt_store(struct kobject *kobj, struct attribute *attr,
			const char *buf, size_t count)
{
	struct lt_attr *a = container_of(attr, struct lt_attr, attr);
	u64 value;
	int err;

	if (a->store)
		err = a->store(lt_tracker_of(kobj), buf);
	else if (kstrtoull(buf, base_of(buf), &value) || value > a->max)
		err = -EINVAL;
	else
		err = a->set(lt_tracker_of(kobj), value);
	return err ? err : count;
}

static const struct sysfs_ops lt_sysfs_ops = {
	.show = lt_show,
	.store = lt_store,
};

static void lt_release(struct kobject *kobj)
{
	complete(&lt_tracker_of(kobj)->released);
}

static struct kobj_type lt_ktype = {
	.release = lt_release,
	.sysfs_ops = &lt_sysfs_ops,
	.default_groups = lt_groups,
};

/**
 * lt_control_add() - show a tracker
 * @tracker: all of it works
 *
 * Context: Task, may sleep.
 * Return: 0; -EEXIST if the name is taken; -ENOMEM. On error nothing is left.
 */
int lt_control_add(struct latency_tracker *tracker)
{
	struct kobject *same;
	int err = -EEXIST;

	mutex_lock(&lt_names);
	same = kset_find_obj(lt_kset, tracker->name);
	if (same) {
		kobject_put(same);
		goto out;
	}
	tracker->kobj.kset = lt_kset;
	err = kobject_init_and_add(&tracker->kobj, &lt_ktype, NULL, "%s",
				   tracker->name);
	if (err) {
		kobject_put(&tracker->kobj);
		wait_for_completion(&tracker->released);
		goto out;
	}
	lt_crossings_show(tracker);
out:
	mutex_unlock(&lt_names);
	return err;
}

/**
 * lt_control_del() - hide a tracker
 * @tracker: shown by lt_control_add()
 *
 * When it returns, no file of @tracker is being read or written, and no poll of
 * one sleeps.
 *
 * Context: Task, may sleep.
 */
void lt_control_del(struct latency_tracker *tracker)
{
	kobject_del(&tracker->kobj);
	lt_crossings_hide(tracker);
	kobject_put(&tracker->kobj);
	wait_for_completion(&tracker->released);
}

/**
 * lt_control_init() - make /sys/kernel/latency_tracker
 *
 * Context: Task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lt_control_init(void)
{
	lt_kset = kset_create_and_add("latency_tracker", NULL, kernel_kobj);
	return lt_kset ? 0 : -ENOMEM;
}

/**
 * lt_control_exit() - remove it; there are no trackers any more
 *
 * Context: Task, may sleep.
 */
void lt_control_exit(void)
{
	kset_unregister(lt_kset);
}
