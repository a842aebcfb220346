// SPDX-License-Identifier: GPL-2.0-only
/*
 * Begin and end: matching, thresholds, what the callback is told.
 */
#include <linux/bitops.h>
#include <linux/hash.h>

#include "selftest.h"

static struct st_log log;

static struct latency_tracker *setup(u64 threshold_ns)
{
	struct latency_tracker_config config = st_config(&log);

	memset(&log, 0, sizeof(log));
	config.threshold_ns = threshold_ns;
	return st_create(&config);
}

static int calls(void)
{
	return atomic_read(&log.calls);
}

static void in_time(void)
{
	struct latency_tracker *t = setup(LATENCY_TRACKER_NEVER);

	if (!t)
		return;
	ST_EQ(st_in(t, 7, 0, NULL), 0);
	ST_EQ(st_out(t, 8), -ENOENT);
	ST_EQ(st_out(t, 7), 0);
	ST_EQ(st_out(t, 7), -ENOENT);
	ST_EQ(calls(), 0);
	ST_EQ(st_counts(t).started, 1);
	ST_EQ(st_counts(t).finished, 1);
	ST_EQ(st_counts(t).late, 0);
	ST_EQ(st_counts(t).unmatched, 2);
	ST_EQ(st_counts(t).pending, 0);
	st_destroy(t);
}

static void verdict_facts(void)
{
	struct latency_tracker *t = setup(0);
	struct st_priv priv = { .a = 0x1122334455667788ULL, .b = 99 };
	struct latency_tracker_in in = { .priv = &priv, .priv_len = 8 };
	u64 key = 5, before, after;
	int data;

	if (!t)
		return;
	before = latency_tracker_clock();
	ST_EQ(st_in(t, key, 0, &in), 0);
	ST_EQ(latency_tracker_event_out(t, &key, 8, 42, &data, 0), 1);
	after = latency_tracker_clock();
	ST_EQ(calls(), 1);
	ST_EQ(log.seen[0].key, 5);
	ST_EQ(log.seen[0].v.key_len, 8);
	ST_EQ(log.seen[0].priv.a, priv.a);
	ST_EQ(log.seen[0].priv.b, 0);	/* not given: 0, not old bytes */
	ST_TRUE(log.seen[0].v.tracker == t);
	ST_TRUE(log.seen[0].v.out_data == &data);
	ST_EQ(log.seen[0].v.out_id, 42);
	ST_EQ(log.seen[0].v.flag, LATENCY_TRACKER_ENDED);
	ST_EQ(log.seen[0].v.timed_out, 0);
	ST_EQ(log.seen[0].v.threshold_ns, 0);
	ST_TRUE(log.seen[0].v.start_ns >= before);
	ST_TRUE(log.seen[0].v.now_ns <= after);
	ST_EQ(log.seen[0].v.delay_ns,
	      log.seen[0].v.now_ns - log.seen[0].v.start_ns);
	ST_TRUE(log.seen[0].atomic);
	ST_EQ(st_counts(t).late, 1);
	st_destroy(t);
}

/* Begin at 1000, end at 1000 + delay, threshold of the event or 100. */
static int timed(struct latency_tracker *t, u64 delay_ns, u32 flags,
		 u64 threshold_ns)
{
	struct latency_tracker_in in = {
		.start_ns = 1000, .threshold_ns = threshold_ns,
	};
	u64 key = 1;

	ST_EQ(st_in(t, key, flags | LATENCY_TRACKER_START, &in), 0);
	return latency_tracker_event_out(t, &key, 8, 0, NULL, 1000 + delay_ns);
}

/* A begin and its end in one; never pending. */
static int whole(struct latency_tracker *t, u64 delay_ns, u32 flags,
		 u64 threshold_ns)
{
	struct st_priv priv = { .a = 77, .b = 88 };
	struct latency_tracker_in in = {
		.priv = &priv, .priv_len = sizeof(priv),
		.start_ns = 1000, .threshold_ns = threshold_ns,
	};
	u64 key = 3;

	return latency_tracker_event_whole(t, &key, 8,
					   flags | LATENCY_TRACKER_START, &in,
					   42, &priv, 1000 + delay_ns);
}

