// SPDX-License-Identifier: GPL-2.0-only
/*
 * The settings that change while a tracker works.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/rcupdate.h>

#include "core/kick.h"
#include "core/pending.h"
#include "core/per_minute.h"
#include "core/records.h"
#include "core/settings.h"
#include "core/tracker.h"

/**
 * latency_tracker_set_threshold() - change the default threshold
 * @tracker: the tracker
 * @threshold_ns: ns; 0 makes every event late, LATENCY_TRACKER_NEVER none
 *
 * Holds at once, also for events that are pending. If the threshold finds itself, this is
 * the least that it may be.
 *
 * Context: Any.
 * Return: 0; -EINVAL for NULL and ERR_PTR().
 */
int latency_tracker_set_threshold(struct latency_tracker *tracker,
				  u64 threshold_ns)
{
	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	lt_per_minute_least(tracker, threshold_ns);
	return 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_set_threshold);

/**
 * latency_tracker_get_threshold() - the default threshold
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: ns; LATENCY_TRACKER_NEVER without a tracker.
 */
u64 latency_tracker_get_threshold(const struct latency_tracker *tracker)
{
	if (IS_ERR_OR_NULL(tracker))
		return LATENCY_TRACKER_NEVER;
	return READ_ONCE(tracker->default_ns);
}
EXPORT_SYMBOL_GPL(latency_tracker_get_threshold);

/**
 * latency_tracker_set_own_least() - operations have thresholds of their own
 * @tracker: the tracker
 * @least_ns: the least that the own_threshold() of the configuration returns for those that
 *	do; LATENCY_TRACKER_NEVER: none does
 *
 * It is asked about each operation that took so long, and that costs as much as a late one
 * without its report.
 *
 * Context: Any.
 * Return: 0; -EINVAL for NULL and ERR_PTR(), or without an own_threshold().
 */
int latency_tracker_set_own_least(struct latency_tracker *tracker, u64 least_ns)
{
	if (IS_ERR_OR_NULL(tracker) || !tracker->own_threshold)
		return -EINVAL;
	WRITE_ONCE(tracker->own_least_ns, least_ns);
	lt_publish_threshold(tracker);
	return 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_set_own_least);

/**
 * latency_tracker_get_timeout() - the default timeout
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: ns; 0 is none, also without a tracker.
 */
u64 latency_tracker_get_timeout(const struct latency_tracker *tracker)
{
	if (IS_ERR_OR_NULL(tracker))
		return 0;
	return READ_ONCE(tracker->timeout_ns);
}
EXPORT_SYMBOL_GPL(latency_tracker_get_timeout);

/**
 * latency_tracker_set_timeout() - change the default timeout
 * @tracker: the tracker
 * @timeout_ns: ns; 0 is none
 *
 * Holds also for events that are pending: those that are past it and were not
 * reported yet are reported now.
 *
 * Context: Task.
 * Return: 0; -EINVAL for NULL and ERR_PTR().
 */
int latency_tracker_set_timeout(struct latency_tracker *tracker,
				u64 timeout_ns)
{
	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	WRITE_ONCE(tracker->timeout_ns, timeout_ns);
	lt_kick_rescan(tracker);
	return 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_set_timeout);

/**
 * latency_tracker_set_collect() - change the collection age
 * @tracker: the tracker
 * @collect_ns: ns; 0 is never
 *
 * Holds also for events that are pending.
 *
 * Context: Task.
 * Return: 0; -EINVAL for NULL and ERR_PTR().
 */
int latency_tracker_set_collect(struct latency_tracker *tracker,
				u64 collect_ns)
{
	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	WRITE_ONCE(tracker->collect_ns, collect_ns);
	lt_kick_rescan(tracker);
	return 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_set_collect);

/**
 * latency_tracker_set_tracking() - switch tracking on or off
 * @tracker: the tracker
 * @on: accept begins; false refuses them and clears all that is pending
 *
 * Context: Task, may sleep.
 * Return: 0; -EINVAL for NULL and ERR_PTR().
 */
int latency_tracker_set_tracking(struct latency_tracker *tracker, bool on)
{
	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	mutex_lock(&tracker->lock);
	WRITE_ONCE(tracker->tracking_on, on);
	if (!on) {
		/* Begins that saw it on are over; no event is added any more. */
		synchronize_rcu();
		lt_pending_clear(tracker);
	}
	mutex_unlock(&tracker->lock);
	return 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_set_tracking);

/**
 * latency_tracker_get_tracking() - is tracking on?
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: whether operations are tracked; false without a tracker.
 */
