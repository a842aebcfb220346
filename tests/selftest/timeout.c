// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeouts and collection: while pending, once, and never after the end.
 */
#include "selftest.h"

#define MS	1000000ULL

static struct st_log log;

static struct latency_tracker *setup(u64 timeout_ns, u64 collect_ns)
{
	struct latency_tracker_config config = st_config(&log);

	memset(&log, 0, sizeof(log));
	config.timeout_ns = timeout_ns;
	config.collect_ns = collect_ns;
	return st_create(&config);
}

static int calls(void)
{
	return atomic_read(&log.calls);
}

static void fires_while_pending(void)
{
	struct latency_tracker *t = setup(200 * MS, 0);
	struct latency_tracker_verdict *v = &log.seen[0].v;

	if (!t)
		return;
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	ST_TRUE(st_wait_calls(&log, 1));
	ST_EQ(v->flag, LATENCY_TRACKER_PENDING);
	ST_EQ(log.seen[0].key, 1);
	ST_TRUE(v->delay_ns >= 200 * MS);
	ST_EQ(v->delay_ns, v->now_ns - v->start_ns);
	ST_TRUE(!v->out_data);
	ST_EQ(v->out_id, 0);
	ST_EQ(v->threshold_ns, LATENCY_TRACKER_NEVER);
	ST_EQ(st_counts(t).timeouts, 1);
	ST_EQ(st_counts(t).pending, 1);
	/* At most once, and the event is still there. */
	msleep(500);
	ST_EQ(calls(), 1);
	ST_EQ(st_out(t, 1), 0);
	st_note("timeout 200 ms, fired at %llu us", v->delay_ns / 1000);
	st_destroy(t);
}

static void end_says_timed_out(void)
{
	struct latency_tracker *t = setup(50 * MS, 0);

	if (!t)
		return;
	latency_tracker_set_threshold(t, 0);
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	ST_TRUE(st_wait_calls(&log, 1));
	ST_EQ(st_out(t, 1), 1);
	ST_EQ(calls(), 2);
	ST_EQ(log.seen[1].v.flag, LATENCY_TRACKER_ENDED);
	ST_EQ(log.seen[1].v.timed_out, 1);
	/* One that ends before its timeout is not flagged, nor reported. */
	ST_EQ(latency_tracker_set_timeout(t, 300 * MS), 0);
	ST_EQ(st_in(t, 2, 0, NULL), 0);
	ST_EQ(st_out(t, 2), 1);
	ST_EQ(log.seen[2].v.timed_out, 0);
	msleep(800);
	ST_EQ(calls(), 3);
	st_destroy(t);
}

static void live_change(void)
{
	struct latency_tracker *t = setup(0, 0);
	u64 begin, waited;

	if (!t)
		return;
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	begin = latency_tracker_clock();
	msleep(200);
	/* By this clock: jiffies, which msleep() goes by, may lag. */
	waited = latency_tracker_clock() - begin;
	ST_TRUE(waited >= 100 * MS);
	ST_EQ(calls(), 0);
	/* What is stuck now is what somebody who sets it wants to see. */
	ST_EQ(latency_tracker_set_timeout(t, 100 * MS), 0);
	ST_TRUE(st_wait_calls(&log, 1));
	ST_TRUE(log.seen[0].v.delay_ns >= waited);
	ST_EQ(latency_tracker_set_timeout(t, 0), 0);
	ST_EQ(st_in(t, 2, 0, NULL), 0);
	msleep(400);
	ST_EQ(calls(), 1);
	st_destroy(t);
}

