// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last sum, those of the past, and the figures of a distribution. See profile.h.
 *
 * A ring keeps sums of moments that are a step apart, for a window of LT_PROFILE_STEPS
 * steps. The window slides: its distribution is the last sum less that of the newest
 * moment which is as old as the window, or, in a younger profile, all of it. So it is up
 * to a step longer than its name says.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>

#include "core/profile.h"
#include "wrapper/workqueue.h"

#define LT_PROFILE_STEPS	15U

/**
 * struct lt_profile_sum - what all CPUs had counted at a moment
 * @count: operations, by lt_bucket()
 * @sum_ns: of their delays
 * @at_ns: the moment, CLOCK_MONOTONIC
 */
struct lt_profile_sum {
	u64 count[LT_BUCKETS];
	u64 sum_ns;
	u64 at_ns;
};

/**
 * struct lt_profile_ring - the past of a window
 * @sum: of its moments; before the first one, nothing was counted
 * @longest_ns: the longest delay between each of them and the one before
 * @taken: how many there were
 * @ticks: since the last of them
 * @max_ns: the longest delay since the last of them
 */
struct lt_profile_ring {
	struct lt_profile_sum sum[LT_PROFILE_STEPS + 1];
	u64 longest_ns[LT_PROFILE_STEPS + 1];
	unsigned int taken;
	unsigned int ticks;
	u64 max_ns;
};

/**
 * struct lt_profile_past - what is kept
 * @now: the last sum
 * @ring: those before
 * @max_ns: the longest delay of all
 * @begin_ns: when counting began, CLOCK_MONOTONIC
 * @generation: how many sums there were
 */
struct lt_profile_past {
	struct lt_profile_sum now;
	struct lt_profile_ring ring[LT_PROFILE_RINGS];
	u64 max_ns;
	u64 begin_ns;
	u64 generation;
};

/* How many ticks a step has: windows of a minute, five, and an hour. */
static const unsigned int step_ticks[LT_PROFILE_RINGS] = { 2, 10, 120 };

/* In 10,000. */
static const unsigned int shares[LT_PROFILE_QUANTILES] = {
	5000, 9000, 9900, 9990, 9999,
};

static __always_inline void count_in(struct lt_profile_cpu __percpu *counted,
				     unsigned long bucket, u64 delay_ns)
{
	this_cpu_inc(counted->count[bucket]);
	this_cpu_add(counted->sum_ns, delay_ns);
}

/* Other contexts of this CPU write it, too, and a tick takes it. */
static void raise(u64 *max, u64 value)
{
	u64 old = READ_ONCE(*max), was;

	while (old < value) {
		was = cmpxchg(max, old, value);
		if (was == old)
			break;
		old = was;
	}
}

/* The longest one so far, or in none of the buckets between the first and the last. */
static noinline notrace void
count_unusual(struct lt_profile_cpu __percpu *counted, u64 delay_ns)
{
	struct lt_profile_cpu *here;

	preempt_disable_notrace();
	here = this_cpu_ptr(counted);
	/*
	 * First, so that a sum which has the operation has its delay, too: the cmpxchg()
	 * of raise() pairs with the xchg() of take_max().
	 */
	if (lt_bucket_is_inside(delay_ns))
		raise(&here->above, delay_ns - LT_BUCKET_MIN_NS + 1);
	else
		raise(&here->odd_max_ns, delay_ns);
	preempt_enable_notrace();
	count_in(counted, lt_bucket(delay_ns), delay_ns);
}

/**
 * lt_profile_count() - count an operation
 * @counted: where
 * @delay_ns: how long it took
 *
 * Context: Any.
 */
notrace void lt_profile_count(struct lt_profile_cpu __percpu *counted,
			      u64 delay_ns)
{
	if (unlikely(delay_ns - LT_BUCKET_MIN_NS >= this_cpu_read(counted->above)))
		count_unusual(counted, delay_ns);
	else
		count_in(counted, lt_bucket_inside(delay_ns), delay_ns);
}
EXPORT_SYMBOL_GPL(lt_profile_count);

