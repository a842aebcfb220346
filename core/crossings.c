// SPDX-License-Identifier: GPL-2.0-only
/*
 * A crossing is an operation that was reported: late at its end, or pending past
 * its timeout. The pollers of the file "crossings" are woken, at most once per
 * interval.
 *
 * A probe may not wake a task. It counts the crossing, and kicks the worker if
 * the flag armed is set. The worker sets the flag and sums up. If the sum has
 * changed, it clears the flag, wakes the pollers, and looks again by itself when
 * the interval is over. So in a storm a crossing costs a probe one look at a
 * flag, and all crossings of an interval are told at its end, in one wake-up.
 *
 * A reader misses nothing between its read and its poll: kernfs notes the
 * number of the last notification when a file is read, and a poll that finds a
 * later one does not sleep.
 */
#include <linux/kernfs.h>
#include <linux/sysfs.h>

#include "core/crossings.h"
#include "core/kick.h"
#include "core/tracker.h"

/**
 * lt_crossings_init() - set the interval to its default
 * @tracker: the tracker
 *
 * Context: Any.
 */
void lt_crossings_init(struct latency_tracker *tracker)
{
	tracker->crossings.interval_ns = LT_CROSSINGS_DEFAULT_NS;
}

/**
 * lt_crossings_sum() - count the crossings
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: the number.
 */
unsigned long lt_crossings_sum(const struct latency_tracker *tracker)
{
	return lt_counter_sum(tracker->counters, LT_LATE) +
	       lt_counter_sum(tracker->counters, LT_TIMEOUTS);
}

/**
 * lt_crossings_kick() - tell the worker of a crossing, if it waits for one
 * @tracker: the caller has counted it
 *
 * Context: Any, NMI included.
 */
void lt_crossings_kick(struct latency_tracker *tracker)
{
	/*
	 * Either lt_crossings_tell() sees the count, or this sees armed.
	 * Pairs with smp_mb() in lt_crossings_tell().
	 */
	smp_mb();
	if (!READ_ONCE(tracker->crossings.armed))
		return;
	WRITE_ONCE(tracker->crossings.armed, false);
	lt_kick_any(tracker);
}

/**
 * lt_crossings_tell() - wake the pollers, if it is time and there is news
 * @tracker: the tracker
 *
 * Context: The worker.
 * Return: when to look again, ns of latency_tracker_clock(); U64_MAX if the next
 * crossing will kick.
 */
u64 lt_crossings_tell(struct latency_tracker *tracker)
{
	struct lt_crossings *crossings = &tracker->crossings;
	/* Pairs with smp_store_release() in lt_crossings_show(). */
	struct kernfs_node *file = smp_load_acquire(&crossings->file);
	u64 interval_ns = READ_ONCE(crossings->interval_ns);
	u64 now_ns = latency_tracker_clock();
	unsigned long sum;

	if (!file)
		return U64_MAX;
	if (now_ns < crossings->told_ns + interval_ns)
		return crossings->told_ns + interval_ns;
	WRITE_ONCE(crossings->armed, true);
	/* Pairs with smp_mb() in lt_crossings_kick(). */
	smp_mb();
	sum = lt_crossings_sum(tracker);
	if (sum == crossings->told)
		return U64_MAX;
	WRITE_ONCE(crossings->armed, false);
	WRITE_ONCE(crossings->suppressed,
		   crossings->suppressed + (sum - crossings->told - 1));
	crossings->told = sum;
	crossings->told_ns = now_ns;
	kernfs_notify(file);
	return now_ns + interval_ns;
}

/**
 * lt_crossings_set_interval() - change the interval
 * @tracker: the tracker
 * @interval_ns: ns; holds at once
 *
 * Context: Task.
 * Return: 0; -EINVAL if it is out of bounds.
 */
int lt_crossings_set_interval(struct latency_tracker *tracker, u64 interval_ns)
{
	if (interval_ns < LT_CROSSINGS_MIN_NS ||
	    interval_ns > LT_CROSSINGS_MAX_NS)
		return -EINVAL;
	WRITE_ONCE(tracker->crossings.interval_ns, interval_ns);
	lt_kick(tracker);
	return 0;
}

/**
 * lt_crossings_show() - begin to wake pollers
 * @tracker: its directory was made
 *
 * Context: Task, may sleep.
 */
void lt_crossings_show(struct latency_tracker *tracker)
{
	/* Held: sysfs_notify() would look for it while it is removed. */
	struct kernfs_node *file = sysfs_get_dirent(tracker->kobj.sd,
						    "crossings");

	/* The worker runs already; pairs with lt_crossings_tell(). */
	smp_store_release(&tracker->crossings.file, file);
	lt_kick(tracker);
}

/**
 * lt_crossings_hide() - wake the pollers of a file that is gone
 * @tracker: its directory was removed
 *
 * A poller wakes up, and its next read returns ENODEV: there is no file behind
 * its descriptor any more.
 *
 * Context: Task, may sleep.
 */
void lt_crossings_hide(struct latency_tracker *tracker)
{
	if (tracker->crossings.file)
		kernfs_notify(tracker->crossings.file);
}

/**
 * lt_crossings_destroy() - drop the reference to the file
 * @tracker: its worker was stopped
 *
 * Context: Task, may sleep.
 */
void lt_crossings_destroy(struct latency_tracker *tracker)
{
	sysfs_put(tracker->crossings.file);
}
