// SPDX-License-Identifier: GPL-2.0-only
/*
 * The free list: dry, refilled, grown; and who holds an event longer.
 */
#include <linux/kthread.h>
#include <linux/slab.h>

#include "selftest.h"

static struct st_log log;

static struct latency_tracker *setup(u32 max_events, u32 grow_limit)
{
	struct latency_tracker_config config = st_config(&log);

	memset(&log, 0, sizeof(log));
	config.max_events = max_events;
	config.grow_limit = grow_limit;
	return st_create(&config);
}

/* Begin events until one is refused; returns how many there were. */
static int fill(struct latency_tracker *t, u64 first, int most)
{
	int n = 0, err = 0;

	while (n < most && !err) {
		err = st_in(t, first + n, 0, NULL);
		if (!err)
			n++;
	}
	if (err)
		ST_EQ(err, -ENOBUFS);
	return n;
}

static void dry(void)
{
	struct latency_tracker *t = setup(100, 0);
	int round, got, i, tries, ends = 0, skipped = 0;

	if (!t)
		return;
	for (round = 0; round < 8; round++) {
		got = fill(t, 1000 * round, 1000);
		skipped++;
		/* Retired events are back a grace period later, 5 s at most. */
		for (tries = 0; got < 100 && tries < 50; tries++) {
			msleep(100);
			got += fill(t, 1000 * round + got, 1000);
			skipped++;
		}
		/* At least what was asked for, whatever this CPU is. */
		ST_TRUE(got >= 100);
		if (!round)
			ST_EQ(skipped, 1);
		ST_EQ(st_counts(t).skipped, skipped);
		ST_EQ(st_counts(t).pending, got);
		for (i = 0; i < got; i++)
			ST_EQ(st_out(t, 1000 * round + i), 0);
		/* The one that was skipped has no end, and so no latency. */
		ST_EQ(st_out(t, 1000 * round + got), -ENOENT);
		ends += got;
	}
	ST_EQ(st_counts(t).finished, ends);
	ST_EQ(st_counts(t).capacity, 100);
	st_note("100 asked for, %d had, %d skipped", got, skipped);
	st_destroy(t);
}

/* The end after a skipped begin must not find the begin before that. */
static void dry_unique(void)
{
	struct latency_tracker *t = setup(8, 0);
	int got;

	if (!t)
		return;
	ST_EQ(st_in(t, 1, LATENCY_TRACKER_UNIQUE, NULL), 0);
	got = fill(t, 2, 1000);
	ST_TRUE(got < 1000);
	ST_EQ(st_in(t, 1, LATENCY_TRACKER_UNIQUE, NULL), -ENOBUFS);
	ST_EQ(st_out(t, 1), -ENOENT);
	ST_EQ(st_counts(t).skipped, 2);
	ST_EQ(st_counts(t).replaced, 1);
	ST_EQ(st_counts(t).cleared, 1);
	ST_EQ(st_counts(t).pending, got);
	st_destroy(t);
}

static void one_event(void)
{
	struct latency_tracker *t = setup(1, 0);

	if (!t)
		return;
	ST_TRUE(fill(t, 0, 1000) >= 1);
	st_destroy(t);
}

static void grows(void)
{
	struct latency_tracker *t = setup(64, 1000);
	u64 memory;
	int got = 0, tries;

	if (!t)
		return;
	memory = st_counts(t).memory;
	for (tries = 0; tries < 200 && got < 1000; tries++) {
		got += fill(t, got, 1000 - got);
		msleep(20);
	}
	ST_EQ(got, 1000);
	ST_EQ(st_counts(t).capacity, 1000);
	ST_TRUE(st_counts(t).memory > memory);
	/* The limit is the limit. */
	got = fill(t, 1000, 10000);
	ST_TRUE(got < 1000);
	msleep(200);
	ST_EQ(st_counts(t).capacity, 1000);
	for (got = 0; got < 1000; got++)
		ST_EQ(st_out(t, got), 0);
	st_destroy(t);
}

static void footprint(void)
{
	struct latency_tracker_config config = st_config(&log);
	struct latency_tracker *t;
	u64 per_event;

	config.max_events = 4096;
	t = st_create(&config);
	if (!t)
		return;
	per_event = st_counts(t).memory / 4096;
	/* A 16-byte key and 16 private bytes. */
	ST_TRUE(per_event <= 192);
	st_note("%llu bytes per event, table included", per_event);
	st_destroy(t);
}

struct holder {
	struct latency_tracker *tracker;
	struct latency_tracker_event *event;
	bool dropped;
};

static int drop_later(void *arg)
{
	struct holder *holder = arg;

	msleep(300);
	WRITE_ONCE(holder->dropped, true);
	latency_tracker_put_event(holder->tracker, holder->event);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void destroy_waits(void)
{
	struct holder holder = { .tracker = setup(8, 0) };
	struct task_struct *task;
	u64 key = 1;

	if (!holder.tracker)
		return;
	ST_EQ(st_in(holder.tracker, key, 0, NULL), 0);
	holder.event = latency_tracker_get_event(holder.tracker, &key, 8);
	ST_TRUE(holder.event);
	task = kthread_run(drop_later, &holder, "st_holder");
	if (IS_ERR(task)) {
		ST_EQ(PTR_ERR(task), 0);
		latency_tracker_put_event(holder.tracker, holder.event);
	}
	st_destroy(holder.tracker);
	if (!IS_ERR(task)) {
		ST_TRUE(READ_ONCE(holder.dropped));
		kthread_stop(task);
	}
}

const struct st_case st_pool[] = {
	{ "a dry pool skips and counts, and comes back", dry },
	{ "a skipped unique begin leaves no older one", dry_unique },
	{ "a pool of one event", one_event },
	{ "a pool grows to its limit", grows },
	{ "memory per event", footprint },
	{ "destroy waits for who holds an event", destroy_waits },
	{ }
};
