// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_tracker_torture: parameters, the course of a run, and its report.
 *
 * Runs while it is loaded. Loading succeeds if no oracle objected and fails
 * with EIO if one did; the kernel log has one line of figures as NAME=VALUE,
 * and one that begins with "passed" or with "FAILED" and the oracle. If
 * something does not come back, the module stays loaded, since its code and
 * data are still used; it says so.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

#include "torture.h"

#define TICK_MS		15
#define PAUSE_MS	700

unsigned int tt_keys = 64;
module_param_named(keys, tt_keys, uint, 0444);
MODULE_PARM_DESC(keys, "keys that all callers share, 1 to 2^20 (64)");

unsigned int tt_duplicates = 4;
module_param_named(duplicates, tt_duplicates, uint, 0444);
MODULE_PARM_DESC(duplicates,
		 "events of one key that a caller begins before it ends one, 1 to 1024 (4)");

static unsigned int duration = 10;
module_param(duration, uint, 0444);
MODULE_PARM_DESC(duration, "seconds, at most (10)");

unsigned int tt_buckets;
module_param_named(buckets, tt_buckets, uint, 0444);
MODULE_PARM_DESC(buckets,
		 "buckets of the table into which the keys fall, up to 2^20; 0 is all (0)");

unsigned int tt_pool = 65536;
module_param_named(pool, tt_pool, uint, 0444);
MODULE_PARM_DESC(pool, "events of the pool, and so buckets of the table (65536)");

unsigned int tt_grow;
module_param_named(grow, tt_grow, uint, 0444);
MODULE_PARM_DESC(grow, "events up to which the pool may grow (0)");

