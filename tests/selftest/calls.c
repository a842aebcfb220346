// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel adds to the calls: its clock, its memory, its sysfs; and bounds that the
 * fuzzer of the tracker does not reach. It compares the calls with a model, see
 * tests/host/fuzz/calls.c.
 */
#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "selftest.h"

static void count_end(const struct latency_tracker_verdict *verdict)
{
	st_callback(verdict);
	++*(int *)verdict->out_data;
}

static void verdict_facts(struct latency_tracker *t)
{
	struct st_priv priv = { .a = 0x1122334455667788ULL, .b = 99 };
	struct latency_tracker_in in = {
		.priv = &priv, .priv_len = 8, .callback = count_end,
	};
	const struct st_seen *seen = st_log.seen;
	u64 key = 5, before, after;
	int ends = 0;

	before = latency_tracker_clock();
	ST_EQ(st_in(t, key, 0, &in), 0);
	ST_EQ(latency_tracker_event_out(t, &key, 8, 42, &ends, 0), 1);
	after = latency_tracker_clock();
	ST_EQ(ends, 1);
	ST_EQ(seen->key, key);
	ST_EQ(seen->priv.a, priv.a);
	ST_EQ(seen->priv.b, 0);		/* not given: 0, not old bytes */
	ST_EQ(seen->v.out_id, 42);
	ST_TRUE(seen->v.start_ns >= before);
	ST_TRUE(seen->v.now_ns <= after);
	ST_EQ(seen->v.delay_ns, seen->v.now_ns - seen->v.start_ns);
	ST_TRUE(seen->atomic);
	latency_tracker_set_threshold(t, LATENCY_TRACKER_NEVER);
	ST_EQ(st_in(t, key, 0, NULL), 0);
	ST_EQ(st_out(t, key), 0);
	ST_EQ(st_calls(), 1);
}

static const struct {
	u64 start_ns;
	u64 end_ns;
	u64 threshold_ns;
	bool late;
	bool back;	/* the clock has stepped back: the delay is 0, counted */
} times[] = {
	{ 1000, 1099, 100 },
	{ 1000, 1100, 100, true },
	{ 1000, 990, 1, false, true },
	{ 1000, 990, 0, true, true },
	{ 0, U64_MAX, LATENCY_TRACKER_NEVER },
	{ 0, U64_MAX - 1, U64_MAX - 1, true },
	{ 1, U64_MAX - 1, U64_MAX - 1 },
	{ U64_MAX, 0, 1, false, true },		/* an end of 0 is now */
	{ U64_MAX, 1, 0, true, true },
};

static void check_times(struct latency_tracker *t, int i, int ret)
{
	if (ret != times[i].late)
		st_note("times[%d]", i);
	ST_EQ(ret, times[i].late);
	ST_EQ(st_calls(), times[i].late);
	if (ret == 1)
		ST_EQ(st_log.seen[0].v.delay_ns,
		      times[i].back ? 0 : times[i].end_ns - times[i].start_ns);
	atomic_set(&st_log.calls, 0);
}

static void times_at_the_edges(struct latency_tracker *t)
{
	struct latency_tracker_in in = { };
	u64 key = 1;
	int i, back = 0;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		in.start_ns = times[i].start_ns;
		latency_tracker_set_threshold(t, times[i].threshold_ns);
		ST_EQ(st_in(t, key, LATENCY_TRACKER_START, &in), 0);
		check_times(t, i, latency_tracker_event_out(t, &key, 8, 0, NULL,
							    times[i].end_ns));
		check_times(t, i, latency_tracker_event_whole(t, &key, 8,
							      LATENCY_TRACKER_START,
							      &in, 0, NULL,
							      times[i].end_ns));
		back += 2 * times[i].back;
		ST_EQ(st_counts(t).clock_back, back);
	}
}

