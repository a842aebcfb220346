// SPDX-License-Identifier: GPL-2.0-only
/*
 * The settings that change while a tracker works.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/rcupdate.h>

#include "core/kick.h"
#include "core/pending.h"
#include "core/settings.h"
#include "core/tracker.h"

/**
 * latency_tracker_set_threshold() - change the default threshold
 * @tracker: the tracker
 * @threshold_ns: ns; 0 makes every event late, LATENCY_TRACKER_NEVER none
 *
 * Holds at once, also for events that are pending.
 *
 * Context: Any.
 * Return: 0; -EINVAL for NULL and ERR_PTR().
 */
int latency_tracker_set_threshold(struct latency_tracker *tracker,
				  u64 threshold_ns)
{
	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	WRITE_ONCE(tracker->threshold_ns, threshold_ns);
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
	return READ_ONCE(tracker->threshold_ns);
}
EXPORT_SYMBOL_GPL(latency_tracker_get_threshold);

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
	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	return lt_profile_set(&tracker->profile, on);
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
