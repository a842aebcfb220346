// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeouts and collection by the worker: while pending, once, and never after the end.
 */
#include "selftest.h"

#define MS	1000000ULL

static void fires_once(struct latency_tracker *t)
{
	const struct latency_tracker_verdict *v = &st_log.seen[0].v;

	ST_EQ(st_in(t, 1, 0, NULL), 0);
	ST_TRUE(st_wait_calls(1));
	ST_EQ(v->flag, LATENCY_TRACKER_PENDING);
	ST_EQ(st_log.seen[0].key, 1);
	ST_TRUE(v->delay_ns >= 300 * MS);
	ST_EQ(v->delay_ns, v->now_ns - v->start_ns);
	ST_EQ(st_counts(t).timeouts, 1);
	ST_EQ(st_counts(t).pending, 1);
	/* At most once, and the event is still there. */
	msleep(500);
	ST_EQ(st_calls(), 1);
	ST_EQ(st_out(t, 1), 1);
	ST_EQ(st_log.seen[1].v.flag, LATENCY_TRACKER_ENDED);
	ST_EQ(st_log.seen[1].v.timed_out, 1);
	/* One that ends before its timeout is not flagged, nor reported. */
	ST_EQ(st_in(t, 2, 0, NULL), 0);
	ST_EQ(st_out(t, 2), 1);
	ST_EQ(st_log.seen[2].v.timed_out, 0);
	msleep(800);
	ST_EQ(st_calls(), 3);
	st_note("timeout 300 ms, fired at %llu us", v->delay_ns / 1000);
}

static void per_event(struct latency_tracker *t)
{
	struct latency_tracker_in in = { .timeout_ns = 100 * MS };

	msleep(100);		/* the worker plans its next walk in an hour */
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	ST_EQ(st_in(t, 2, LATENCY_TRACKER_TIMEOUT, &in), 0);
	in.timeout_ns = 0;
	ST_EQ(st_in(t, 3, LATENCY_TRACKER_TIMEOUT, &in), 0);
	ST_TRUE(st_wait_calls(1));
	ST_EQ(st_log.seen[0].key, 2);
	/* A begin in the past is due at once. */
	in.start_ns = latency_tracker_clock() - 1000 * MS;
	in.timeout_ns = 900 * MS;
	ST_EQ(st_in(t, 4, LATENCY_TRACKER_START | LATENCY_TRACKER_TIMEOUT, &in),
	      0);
	ST_TRUE(st_wait_calls(2));
	ST_EQ(st_log.seen[1].key, 4);
	ST_TRUE(st_log.seen[1].v.delay_ns >= 1000 * MS);
	/* A new timeout reports what is stuck already; number 3 has none at all. */
	ST_EQ(latency_tracker_set_timeout(t, 1), 0);
	ST_TRUE(st_wait_calls(3));
	ST_EQ(st_log.seen[2].key, 1);
	msleep(200);
	ST_EQ(st_calls(), 3);
}

/* Its private bytes, which are published. */
static void *begin_in_the_past(struct latency_tracker *t, bool quick)
{
	u64 start_ns = latency_tracker_clock() - 4900 * MS;
	void *priv;

	preempt_disable();
	priv = quick ? latency_tracker_slot_try_begin(t, 1, &start_ns) :
		       latency_tracker_slot_begin(t, 1, 0);
	if (!IS_ERR_OR_NULL(priv) && quick)
		latency_tracker_slot_publish_begun(t, priv, start_ns);
	else if (!IS_ERR_OR_NULL(priv))
		latency_tracker_slot_publish(t, priv, start_ns);
	preempt_enable();
	return priv;
}

/* It is due long before the worker would look by itself. */
static void slot_in_the_past(struct latency_tracker *t)
{
	void *priv;
	int i, ret;

	for (i = 0; i < 2; i++) {
		msleep(100);
		priv = begin_in_the_past(t, i);
		ST_TRUE(!IS_ERR_OR_NULL(priv));
		ST_TRUE(st_wait_calls(i + 1));
		ST_TRUE(st_log.seen[i].v.delay_ns < 7500 * MS);
		preempt_disable();
		ret = latency_tracker_slot_end(t, 1, NULL, 0);
		preempt_enable();
		ST_EQ(ret, 0);
	}
}