/* Does an operation that began at @start_ns end in time? It is counted only then. */
static void ends(struct latency_tracker *t, u64 start_ns, bool in_time)
{
	u64 before = st_counts(t).finished, now_ns = latency_tracker_clock();
	u64 end_ns = latency_tracker_whole_in_time(t, start_ns, 0, NULL, NULL);

	if (in_time)
		ST_EQ(end_ns, 0);
	else
		ST_TRUE(end_ns >= now_ns && end_ns <= latency_tracker_clock());
	ST_EQ(st_counts(t).finished, before + in_time);
	ST_EQ(st_counts(t).started, before + in_time);
}

/* Has the kernel changed what @lt_clock has since then? */
static bool clock_changed(unsigned long seq)
{
	return READ_ONCE(lt_clock.seq) != seq;
}

/* Between two looks at the kernel's clock it says what lies between, on each CPU. */
static void one_clock(struct latency_tracker *t)
{
	u64 until = ktime_get_mono_fast_ns() + NSEC_PER_SEC / 2, before, now, after;
	unsigned long seq = 1;
	int reads = 0, cycles = 0;

	do {
		seq = READ_ONCE(lt_clock.seq);
		before = ktime_get_mono_fast_ns();
		now = latency_tracker_clock();
		after = ktime_get_mono_fast_ns();
		if (clock_changed(seq))
			continue;
		ST_TRUE(now >= before && now <= after);
		reads++;
		cycles += !(seq & 1);
		if (!(reads % 1024))
			cond_resched();
	} while (after < until);
	ST_TRUE(reads > 100);
	/* The others came while another CPU was about to change the numbers. */
	ST_TRUE(!cycles || cycles > reads / 2);
	st_note("%d reads, %s", reads, cycles ? "of cycles" : "the kernel's");
}

static u64 whole_begin(struct latency_tracker *t)
{
	return latency_tracker_whole_begin(t) ?:
	       latency_tracker_whole_begin_other(t);
}

static void whole_in_two_calls(struct latency_tracker *t)
{
	u64 now_ns = latency_tracker_clock();
	u64 start_ns = whole_begin(t);

	ST_TRUE(start_ns >= now_ns && start_ns <= latency_tracker_clock());
	latency_tracker_set_threshold(t, 100 * (u64)NSEC_PER_SEC);
	ends(t, start_ns, true);
	ST_EQ(latency_tracker_whole_in_time(t, 1, 100 * (u64)NSEC_PER_SEC, NULL,
					    NULL), 0);
	ST_EQ(latency_tracker_whole_in_time(t, 1, 101 * (u64)NSEC_PER_SEC, NULL,
					    NULL),
	      101 * (u64)NSEC_PER_SEC);
	/* The clock has stepped back. */
	ends(t, start_ns + 100 * (u64)NSEC_PER_SEC, false);
	latency_tracker_set_threshold(t, LATENCY_TRACKER_NEVER);
	ends(t, 0, true);
	latency_tracker_set_threshold(t, 0);
	ends(t, start_ns, false);
	latency_tracker_set_threshold(t, LATENCY_TRACKER_NEVER);
	latency_tracker_set_tracking(t, false);
	ends(t, start_ns, false);
	latency_tracker_set_tracking(t, true);
	latency_tracker_set_timeout(t, 1);
	ST_EQ(whole_begin(t), 0);
	latency_tracker_set_timeout(t, 0);
	ST_TRUE(whole_begin(t) >= start_ns);
}

/* An event has nothing of the operation before, which had a threshold of its own. */
static void events_forget(struct latency_tracker *t)
{
	struct latency_tracker_in in = { .threshold_ns = 0 };
	u64 key = 1;
	int i, n = 0;

	latency_tracker_set_threshold(t, LATENCY_TRACKER_NEVER);
	for (i = 0; i < 640; i++) {
		if (!st_in(t, key, LATENCY_TRACKER_THRESHOLD, &in))
			ST_EQ(st_out(t, key), 1);
		if (!latency_tracker_event_in(t, &key, sizeof(key), 0, NULL)) {
			ST_EQ(st_out(t, key), 0);
			n++;
		}
		if (!(i % 16))
			msleep(20);
	}
	/* More than there are: most had another one before. */
	ST_TRUE(n > 64);
}

