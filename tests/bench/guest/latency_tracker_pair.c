// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_tracker_pair: what does a begin with its end cost?
 *
 * For a guest whose clock counts instructions (vm-run --icount): exact, and it repeats.
 * Each variant runs in rounds that fit the pool, with interrupts off; what an empty
 * loop costs is taken off, and the best round counts, so that a first touch does not.
 * Then each runs between the marks of mark.h, for the emulator's plugin that counts
 * what a clock does not show. There is one group of marks for an empty function, then
 * one for each line that is printed, in the same order.
 */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/trace_events.h>

#include "latency_tracker.h"
#include "mark.h"
#include "pair.h"

#define CREATE_TRACE_POINTS
#include "pair_trace.h"

#define ROUNDS	20

static struct latency_tracker *tracker, *slots;
static unsigned long late;
static u64 empty_ns;
u64 pair_threshold_ns = LATENCY_TRACKER_NEVER;

static void callback(const struct latency_tracker_verdict *verdict)
{
	late++;
	trace_pair_latency(*(u64 *)verdict->key, verdict->start_ns, verdict->delay_ns);
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

static __always_inline int pair(const u64 *key, u32 flags, const struct latency_tracker_in *in)
{
	latency_tracker_event_in(tracker, key, sizeof(*key), flags, in);
	return latency_tracker_event_out(tracker, key, sizeof(*key), 0, NULL, 0);
}

static int hit(u64 key)
{
	return pair(&key, 0, NULL);
}

static int hit_priv(u64 key)
{
	u64 priv[3] = { key, key, key };
	struct latency_tracker_in in = {
		.priv = priv, .priv_len = sizeof(priv),
	};

	return pair(&key, 0, &in);
}

static int duplicate(u64 key)
{
	return pair(&key, LATENCY_TRACKER_DUPLICATE, NULL);
}

static int keep(u64 key)
{
	return pair(&key, LATENCY_TRACKER_KEEP, NULL);
}

/* The same where an event stays with its key. */
static int slot(u64 key)
{
	void *priv = latency_tracker_slot_begin(slots, key, 0);

	if (!IS_ERR_OR_NULL(priv))
		latency_tracker_slot_publish(slots, priv, 0);
	return latency_tracker_slot_end(slots, key, NULL, 0);
}

static int slot_priv(u64 key)
{
	u64 *priv = latency_tracker_slot_begin(slots, key, 0);

	if (!IS_ERR_OR_NULL(priv)) {
		priv[0] = key;
		priv[1] = key;
		priv[2] = key;
		latency_tracker_slot_publish(slots, priv, 0);
	}
	return latency_tracker_slot_end(slots, key, NULL, 0);
}

/* As a caller that has kept the time of the begin. */
static int in_one(u64 key)
{
	struct latency_tracker_in in = { .start_ns = latency_tracker_clock() };

	return latency_tracker_event_whole(tracker, &key, sizeof(key), LATENCY_TRACKER_START,
					   &in, 0, NULL, 0);
}

static int miss(u64 key)
{
	return latency_tracker_event_out(tracker, &key, sizeof(key), 0, NULL, 0);
}

/* Let the events come home: no round may run dry. */
static void rest(void)
{
	rcu_barrier();
	pair_tables_rest();
	schedule_timeout_uninterruptible(HZ / 50);
}

/* The best round of @fn, in ns. */
static u64 measure(int (*fn)(u64 key))
{
	u64 best = U64_MAX, begin, key;
	unsigned long flags;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		local_irq_save(flags);
		begin = latency_tracker_clock();
		for (key = 0; key < PAIRS; key++)
			fn(key * 0x1234567);
		best = min(best, latency_tracker_clock() - begin);
		local_irq_restore(flags);
		rest();
	}
	return best;
}

/* The same for the plugin, pair by pair. */
static void count(int (*fn)(u64 key))
{
	unsigned long flags;
	u64 key;

	mark(MARK_GROUP);
	local_irq_save(flags);
	for (key = 0; key < PAIRS; key++) {
		mark(MARK_BEGIN);
		fn(key * 0x1234567);
		mark(MARK_END);
	}
	local_irq_restore(flags);
	rest();
}