static void in_one(void)
{
	struct latency_tracker *t = setup(100);
	int i, n;

	if (!t)
		return;
	ST_EQ(whole(t, 99, 0, 0), 0);
	ST_EQ(whole(t, 100, LATENCY_TRACKER_THRESHOLD, 101), 0);
	ST_EQ(calls(), 0);
	ST_EQ(st_counts(t).started, 2);
	ST_EQ(st_counts(t).finished, 2);
	ST_EQ(whole(t, 100, 0, 0), 1);
	ST_EQ(whole(t, 50, LATENCY_TRACKER_THRESHOLD, 50), 1);
	ST_EQ(whole(t, -1, LATENCY_TRACKER_THRESHOLD, 0), 1);
	ST_EQ(calls(), 3);
	ST_EQ(log.seen[0].key, 3);
	ST_EQ(log.seen[0].priv.a, 77);
	ST_EQ(log.seen[0].v.out_id, 42);
	ST_EQ(log.seen[0].v.start_ns, 1000);
	ST_EQ(log.seen[0].v.delay_ns, 100);
	ST_EQ(log.seen[0].v.flag, LATENCY_TRACKER_ENDED);
	ST_EQ(log.seen[0].v.timed_out, 0);
	ST_EQ(log.seen[2].v.delay_ns, 0);
	ST_EQ(st_counts(t).late, 3);
	ST_EQ(st_counts(t).clock_back, 1);
	ST_EQ(st_counts(t).pending, 0);
	ST_EQ(st_out(t, 3), -ENOENT);
	/* Those in time need no event, so they are never skipped. */
	for (n = 0; n < 10000 && !st_in(t, 1, 0, NULL); n++)
		;
	ST_EQ(whole(t, 99, 0, 0), 0);
	ST_EQ(whole(t, 100, 0, 0), -ENOBUFS);
	ST_EQ(calls(), 3);
	latency_tracker_set_tracking(t, false);
	i = st_counts(t).started;
	ST_EQ(whole(t, 99, 0, 0), -ESHUTDOWN);
	ST_EQ(whole(t, 100, 0, 0), -ESHUTDOWN);
	ST_EQ(st_counts(t).started, i);
	st_destroy(t);
}

/* What an event carried before is not passed on. */
static void private_bytes(void)
{
	struct st_priv full = { .a = ~0ULL, .b = ~0U };
	struct latency_tracker_in in = { .priv = &full, .priv_len = 16 };
	struct latency_tracker *t = setup(0);
	int i, tries, n = 0;

	if (!t)
		return;
	while (n < 10000 && !st_in(t, 1, 0, &in))
		n++;
	latency_tracker_clear(t);
	msleep(300);
	in.priv_len = 4;
	for (i = 0; i < 60; i++) {
		/* On a slow machine they are not all back yet. */
		for (tries = 0; tries < 50 && st_in(t, 1, 0, &in); tries++)
			msleep(100);
		ST_EQ(st_out(t, 1), 1);
		ST_EQ(log.seen[i].priv.a, 0xffffffff);
		ST_EQ(log.seen[i].priv.b, 0);
	}
	/* No bytes at all. */
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	ST_EQ(st_out(t, 1), 1);
	ST_EQ(log.seen[i].priv.a, 0);
	st_note("%d events reused", n);
	st_destroy(t);
}

static void thresholds(void)
{
	struct latency_tracker *t = setup(100);

	if (!t)
		return;
	ST_EQ(latency_tracker_get_threshold(t), 100);
	ST_EQ(timed(t, 99, 0, 0), 0);
	ST_EQ(timed(t, 100, 0, 0), 1);
	ST_EQ(timed(t, 101, 0, 0), 1);
	ST_EQ(timed(t, 100, LATENCY_TRACKER_THRESHOLD, 101), 0);
	ST_EQ(timed(t, 50, LATENCY_TRACKER_THRESHOLD, 50), 1);
	ST_EQ(timed(t, 0, LATENCY_TRACKER_THRESHOLD, 0), 1);
	ST_EQ(log.seen[calls() - 1].v.threshold_ns, 0);
	latency_tracker_set_threshold(t, 200);
	ST_EQ(timed(t, 199, 0, 0), 0);
	ST_EQ(timed(t, 200, 0, 0), 1);
	ST_EQ(log.seen[calls() - 1].v.delay_ns, 200);
	ST_EQ(log.seen[calls() - 1].v.start_ns, 1000);
	latency_tracker_set_threshold(t, LATENCY_TRACKER_NEVER);
	ST_EQ(timed(t, 1ULL << 62, 0, 0), 0);
	ST_EQ(calls(), 5);
	st_destroy(t);
}

static void clock_back(void)
{
	struct latency_tracker *t = setup(1);

	if (!t)
		return;
	ST_EQ(timed(t, -10, 0, 0), 0);
	ST_EQ(st_counts(t).clock_back, 1);
	latency_tracker_set_threshold(t, 0);
	ST_EQ(timed(t, -10, 0, 0), 1);
	ST_EQ(log.seen[0].v.delay_ns, 0);
	ST_EQ(st_counts(t).clock_back, 2);
	st_destroy(t);
}

