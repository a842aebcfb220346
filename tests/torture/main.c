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
#include <linux/string.h>

#include "torture.h"
#include "twin.h"

#define TICK_MS		15
#define PAUSE_MS	700

unsigned int tt_threads = 4;
module_param_named(threads, tt_threads, uint, 0444);
MODULE_PARM_DESC(threads, "tasks that begin and end events, 1 to 1024 (4)");

unsigned int tt_keys = 64;
module_param_named(keys, tt_keys, uint, 0444);
MODULE_PARM_DESC(keys, "keys that all callers share, 1 to 2^20 (64)");

unsigned int tt_duplicates = 4;
module_param_named(duplicates, tt_duplicates, uint, 0444);
MODULE_PARM_DESC(duplicates,
		 "events of one key that a caller begins before it ends one, 1 to 1024 (4)");

unsigned int tt_duration = 10;
module_param_named(duration, tt_duration, uint, 0444);
MODULE_PARM_DESC(duration, "seconds, at most (10)");

unsigned long tt_pairs;
module_param_named(pairs, tt_pairs, ulong, 0444);
MODULE_PARM_DESC(pairs, "stop after so many pairs of begin and end; 0 is no limit (0)");

static char *contexts = "all";
module_param(contexts, charp, 0444);
MODULE_PARM_DESC(contexts,
		 "some of task, softirq, hardirq, irq_work, probe, nmi with commas, or all (all)");

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

unsigned int tt_mask;
struct tt tt;

static int bad_parameter(const char *text)
{
	pr_err("%s: %s: see modinfo\n", KBUILD_MODNAME, text);
	return -EINVAL;
}

static int read_contexts(void)
{
	char names[80], *rest = names, *name;
	int i;

	if (!strcmp(contexts, "all")) {
		tt_mask = BIT(TT_CONTEXTS) - 1;
		return 0;
	}
	if (strscpy(names, contexts, sizeof(names)) < 0)
		return -EINVAL;
	while ((name = strsep(&rest, ","))) {
		i = match_string(tt_context_names, TT_CONTEXTS, name);
		if (i < 0)
			return i;
		tt_mask |= BIT(i);
	}
	return 0;
}

static int read_parameters(void)
{
	if (!tt_threads || tt_threads > 1024)
		return bad_parameter("threads is 1 to 1024");
	if (!tt_keys || tt_keys > BIT(20))
		return bad_parameter("keys is 1 to 1048576");
	if (!tt_duplicates || tt_duplicates > 1024)
		return bad_parameter("duplicates is 1 to 1024");
	if (!tt_duration || tt_duration > 86400)
		return bad_parameter("duration is 1 to 86400");
	if (tt_buckets > BIT(20))
		return bad_parameter("buckets is 0 to 1048576");
	if (tt_change > 7)
		return bad_parameter("change is 0 to 7");
	if (!tt_pool || tt_pool > LATENCY_TRACKER_EVENTS_MAX ||
	    tt_grow > LATENCY_TRACKER_EVENTS_MAX)
		return bad_parameter("pool is 1 to 16777216, grow 0 to 16777216");
	if (read_contexts())
		return bad_parameter("contexts has unknown names");
	return 0;
}

static bool over(void)
{
	/* Pairs with the release in tt_fail(). */
	return smp_load_acquire(&tt.stop) || signal_pending(current);
}

static u64 pairs_so_far(void)
{
	const struct tt_caller *c;
	u64 pairs = 0;

	for (c = tt.callers; c < tt.callers + tt.nr_callers; c++)
		pairs += READ_ONCE(c->count.pairs);
	return pairs;
}

/* Until it is enough, or an oracle objects. */
static void torture(struct tt_caller *self)
{
	u64 now_ns, end_ns = tt.began_ns + tt_duration * (u64)NSEC_PER_SEC;
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
	} while (!over() && now_ns < end_ns &&
		 (!tt_pairs || pairs_so_far() < tt_pairs));
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

static void report_pairs(void)
{
	u64 sum = 0, whole = 0, other = 0, by[TT_CONTEXTS] = { };
	const struct tt_caller *c;

	for (c = tt.callers; c < tt.callers + tt.nr_callers; c++) {
		by[c->context] += c->count.pairs;
		whole += c->count.whole;
		other += c->count.other_pairs;
		sum += c->count.pairs;
	}
	pr_info("torture: pairs=%llu task=%llu softirq=%llu hardirq=%llu irq_work=%llu probe=%llu nmi=%llu whole=%llu other=%llu nmis=%lld ms=%llu\n",
		sum, by[TT_TASK], by[TT_SOFTIRQ], by[TT_HARDIRQ],
		by[TT_IRQ_WORK], by[TT_PROBE], by[TT_NMI], whole, other,
		atomic64_read(&tt.nmis),
		div_u64(latency_tracker_clock() - tt.began_ns, NSEC_PER_MSEC));
}

static void report_readers(void)
{
	u64 looked = 0, ended = 0, held = 0, outlived = 0, forgotten = 0;
	u64 ages[TT_AGES] = { };
	const struct tt_caller *c;
	int i;

	for (c = tt.callers; c < tt.callers + tt.nr_callers; c++) {
		looked += c->count.looked_up;
		ended += c->count.ended;
		held += c->count.held;
		outlived += c->count.outlived;
		forgotten += c->count.forgotten;
		for (i = 0; i < TT_AGES; i++)
			ages[i] += c->count.ages[i];
	}
	pr_info("torture: looked_up=%llu ended=%llu age0=%llu age1=%llu older=%llu unknown=%llu held=%llu outlived=%llu gps=%lu pauses=%lu lives=%lu changes=%lu\n",
		looked, ended, ages[0], ages[1], ages[2], forgotten, held,
		outlived, tt.gp, tt.pauses, tt.lives, tt.changes);
}

static void report(const struct latency_tracker_counts *n)
{
	enum tt_oracle failed = atomic_read(&tt.failed);
	char why[160];

	report_pairs();
	report_readers();
	pr_info("torture: started=%llu finished=%llu late=%llu timeouts=%llu collected=%llu cleared=%llu replaced=%llu skipped=%llu kept=%llu unmatched=%llu clock_back=%llu capacity=%llu\n",
		n->started, n->finished, n->late, n->timeouts, n->collected,
		n->cleared, n->replaced, n->skipped, n->kept, n->unmatched,
		n->clock_back, n->capacity);
	if (!failed) {
		pr_info("torture: passed\n");
		return;
	}
	pr_info("torture: FAILED oracle=%s after_ms=%llu\n",
		tt_oracle_name(failed),
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
	s64 spare = tt_spare();
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
	int err = read_parameters();

	if (err)
		return err;
	err = tt_twin_init();
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