/**
 * lt_profile_add_many() - operations have ended
 * @profile: of their tracker
 * @delay_ns: how long each took
 * @nr: how many, at least one
 *
 * Context: Any.
 */
void lt_profile_add_many(const struct lt_profile *profile, u64 delay_ns, u32 nr)
{
	struct lt_profile_cpu __percpu *counted = READ_ONCE(profile->counted);

	if (!counted)
		return;
	/* The first may be the longest. */
	lt_profile_count(counted, delay_ns);
	this_cpu_add(counted->count[lt_bucket(delay_ns)], nr - 1);
	this_cpu_add(counted->sum_ns, (nr - 1) * delay_ns);
}

/* Each CPU is read at its own moment. */
static void sum_up(struct lt_profile_cpu __percpu *cpus,
		   struct lt_profile_sum *sum)
{
	const struct lt_profile_cpu *of;
	unsigned int i;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	sum->at_ns = ktime_get_mono_fast_ns();
	for_each_possible_cpu(cpu) {
		of = per_cpu_ptr(cpus, cpu);
		for (i = 0; i < LT_BUCKETS; i++)
			sum->count[i] += READ_ONCE(of->count[i]);
		sum->sum_ns += READ_ONCE(of->sum_ns);
		cond_resched();
	}
}

/* The longest delay since the last call. The xchg() pair with raise(). */
static u64 take_max(struct lt_profile_cpu __percpu *cpus)
{
	struct lt_profile_cpu *of;
	u64 max_ns = 0, above;
	int cpu;

	for_each_possible_cpu(cpu) {
		of = per_cpu_ptr(cpus, cpu);
		above = xchg(&of->above, 0);
		if (above)
			max_ns = max(max_ns, above + LT_BUCKET_MIN_NS - 1);
		max_ns = max(max_ns, xchg(&of->odd_max_ns, 0));
	}
	return max_ns;
}

static void ring_tick(struct lt_profile_ring *ring, unsigned int step,
		      const struct lt_profile_sum *now, u64 max_ns)
{
	unsigned int at = ring->taken % ARRAY_SIZE(ring->sum);

	ring->max_ns = max(ring->max_ns, max_ns);
	if (++ring->ticks < step)
		return;
	ring->sum[at] = *now;
	ring->longest_ns[at] = ring->max_ns;
	ring->max_ns = 0;
	ring->ticks = 0;
	ring->taken++;
}

static void plan_tick(struct lt_profile *profile)
{
	/* All trackers wake the machine at the same moment. */
	queue_delayed_work(lt_unbound_wq, &profile->tick,
			   round_jiffies_relative(msecs_to_jiffies(LT_PROFILE_TICK_MS)));
}

static void tick(struct work_struct *work)
{
	struct lt_profile *profile =
		container_of(work, struct lt_profile, tick.work);
	struct lt_profile_past *past;
	unsigned int i;
	u64 max_ns;

	mutex_lock(&profile->lock);
	past = profile->past;
	/*
	 * The delays of what is in the sum are in the maximum, see count_unusual(). Only
	 * what has looked at a maximum that is taken then, and is counted behind that, may
	 * be in a later sum whose maximum does not have it; that of all has.
	 */
	sum_up(profile->cpus, &past->now);
	max_ns = take_max(profile->cpus);
	past->max_ns = max(past->max_ns, max_ns);
	for (i = 0; i < LT_PROFILE_RINGS; i++)
		ring_tick(&past->ring[i], step_ticks[i], &past->now, max_ns);
	past->generation++;
	if (profile->summed)
		profile->summed(profile);
	mutex_unlock(&profile->lock);
	plan_tick(profile);
}

/* The sum with which the window begins; NULL: nothing was counted before it. */
static const struct lt_profile_sum *before(const struct lt_profile_past *past,
					   enum lt_profile_window window)
{
	const struct lt_profile_ring *ring = &past->ring[window];

	if (window == LT_PROFILE_TOTAL || ring->taken <= LT_PROFILE_STEPS)
		return NULL;
	/* The oldest one that there is. */
	return &ring->sum[ring->taken % ARRAY_SIZE(ring->sum)];
}