/* The fuzzer has keys of other lengths, but of other hashes, too. */
static void keys_differ_by_length(struct latency_tracker *t)
{
	u64 key[2] = { 0x1234, 0 };

	/* It begins like the key of 8 bytes and has the same hash, see key.h. */
	key[1] = ror64(key[0] * GOLDEN_RATIO_64, 32) ^ key[0];
	ST_EQ(latency_tracker_event_in(t, key, 16, 0, NULL), 0);
	ST_EQ(latency_tracker_event_out(t, key, 8, 0, NULL, 0), -ENOENT);
	ST_EQ(latency_tracker_event_out(t, key, 16, 0, NULL, 0), 1);
}

static int create_error(const struct latency_tracker_config *config)
{
	struct latency_tracker *tracker = latency_tracker_create(config);

	if (IS_ERR(tracker))
		return PTR_ERR(tracker);
	latency_tracker_destroy(tracker);
	return 0;
}

#define CREATE(err, field, value)					\
	do {								\
		struct latency_tracker_config c = st_config();		\
									\
		c.name = "selftest_args";				\
		c.field = value;					\
		ST_EQ(create_error(&c), err);				\
	} while (0)
#define REFUSED(field, value)	CREATE(-EINVAL, field, value)
#define ACCEPTED(field, value)	CREATE(0, field, value)

static void create_bounds(struct latency_tracker *t)
{
	ST_EQ(create_error(NULL), -EINVAL);
	REFUSED(name, NULL);
	REFUSED(name, "");
	REFUSED(name, "a/b");
	REFUSED(name, ".hidden");
	REFUSED(name, "0123456789012345678901234567890x");
	ACCEPTED(name, "0123456789012345678901234567890");
	ACCEPTED(name, "%s%n");
	REFUSED(callback, NULL);
	REFUSED(max_events, 0);
	REFUSED(max_events, LATENCY_TRACKER_EVENTS_MAX + 1);
	ACCEPTED(max_events, 1);
	REFUSED(grow_limit, LATENCY_TRACKER_EVENTS_MAX + 1);
	REFUSED(key_size, 0);
	REFUSED(key_size, LATENCY_TRACKER_KEY_MAX + 1);
	ACCEPTED(key_size, LATENCY_TRACKER_KEY_MAX);
	ACCEPTED(key_size, 1);
	REFUSED(priv_size, LATENCY_TRACKER_PRIV_MAX + 1);
	ACCEPTED(priv_size, LATENCY_TRACKER_PRIV_MAX);
	REFUSED(record_size, LATENCY_TRACKER_RECORD_MAX + 1);
	ACCEPTED(record_size, LATENCY_TRACKER_RECORD_MAX);
}

static void create_sizes(struct latency_tracker *t)
{
	struct latency_tracker_config config = st_config();
	u64 per_event = st_counts(t).memory / 4096;

	config.name = "selftest_args";
	/* Some 20 GB. */
	config.max_events = LATENCY_TRACKER_EVENTS_MAX;
	config.key_size = LATENCY_TRACKER_KEY_MAX;
	config.priv_size = LATENCY_TRACKER_PRIV_MAX;
	if (si_mem_available() >> (33 - PAGE_SHIFT) == 0)
		ST_EQ(create_error(&config), -ENOMEM);
	/* A limit of 1, not above max_events, is no growth. */
	ST_EQ(st_counts(t).capacity, 4096);
	/* A 16-byte key and 16 private bytes. */
	ST_TRUE(per_event <= 192);
	st_note("%llu bytes per event, table included", per_event);
}

static void create_same_name(struct latency_tracker *t)
{
	struct latency_tracker_config config = st_config();

	ST_EQ(create_error(&config), -EEXIST);
	st_destroy(t);
	/* The name is free again. */
	ST_EQ(create_error(&config), 0);
}

