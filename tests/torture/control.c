// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens beside the callers: grace periods are counted, settings change,
 * trackers come and go; and what is checked while the callers pause.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "torture.h"

/* How long what is only late may take: an emulated machine stands still now and then. */
#define PATIENCE	(10 * HZ)

/* More than a broken destroy() may leave behind. */
#define LIVES		64

/* What is left to destroy(), and after what time each is told. */
#define LEFT		16
#define LEFT_NS		(4 * NSEC_PER_MSEC)

#define FILL_KEY	BIT_ULL(56)

static struct tt_life lives[LIVES];
static struct tt_thread gp_thread, lives_thread;

/* --- grace periods ------------------------------------------------------- */

static void count_gps(void *arg)
{
	while (!READ_ONCE(tt.stop)) {
		synchronize_rcu();
		/* Full barriers at its ends; read in tt_check_age(). */
		WRITE_ONCE(tt.gp, tt.gp + 1);
		/* Where it takes microseconds, leave something for others. */
		usleep_range(50, 200);
	}
}

/* --- the end of a tracker ------------------------------------------------- */

static void destroy(void *tracker)
{
	latency_tracker_destroy(tracker);
}

/* If it does not return, nor do we wait for it. */
void tt_destroy(struct tt_life *life)
{
	/* It stays, if destroy() does. */
	static struct tt_thread thread;

	if (tt_run(&thread, destroy, life->tracker, "destroy"))
		latency_tracker_destroy(life->tracker);
	tt_join(&thread, TT_DESTROY, "destroy() does not return");
	if (!tt.stuck)
		WRITE_ONCE(life->alive, false);
}

/* --- trackers that come and go -------------------------------------------- */

/* More groups than there is room for at once. What is overwritten meanwhile is not used. */
static void group_ids(const void *key, const void *priv, const void *out_data, u64 *id)
{
	id[0] = *(const u64 *)key;
	id[1] = READ_ONCE(((const struct tt_priv *)priv)->serial) % 7;
}

static void *open_group(void *data, unsigned int dimension, u64 id, char *name)
{
	return NULL;
}

/* Some come and go. */
static bool group_is_gone(void *data, unsigned int dimension, u64 id, const char *name,
			  void *handle)
{
	return id % 3 == 1;
}

static void close_group(void *data, unsigned int dimension, void *handle)
{
}

static const struct latency_tracker_grouping grouping = {
	.dimension = { "key", "serial" },
	.ids = group_ids,
	.open = open_group,
	.is_gone = group_is_gone,
	.close = close_group,
};

struct latency_tracker_config tt_config(struct tt_life *life)
{
	return (struct latency_tracker_config) {
		.name = life->other ? "torture_other" : "torture",
		.callback = tt_callback,
		.data = life,
		.max_events = life->other ? 64 : tt_pool,
		.grow_limit = life->other ? 512 : tt_grow,
		.key_size = sizeof(u64),
		.priv_size = sizeof(struct tt_priv),
		.slots = tt_slots && !life->other,
		.profile = true,
		.grouping = &grouping,
		.groups = tt_groups && !life->other,
	};
}

/* A begin on another tracker: of it, no ledger knows. */
int tt_begin_other(struct latency_tracker *tracker, u64 serial, u64 key,
		   u64 timeout_ns)
{
	struct tt_priv priv = {
		.serial = serial, .key = key, .threshold_ns = TT_DEFAULT,
	};
	struct latency_tracker_in in = {
		.priv = &priv, .priv_len = sizeof(priv),
		.timeout_ns = timeout_ns,
	};

	tt_seal(&priv);
	return latency_tracker_event_in(tracker, &key, sizeof(key),
					timeout_ns ? LATENCY_TRACKER_TIMEOUT : 0,
					&in);
}