static u64 count_of(const struct lt_profile_past *past,
		    const struct lt_profile_sum *old, unsigned int bucket)
{
	return past->now.count[bucket] - (old ? old->count[bucket] : 0);
}

static u64 sum_of(const struct lt_profile_past *past,
		  const struct lt_profile_sum *old)
{
	return past->now.sum_ns - (old ? old->sum_ns : 0);
}

static u64 span_of(const struct lt_profile_past *past,
		   const struct lt_profile_sum *old)
{
	return past->now.at_ns - (old ? old->at_ns : past->begin_ns);
}

static u64 longest_of(const struct lt_profile_past *past,
		      enum lt_profile_window window)
{
	const struct lt_profile_ring *ring = &past->ring[window];
	unsigned int i, kept;
	u64 max_ns;

	if (window == LT_PROFILE_TOTAL)
		return past->max_ns;
	max_ns = ring->max_ns;
	kept = min(ring->taken, LT_PROFILE_STEPS);
	for (i = 1; i <= kept; i++)
		max_ns = max(max_ns, ring->longest_ns[(ring->taken - i) %
						      ARRAY_SIZE(ring->sum)]);
	return max_ns;
}

/**
 * lt_profile_bound_ns() - the longest delay of a bucket
 * @bucket: its place
 *
 * Context: Any.
 * Return: ns, rounded down; U64_MAX for the last one, where it is not known.
 */
u64 lt_profile_bound_ns(unsigned int bucket)
{
	int i = (int)bucket + LT_BUCKET_FIRST;
	unsigned int part = i & (LT_BUCKET_OCTAVE - 1);
	u64 bits = part ? lt_bucket_bound[part - 1] : 1ULL << 62;

	if (bucket == LT_BUCKETS - 1)
		return U64_MAX;
	/* The octave, which is i / 32 rounded down, begins at 2^that s. */
	return mul_u64_u64_shr(bits, NSEC_PER_SEC, 62 - (i >> 5));
}

static void quantiles(const struct lt_profile_past *past,
		      const struct lt_profile_sum *old,
		      struct lt_profile_stats *stats)
{
	unsigned int i, q = 0;
	u64 below = 0, rank;

	for (i = 0; i < LT_BUCKETS; i++)
		stats->count += count_of(past, old, i);
	for (i = 0; i < LT_BUCKETS && stats->count; i++) {
		below += count_of(past, old, i);
		for (; q < LT_PROFILE_QUANTILES; q++) {
			rank = div_u64(stats->count * shares[q] + 9999, 10000);
			if (below < rank)
				break;
			stats->quantile_ns[q] = min(lt_profile_bound_ns(i),
						    stats->max_ns);
		}
	}
}

/**
 * lt_profile_read() - the distribution of a window, at the last sum
 * @profile: the profile
 * @window: which one
 * @stats: result; all 0 if the profile was never on
 *
 * Context: Task, may sleep.
 */
void lt_profile_read(struct lt_profile *profile, enum lt_profile_window window,
		     struct lt_profile_stats *stats)
{
	const struct lt_profile_past *past;
	const struct lt_profile_sum *old;

	memset(stats, 0, sizeof(*stats));
	mutex_lock(&profile->lock);
	past = profile->past;
	if (past) {
		old = before(past, window);
		stats->sum_ns = sum_of(past, old);
		stats->max_ns = longest_of(past, window);
		stats->span_ns = span_of(past, old);
		quantiles(past, old, stats);
	}
	mutex_unlock(&profile->lock);
}

/**
 * lt_profile_counts() - the operations of a window, at the last sum
 * @profile: it was on once; the caller has its lock
 * @window: which one
 * @count: result, by lt_bucket()
 *
 * Context: Task.
 * Return: the time in which they ended, ns.
 */
u64 lt_profile_counts(struct lt_profile *profile, enum lt_profile_window window,
		      u64 *count)
{
	const struct lt_profile_past *past = profile->past;
	const struct lt_profile_sum *old = before(past, window);
	unsigned int i;

	lockdep_assert_held(&profile->lock);
	for (i = 0; i < LT_BUCKETS; i++)
		count[i] = count_of(past, old, i);
	return span_of(past, old);
}