/* Each function with a key gets one that cannot be, or a tracker that is none. */
static void bad_key(struct latency_tracker *t, const u64 *key, u32 len)
{
	struct latency_tracker_in in = { };

	ST_EQ(latency_tracker_event_in(t, key, len, 0, NULL), -EINVAL);
	ST_EQ(latency_tracker_event_out(t, key, len, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_whole(t, key, len, LATENCY_TRACKER_START,
					  &in, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_cancel(t, key, len), -EINVAL);
	ST_TRUE(!latency_tracker_get_event(t, key, len));
	ST_EQ(latency_tracker_for_each_event(t, key, len, st_ignore_event,
					     NULL), -EINVAL);
}

static void bad_keys(struct latency_tracker *t)
{
	static const u32 lens[] = { 0, 17, 255, 256, 65536 + 8, U32_MAX };
	u64 key[2] = { 1, 2 };
	int i;

	/* None is taken for one of these, whose first bytes are the same. */
	ST_EQ(latency_tracker_event_in(t, key, 16, 0, NULL), 0);
	ST_EQ(latency_tracker_event_in(t, key, 8, 0, NULL), 0);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		bad_key(t, key, lens[i]);
	bad_key(t, NULL, 8);
	ST_EQ(latency_tracker_for_each_event(t, key, 8, NULL, NULL), -EINVAL);
	ST_EQ(st_counts(t).started, 2);
	ST_EQ(st_counts(t).pending, 2);
	ST_EQ(st_counts(t).unmatched, 0);
}

/* All that takes a tracker gets @bad, which is none. */
static void without_tracker(struct latency_tracker *bad,
			    struct latency_tracker_event *event)
{
	struct latency_tracker_counts counts;
	u64 key = 1;

	bad_key(bad, &key, 8);
	ST_EQ(latency_tracker_event_end(bad, event, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_put_event(bad, event), -EINVAL);
	ST_EQ(latency_tracker_put_event(bad, NULL), 0);
	ST_TRUE(!latency_tracker_data(bad));
	ST_EQ(latency_tracker_set_threshold(bad, 1), -EINVAL);
	ST_EQ(latency_tracker_get_threshold(bad), LATENCY_TRACKER_NEVER);
	ST_EQ(latency_tracker_set_own_least(bad, 1), -EINVAL);
	ST_EQ(latency_tracker_set_timeout(bad, 1), -EINVAL);
	ST_EQ(latency_tracker_get_timeout(bad), 0);
	ST_EQ(latency_tracker_set_collect(bad, 1), -EINVAL);
	ST_EQ(latency_tracker_set_tracking(bad, false), -EINVAL);
	ST_EQ(latency_tracker_report_pending(bad, 0, 0), -EINVAL);
	latency_tracker_clear(bad);
	memset(&counts, 0xff, sizeof(counts));
	latency_tracker_snapshot(bad, &counts);
	ST_TRUE(!memchr_inv(&counts, 0, sizeof(counts)));
	latency_tracker_snapshot(bad, NULL);
	latency_tracker_destroy(bad);
}

static void no_tracker(struct latency_tracker *t)
{
	struct latency_tracker_event *event;
	u64 key = 1;

	ST_EQ(st_in(t, key, 0, NULL), 0);
	event = latency_tracker_get_event(t, &key, 8);
	without_tracker(NULL, event);
	without_tracker(ERR_PTR(-ENOMEM), event);
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(st_out(t, key), 0);
	latency_tracker_snapshot(t, NULL);

	ST_TRUE(!latency_tracker_hold_event(NULL));
	ST_EQ(latency_tracker_put_event(t, NULL), 0);
	ST_EQ(latency_tracker_event_end(t, NULL, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_start(NULL), 0);
	ST_TRUE(!latency_tracker_event_key(NULL));
	ST_TRUE(!latency_tracker_event_priv(NULL));
}

static const struct latency_tracker_in good;
static const struct latency_tracker_in no_bytes = { .priv_len = 1 };
static const struct latency_tracker_in too_long = {
	.priv = &no_bytes, .priv_len = sizeof(struct st_priv) + 1,
};

static const struct {
	u32 flags;
	const struct latency_tracker_in *in;
	bool whole;
} bad_begins[] = {
	{ BIT(5), &good }, { BIT(5) }, { BIT(31), &good }, { BIT(31) },
	{ LATENCY_TRACKER_DUPLICATE | LATENCY_TRACKER_KEEP, &good },
	{ LATENCY_TRACKER_DUPLICATE | LATENCY_TRACKER_KEEP },
	{ LATENCY_TRACKER_THRESHOLD }, { LATENCY_TRACKER_TIMEOUT },
	{ LATENCY_TRACKER_START }, { 0, &no_bytes }, { 0, &too_long },
	{ 0, &good, true }, { LATENCY_TRACKER_START, NULL, true },
	{ LATENCY_TRACKER_START | LATENCY_TRACKER_DUPLICATE, &good, true },
	{ LATENCY_TRACKER_START, &too_long, true },
};

static void begins(struct latency_tracker *t)
{
	u64 key = 1;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(bad_begins); i++) {
		if (bad_begins[i].whole)
			ret = latency_tracker_event_whole(t, &key, 8,
							  bad_begins[i].flags,
							  bad_begins[i].in, 0,
							  NULL, 0);
		else
			ret = st_in(t, key, bad_begins[i].flags,
				    bad_begins[i].in);
		if (ret != -EINVAL)
			st_note("bad_begins[%d]", i);
		ST_EQ(ret, -EINVAL);
	}
	ST_EQ(st_counts(t).started, 0);
}

/* Begin events until one is refused; returns how many there were. */
static int fill(struct latency_tracker *t, u64 first)
{
	int n = 0, err = 0;

	while (n < 1000 && !err) {
		err = st_in(t, first + n, 0, NULL);
		n += !err;
	}
	ST_EQ(err, -ENOBUFS);
	return n;
}

static void dry(struct latency_tracker *t)
{
	int round, got, i, tries, skipped = 0;

	for (round = 0; round < 8; round++) {
		got = fill(t, 1000 * round);
		skipped++;
		/* Retired events are back a grace period later, 5 s at most. */
		for (tries = 0; got < 100 && tries < 50; tries++) {
			msleep(100);
			got += fill(t, 1000 * round + got);
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
	}
	ST_EQ(st_counts(t).capacity, 100);
	st_note("100 asked for, %d had, %d skipped", got, skipped);
}

static void duplicates(struct latency_tracker *t)
{
	struct st_priv priv = { };
	struct latency_tracker_in in = { .priv = &priv, .priv_len = sizeof(priv) };
	int i;

	for (i = 0; i < LATENCY_TRACKER_DUPLICATES_MAX; i++) {
		priv.a = i;
		ST_EQ(st_in(t, 7, LATENCY_TRACKER_DUPLICATE, &in), 0);
	}
	ST_EQ(st_in(t, 7, LATENCY_TRACKER_DUPLICATE, &in), -EEXIST);
	ST_EQ(st_counts(t).kept, 1);
	/* The oldest first. */
	for (i = 0; i < LATENCY_TRACKER_DUPLICATES_MAX; i++) {
		ST_EQ(st_out(t, 7), 1);
		ST_EQ(st_log.seen[i].priv.a, i);
	}
	ST_EQ(st_out(t, 7), -ENOENT);
	/* Else one replaces the other. */
	ST_EQ(st_in(t, 7, 0, NULL), 0);
	ST_EQ(st_in(t, 7, 0, NULL), 0);
	ST_EQ(st_counts(t).replaced, 1);
	ST_EQ(st_out(t, 7), 1);
	ST_EQ(st_out(t, 7), -ENOENT);
}

/* The pool is empty, and neither begins nor ends of keys that have a slot want any of it. */
static void slots(struct latency_tracker *t)
{
	int n = fill(t, 0), i, round;
	u64 key = n / 2;

	ST_TRUE(n >= 100);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < n; i++)
			ST_EQ(st_out(t, i), 0);
		ST_EQ(st_out(t, 0), -ENOENT);
		ST_EQ(st_counts(t).pending, 0);
		ST_EQ(st_in(t, n, 0, NULL), -ENOBUFS);
		for (i = 0; i < n; i++)
			ST_EQ(st_in(t, i, 0, NULL), 0);
		ST_EQ(st_counts(t).pending, n);
	}
	ST_EQ(st_counts(t).skipped, round + 1);
	/* A key is gone: a grace period later, 5 s at most, another one finds its event. */
	ST_EQ(latency_tracker_slot_free(t, key), 0);
	ST_EQ(latency_tracker_slot_free(t, key), -ENOENT);
	ST_EQ(st_out(t, key), -ENOENT);
	ST_EQ(st_counts(t).cleared, 1);
	for (i = 0; i < 50 && st_in(t, n, 0, NULL); i++)
		msleep(100);
	ST_EQ(st_out(t, n), 0);
	st_note("%d keys", n);
}

/* An event that is held is of one operation, whatever becomes of the slot. */
static void held_slot(struct latency_tracker *t)
{
	struct st_priv first = { .a = 1 }, second = { .a = 2 };
	struct latency_tracker_in in = { .priv = &first, .priv_len = 8 };
	struct latency_tracker_event *held, *other;
	u64 key = 5;

	ST_EQ(st_in(t, key, 0, &in), 0);
	held = latency_tracker_get_event(t, &key, sizeof(key));
	ST_EQ(st_out(t, key), 1);
	ST_TRUE(!latency_tracker_get_event(t, &key, sizeof(key)));
	in.priv = &second;
	ST_EQ(st_in(t, key, 0, &in), 0);
	ST_EQ(*(u64 *)latency_tracker_event_priv(held), 1);
	ST_EQ(latency_tracker_event_end(t, held, 0, NULL, 0), -ENOENT);
	other = latency_tracker_get_event(t, &key, sizeof(key));
	ST_TRUE(other && other != held);
	ST_EQ(*(u64 *)latency_tracker_event_priv(other), 2);
	ST_EQ(latency_tracker_put_event(t, held), 0);
	ST_EQ(latency_tracker_event_end(t, other, 0, NULL, 0), 1);
	ST_EQ(latency_tracker_put_event(t, other), 0);
	/* That was all: what is left is the table's. */
	ST_EQ(latency_tracker_put_event(t, other), -EINVAL);
	ST_EQ(st_calls(), 2);
}

const struct st_case st_api[] = {
	{ "the callback is told the facts", verdict_facts },
	{ "times at the edges, of a begin and an end or of both in one",
	  times_at_the_edges },
	{ "one clock, that of the kernel", one_clock },
	{ "a begin and an end without an event", whole_in_two_calls },
	{ "an event has nothing of the operation before", events_forget },
	{ "keys of the same hash and another length", keys_differ_by_length },
	{ "create refuses what is out of bounds", create_bounds },
	{ "create refuses absurd sizes; memory per event", create_sizes,
	  .config.max_events = 4096, .config.grow_limit = 1 },
	{ "create refuses a name that is taken", create_same_name },
	{ "all calls refuse what is no tracker or no event", no_tracker, ST_SILENT },
	{ "all calls refuse keys of impossible length", bad_keys },
	{ "begins refuse what makes no sense", begins },
	{ "a dry pool skips and counts, and comes back",
	  dry, ST_SILENT, .config.max_events = 100 },
	{ "a key has several events if that is asked for, but not too many",
	  duplicates, .config.max_events = 100 },
	{ "slots: a key keeps its event, however dry the pool is",
	  slots, ST_SILENT, .config.max_events = 100, .config.slots = true },
	{ "slots: a held event stays what it was", held_slot, .config.slots = true },
	{ }
};