/* When destroy() comes, something is always about to be told. */
static void leave_some(struct latency_tracker *tracker)
{
	int i;

	for (i = 1; i <= LEFT; i++)
		tt_begin_other(tracker, 0, FILL_KEY + i, i * LEFT_NS);
}

/* An event that is put while destroy() waits for it. */
struct holder {
	struct delayed_work work;
	struct latency_tracker *tracker;
	struct latency_tracker_event *event;
};

static struct holder holder;

static void put_late(struct work_struct *work)
{
	if (latency_tracker_put_event(holder.tracker, holder.event))
		tt_fail(TT_REUSED, "an event was held, but destroy() did not wait",
			0, 0);
}

static void hold_for_a_while(struct latency_tracker *tracker)
{
	u64 key = FILL_KEY;

	if (tt_begin_other(tracker, 0, key, 0))
		return;
	holder.tracker = tracker;
	holder.event = latency_tracker_get_event(tracker, &key, sizeof(key));
	if (holder.event)
		schedule_delayed_work(&holder.work, HZ / 50);
}

static bool live(struct tt_life *life)
{
	struct latency_tracker_config config;
	bool good;

	life->other = true;
	config = tt_config(life);
	/* Some end while they tell timeouts, or give up what is old. */
	config.timeout_ns = tt.lives % 3 ? 500000 : 0;
	config.collect_ns = tt.lives % 5 ? 0 : 2000000;
	life->tracker = latency_tracker_create(&config);
	if (IS_ERR(life->tracker)) {
		/* One that is not quite gone has the name. */
		if (PTR_ERR(life->tracker) != -EEXIST)
			tt_fail(TT_COUNTS, "create() returns %lld",
				PTR_ERR(life->tracker), 0);
		usleep_range(4000, 6000);
		return true;
	}
	WRITE_ONCE(life->alive, true);
	/* Pairs with the acquire in callers.c. */
	smp_store_release(&tt.other, life);
	usleep_range(1000, 8000);
	/* While operations begin and end, and some are given up. */
	latency_tracker_report_pending(life->tracker, 0, 0);
	latency_tracker_report_pending(tt.main.tracker, tt.lives % 2 * 1000, 0);
	if (tt.lives % 4 == 0)
		hold_for_a_while(life->tracker);
	WRITE_ONCE(tt.other, NULL);
	synchronize_rcu();
	good = tt_check_counts(life->tracker, false);
	leave_some(life->tracker);
	latency_tracker_destroy(life->tracker);
	WRITE_ONCE(life->alive, false);
	/* It waited for this; only its last steps may be left. */
	flush_delayed_work(&holder.work);
	return good;
}

static void live_and_die(void *arg)
{
	while (!READ_ONCE(tt.stop)) {
		if (!live(&lives[tt.lives % LIVES]))
			break;
		tt.lives++;
	}
}

int tt_start_control(void)
{
	int err;

	INIT_DELAYED_WORK(&holder.work, put_late);
	err = tt_run(&gp_thread, count_gps, NULL, "gp");
	if (!err && tt_others)
		err = tt_run(&lives_thread, live_and_die, NULL, "lives");
	return err;
}

/* After the callers. */
void tt_stop_control(void)
{
	WRITE_ONCE(tt.stop, true);
	tt_join(&lives_thread, TT_DESTROY, "destroy() of another tracker does not return");
	tt_join(&gp_thread, TT_HANG, "a grace period does not end");
}

/* --- changes ----------------------------------------------------------------- */

/* A caller that reads the same even tt.clears twice has missed none of these. */
static void clear(bool off)
{
	struct latency_tracker *tracker = tt.main.tracker;

	WRITE_ONCE(tt.clears, tt.clears + 1);
	/* Before anything is cleared; pairs with none_cleared(). */
	smp_mb();
	if (off) {
		latency_tracker_set_tracking(tracker, false);
		latency_tracker_set_tracking(tracker, true);
	} else {
		latency_tracker_clear(tracker);
	}
	/* Pairs with the acquire in own_pair(). */
	smp_store_release(&tt.clears, tt.clears + 1);
}

