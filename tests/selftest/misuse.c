// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misuse: what makes no sense, is refused, harms nobody, and the tracker goes on.
 */
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "selftest.h"

static struct st_log log;

static struct latency_tracker *setup(u64 threshold_ns)
{
	struct latency_tracker_config config = st_config(&log);

	memset(&log, 0, sizeof(log));
	config.threshold_ns = threshold_ns;
	return st_create(&config);
}

static bool count_visit(struct latency_tracker_event *event, void *arg)
{
	++*(int *)arg;
	return true;
}

/* All that takes a tracker gets @bad, which is none. */
static void without_tracker(struct latency_tracker *bad,
			    struct latency_tracker_event *event)
{
	struct latency_tracker_counts counts;
	u64 key = 1;
	int n = 0;

	ST_EQ(st_in(bad, 1, 0, NULL), -EINVAL);
	ST_EQ(st_out(bad, 1), -EINVAL);
	ST_EQ(latency_tracker_event_end(bad, event, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_cancel(bad, &key, 8), -EINVAL);
	ST_TRUE(!latency_tracker_get_event(bad, &key, 8));
	ST_EQ(latency_tracker_put_event(bad, event), -EINVAL);
	ST_EQ(latency_tracker_put_event(bad, NULL), 0);
	ST_EQ(latency_tracker_for_each_event(bad, &key, 8, count_visit, &n),
	      -EINVAL);
	ST_TRUE(!latency_tracker_data(bad));
	ST_EQ(latency_tracker_set_threshold(bad, 1), -EINVAL);
	ST_EQ(latency_tracker_get_threshold(bad), LATENCY_TRACKER_NEVER);
	ST_EQ(latency_tracker_set_timeout(bad, 1), -EINVAL);
	ST_EQ(latency_tracker_get_timeout(bad), 0);
	ST_EQ(latency_tracker_set_collect(bad, 1), -EINVAL);
	ST_EQ(latency_tracker_set_tracking(bad, false), -EINVAL);
	latency_tracker_clear(bad);
	memset(&counts, 0xff, sizeof(counts));
	latency_tracker_snapshot(bad, &counts);
	ST_TRUE(!memchr_inv(&counts, 0, sizeof(counts)));
	latency_tracker_snapshot(bad, NULL);
	latency_tracker_destroy(bad);
	ST_EQ(n, 0);
}

static void no_tracker(void)
{
	struct latency_tracker *t = setup(LATENCY_TRACKER_NEVER);
	struct latency_tracker_event *event;
	u64 key = 1;

	if (!t)
		return;
	ST_EQ(st_in(t, key, 0, NULL), 0);
	event = latency_tracker_get_event(t, &key, 8);
	without_tracker(NULL, event);
	without_tracker(ERR_PTR(-ENOMEM), event);
	without_tracker(ERR_PTR(-EINVAL), event);
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(st_out(t, key), 0);
	latency_tracker_snapshot(t, NULL);
	st_destroy(t);
}

static void no_event(void)
{
	struct latency_tracker *t = setup(0);

	if (!t)
		return;
	ST_TRUE(!latency_tracker_hold_event(NULL));
	ST_EQ(latency_tracker_put_event(t, NULL), 0);
	ST_EQ(latency_tracker_event_end(t, NULL, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_start(NULL), 0);
	ST_TRUE(!latency_tracker_event_key(NULL));
	ST_TRUE(!latency_tracker_event_priv(NULL));
	st_destroy(t);
}

/* Each function with a key, and a key that can't be. */
static void bad_keys(void)
{
	struct latency_tracker *t = setup(0);
	static const u32 lens[] = { 0, 17, 255, 256, 65536 + 8, U32_MAX };
	u64 key[2] = { 1, 2 };
	int i, n = 0;

	if (!t)
		return;
	/* None is taken for one of these, whose first bytes are the same. */
	ST_EQ(latency_tracker_event_in(t, key, 16, 0, NULL), 0);
	ST_EQ(latency_tracker_event_in(t, key, 8, 0, NULL), 0);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		ST_EQ(latency_tracker_event_in(t, key, lens[i], 0, NULL),
		      -EINVAL);
		ST_EQ(latency_tracker_event_out(t, key, lens[i], 0, NULL, 0),
		      -EINVAL);
		ST_EQ(latency_tracker_event_cancel(t, key, lens[i]), -EINVAL);
		ST_TRUE(!latency_tracker_get_event(t, key, lens[i]));
		ST_EQ(latency_tracker_for_each_event(t, key, lens[i],
						     count_visit, &n),
		      -EINVAL);
	}
	ST_EQ(latency_tracker_for_each_event(t, NULL, 8, count_visit, &n),
	      -EINVAL);
	ST_EQ(n, 0);
	ST_EQ(st_counts(t).pending, 2);
	ST_EQ(st_counts(t).unmatched, 0);
	st_destroy(t);
}

static bool put_visit(struct latency_tracker_event *event, void *arg)
{
	ST_EQ(latency_tracker_put_event(arg, event), -EINVAL);
	return true;
}

static void put_without_get(void)
{
	struct latency_tracker *t = setup(0);
	struct latency_tracker_event *event;
	u64 key = 1;

	if (!t)
		return;
	ST_EQ(st_in(t, key, 0, NULL), 0);
	ST_EQ(latency_tracker_for_each_event(t, &key, 8, put_visit, t), 1);
	event = latency_tracker_get_event(t, &key, 8);
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(latency_tracker_put_event(t, event), -EINVAL);
	event = latency_tracker_get_event(t, &key, 8);
	ST_EQ(st_out(t, key), 1);
	/* Until this section ends, the event is not used again. */
	preempt_disable();
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(latency_tracker_put_event(t, event), -EINVAL);
	ST_TRUE(!latency_tracker_hold_event(event));
	ST_EQ(latency_tracker_put_event(t, event), -EINVAL);
	preempt_enable();
	/* All 64 are there, each of them once. */
	for (key = 0; key < 64; key++)
		ST_EQ(st_in(t, key, 0, NULL), 0);
	for (key = 0; key < 64; key++)
		ST_EQ(st_out(t, key), 1);
	st_destroy(t);
}

static void ends_without_begin(void)
{
	struct latency_tracker *t = setup(0);
	struct latency_tracker_event *event;
	u64 key = 1;

	if (!t)
		return;
	ST_EQ(st_out(t, key), -ENOENT);
	ST_EQ(st_in(t, key, 0, NULL), 0);
	event = latency_tracker_get_event(t, &key, 8);
	ST_EQ(latency_tracker_event_end(t, event, 0, NULL, 0), 1);
	ST_EQ(latency_tracker_event_end(t, event, 0, NULL, 0), -ENOENT);
	ST_EQ(st_out(t, key), -ENOENT);
	ST_EQ(latency_tracker_event_cancel(t, &key, 8), -ENOENT);
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(st_in(t, key, 0, NULL), 0);
	ST_EQ(latency_tracker_event_cancel(t, &key, 8), 0);
	ST_EQ(latency_tracker_event_cancel(t, &key, 8), -ENOENT);
	ST_EQ(st_out(t, key), -ENOENT);
	ST_EQ(st_counts(t).unmatched, 5);
	ST_EQ(atomic_read(&log.calls), 1);
	st_destroy(t);
}

static u64 end_at(struct latency_tracker *t, u64 start_ns, u64 end_ns)
{
	struct latency_tracker_in in = { .start_ns = start_ns };
	u64 key = 1;

	ST_EQ(st_in(t, key, LATENCY_TRACKER_START, &in), 0);
	return latency_tracker_event_out(t, &key, 8, 0, NULL, end_ns);
}

static void absurd_times(void)
{
	struct latency_tracker *t = setup(LATENCY_TRACKER_NEVER);

	if (!t)
		return;
	ST_EQ(latency_tracker_set_timeout(t, U64_MAX), 0);
	ST_EQ(latency_tracker_set_collect(t, U64_MAX), 0);
	/* No delay reaches NEVER, not even the longest one. */
	ST_EQ(end_at(t, 0, U64_MAX), 0);
	ST_EQ(latency_tracker_set_threshold(t, U64_MAX - 1), 0);
	ST_EQ(end_at(t, 0, U64_MAX - 1), 1);
	ST_EQ(end_at(t, 1, U64_MAX - 1), 0);
	ST_EQ(st_counts(t).clock_back, 0);
	/* Begins in the future. */
	ST_EQ(end_at(t, U64_MAX, 0), 0);
	ST_EQ(end_at(t, U64_MAX, 1), 0);
	ST_EQ(st_counts(t).clock_back, 2);
	ST_EQ(latency_tracker_set_threshold(t, 0), 0);
	ST_EQ(end_at(t, U64_MAX, 1), 1);
	ST_EQ(log.seen[1].v.delay_ns, 0);
	ST_EQ(atomic_read(&log.calls), 2);
	st_destroy(t);
}

/* What is late has not to be over first: both are independent. */
static void threshold_above_timeout(void)
{
	struct latency_tracker *t = setup(LATENCY_TRACKER_NEVER - 1);

	if (!t)
		return;
	ST_EQ(latency_tracker_set_timeout(t, 1), 0);
	ST_EQ(st_in(t, 1, 0, NULL), 0);
	ST_EQ(st_in(t, 2, 0, NULL), 0);
	ST_TRUE(st_wait_calls(&log, 2));
	ST_EQ(log.seen[0].v.flag, LATENCY_TRACKER_PENDING);
	ST_EQ(st_out(t, 1), 0);
	ST_EQ(latency_tracker_set_threshold(t, 0), 0);
	ST_EQ(st_out(t, 2), 1);
	ST_EQ(log.seen[2].v.flag, LATENCY_TRACKER_ENDED);
	ST_TRUE(log.seen[2].v.timed_out);
	ST_EQ(atomic_read(&log.calls), 3);
	ST_EQ(st_counts(t).timeouts, 2);
	st_destroy(t);
}

#define EXPECTED(err, field, value)					\
	do {								\
		struct latency_tracker_config c = st_config(&log);	\
									\
		c.field = value;					\
		ST_EQ(PTR_ERR_OR_ZERO(latency_tracker_create(&c)), err); \
	} while (0)

static void absurd_sizes(void)
{
	struct latency_tracker_config config = st_config(&log);
	struct latency_tracker *t;
	char name[64];

	memset(name, 'x', sizeof(name));	/* and no end */
	EXPECTED(-EINVAL, name, name);
	EXPECTED(-EINVAL, name, "/");
	EXPECTED(-EINVAL, name, ".");
	EXPECTED(-EINVAL, name, ".hidden");
	EXPECTED(-EINVAL, max_events, U32_MAX);
	EXPECTED(-EINVAL, grow_limit, U32_MAX);
	EXPECTED(-EINVAL, key_size, U16_MAX);
	EXPECTED(-EINVAL, priv_size, U16_MAX);
	/* Some 20 GB. */
	config.max_events = LATENCY_TRACKER_EVENTS_MAX;
	config.key_size = LATENCY_TRACKER_KEY_MAX;
	config.priv_size = LATENCY_TRACKER_PRIV_MAX;
	if (si_mem_available() >> (33 - PAGE_SHIFT) == 0)
		ST_EQ(PTR_ERR_OR_ZERO(latency_tracker_create(&config)),
		      -ENOMEM);
	/* Not above max_events is no growth. */
	config = st_config(&log);
	config.grow_limit = 1;
	config.name = "%s%n";
	t = st_create(&config);
	ST_EQ(st_counts(t).capacity, config.max_events);
	st_destroy(t);
}

/* A destroy in a thread of its own. */
struct destroyer {
	struct latency_tracker *tracker;
	struct task_struct *task;
	bool over;
};

static int destroy_thread(void *arg)
{
	struct destroyer *d = arg;

	latency_tracker_destroy(d->tracker);
	WRITE_ONCE(d->over, true);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/*
 * More than is promised: only the put of what is held may still be called. But
 * who comes late meets an empty tracker, as long as that keeps it.
 */
static void late_calls(struct latency_tracker *t,
		       struct latency_tracker_event *event)
{
	struct latency_tracker_event *still;
	u64 key = 1;
	int n = 0, i;

	for (i = 0; i < 500 && st_in(t, 9, 0, NULL) != -ESHUTDOWN; i++)
		msleep(20);
	for (i = 0; i < 500; i++) {
		still = latency_tracker_get_event(t, &key, 8);
		if (!still)
			break;
		latency_tracker_put_event(t, still);
		msleep(20);
	}
	ST_TRUE(i < 500);
	ST_EQ(st_in(t, 9, 0, NULL), -ESHUTDOWN);
	ST_EQ(st_out(t, key), -ENOENT);
	ST_EQ(latency_tracker_event_cancel(t, &key, 8), -ENOENT);
	ST_EQ(latency_tracker_event_end(t, event, 0, NULL, 0), -ENOENT);
	ST_EQ(latency_tracker_for_each_event(t, &key, 8, count_visit, &n), 0);
	ST_EQ(latency_tracker_set_threshold(t, 0), 0);
	ST_EQ(*(const u64 *)latency_tracker_event_key(event), key);
}

static void while_destroyed(void)
{
	struct destroyer d = { .tracker = setup(0) };
	struct latency_tracker_event *event;
	u64 key = 1;
	int i;

	if (!d.tracker)
		return;
	for (i = 0; i < 60; i++)
		ST_EQ(st_in(d.tracker, i, 0, NULL), 0);
	event = latency_tracker_get_event(d.tracker, &key, 8);
	d.task = kthread_run(destroy_thread, &d, "st_destroyer");
	if (IS_ERR(d.task)) {
		ST_EQ(PTR_ERR(d.task), 0);
		latency_tracker_put_event(d.tracker, event);
		st_destroy(d.tracker);
		return;
	}
	late_calls(d.tracker, event);
	ST_TRUE(!READ_ONCE(d.over));
	ST_EQ(latency_tracker_put_event(d.tracker, event), 0);
	for (i = 0; i < 500 && !READ_ONCE(d.over); i++)
		msleep(20);
	ST_TRUE(READ_ONCE(d.over));
	kthread_stop(d.task);
	/* What was pending has had no verdict. */
	ST_EQ(atomic_read(&log.calls), 0);
}

const struct st_case st_misuse[] = {
	{ "misuse: no tracker", no_tracker },
	{ "misuse: no event", no_event },
	{ "misuse: keys of impossible length", bad_keys },
	{ "misuse: a put without a get, or once too often", put_without_get },
	{ "misuse: an end without a begin, or once too often",
	  ends_without_begin },
	{ "misuse: times at the edges", absurd_times },
	{ "misuse: a threshold above the timeout", threshold_above_timeout },
	{ "misuse: absurd sizes and names", absurd_sizes },
	{ "misuse: calls on a tracker that is being destroyed",
	  while_destroyed },
	{ }
};