static void per_event(void)
{
	struct latency_tracker *t = setup(3600ULL * 1000 * MS, 0);
	struct latency_tracker_in in = { .timeout_ns = 100 * MS };

	if (!t)
		return;
	msleep(100);		/* the worker plans its next walk in an hour */
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	ST_EQ(st_in(t, 2, LATENCY_TRACKER_TIMEOUT, &in), 0);
	in.timeout_ns = 0;
	ST_EQ(st_in(t, 3, LATENCY_TRACKER_TIMEOUT, &in), 0);
	ST_TRUE(st_wait_calls(&log, 1));
	ST_EQ(log.seen[0].key, 2);
	/* A begin in the past is due at once. */
	in.start_ns = latency_tracker_clock() - 1000 * MS;
	in.timeout_ns = 900 * MS;
	ST_EQ(st_in(t, 4, LATENCY_TRACKER_START | LATENCY_TRACKER_TIMEOUT, &in),
	      0);
	ST_TRUE(st_wait_calls(&log, 2));
	ST_EQ(log.seen[1].key, 4);
	ST_TRUE(log.seen[1].v.delay_ns >= 1000 * MS);
	/* It does not hold up the others: number 3 has none at all. */
	ST_EQ(latency_tracker_set_timeout(t, 1), 0);
	ST_TRUE(st_wait_calls(&log, 3));
	ST_EQ(log.seen[2].key, 1);
	msleep(200);
	ST_EQ(calls(), 3);
	st_destroy(t);
}

static void many(void)
{
	struct latency_tracker *t = setup(100 * MS, 0);
	u64 key;

	if (!t)
		return;
	for (key = 0; key < 60; key++)
		ST_EQ(st_in(t, key / 20, 0, NULL), 0);
	ST_TRUE(st_wait_calls(&log, 60));
	msleep(300);
	ST_EQ(calls(), 60);
	ST_EQ(st_counts(t).timeouts, 60);
	st_destroy(t);
}

static void collector(void)
{
	struct latency_tracker *t = setup(0, 300 * MS);
	u64 key = 1;

	if (!t)
		return;
	ST_EQ(st_in(t, key, 0, NULL), 0);
	msleep(100);
	ST_EQ(st_in(t, 2, 0, NULL), 0);
	ST_EQ(st_out(t, 2), 0);
	ST_TRUE(st_wait_calls(&log, 1));
	ST_EQ(log.seen[0].v.flag, LATENCY_TRACKER_COLLECTED);
	ST_EQ(log.seen[0].v.timed_out, 0);
	ST_EQ(log.seen[0].key, 1);
	ST_TRUE(log.seen[0].v.delay_ns >= 300 * MS);
	ST_EQ(st_out(t, 1), -ENOENT);
	ST_EQ(st_counts(t).collected, 1);
	ST_EQ(st_counts(t).pending, 0);

	/* First the timeout, then the collection. */
	ST_EQ(latency_tracker_set_timeout(t, 50 * MS), 0);
	ST_EQ(st_in(t, 3, 0, NULL), 0);
	ST_TRUE(st_wait_calls(&log, 3));
	ST_EQ(log.seen[1].v.flag, LATENCY_TRACKER_PENDING);
	ST_EQ(log.seen[2].v.flag, LATENCY_TRACKER_COLLECTED);
	ST_EQ(log.seen[2].v.timed_out, 1);
	ST_EQ(latency_tracker_set_collect(t, 0), 0);
	ST_EQ(latency_tracker_set_timeout(t, 0), 0);
	ST_EQ(st_in(t, 4, 0, NULL), 0);
	msleep(500);
	ST_EQ(calls(), 3);
	ST_EQ(st_counts(t).pending, 1);
	st_destroy(t);
}

static void destroy_pending(void)
{
	struct latency_tracker *t = setup(100 * MS, 100 * MS);
	u64 key;

	if (!t)
		return;
	for (key = 0; key < 50; key++)
		ST_EQ(st_in(t, key, 0, NULL), 0);
	st_destroy(t);
	key = calls();
	msleep(500);
	ST_EQ(calls(), key);
}

const struct st_case st_timeout[] = {
	{ "a timeout fires while the operation is pending, once",
	  fires_while_pending },
	{ "an end after the timeout says so", end_says_timed_out },
	{ "a new timeout holds for what is pending", live_change },
	{ "timeouts and begins per event", per_event },
	{ "many timeouts at once, with duplicates", many },
	{ "the collector gives up what never ends", collector },
	{ "no callback after destroy", destroy_pending },
	{ }
};