void tt_change_something(struct tt_caller *c)
{
	struct latency_tracker *tracker = tt.main.tracker;
	u32 random = tt_random(c), i;

	if (tt_change & TT_CHANGE_TIMES) {
		/* Late most of the time: then the ledger learns of the end. */
		i = random % 4 ? 0 : (random >> 2) % TT_TIMES;
		latency_tracker_set_threshold(tracker, tt_thresholds[i]);
		latency_tracker_set_timeout(tracker, random & BIT(8) ?
						     random % 3000000 : 0);
	}
	random = tt_random(c);
	if (tt_change & TT_CHANGE_TRACKING && random % 4 == 0)
		clear(random & BIT(8));
	if (tt_change & TT_CHANGE_COLLECT && random & BIT(9))
		latency_tracker_set_collect(tracker, random & BIT(10) ?
						     random % 5000000 : 0);
}

/* --- pauses ------------------------------------------------------------------ */

/* When it returns, no caller is in a call on the main tracker. */
void tt_pause(void)
{
	unsigned long end = jiffies + PATIENCE;

	WRITE_ONCE(tt.paused, true);
	/* Full barrier; pairs with park(). */
	while (atomic_add_return(0, &tt.parked) < TT_TASKS &&
	       !READ_ONCE(tt.stop)) {
		if (time_after(jiffies, end))
			tt_fail(TT_HANG, "only %lld of %lld tasks pause",
				atomic_read(&tt.parked), TT_TASKS);
		usleep_range(100, 500);
	}
	/* The others are in sections of their own. */
	synchronize_rcu();
}

void tt_go_on(void)
{
	WRITE_ONCE(tt.paused, false);
	wake_up_all(&tt.resume);
	/* A task that has not noticed would count as parked at the next pause. */
	while (atomic_read(&tt.parked) && !READ_ONCE(tt.stop))
		usleep_range(100, 500);
}

struct claim {
	const char *what;
	u64 got;
	u64 want;
};

/* The first claim that is not true; none if all are. */
static struct claim wrong_count(const struct latency_tracker_counts *n,
				const struct tt_counts *sum, bool all)
{
	const struct claim claims[] = {
		{ "finished + collected + cleared + pending is %lld, started is %lld",
		  n->finished + n->collected + n->cleared + n->pending,
		  n->started },
		{ "%lld calls were refused, where %lld should be",
		  n->unwatched, 0 },
		/* The rest is not known of other trackers. */
		{ all ? "started is %lld, but %lld begins have succeeded" :
			NULL, n->started, sum->begun },
		{ "finished is %lld, but %lld ends have succeeded",
		  n->finished, sum->finished },
		{ "late is %lld, but %lld ends were late", n->late, sum->late },
		{ "skipped is %lld, but %lld begins found no event",
		  n->skipped, sum->skipped },
		{ "kept is %lld, but %lld begins found another event",
		  n->kept, sum->kept },
		{ "unmatched is %lld, but %lld ends found no event",
		  n->unmatched, sum->unmatched },
		{ "timeouts is %lld, but %lld were told",
		  n->timeouts, atomic64_read(&tt.timeouts) },
		{ "collected is %lld, but %lld were told",
		  n->collected, atomic64_read(&tt.collected) },
		{ "%lld events were cancelled or replaced, but cleared is %lld",
		  max(n->cleared, sum->cancelled + n->replaced), n->cleared },
		{ }
	};
	const struct claim *claim;

	for (claim = claims; claim->what; claim++)
		if (claim->got != claim->want)
			break;
	return *claim;
}

/*
 * No caller is active, but the worker of the tracker may be about to tell what it has
 * counted, or to count what it has taken; that ends soon. @all: it is the main
 * one, and what the callers have counted is compared, too.
 */
