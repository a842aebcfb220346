// SPDX-License-Identifier: GPL-2.0-only
/*
 * A threshold that finds itself. See per_minute.h.
 *
 * A count decays by an eighth from look to look, so the weight of a bucket in which the
 * same comes all the time is eight times what comes between two looks: the memory is
 * some 16 s long. That is enough operations to tell the wanted ones from the others. When
 * far too few are late, the load is another one, and a count decays by half.
 */
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "core/per_minute.h"
#include "core/tracker.h"

#define DECAY_SHIFT	3
/* One operation, so that a part of it is left for a while. */
#define ONE_SHIFT	8
/* Of an operation that comes once per look. */
#define STEADY_SHIFT	(DECAY_SHIFT + ONE_SHIFT)
/* A look that comes later than this counts as if it had come then. */
#define LOOK_MAX_NS	(8 * NSEC_PER_SEC)

/* May be late between two looks, however few are wanted. */
#define AT_ONCE		4

/* If so many should have been late, and none was, it is no chance: 2.5 times in 1000. */
#define NO_CHANCE	(6 << ONE_SHIFT)

/**
 * struct lt_weights - what has come, the more of it the newer it is
 * @weight: by lt_bucket()
 * @seen: all operations at the look before
 * @now: those at this one
 * @until_ns: up to when they are weighed, since the begin of the profile
 * @missed: what should have been late since an operation was, as weights are
 */
struct lt_weights {
	u64 weight[LT_BUCKETS];
	u64 seen[LT_BUCKETS];
	u64 now[LT_BUCKETS];
	u64 until_ns;
	u64 missed;
};

static void weigh(struct lt_weights *w)
{
	unsigned int shift = w->missed < NO_CHANCE ? DECAY_SHIFT : 1;
	unsigned int i;

	for (i = 0; i < LT_BUCKETS; i++) {
		/* Rounded up, so that nothing is left in the end. */
		w->weight[i] -= (w->weight[i] + (1 << shift) - 1) >> shift;
		w->weight[i] += (w->now[i] - w->seen[i]) << ONE_SHIFT;
		w->seen[i] = w->now[i];
	}
}

/* A threshold inside of a bucket, which @above of its @all operations exceed. */
static u64 part_of(unsigned int bucket, u64 above, u64 all)
{
	u64 lower, upper;

	/* Nothing is known of what is below the first or above the last one. */
	if (!bucket || bucket == LT_BUCKETS - 1)
		return lt_profile_bound_ns(bucket ? bucket - 1 : 0) + 1;
	lower = lt_profile_bound_ns(bucket - 1);
	upper = lt_profile_bound_ns(bucket);
	return upper - div64_u64((upper - lower) * above, all) + 1;
}

/* The threshold above which there is no more than @allowed, but as much as there may be. */
static u64 threshold_for(const struct lt_weights *w, u64 allowed)
{
	u64 above = 0;
	unsigned int i;

	for (i = LT_BUCKETS; i--;) {
		if (above + w->weight[i] > allowed)
			return part_of(i, allowed - above, w->weight[i]);
		above += w->weight[i];
	}
	return 0;
}

/* What may come in a time, in units of 1 / 2^@shift of an operation. */
static u64 share_of(u32 wanted, u64 span_ns, unsigned int shift)
{
	u64 span_ms = div_u64(min_t(u64, span_ns, LOOK_MAX_NS), NSEC_PER_MSEC);

	return div_u64((wanted * span_ms) << shift, 60 * MSEC_PER_SEC);
}

/* In any context. The user may change the least threshold at any time. */
static void publish(struct latency_tracker *tracker, u64 found_ns)
{
	u64 least_ns;

	do {
		least_ns = READ_ONCE(tracker->per_minute.least_ns);
		WRITE_ONCE(tracker->default_ns, max(found_ns, least_ns));
		/*
		 * Either this sees the least threshold of another CPU, or that CPU
		 * writes the threshold later. Pairs with lt_per_minute_least().
		 */
		smp_mb();
	} while (least_ns != READ_ONCE(tracker->per_minute.least_ns));
	lt_publish_threshold(tracker);
}

static u64 lt_least_of(const struct latency_tracker *tracker)
{
	return min(READ_ONCE(tracker->own_least_ns),
		   READ_ONCE(tracker->waits_least_ns));
}

/**
 * lt_publish_threshold() - one of the three changed of which threshold_ns is the least
 * @tracker: the tracker
 *
 * Context: Any.
 */
void lt_publish_threshold(struct latency_tracker *tracker)
{
	u64 default_ns, least_ns;

	do {
		/*
		 * What the caller has changed is there before this reads it, and either
		 * this sees what another CPU changes, or that one writes later.
		 */
		smp_mb();
		default_ns = READ_ONCE(tracker->default_ns);
		least_ns = lt_least_of(tracker);
		WRITE_ONCE(tracker->least_ns, least_ns);
		WRITE_ONCE(tracker->threshold_ns,
			   lt_threshold_in_time(min(default_ns, least_ns)));
		smp_mb();	/* pairs with the one above */
	} while (default_ns != READ_ONCE(tracker->default_ns) ||
		 least_ns != lt_least_of(tracker));
}