unsigned long tt_seed = 1;
module_param_named(seed, tt_seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of the random numbers (1)");

unsigned int tt_change = TT_CHANGE_TIMES | TT_CHANGE_TRACKING;
module_param_named(change, tt_change, uint, 0444);
MODULE_PARM_DESC(change,
		 "what changes meanwhile, a sum: 1 threshold and timeout, 2 tracking_on and clear, 4 the collection age (3)");

bool tt_others = true;
module_param_named(others, tt_others, bool, 0444);
MODULE_PARM_DESC(others, "other trackers are created and destroyed meanwhile (Y)");

bool tt_slots;
module_param_named(slots, tt_slots, bool, 0444);
MODULE_PARM_DESC(slots, "events stay with their keys, as slots (N)");

bool tt_groups;
module_param_named(groups, tt_groups, bool, 0444);
MODULE_PARM_DESC(groups, "what ends is counted in groups: at the end all must be there (N)");

struct tt tt;

static bool over(void)
{
	/* Pairs with the release in tt_fail(). */
	return smp_load_acquire(&tt.stop) || signal_pending(current);
}

/* Until the time is over, or an oracle objects. */
static void torture(struct tt_caller *self)
{
	u64 now_ns, end_ns = tt.began_ns + duration * (u64)NSEC_PER_SEC;
	u64 pause_ns = tt.began_ns;

	do {
		msleep(TICK_MS);
		tt_change_something(self);
		now_ns = latency_tracker_clock();
		if (now_ns - pause_ns < PAUSE_MS * (u64)NSEC_PER_MSEC)
			continue;
		tt_pause();
		if (!over() && tt_check_counts(tt.main.tracker, true))
			tt.pauses++;
		tt_go_on();
		pause_ns = latency_tracker_clock();
	} while (!over() && now_ns < end_ns);
}

/* Everything stops before anything is judged. */
static int run(s64 spare)
{
	struct tt_caller self = { .seed = tt_seed | 1 };
	int err;

	err = tt_start_control();
	if (!err)
		err = tt_start_callers();
	if (!err)
		torture(&self);
	tt_stop_callers();
	tt_stop_control();
	if (err || atomic_read(&tt.failed))
		return err;
	if (tt_check_counts(tt.main.tracker, true)) {
		tt.pauses++;
		tt_check_balance(spare);
	}
	return 0;
}

static const char *const oracle_names[TT_ORACLES] = {
	[TT_VERDICT] = "verdict",
	[TT_CONTENT] = "content",
	[TT_REMOVED] = "removed",
	[TT_REUSED] = "reused",
	[TT_OWNER] = "owner",
	[TT_COUNTS] = "counts",
	[TT_BALANCE] = "balance",
	[TT_DESTROY] = "destroy",
	[TT_RETIRED] = "retired",
	[TT_HANG] = "hang",
};

static void report_pairs(const struct tt_counts *n)
{
	u64 by[TT_CONTEXTS];
	int i;

	for (i = 0; i < TT_CONTEXTS; i++)
		by[i] = tt_sum(i).pairs;
	pr_info("torture: pairs=%llu task=%llu softirq=%llu hardirq=%llu irq_work=%llu probe=%llu nmi=%llu whole=%llu other=%llu nmis=%lld ms=%llu\n",
		n->pairs, by[TT_TASK], by[TT_SOFTIRQ], by[TT_HARDIRQ],
		by[TT_IRQ_WORK], by[TT_PROBE], by[TT_NMI], n->whole,
		n->other_pairs, atomic64_read(&tt.nmis),
		div_u64(latency_tracker_clock() - tt.began_ns, NSEC_PER_MSEC));
}

static void report_readers(const struct tt_counts *n)
{
	pr_info("torture: looked_up=%llu ended=%llu held=%llu outlived=%llu gps=%lu pauses=%lu lives=%lu\n",
		n->looked_up, n->ended, n->held, n->outlived, tt.gp, tt.pauses,
		tt.lives);
}

static void report(const struct latency_tracker_counts *n)
{
	enum tt_oracle failed = atomic_read(&tt.failed);
	struct tt_counts sum = tt_sum(TT_CONTEXTS);
	char why[160];

	report_pairs(&sum);
	report_readers(&sum);
	pr_info("torture: started=%llu finished=%llu late=%llu timeouts=%llu collected=%llu cleared=%llu replaced=%llu skipped=%llu kept=%llu unmatched=%llu clock_back=%llu capacity=%llu\n",
		n->started, n->finished, n->late, n->timeouts, n->collected,
		n->cleared, n->replaced, n->skipped, n->kept, n->unmatched,
		n->clock_back, n->capacity);
	if (!failed) {
		pr_info("torture: passed\n");
		return;
	}
	pr_info("torture: FAILED oracle=%s after_ms=%llu\n",
		oracle_names[failed],
		div_u64(tt.failed_ns - tt.began_ns, NSEC_PER_MSEC));
	/* A constant of ours, with two values at most. */
	snprintf(why, sizeof(why), tt.why, tt.args[0], tt.args[1]);
	pr_info("torture: why: %s\n", why);
}

/* Code and data are still used: never to be unloaded. */
static int stay(void)
{
	__module_get(THIS_MODULE);
	pr_info("torture: it stays loaded, for something of it does not end\n");
	return 0;
}

static int torture_a_tracker(void)
{
	struct latency_tracker_config config = tt_config(&tt.main);
	struct latency_tracker_counts counts;
	s64 spare = tt_spare(tt_pool);
	int err;

	if (tt.stuck)
		return stay();
	if (spare < 0)
		return spare;
	tt.main.tracker = latency_tracker_create(&config);
	if (IS_ERR(tt.main.tracker))
		return PTR_ERR(tt.main.tracker);
	tt.main.alive = true;
	tt.began_ns = latency_tracker_clock();
	err = run(spare);
	latency_tracker_snapshot(tt.main.tracker, &counts);
	if (!tt.stuck)
		tt_destroy(&tt.main);
	report(&counts);
	if (tt.stuck)
		return stay();
	tt_twin_settle();
	tt_free_callers();
	return err ?: atomic_read(&tt.failed) ? -EIO : 0;
}

static int __init torture_init(void)
{
	int err = tt_twin_init();

	if (err)
		return err;
	init_waitqueue_head(&tt.resume);
	err = tt_make_callers();
	if (!err)
		err = torture_a_tracker();
	if (err) {
		tt_free_callers();
		tt_twin_exit();
	}
	return err;
}

static void __exit torture_exit(void)
{
	tt_twin_exit();
}

module_init(torture_init);
module_exit(torture_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tortures latency_tracker");
MODULE_AUTHOR("The latency-tracker authors");