bool tt_check_counts(struct latency_tracker *tracker, bool all)
{
	unsigned long end = jiffies + PATIENCE;
	struct latency_tracker_counts n;
	struct tt_counts sum = { };
	struct claim wrong;

	/* Of another one, callers use the main one meanwhile. */
	if (all)
		sum = tt_sum(TT_CONTEXTS);
	for (;;) {
		latency_tracker_snapshot(tracker, &n);
		wrong = wrong_count(&n, &sum, all);
		if (!wrong.what)
			return true;
		if (READ_ONCE(tt.stop) && atomic_read(&tt.failed))
			return false;
		if (time_after(jiffies, end))
			break;
		usleep_range(1000, 5000);
	}
	tt_fail(TT_COUNTS, wrong.what, wrong.got, wrong.want);
	return false;
}

/* --- the balance of the pool ------------------------------------------------- */

/* @number: events that were begun so; @capacity: of the pool, behind that */
struct fill {
	struct latency_tracker *tracker;
	u64 number;
	u64 capacity;
};

/* On one CPU: begin until nothing is free. */
static long fill_from_here(void *arg)
{
	struct fill *fill = arg;
	u64 key;

	for (;;) {
		key = FILL_KEY + fill->number;
		if (latency_tracker_event_in(fill->tracker, &key, sizeof(key),
					     0, NULL))
			return 0;
		if (++fill->number % 1024 == 0)
			cond_resched();
	}
}

/* How many events can be begun beyond the capacity of the pool. */
static s64 fill_up(struct fill *fill)
{
	struct latency_tracker_counts n;
	int cpu;

	for_each_online_cpu(cpu)
		work_on_cpu(cpu, fill_from_here, fill);
	latency_tracker_snapshot(fill->tracker, &n);
	fill->capacity = n.capacity;
	return n.pending - n.capacity;
}

/*
 * Beyond its capacity a pool has some events per CPU. How many? A tracker of
 * the same @size that has seen nothing tells, or an error.
 */
s64 tt_spare(u32 size)
{
	static struct tt_life life = { .other = true };
	struct latency_tracker_config config = tt_config(&life);
	struct fill fill = { };
	s64 spare;

	config.max_events = size;
	config.grow_limit = 0;
	config.threshold_ns = LATENCY_TRACKER_NEVER;
	life.tracker = latency_tracker_create(&config);
	if (IS_ERR(life.tracker))
		return PTR_ERR(life.tracker);
	fill.tracker = life.tracker;
	spare = fill_up(&fill);
	tt_destroy(&life);
	return spare;
}

/*
 * All events are taken, once they have come home; a pool that may grow does.
 * Nothing else uses the main tracker any more.
 */
void tt_check_balance(s64 spare)
{
	struct fill fill = { .tracker = tt.main.tracker };
	unsigned long end = jiffies + PATIENCE;
	u64 last = 0, size = tt_pool;
	int equal = 0;
	s64 found;

	latency_tracker_set_threshold(fill.tracker, LATENCY_TRACKER_NEVER);
	latency_tracker_set_timeout(fill.tracker, 0);
	latency_tracker_set_collect(fill.tracker, 0);
	latency_tracker_set_tracking(fill.tracker, false);
	latency_tracker_set_tracking(fill.tracker, true);
	do {
		found = fill_up(&fill);
		/* It has grown, and so have its batches. */
		if (fill.capacity != size) {
			size = fill.capacity;
			spare = tt_spare(size);
		}
		equal = found == spare ? equal + 1 : 0;
		if (fill.number != last)
			end = jiffies + PATIENCE;
		last = fill.number;
		msleep(20);
		/* The second time, so that not one too many is overlooked. */
	} while (equal < 2 && !time_after(jiffies, end));
	latency_tracker_set_tracking(fill.tracker, false);
	if (!equal)
		tt_fail(TT_BALANCE, "%lld events beyond the capacity come home, not %lld",
			found, spare);
}