void pair_report(const char *name, int (*fn)(u64 key))
{
	u64 ns = max(measure(fn), empty_ns) - empty_ns;
	u64 tenths = div_u64(ns * 10, PAIRS * NS_PER_INSN);

	count(fn);
	pr_info("pair: %-28s %llu.%llu\n", name, tenths / 10, tenths % 10);
}

/* Nothing is late, or everything, and then there is an event. */
void pair_set_late(bool all)
{
	WRITE_ONCE(pair_threshold_ns, all ? 0 : LATENCY_TRACKER_NEVER);
	latency_tracker_set_threshold(tracker, pair_threshold_ns);
	trace_set_clr_event("latency_tracker_bench", "pair_latency", all);
}

static void report_tracker(void)
{
	pair_report("two clock reads", clocks);
	pair_report("hit", hit);
	pair_report("hit, 24 private bytes", hit_priv);
	pair_report("duplicate", duplicate);
	pair_report("keep", keep);
	pair_report("slot", slot);
	pair_report("slot, 24 private bytes", slot_priv);
	if (!latency_tracker_set_profile(slots, true))
		pair_report("slot, with a profile", slot);
	latency_tracker_set_profile(slots, false);
	if (!latency_tracker_set_groups(slots, true))
		pair_report("slot, with groups", slot);
	latency_tracker_set_groups(slots, false);
	pair_report("end without a begin", miss);
	pair_report("begin and end in one call", in_one);
	latency_tracker_set_timeout(tracker, NSEC_PER_SEC);
	pair_report("hit, timeout on", hit);
	latency_tracker_set_timeout(tracker, 0);
	latency_tracker_set_threshold(tracker, 0);
	pair_report("hit, late, empty callback", hit);
	pair_set_late(true);
	pair_report("hit, late, event", hit);
	pair_set_late(false);
}

static void report(void)
{
	struct latency_tracker_counts counts;

	mark(MARK_ARM);
	rest();
	empty_ns = measure(nothing);
	count(nothing);
	report_tracker();
	pair_tables_report();
	latency_tracker_snapshot(tracker, &counts);
	pr_info("pool: %llu begins, %llu skipped, %llu bytes of memory\n",
		counts.started, counts.skipped, counts.memory);
}

/* Of few groups in both dimensions, as of a few calls in a few cgroups. */
static void group_ids(const void *key, const void *priv, const void *out_data, u64 *id)
{
	id[0] = *(const u64 *)key & 7;
	id[1] = *(const u64 *)key & 3;
}

static void *open_group(void *data, unsigned int dimension, u64 id, char *name)
{
	return NULL;
}

static bool group_is_gone(void *data, unsigned int dimension, u64 id, const char *name,
			  void *handle)
{
	return false;
}

static void close_group(void *data, unsigned int dimension, void *handle)
{
}

static const struct latency_tracker_grouping grouping = {
	.dimension = { "one", "other" },
	.ids = group_ids,
	.open = open_group,
	.is_gone = group_is_gone,
	.close = close_group,
};

static int __init pair_init(void)
{
	struct latency_tracker_config config = {
		.name = "pair",
		.callback = callback,
		.threshold_ns = LATENCY_TRACKER_NEVER,
		.max_events = EVENTS,
		.key_size = 16,
		.priv_size = 24,
	};
	int err;

	tracker = latency_tracker_create(&config);
	if (IS_ERR(tracker))
		return PTR_ERR(tracker);
	config.name = "pair_slots";
	config.key_size = sizeof(u64);
	config.slots = true;
	config.grouping = &grouping;
	slots = latency_tracker_create(&config);
	if (IS_ERR(slots)) {
		err = PTR_ERR(slots);
		goto err_tracker;
	}
	err = pair_tables_init();
	if (err)
		goto err_slots;
	report();
	return 0;

err_slots:
	latency_tracker_destroy(slots);
err_tracker:
	latency_tracker_destroy(tracker);
	return err;
}

static void __exit pair_exit(void)
{
	latency_tracker_destroy(slots);
	latency_tracker_destroy(tracker);
	pair_tables_exit();
}

module_init(pair_init);
module_exit(pair_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Cost of a begin with its end");