static void own_callback(void)
{
	struct latency_tracker *t = setup(0);
	struct latency_tracker_in in = { .callback = st_callback_other };
	u64 key = 3;
	int data = 0;

	if (!t)
		return;
	ST_EQ(st_in(t, key, 0, &in), 0);
	ST_EQ(latency_tracker_event_out(t, &key, 8, 0, &data, 0), 1);
	ST_EQ(data, 1);
	ST_EQ(st_in(t, key, 0, NULL), 0);
	ST_EQ(latency_tracker_event_out(t, &key, 8, 0, &data, 0), 1);
	ST_EQ(data, 1);
	st_destroy(t);
}

static void unique_replaces(void)
{
	struct latency_tracker *t = setup(0);
	struct st_priv priv = { .a = 1 };
	struct latency_tracker_in in = { .priv = &priv, .priv_len = 8 };

	if (!t)
		return;
	ST_EQ(st_in(t, 9, LATENCY_TRACKER_UNIQUE, &in), 0);
	ST_EQ(st_counts(t).replaced, 0);
	priv.a = 2;
	ST_EQ(st_in(t, 9, LATENCY_TRACKER_UNIQUE, &in), 0);
	ST_EQ(st_counts(t).replaced, 1);
	ST_EQ(st_counts(t).cleared, 1);
	ST_EQ(st_counts(t).pending, 1);
	ST_EQ(calls(), 0);
	ST_EQ(st_out(t, 9), 1);
	ST_EQ(log.seen[0].priv.a, 2);
	ST_EQ(st_out(t, 9), -ENOENT);
	st_destroy(t);
}

static void keep_keeps(void)
{
	struct latency_tracker *t = setup(0);
	struct st_priv priv = { .a = 1 };
	struct latency_tracker_in in = { .priv = &priv, .priv_len = 8 };

	if (!t)
		return;
	ST_EQ(st_in(t, 9, LATENCY_TRACKER_KEEP, &in), 0);
	priv.a = 2;
	ST_EQ(st_in(t, 9, LATENCY_TRACKER_KEEP, &in), -EEXIST);
	ST_EQ(st_counts(t).kept, 1);
	ST_EQ(st_counts(t).started, 1);
	ST_EQ(st_out(t, 9), 1);
	ST_EQ(log.seen[0].priv.a, 1);
	ST_EQ(st_in(t, 9, LATENCY_TRACKER_KEEP, &in), 0);
	st_destroy(t);
}

struct visit {
	u64 seen[8];
	int nr;
	int stop_after;
};

static bool visit_priv(struct latency_tracker_event *event, void *arg)
{
	struct st_priv *priv = latency_tracker_event_priv(event);
	struct visit *visit = arg;

	visit->seen[visit->nr++] = priv->a;
	return visit->nr != visit->stop_after;
}

static bool end_second(struct latency_tracker_event *event, void *arg)
{
	struct st_priv *priv = latency_tracker_event_priv(event);

	if (priv->a != 2)
		return true;
	ST_TRUE(latency_tracker_hold_event(event));
	*(struct latency_tracker_event **)arg = event;
	return false;
}

static void duplicates(void)
{
	struct latency_tracker *t = setup(0);
	struct latency_tracker_event *event = NULL;
	struct visit visit = { };
	struct st_priv priv = { };
	struct latency_tracker_in in = { .priv = &priv, .priv_len = 8 };
	u64 k = 4;

	if (!t)
		return;
	for (priv.a = 1; priv.a <= 4; priv.a++)
		ST_EQ(st_in(t, k, 0, &in), 0);
	ST_EQ(latency_tracker_for_each_event(t, &k, 8, visit_priv, &visit), 4);
	ST_TRUE(visit.seen[0] == 1 && visit.seen[1] == 2 &&
		visit.seen[2] == 3 && visit.seen[3] == 4);
	visit = (struct visit) { .stop_after = 2 };
	ST_EQ(latency_tracker_for_each_event(t, &k, 8, visit_priv, &visit), 2);

	/* One of them, not the oldest. */
	latency_tracker_for_each_event(t, &k, 8, end_second, &event);
	ST_EQ(latency_tracker_event_end(t, event, 7, NULL, 0), 1);
	ST_EQ(log.seen[0].priv.a, 2);
	ST_EQ(log.seen[0].v.out_id, 7);
	ST_EQ(latency_tracker_event_end(t, event, 7, NULL, 0), -ENOENT);
	ST_EQ(latency_tracker_put_event(t, event), 0);

	/* The others, oldest first. */
	ST_EQ(st_out(t, k), 1);
	ST_EQ(log.seen[1].priv.a, 1);
	ST_EQ(st_out(t, k), 1);
	ST_EQ(log.seen[2].priv.a, 3);
	ST_EQ(latency_tracker_event_cancel(t, &k, 8), 0);
	ST_EQ(st_out(t, k), -ENOENT);
	ST_EQ(calls(), 3);
	ST_EQ(st_counts(t).cleared, 1);
	st_destroy(t);
}

