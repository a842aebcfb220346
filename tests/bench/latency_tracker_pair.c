// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_tracker_pair: what does a begin with its end cost?
 *
 * Meant for a guest whose clock counts instructions (vm-run --icount: one
 * instruction is 2 ns), where the result is exact and repeats; the parameter
 * ns_per_unit is 2 there. Elsewhere say 1 and read nanoseconds.
 *
 * Each variant runs in rounds that fit the pool, with interrupts off; what an
 * empty loop costs is taken off, and the best round counts, so that a tick or
 * a first touch does not.
 */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "latency_tracker.h"

#define PAIRS	256
#define ROUNDS	20

static unsigned int ns_per_unit = 2;
module_param(ns_per_unit, uint, 0444);
MODULE_PARM_DESC(ns_per_unit, "ns of guest time per unit that is printed");

static struct latency_tracker *tracker;
static unsigned long late;

static void callback(const struct latency_tracker_verdict *verdict)
{
	late++;
}

static noinline int nothing(u64 key)
{
	barrier();
	return key;
}

static int clocks(u64 key)
{
	latency_tracker_clock();
	latency_tracker_clock();
	return 0;
}

static int hit(u64 key)
{
	latency_tracker_event_in(tracker, &key, sizeof(key), 0, NULL);
	return latency_tracker_event_out(tracker, &key, sizeof(key), 0, NULL,
					 0);
}

static int hit_priv(u64 key)
{
	u64 priv[3] = { key, key, key };
	struct latency_tracker_in in = {
		.priv = priv, .priv_len = sizeof(priv),
	};

	latency_tracker_event_in(tracker, &key, sizeof(key), 0, &in);
	return latency_tracker_event_out(tracker, &key, sizeof(key), 0, NULL,
					 0);
}

static int unique(u64 key)
{
	latency_tracker_event_in(tracker, &key, sizeof(key),
				 LATENCY_TRACKER_UNIQUE, NULL);
	return latency_tracker_event_out(tracker, &key, sizeof(key), 0, NULL,
					 0);
}

static int keep(u64 key)
{
	latency_tracker_event_in(tracker, &key, sizeof(key),
				 LATENCY_TRACKER_KEEP, NULL);
	return latency_tracker_event_out(tracker, &key, sizeof(key), 0, NULL,
					 0);
}

static int miss(u64 key)
{
	return latency_tracker_event_out(tracker, &key, sizeof(key), 0, NULL,
					 0);
}

/* One round of @fn, in ns; interrupts are off. */
static u64 one_round(int (*fn)(u64 key))
{
	u64 begin, key;

	begin = latency_tracker_clock();
	for (key = 0; key < PAIRS; key++)
		fn(key * 0x1234567);
	return latency_tracker_clock() - begin;
}

static u64 measure(int (*fn)(u64 key))
{
	unsigned long flags;
	u64 best = U64_MAX;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		local_irq_save(flags);
		best = min(best, one_round(fn));
		local_irq_restore(flags);
		/* Let the events come home: no round may run dry. */
		rcu_barrier();
		schedule_timeout_uninterruptible(HZ / 50);
	}
	return best;
}

static void report(const char *what, int (*fn)(u64 key), u64 empty)
{
	u64 ns = max(measure(fn), empty) - empty;
	u64 tenths = div_u64(ns * 10, PAIRS * ns_per_unit);

	pr_info("pair: %-28s %llu.%llu\n", what, tenths / 10, tenths % 10);
}

static int __init pair_init(void)
{
	struct latency_tracker_config config = {
		.name = "pair",
		.callback = callback,
		.threshold_ns = LATENCY_TRACKER_NEVER,
		.max_events = 8192,
		.key_size = 16,
		.priv_size = 24,
	};
	struct latency_tracker_counts counts;
	u64 empty;

	tracker = latency_tracker_create(&config);
	if (IS_ERR(tracker))
		return PTR_ERR(tracker);
	empty = measure(nothing);
	report("two clock reads", clocks, empty);
	report("hit", hit, empty);
	report("hit, 24 private bytes", hit_priv, empty);
	report("unique", unique, empty);
	report("keep", keep, empty);
	report("end without a begin", miss, empty);
	latency_tracker_set_timeout(tracker, NSEC_PER_SEC);
	report("hit, timeout on", hit, empty);
	latency_tracker_set_threshold(tracker, 0);
	report("hit, late, empty callback", hit, empty);
	latency_tracker_snapshot(tracker, &counts);
	pr_info("pair: %llu begins, %llu skipped, %llu bytes of memory\n",
		counts.started, counts.skipped, counts.memory);
	return 0;
}

static void __exit pair_exit(void)
{
	latency_tracker_destroy(tracker);
}

module_init(pair_init);
module_exit(pair_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Cost of a begin with its end");
MODULE_AUTHOR("The latency-tracker authors");