/* First the timeout, then the collection. */
static void collector(struct latency_tracker *t)
{
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	ST_TRUE(st_wait_calls(2));
	ST_EQ(st_log.seen[0].v.flag, LATENCY_TRACKER_PENDING);
	ST_EQ(st_log.seen[1].v.flag, LATENCY_TRACKER_COLLECTED);
	ST_EQ(st_log.seen[1].v.timed_out, 1);
	ST_EQ(st_log.seen[1].key, 1);
	ST_TRUE(st_log.seen[1].v.delay_ns >= 300 * MS);
	ST_EQ(st_out(t, 1), -ENOENT);
	ST_EQ(st_counts(t).collected, 1);
	ST_EQ(st_counts(t).pending, 0);

	ST_EQ(latency_tracker_set_collect(t, 0), 0);
	ST_EQ(latency_tracker_set_timeout(t, 0), 0);
	ST_EQ(st_in(t, 3, 0, NULL), 0);
	msleep(500);
	ST_EQ(st_calls(), 2);
	ST_EQ(st_counts(t).pending, 1);
}

static void slow_callback(const struct latency_tracker_verdict *v)
{
	udelay(400);
}

/* What ends meanwhile comes back, while some seconds of callbacks run. */
static void reclaim_goes_on(struct latency_tracker *t)
{
	u64 key, begin_ns, tries = 0, pairs = 0;

	for (key = 0; key < 3900; key++)
		ST_EQ(st_in(t, key, 0, NULL), 0);
	while (!st_counts(t).timeouts)
		usleep_range(1000, 2000);
	begin_ns = latency_tracker_clock();
	while (st_counts(t).timeouts < 3900 && pairs < 100000) {
		/* At least one per ms, however long a sleep takes. */
		do {
			pairs += !st_in(t, key, 0, NULL) && !st_out(t, key);
		} while (++tries * MS < latency_tracker_clock() - begin_ns);
		usleep_range(50, 100);
	}
	/* More than are free: 196, and what is in the caches of two CPUs. */
	ST_TRUE(pairs > 400);
	/* While the machine does something else, a grace period may outlast these. */
	ST_TRUE(st_counts(t).skipped < pairs);
	st_note("%llu pairs", pairs);
}

static void destroy_pending(struct latency_tracker *t)
{
	u64 key;

	for (key = 0; key < 50; key++)
		ST_EQ(st_in(t, key, 0, NULL), 0);
	st_destroy(t);
	key = st_calls();
	msleep(500);
	ST_EQ(st_calls(), key);
}

const struct st_case st_timeout[] = {
	{ "a timeout fires while the operation is pending, once; the end says so",
	  fires_once, .config.timeout_ns = 300 * MS },
	{ "timeouts and begins per event; a new timeout",
	  per_event, ST_SILENT, .config.timeout_ns = 3600ULL * 1000 * MS },
	{ "the collector gives up what never ends", collector, ST_SILENT,
	  .config.timeout_ns = 50 * MS, .config.collect_ns = 300 * MS },
	{ "slots: a timeout fires once, and the end says so",
	  fires_once, .config.timeout_ns = 300 * MS, .config.slots = true },
	{ "slots: a begin in the past is reported soon", slot_in_the_past, ST_SILENT,
	  .config.timeout_ns = 5000 * MS, .config.slots = true },
	{ "slots: the collector gives up what never ends", collector, ST_SILENT,
	  .config.timeout_ns = 50 * MS, .config.collect_ns = 300 * MS,
	  .config.slots = true },
	{ "while callbacks run, what ends comes back to the pool", reclaim_goes_on,
	  ST_SILENT, .config.callback = slow_callback, .config.max_events = 4096,
	  .config.timeout_ns = 500 * MS },
	{ "no callback after destroy", destroy_pending, ST_SILENT,
	  .config.timeout_ns = 100 * MS, .config.collect_ns = 100 * MS },
	{ }
};