static void keys_differ_by_length(void)
{
	struct latency_tracker *t = setup(0);
	u64 key[2] = { 0x1234, 0 };
	u32 len;

	if (!t)
		return;
	for (len = 1; len <= 16; len++)
		ST_EQ(latency_tracker_event_in(t, key, len,
					       LATENCY_TRACKER_KEEP, NULL), 0);
	for (len = 1; len <= 16; len++) {
		ST_EQ(latency_tracker_event_out(t, key, len, 0, NULL, 0), 1);
		ST_EQ(log.seen[len - 1].v.key_len, len);
	}
	/* One that begins like the other and has the same hash, see key.h. */
	key[1] = ror64(key[0] * GOLDEN_RATIO_64, 32) ^ key[0];
	ST_EQ(latency_tracker_event_in(t, key, 16, 0, NULL), 0);
	ST_EQ(latency_tracker_event_out(t, key, 8, 0, NULL, 0), -ENOENT);
	ST_EQ(latency_tracker_event_in(t, key, 8, 0, NULL), 0);
	ST_EQ(latency_tracker_event_out(t, key, 8, 0, NULL, 0), 1);
	ST_EQ(latency_tracker_event_out(t, key, 16, 0, NULL, 0), 1);
	/* Unaligned keys are keys, too. */
	ST_EQ(latency_tracker_event_in(t, (char *)key + 1, 8, 0, NULL), 0);
	ST_EQ(latency_tracker_event_out(t, (char *)key + 1, 8, 0, NULL, 0), 1);
	st_destroy(t);
}

static void references(void)
{
	struct latency_tracker *t = setup(0);
	struct latency_tracker_event *event;
	u64 key = 6;

	if (!t)
		return;
	ST_EQ(st_in(t, key, 0, NULL), 0);
	event = latency_tracker_get_event(t, &key, 8);
	ST_TRUE(event);
	ST_EQ(st_counts(t).pending, 1);
	ST_TRUE(latency_tracker_hold_event(event));
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(*(const u64 *)latency_tracker_event_key(event), key);
	ST_EQ(latency_tracker_put_event(t, event), 0);
	/* Once too often: refused, and the event is still there. */
	ST_EQ(latency_tracker_put_event(t, event), -EINVAL);
	event = latency_tracker_get_event(t, &key, 8);
	ST_TRUE(event);
	ST_EQ(st_out(t, key), 1);
	/* Ended, and still readable by who holds it. */
	msleep(100);
	ST_EQ(*(const u64 *)latency_tracker_event_key(event), key);
	ST_EQ(latency_tracker_event_start(event), log.seen[0].v.start_ns);
	ST_TRUE(!latency_tracker_get_event(t, &key, 8));
	ST_EQ(latency_tracker_put_event(t, event), 0);
	st_destroy(t);
}

static void tracking_off(void)
{
	struct latency_tracker *t = setup(0);

	if (!t)
		return;
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	ST_EQ(st_in(t, 2, 0, NULL), 0);
	ST_EQ(latency_tracker_set_tracking(t, false), 0);
	ST_EQ(st_in(t, 3, 0, NULL), -ESHUTDOWN);
	ST_EQ(st_out(t, 1), -ENOENT);
	ST_EQ(st_counts(t).cleared, 2);
	ST_EQ(latency_tracker_set_tracking(t, true), 0);
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	latency_tracker_clear(t);
	ST_EQ(st_counts(t).cleared, 3);
	ST_EQ(st_out(t, 1), -ENOENT);
	ST_EQ(calls(), 0);
	st_destroy(t);
}

const struct st_case st_match[] = {
	{ "an end in time is silent", in_time },
	{ "the callback is told the facts", verdict_facts },
	{ "a begin and its end in one", in_one },
	{ "private bytes are given or 0", private_bytes },
	{ "thresholds: default, per event, changed, never", thresholds },
	{ "a clock that steps back gives 0, counted", clock_back },
	{ "a callback per event", own_callback },
	{ "UNIQUE replaces", unique_replaces },
	{ "KEEP keeps", keep_keeps },
	{ "duplicates end oldest first, or one by one", duplicates },
	{ "keys of all lengths and alignments", keys_differ_by_length },
	{ "references", references },
	{ "tracking off clears and refuses", tracking_off },
	{ }
};