bool latency_tracker_get_tracking(const struct latency_tracker *tracker)
{
	return !IS_ERR_OR_NULL(tracker) && READ_ONCE(tracker->tracking_on);
}
EXPORT_SYMBOL_GPL(latency_tracker_get_tracking);

/**
 * latency_tracker_clear() - forget all that is pending now
 * @tracker: the tracker; NULL and ERR_PTR() are ignored
 *
 * Context: Task, may sleep.
 */
void latency_tracker_clear(struct latency_tracker *tracker)
{
	if (IS_ERR_OR_NULL(tracker))
		return;
	mutex_lock(&tracker->lock);
	lt_pending_clear(tracker);
	mutex_unlock(&tracker->lock);
}
EXPORT_SYMBOL_GPL(latency_tracker_clear);

/**
 * latency_tracker_set_profile() - count delays in the profile, or do not
 * @tracker: the tracker
 * @on: count; what was counted before stays
 *
 * Context: Task, may sleep.
 * Return: 0; -EINVAL for NULL and ERR_PTR(); -ENOMEM, the first time.
 */
int latency_tracker_set_profile(struct latency_tracker *tracker, bool on)
{
	int err;

	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	err = on ? lt_records_make(tracker) : 0;
	return err ? err : lt_profile_set(&tracker->profile, on);
}
EXPORT_SYMBOL_GPL(latency_tracker_set_profile);

/**
 * latency_tracker_get_profile() - is the profile on?
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: whether delays are counted; false without a tracker.
 */
bool latency_tracker_get_profile(const struct latency_tracker *tracker)
{
	return !IS_ERR_OR_NULL(tracker) && READ_ONCE(tracker->profile.counted);
}
EXPORT_SYMBOL_GPL(latency_tracker_get_profile);

/**
 * latency_tracker_set_groups() - switch the profiles of groups on or off
 * @tracker: the tracker
 * @on: count; what was counted before stays
 *
 * Context: Task, may sleep.
 * Return: 0; -EINVAL for NULL and ERR_PTR(); -EOPNOTSUPP if its operations have no groups;
 * -ENOMEM.
 */
int latency_tracker_set_groups(struct latency_tracker *tracker, bool on)
{
	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	return lt_groups_set(&tracker->groups, on);
}
EXPORT_SYMBOL_GPL(latency_tracker_set_groups);

/**
 * latency_tracker_get_groups() - do the groups have profiles?
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: true if they are on; false without a tracker.
 */
bool latency_tracker_get_groups(const struct latency_tracker *tracker)
{
	return !IS_ERR_OR_NULL(tracker) && READ_ONCE(tracker->groups.counted);
}
EXPORT_SYMBOL_GPL(latency_tracker_get_groups);

/**
 * latency_tracker_set_per_minute() - let the threshold find itself, or stay
 * @tracker: the tracker
 * @wanted: so many operations per minute are to be late, up to 1000000; 0: the threshold
 *	becomes the one that was set
 *
 * The threshold never is below the one that was set, and is that one while the profile is
 * off, by which it finds itself. An operation with a threshold of its own is not counted.
 *
 * Context: Task, may sleep.
 * Return: 0; -EINVAL for NULL and ERR_PTR(), and for more than that; -ENOMEM, the first
 * time.
 */
int latency_tracker_set_per_minute(struct latency_tracker *tracker, u32 wanted)
{
	if (IS_ERR_OR_NULL(tracker) || wanted > LATENCY_TRACKER_PER_MINUTE_MAX)
		return -EINVAL;
	return lt_per_minute_set(tracker, wanted);
}
EXPORT_SYMBOL_GPL(latency_tracker_set_per_minute);

/**
 * latency_tracker_get_per_minute() - does the threshold find itself?
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: how many operations per minute are to be late; 0 if it does not, also without
 * a tracker.
 */
u32 latency_tracker_get_per_minute(const struct latency_tracker *tracker)
{
	return IS_ERR_OR_NULL(tracker) ? 0 : READ_ONCE(tracker->per_minute.wanted);
}
EXPORT_SYMBOL_GPL(latency_tracker_get_per_minute);

/**
 * latency_tracker_get_least_threshold() - the threshold that was set
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: ns; that of latency_tracker_get_threshold(), unless it finds itself;
 * LATENCY_TRACKER_NEVER without a tracker.
 */
u64 latency_tracker_get_least_threshold(const struct latency_tracker *tracker)
{
	if (IS_ERR_OR_NULL(tracker))
		return LATENCY_TRACKER_NEVER;
	return READ_ONCE(tracker->per_minute.least_ns);
}
EXPORT_SYMBOL_GPL(latency_tracker_get_least_threshold);
