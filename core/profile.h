/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The distribution of all delays of a tracker.
 *
 * Each CPU counts the operations that end on it, in the buckets of bucket.h, with
 * single instructions of its own: no lock, no shared cache line, any context. Nothing
 * is ever reset: the distribution of a time is the difference of two sums. A work item
 * sums up every few seconds, and keeps some sums of the past in rings, see profile.c.
 * Readers see the last sum, so all of them see the same, and none walks the CPUs.
 */
#ifndef _LT_CORE_PROFILE_H
#define _LT_CORE_PROFILE_H

#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/bucket.h"

struct lt_profile_past;

/**
 * struct lt_profile_cpu - what a CPU has counted
 * @count: operations, by lt_bucket()
 * @sum_ns: of their delays
 * @above: the longest inside the buckets since the last tick, as how much more it is than
 *	the last delay below them; 0: none
 * @odd_max_ns: the longest since the last tick that is outside of them
 *
 * What is below @above is inside the buckets, and not the longest: one comparison tells
 * all that is unusual.
 */
struct lt_profile_cpu {
	u64 count[LT_BUCKETS];
	u64 sum_ns;
	u64 above;
	u64 odd_max_ns;
};

#define LT_PROFILE_TICK_MS	2000U
#define LT_PROFILE_QUANTILES	5
#define LT_PROFILE_MAGIC	0x464f5250544cULL	/* LTPROF */
#define LT_PROFILE_VERSION	1
/* Buckets in a record. */
#define LT_PROFILE_PART		(LT_BUCKETS / 2)

enum lt_profile_window {
	LT_PROFILE_1M,
	LT_PROFILE_5M,
	LT_PROFILE_1H,
	LT_PROFILE_RINGS,
	LT_PROFILE_TOTAL = LT_PROFILE_RINGS,
	LT_PROFILE_WINDOWS,
};

/**
 * struct lt_profile - the profile of a tracker
 * @counted: by the CPUs; NULL is off; probes read it in any context
 * @cpus: the same, and stays when it is switched off
 * @past: the last sum, and those before; NULL with @cpus
 * @bytes: memory of both
 * @is_whole: it was never off
 * @tick: takes a sum, and plans the next
 * @summed: called behind each sum, under @lock; or NULL
 * @lock: of @past, and of switching on and off
 *
 * What a probe counts in is not freed before the tracker is: a probe may be where RCU
 * does not watch.
 */
struct lt_profile {
	struct lt_profile_cpu __percpu *counted;
	struct lt_profile_cpu __percpu *cpus;
	struct lt_profile_past *past;
	size_t bytes;
	bool is_whole;
	struct delayed_work tick;
	void (*summed)(struct lt_profile *profile);
	struct mutex lock; /* past, counted */
};

/**
 * struct lt_profile_stats - a distribution in figures, ns but for the count
 * @count: operations
 * @sum_ns: of their delays
 * @max_ns: the longest delay
 * @quantile_ns: of LT_PROFILE_QUANTILES; at most 2.2 % more than the delay of that
 *	operation, and not more than @max_ns
 * @span_ns: the time in which they ended
 */
struct lt_profile_stats {
	u64 count;
	u64 sum_ns;
	u64 max_ns;
	u64 quantile_ns[LT_PROFILE_QUANTILES];
	u64 span_ns;
};

/**
 * struct lt_profile_record - a part of a distribution, for user space
 * @magic: LT_PROFILE_MAGIC
 * @version: LT_PROFILE_VERSION
 * @window: enum lt_profile_window
 * @schema: of the buckets: 5
 * @index: what OpenTelemetry calls the bucket @count[0]; the first of all has what is
 *	shorter, the last of all what is longer
 * @first: the bucket that is @count[0]
 * @nr: how many follow
 * @buckets: of all records of the window: LT_BUCKETS
 * @generation: records of the same one are of the same sum
 * @begin_ns: the window begins, CLOCK_MONOTONIC
 * @end_ns: the moment of the sum
 * @sum_ns: of all delays of the window
 * @max_ns: the longest of them
 * @reserved: 0
 * @more: 0
 * @count: operations
 *
 * It is part of the ABI, see Documentation/ABI/sysfs.
 */
struct lt_profile_record {
	__u64 magic;
	__u32 version;
	__u32 window;
	__s32 schema;
	__s32 index;
	__u32 first;
	__u32 nr;
	__u32 buckets;
	__u32 reserved;
	__u64 generation;
	__u64 begin_ns;
	__u64 end_ns;
	__u64 sum_ns;
	__u64 max_ns;
	__u64 more[21];
	__u64 count[LT_PROFILE_PART];
};

#define LT_PROFILE_RECORDS	(2 * LT_PROFILE_WINDOWS)

void lt_profile_init(struct lt_profile *profile);
void lt_profile_destroy(struct lt_profile *profile);
int lt_profile_set(struct lt_profile *profile, bool on);
bool lt_profile_has_all(const struct lt_profile *profile, u64 ended);
void lt_profile_read(struct lt_profile *profile, enum lt_profile_window window,
		     struct lt_profile_stats *stats);
u64 lt_profile_counts(struct lt_profile *profile, enum lt_profile_window window,
		      u64 *count);
u64 lt_profile_bound_ns(unsigned int bucket);
void lt_profile_fill(struct lt_profile *profile, unsigned int nr,
		     struct lt_profile_record *record);
void lt_profile_count(struct lt_profile_cpu __percpu *counted, u64 delay_ns);
void lt_profile_add_many(const struct lt_profile *profile, u64 delay_ns, u32 nr);

/**
 * lt_profile_add() - an operation has ended
 * @profile: of its tracker
 * @delay_ns: how long it took
 *
 * Context: Any.
 */
static __always_inline void lt_profile_add(const struct lt_profile *profile,
					   u64 delay_ns)
{
	struct lt_profile_cpu __percpu *counted = READ_ONCE(profile->counted);

	if (counted)
		lt_profile_count(counted, delay_ns);
}

#endif /* _LT_CORE_PROFILE_H */