/* The profile was summed up; under its lock. */
static void look(struct lt_profile *profile)
{
	struct latency_tracker *tracker =
		container_of(profile, struct latency_tracker, profile);
	struct lt_per_minute *p = &tracker->per_minute;
	struct lt_weights *w = p->weights;
	u64 span_ns;

	if (!p->wanted)
		return;
	if (!profile->counted) {
		publish(tracker, 0);
		return;
	}
	span_ns = lt_profile_counts(profile, LT_PROFILE_TOTAL, w->now) - w->until_ns;
	w->until_ns += span_ns;
	if (atomic_read(&p->may_be_late) < p->most_late)
		w->missed = 0;
	else
		w->missed += share_of(p->wanted, span_ns, ONE_SHIFT);
	weigh(w);
	p->most_late = 3 * share_of(p->wanted, span_ns, 0) + AT_ONCE;
	atomic_set(&p->may_be_late, p->most_late);
	publish(tracker, threshold_for(w, share_of(p->wanted, span_ns, STEADY_SHIFT)));
}

/**
 * lt_per_minute_least() - another least threshold
 * @tracker: the tracker
 * @least_ns: that one, ns
 *
 * It holds at once if the threshold is below it, or does not find itself.
 *
 * Context: Any.
 */
void lt_per_minute_least(struct latency_tracker *tracker, u64 least_ns)
{
	WRITE_ONCE(tracker->per_minute.least_ns, least_ns);
	/* Pairs with publish(). */
	smp_mb();
	if (!READ_ONCE(tracker->per_minute.wanted) ||
	    READ_ONCE(tracker->default_ns) < least_ns)
		publish(tracker, 0);
}

/**
 * lt_per_minute_late() - an operation is late by the default threshold
 * @tracker: its tracker
 * @delay_ns: how long it took
 *
 * Context: Any; preemption off.
 */
void lt_per_minute_late(struct latency_tracker *tracker, u64 delay_ns)
{
	struct lt_per_minute *p = &tracker->per_minute;

	/* switch_off() waits for a grace period before it writes the threshold. */
	if (!READ_ONCE(p->wanted) || !READ_ONCE(tracker->profile.counted) ||
	    atomic_dec_return(&p->may_be_late) > 0)
		return;
	if (delay_ns >= READ_ONCE(tracker->default_ns))
		publish(tracker, delay_ns + 1);
}

/* As if it had been on for the last minute; under the lock of the profile. */
static void begin(struct lt_weights *w, struct lt_profile *profile)
{
	u64 span_ms = div_u64(lt_profile_counts(profile, LT_PROFILE_1M, w->now),
			      NSEC_PER_MSEC);
	unsigned int i;

	for (i = 0; i < LT_BUCKETS; i++)
		w->weight[i] = div64_u64((w->now[i] << STEADY_SHIFT) *
					 LT_PROFILE_TICK_MS, span_ms + 1);
	w->until_ns = lt_profile_counts(profile, LT_PROFILE_TOTAL, w->seen);
	w->missed = 0;
}

static int switch_on(struct latency_tracker *tracker, u32 wanted)
{
	struct lt_per_minute *p = &tracker->per_minute;

	lockdep_assert_held(&tracker->profile.lock);
	if (!p->weights)
		p->weights = kvzalloc(sizeof(*p->weights), GFP_KERNEL);
	if (!p->weights)
		return -ENOMEM;
	WRITE_ONCE(p->bytes, sizeof(*p->weights));
	if (!p->wanted) {
		if (tracker->profile.past)
			begin(p->weights, &tracker->profile);
		p->most_late = AT_ONCE;
		atomic_set(&p->may_be_late, p->most_late);
	}
	WRITE_ONCE(p->wanted, wanted);
	return 0;
}

static void switch_off(struct latency_tracker *tracker)
{
	lockdep_assert_held(&tracker->profile.lock);
	WRITE_ONCE(tracker->per_minute.wanted, 0);
	/* A tick that has seen it on writes the threshold before this returns. */
	synchronize_rcu();
	publish(tracker, 0);
}

/**
 * lt_per_minute_set() - let the threshold find itself, or stay
 * @tracker: the tracker
 * @wanted: see latency_tracker_set_per_minute()
 *
 * Context: Task, may sleep.
 * Return: 0; -ENOMEM, the first time.
 */
int lt_per_minute_set(struct latency_tracker *tracker, u32 wanted)
{
	int err = 0;

	mutex_lock(&tracker->profile.lock);
	if (wanted)
		err = switch_on(tracker, wanted);
	else if (tracker->per_minute.wanted)
		switch_off(tracker);
	mutex_unlock(&tracker->profile.lock);
	return err;
}

/**
 * lt_per_minute_init() - it is off
 * @tracker: its threshold is set
 *
 * Context: Any.
 */
void lt_per_minute_init(struct latency_tracker *tracker)
{
	tracker->per_minute.least_ns = tracker->default_ns;
	tracker->profile.summed = look;
}

/**
 * lt_per_minute_destroy() - free it
 * @tracker: no operation ends any more, and its profile is not summed up any more
 *
 * Context: Task, may sleep.
 */
void lt_per_minute_destroy(struct latency_tracker *tracker)
{
	kvfree(tracker->per_minute.weights);
}
