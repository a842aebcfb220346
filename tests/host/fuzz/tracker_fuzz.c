// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of the tracker: the input is a sequence of calls of the API, with a
 * clock that moves only as the input says. A model says what each call and each
 * callback must tell, and what the counters must show.
 */
#include "model.h"

static bool only_records;	/* most operations are reports and reads of them */
static u64 back_ns;		/* by how much the clock went back, in all */
static bool has_groups;

#define SETTLE_MS	10

/* ---- time ---- */

/* Two scans, one to finish, and what the worker may rest: nothing is later than that. */
static void settle(u8 arg)
{
	u64 now_ns = fuzz_clock;
	unsigned int i;

	for (i = 0; i < SETTLE_MS; i++) {
		fuzz_clock += 1000001;
		fuzz_worker_run();
	}
	for (i = 0; i < nr_events; i++) {
		struct model_event *e = &events[i];

		if (!e->pending || now_ns < back_ns)
			continue;
		EXPECT(!is_due(e, collect_ns, now_ns - back_ns),
		       "event %u was not collected", e->id);
		EXPECT(e->timed_out || !is_due(e, timeout_of(e), now_ns - back_ns),
		       "event %u did not time out", e->id);
	}
}

/* Whatever is neither pending nor held is at home after some quiet seconds. */
static void drain(u8 arg)
{
	unsigned int quiet, before, out;

	for (quiet = 0; quiet < 3; quiet = calls == before ? quiet + 1 : 0) {
		before = calls;
		fuzz_clock += 1100000000;
		fuzz_worker_run();
		fuzz_grace_period();
		fuzz_worker_run();
	}
	sweep();
	out = tracker->pool.total - lt_pool_count_free(&tracker->pool);
	EXPECT(out == nr_out(), "%u events are out instead of %u", out, nr_out());
}

/* ---- the sequence ---- */

static void set_threshold(u8 arg)
{
	least_ns = span();
	latency_tracker_set_threshold(tracker, least_ns);
	sync_threshold();
}

static void set_own(u8 arg)
{
	own_ns = span();
	own_keys = arg & 0x80 ? 0 : arg;
	EXPECT_EQ(latency_tracker_set_own_least(tracker, own_keys ? own_ns :
							 LATENCY_TRACKER_NEVER), 0);
	sync_threshold();
	look_who_is_late();
}

static void set_timeout(u8 arg)
{
	timeout_ns = span();
	latency_tracker_set_timeout(tracker, timeout_ns);
	EXPECT(latency_tracker_get_timeout(tracker) == timeout_ns, "get");
}

/* What few inputs do by themselves: an event that is due before the scan that is planned. */
static void due_early(u8 arg)
{
	settle(arg);
	/* Or the event that this may take is still that of one that is over. */
	sweep();
	do_begin(LATENCY_TRACKER_TIMEOUT << 3 | (arg & 7));
	settle(arg);
	sweep();
	settle(arg);
}

static void set_collect(u8 arg)
{
	collect_ns = span();
	latency_tracker_set_collect(tracker, collect_ns);
}

static void set_profile(u8 arg)
{
	int ret;

	if (!has_profile)
		return;
	check_profile();
	ret = latency_tracker_set_profile(tracker, arg & 1);
	if (!ret)
		profiling = arg & 1;
}

static void set_groups(u8 arg)
{
	int ret;

	if (!has_groups)
		return;
	check_groups();
	/* All but the last allocations, those of cells, which are not missed, work. */
	if (!tracker->groups.past)
		begin_groups();
	if (arg & 2 && !tracker->groups.past)
		groups_are_vague(HOST_GROUPS_ALLOCS + (arg >> 2) % 4 - 2);
	ret = latency_tracker_set_groups(tracker, arg & 1);
	host_alloc_left = -1;
	if (!ret)
		grouping = arg & 1;
	EXPECT_EQ(latency_tracker_get_groups(tracker), grouping);
}

/* What one input in a thousand does by itself: operations of few groups, and time. */
static void groups_life(u8 arg)
{
	unsigned int n;

	if (has_groups && !tracker->groups.past)
		set_groups(arg | 1);
	for (n = 0; has_groups && n < 4; n++) {
		do_whole(arg & 1);
		do_whole(2);
		/* In the third round a group may go, and a step begin. */
		groups_ticks(n == 2 ? arg : 0);
	}
}

static void set_per_minute(u8 arg)
{
	u32 wanted = arg & 0x80 ? 0 : arg;
	int ret;

	if (!has_profile)
		return;
	ret = latency_tracker_set_per_minute(tracker, wanted);
	if (!ret)
		per_minute = wanted;
	else
		EXPECT(wanted && ret == -ENOMEM, "%d", ret);
	sync_threshold();
}

/* What few inputs do by themselves: the threshold finds itself, and is that of the user again. */
static void per_minute_life(u8 arg)
{
	unsigned int n;

	set_profile(1);
	set_per_minute(1 + arg % 64);
	for (n = 0; n < 4; n++)
		do_whole(arg & 7);
	profile_ticks(0);
	set_per_minute(0x80);
}

/* At most some seconds: a clock does not wrap. */
static void clock_on(u8 arg)
{
	fuzz_clock += spans_ns[arg % 8];
}

static void clock_back(u8 arg)
{
	fuzz_clock -= arg % 100;
	back_ns += arg % 100;
}

static void run_worker(u8 arg)
{
	/* Now and then it loses its CPU for three seconds. */
	fuzz_starve_ns = arg & 1 ? spans_ns[7] : 0;
	fuzz_worker_run();
	/* In the middle of a scan, where a request is easily lost. */
	if (tracker->scan.is_under_way && arg & 2) {
		set_timeout(arg);
		settle(arg);
	}
}