static void fill(const struct lt_profile_past *past,
		 struct lt_profile_record *record)
{
	const struct lt_profile_sum *old = before(past, record->window);
	unsigned int i;

	record->generation = past->generation;
	record->begin_ns = old ? old->at_ns : past->begin_ns;
	record->end_ns = past->now.at_ns;
	record->sum_ns = sum_of(past, old);
	record->max_ns = longest_of(past, record->window);
	for (i = 0; i < record->nr; i++)
		record->count[i] = count_of(past, old, record->first + i);
}

/**
 * lt_profile_fill() - a part of a distribution, at the last sum
 * @profile: the profile
 * @nr: which part, below LT_PROFILE_RECORDS
 * @record: result; counts are 0 if the profile was never on
 *
 * Context: Task, may sleep.
 */
void lt_profile_fill(struct lt_profile *profile, unsigned int nr,
		     struct lt_profile_record *record)
{
	unsigned int first = nr % 2 * LT_PROFILE_PART;

	*record = (struct lt_profile_record){
		.magic = LT_PROFILE_MAGIC,
		.version = LT_PROFILE_VERSION,
		.window = nr / 2,
		.schema = LT_BUCKET_SCHEMA,
		.index = (int)first - 1 + LT_BUCKET_FIRST,
		.first = first,
		.nr = LT_PROFILE_PART,
		.buckets = LT_BUCKETS,
	};
	mutex_lock(&profile->lock);
	if (profile->past)
		fill(profile->past, record);
	mutex_unlock(&profile->lock);
}

static int make(struct lt_profile *profile)
{
	profile->past = kvzalloc(sizeof(*profile->past), GFP_KERNEL);
	profile->cpus = alloc_percpu(struct lt_profile_cpu);
	if (profile->past && profile->cpus) {
		profile->past->begin_ns = ktime_get_mono_fast_ns();
		profile->past->now.at_ns = profile->past->begin_ns;
		WRITE_ONCE(profile->bytes,
			   sizeof(*profile->past) +
			   num_possible_cpus() * sizeof(struct lt_profile_cpu));
		return 0;
	}
	kvfree(profile->past);
	free_percpu(profile->cpus);
	profile->past = NULL;
	profile->cpus = NULL;
	return -ENOMEM;
}

/**
 * lt_profile_set() - switch it on or off
 * @profile: the profile
 * @on: count; what was counted before stays
 *
 * Context: Task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lt_profile_set(struct lt_profile *profile, bool on)
{
	int err = 0;

	mutex_lock(&profile->lock);
	if (on && !profile->cpus) {
		err = make(profile);
		if (!err)
			plan_tick(profile);
	}
	if (!err)
		WRITE_ONCE(profile->counted, on ? profile->cpus : NULL);
	profile->is_whole &= on;
	mutex_unlock(&profile->lock);
	return err;
}

/**
 * lt_profile_has_all() - was each operation counted once?
 * @profile: no operation ends any more
 * @ended: how many have
 *
 * Context: Task.
 * Return: false if not; true if that cannot be told, since it was off for a time.
 */
bool lt_profile_has_all(const struct lt_profile *profile, u64 ended)
{
	unsigned int i;
	int cpu;

	if (!profile->is_whole || !profile->cpus)
		return true;
	for_each_possible_cpu(cpu)
		for (i = 0; i < LT_BUCKETS; i++)
			ended -= per_cpu_ptr(profile->cpus, cpu)->count[i];
	return !ended;
}

/**
 * lt_profile_init() - a profile that is off
 * @profile: all 0
 *
 * Context: Any.
 */
void lt_profile_init(struct lt_profile *profile)
{
	mutex_init(&profile->lock);
	profile->is_whole = true;
	INIT_DELAYED_WORK(&profile->tick, tick);
}

/**
 * lt_profile_destroy() - free it
 * @profile: no operation ends any more
 *
 * Context: Task, may sleep.
 */
void lt_profile_destroy(struct lt_profile *profile)
{
	cancel_delayed_work_sync(&profile->tick);
	kvfree(profile->past);
	free_percpu(profile->cpus);
	mutex_destroy(&profile->lock);
}
