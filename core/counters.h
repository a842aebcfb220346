/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-CPU counters, so that a probe writes no shared cache line. this_cpu_inc()
 * is one instruction on x86 and safe against NMIs on every architecture that
 * has NMI-safe per-CPU operations.
 */
#ifndef _LT_CORE_COUNTERS_H
#define _LT_CORE_COUNTERS_H

#include <linux/cpumask.h>
#include <linux/percpu.h>

/* Their meaning: struct latency_tracker_counts. */
enum lt_counter {
	LT_STARTED,
	LT_FINISHED,
	LT_LATE,
	LT_TIMEOUTS,
	LT_ASKED,
	LT_COLLECTED,
	LT_CLEARED,
	LT_REPLACED,
	LT_SKIPPED,
	LT_KEPT,
	LT_UNMATCHED,
	LT_CLOCK_BACK,
	LT_UNWATCHED,
	LT_COUNTERS,
};

struct lt_counters {
	unsigned long value[LT_COUNTERS];
};

static inline void lt_count(struct lt_counters __percpu *counters,
			    enum lt_counter which)
{
	this_cpu_inc(counters->value[which]);
}

/* Not a snapshot: each CPU is read at its own moment. */
static inline unsigned long lt_counter_sum(struct lt_counters __percpu *counters,
					   enum lt_counter which)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(counters, cpu)->value[which]);
	return sum;
}

#endif /* _LT_CORE_COUNTERS_H */