static void run_grace_period(u8 arg)
{
	fuzz_grace_period();
}

static void no_memory(u8 arg)
{
	host_alloc_left = arg % 3;
	fuzz_worker_run();
	host_alloc_left = -1;
}

static const struct {
	const char *name;
	void (*run)(u8 arg);
} codes[] = {
	{ "begin", do_begin },
	{ "end", do_end },
	{ "end_event", do_end_event },
	{ "cancel", do_cancel },
	{ "get", do_get },
	{ "put", do_put },
	{ "for_each", do_for_each },
	{ "bad_put", do_bad_put },
	{ "set_threshold", set_threshold },
	{ "set_timeout", set_timeout },
	{ "set_collect", set_collect },
	{ "set_tracking", do_set_tracking },
	{ "clear", do_clear },
	{ "clock_on", clock_on },
	{ "clock_back", clock_back },
	{ "worker", run_worker },
	{ "grace_period", run_grace_period },
	{ "next_cpu", fuzz_next_cpu },
	{ "unwatched", do_unwatched },
	{ "bad_args", do_bad_args },
	{ "no_memory", no_memory },
	{ "settle", settle },
	{ "due_early", due_early },
	{ "drain", drain },
	{ "whole", do_whole },
	{ "profile", set_profile },
	{ "profile_ticks", profile_ticks },
	{ "per_minute", set_per_minute },
	{ "per_minute_life", per_minute_life },
	{ "slot_begin", do_slot_begin },
	{ "slot_end", do_slot_end },
	{ "slot_free", do_slot_free },
	{ "own", set_own },
	{ "ask", do_ask },
	{ "waits", do_waits },
	{ "groups", set_groups },
	{ "groups_ticks", groups_ticks },
	{ "groups_life", groups_life },
	{ "reports", do_reports },
	{ "stalled", do_stalled },
	{ "later", do_later },
	{ "check_reports", check_reports },
};

/* FUZZ_MODE is groups or records, or nothing: then there are neither. */
static bool wants(const char *mode)
{
	const char *is = getenv("FUZZ_MODE");

	return is && !strcmp(is, mode);
}

/* The last ones, for groups, then for records: others need not look for what they are. */
#define FOR_GROUPS	3
#define FOR_RECORDS	4

void fuzz_op(void)
{
	unsigned int nr = ARRAY_SIZE(codes) - (has_groups ? FOR_RECORDS :
					       wants("records") ? 0 : FOR_GROUPS + FOR_RECORDS);
	u8 code = fuzz_byte() % nr, arg = fuzz_byte();

	/* The last ones. */
	if (only_records && code >= 4)
		code = ARRAY_SIZE(codes) - 4 + code % 4;
	trace("%s %u at %llu\n", codes[code].name, arg, (unsigned long long)fuzz_clock);
	callback_does = 0;
	if (codes[code].run != do_begin && arg & 0x10)
		callback_does = (arg >> 3 & 3) | (arg & 0xe0);
	codes[code].run(arg);
	sweep();
	check_counters();
}

bool fuzz_begin(void)
{
	struct latency_tracker_config c = {
		.name = "fuzz",
		.callback = callback,
		.own_threshold = own_threshold,
		.waited = waited,
		.data = &tracker,
		.key_size = KEY_SIZE,
		.priv_size = PRIV_SIZE - 3,	/* rounded up */
	};
	u8 byte = fuzz_byte();
	bool fails = byte & 0x80;

	next_id = 1;
	callback_does = 0;
	nr_events = 0;
	tracking = true;
	back_ns = 0;
	want = (struct latency_tracker_counts){ };
	c.max_events = 1 + byte % 64;
	c.slots = slots = byte & 0x40;
	if (slots)
		c.key_size = sizeof(u64);
	forget_slots();
	forget_delays();
	forget_groups();
	forget_reports();
	forget_waits();
	byte = fuzz_byte();
	/* It takes five times as long. */
	has_profile = wants("records") || (!wants("groups") && byte % 8 == 7);
	c.profile = profiling = has_profile && byte & 8;
	has_groups = wants("groups");
	if (has_groups)
		c.grouping = &fuzz_grouping;
	c.groups = grouping = has_groups && byte & 8;
	only_records = wants("records") && byte & 0x30;
	c.record_size = has_profile ? size_of_record() : 0;
	byte = fuzz_byte();
	c.grow_limit = byte;
	max_capacity = max(c.max_events, c.grow_limit);
	c.threshold_ns = threshold_ns = least_ns = span();
	per_minute = 0;
	own_keys = 0;
	c.timeout_ns = timeout_ns = span();
	c.collect_ns = collect_ns = span();
	if (fails)
		host_alloc_left = byte % 16;
	tracker = latency_tracker_create(&c);
	host_alloc_left = -1;
	if (IS_ERR(tracker)) {
		EXPECT(fails && (PTR_ERR(tracker) == -ENOMEM || PTR_ERR(tracker) == -EEXIST),
		       "create: %ld", PTR_ERR(tracker));
		EXPECT_EQ(host_allocated, 0);
		return false;
	}
	EXPECT(latency_tracker_data(tracker) == &tracker, "data");
	return true;
}

/* The destruction waits until no event is held. */
void msleep(unsigned int ms)
{
	EXPECT(held(0), "destroy waits, and no event is held");
	do_put(0);
	fuzz_clock += ms * NSEC_PER_MSEC;
}

void fuzz_end(void)
{
	drain(0);
	check_counters();
	check_waits();
	if (has_profile) {
		profile_ticks(0);
		check_profile();
		check_all_reports();
	}
	if (has_groups)
		groups_ticks(0);
	calls = 0;
	latency_tracker_destroy(tracker);
	forget_waits();
	EXPECT(!calls, "a callback in destroy");
}
