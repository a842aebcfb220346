// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters that a tracker has, too: they are stored as given while there is no
 * tracker. While there is one, a read asks it, since files of the tracker
 * change the same value.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include "usecase/data.h"
#include "usecase/param.h"

/* Microseconds, such that they are a u64 in ns, too. */
static int parse(const char *val, u64 *usec, u64 *ns)
{
	if (kstrtou64(val, 10, usec) ||
	    check_mul_overflow(*usec, (u64)NSEC_PER_USEC, ns))
		return -EINVAL;
	return 0;
}

static int print(char *buffer, u64 usec)
{
	return sysfs_emit(buffer, "%llu\n", usec);
}

static int threshold_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;
	u64 usec, ns;
	int err;

	err = parse(val, &usec, &ns);
	if (!err && usecase->tracker)
		err = latency_tracker_set_threshold(usecase->tracker, ns);
	if (!err)
		usecase->usec_threshold = usec;
	return err;
}

static int threshold_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;

	if (!usecase->tracker)
		return print(buffer, usecase->usec_threshold);
	return print(buffer,
		     div_u64(latency_tracker_get_least_threshold(usecase->tracker),
			     NSEC_PER_USEC));
}

const struct kernel_param_ops lt_threshold_ops = {
	.set = threshold_set,
	.get = threshold_get,
};
EXPORT_SYMBOL_GPL(lt_threshold_ops);

static int timeout_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;
	u64 usec, ns;
	int err;

	err = parse(val, &usec, &ns);
	if (!err && usecase->tracker)
		err = latency_tracker_set_timeout(usecase->tracker, ns);
	if (!err)
		usecase->usec_timeout = usec;
	return err;
}

static int timeout_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;

	if (!usecase->tracker)
		return print(buffer, usecase->usec_timeout);
	return print(buffer,
		     div_u64(latency_tracker_get_timeout(usecase->tracker),
			     NSEC_PER_USEC));
}

const struct kernel_param_ops lt_timeout_ops = {
	.set = timeout_set,
	.get = timeout_get,
};
EXPORT_SYMBOL_GPL(lt_timeout_ops);

static int profile_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;
	bool on;
	int err;

	err = kstrtobool(val, &on);
	if (!err && usecase->tracker)
		err = latency_tracker_set_profile(usecase->tracker, on);
	if (!err)
		usecase->profile_is_off = !on;
	return err;
}

static int profile_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;
	bool on = usecase->tracker ?
			  latency_tracker_get_profile(usecase->tracker) :
			  !usecase->profile_is_off;

	return sysfs_emit(buffer, "%c\n", on ? 'Y' : 'N');
}

const struct kernel_param_ops lt_profile_ops = {
	.set = profile_set,
	.get = profile_get,
};
EXPORT_SYMBOL_GPL(lt_profile_ops);

static int groups_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;
	bool on;
	int err;

	err = kstrtobool(val, &on);
	if (!err && usecase->tracker)
		err = latency_tracker_set_groups(usecase->tracker, on);
	if (!err)
		usecase->groups = on;
	return err;
}

static int groups_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;
	bool on = usecase->tracker ?
			  latency_tracker_get_groups(usecase->tracker) :
			  usecase->groups;

	return sysfs_emit(buffer, "%c\n", on ? 'Y' : 'N');
}

const struct kernel_param_ops lt_groups_ops = {
	.set = groups_set,
	.get = groups_get,
};
EXPORT_SYMBOL_GPL(lt_groups_ops);

static int per_minute_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;
	u32 wanted;
	int err;

	if (kstrtou32(val, 10, &wanted) || wanted > LATENCY_TRACKER_PER_MINUTE_MAX)
		return -EINVAL;
	err = usecase->tracker ?
		latency_tracker_set_per_minute(usecase->tracker, wanted) : 0;
	if (!err)
		usecase->per_minute = wanted;
	return err;
}

static int per_minute_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;

	return print(buffer, usecase->tracker ?
			     latency_tracker_get_per_minute(usecase->tracker) :
			     usecase->per_minute);
}

const struct kernel_param_ops lt_per_minute_ops = {
	.set = per_minute_set,
	.get = per_minute_get,
};
EXPORT_SYMBOL_GPL(lt_per_minute_ops);

static int usec_set(const char *val, const struct kernel_param *kp)
{
	u64 *to = kp->arg, usec, ns;
	int err;

	err = parse(val, &usec, &ns);
	if (!err)
		WRITE_ONCE(*to, usec);	/* pairs with READ_ONCE() of the module */
	return err;
}

static int usec_get(char *buffer, const struct kernel_param *kp)
{
	return print(buffer, *(u64 *)kp->arg);
}

const struct kernel_param_ops lt_usec_ops = {
	.set = usec_set,
	.get = usec_get,
};
EXPORT_SYMBOL_GPL(lt_usec_ops);
