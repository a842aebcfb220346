// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of the tracker: the input is a sequence of calls of the API, with a
 * clock that moves only as the input says. A model says what each call and each
 * callback must tell, and what the counters must show.
 */
#include "calls.h"

#define MAX_OPS		256

enum code {
	BEGIN, END, END_EVENT, CANCEL, GET, PUT, FOR_EACH, BAD_PUT,
	SET_THRESHOLD, SET_TIMEOUT, SET_COLLECT, SET_TRACKING, CLEAR,
	CLOCK_ON, CLOCK_BACK, WORKER, GRACE_PERIOD, NEXT_CPU, UNWATCHED,
	BAD_ARGS, NO_MEMORY, SETTLE, DRAIN, WHOLE,
	CODES
};

static const char * const names[CODES] = {
	"begin", "end", "end_event", "cancel", "get", "put", "for_each",
	"bad_put", "set_threshold", "set_timeout", "set_collect",
	"set_tracking", "clear", "clock_on", "clock_back", "worker",
	"grace_period", "next_cpu", "unwatched", "bad_args", "no_memory",
	"settle", "drain", "whole",
};

static u64 back_ns;		/* by how much the clock went back, in all */

/* ---- time ---- */

/* So many scans: 32 events each, at most one in a millisecond. */
static void settle(void)
{
	u64 now_ns = fuzz_clock;
	unsigned int i;

	for (i = 0; i < 4 + nr_events / 16; i++) {
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
static void drain(void)
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
	EXPECT(out == nr_events, "%u events are out instead of %u", out,
	       nr_events);
}

/* ---- the sequence ---- */

static void set_value(u8 code)
{
	u64 value = span();

	if (code == SET_THRESHOLD) {
		latency_tracker_set_threshold(tracker, value);
		threshold_ns = value;
		EXPECT(latency_tracker_get_threshold(tracker) == value, "get");
	} else if (code == SET_TIMEOUT) {
		latency_tracker_set_timeout(tracker, value);
		timeout_ns = value;
		EXPECT(latency_tracker_get_timeout(tracker) == value, "get");
	} else {
		latency_tracker_set_collect(tracker, value);
		collect_ns = value;
	}
}

static void move_clock(u8 code, u8 arg)
{
	if (code == CLOCK_BACK) {
		fuzz_clock -= arg % 100;
		back_ns += arg % 100;
	} else {
		/* At most some seconds: a clock does not wrap. */
		fuzz_clock += spans_ns[arg % 8];
	}
}

static void one_op(void)
{
	u8 code = fuzz_byte(input) % CODES, arg = fuzz_byte(input), key = arg & 7;

	trace("%s %u at %llu\n", names[code], arg,
	      (unsigned long long)fuzz_clock);
	callback_does = code == BEGIN ? 0 : arg & ~7;
	if (callback_does & 0x10)
		callback_does = (callback_does >> 3 & 3) | (arg & 0xe0);
	else
		callback_does = 0;
	switch (code) {
	case BEGIN:
		do_begin(arg >> 3, key);
		break;
	case END:
		do_end(first_of(key), key, true);
		break;
	case END_EVENT:
		if (held(arg))
			do_end(held(arg), 0, false);
		break;
	case CANCEL:
		do_cancel(key);
		break;
	case GET:
		do_get(key);
		break;
	case PUT:
		if (held(arg))
			do_put(held(arg));
		break;
	case FOR_EACH:
		do_for_each(key, arg >> 3);
		break;
	case BAD_PUT:
		do_bad_put(key);
		break;
	case SET_THRESHOLD:
	case SET_TIMEOUT:
	case SET_COLLECT:
		set_value(code);
		break;
	case SET_TRACKING:
		do_set_tracking(arg & 3);
		break;
	case CLEAR:
		latency_tracker_clear(tracker);
		do_clear_all();
		break;
	case CLOCK_ON:
	case CLOCK_BACK:
		move_clock(code, arg);
		break;
	case WORKER:
		fuzz_worker_run();
		break;
	case GRACE_PERIOD:
		fuzz_grace_period();
		break;
	case NEXT_CPU:
		fuzz_cpu = (fuzz_cpu + 1) % FUZZ_CPUS;
		break;
	case UNWATCHED:
		do_unwatched(key);
		break;
	case BAD_ARGS:
		do_bad_args();
		break;
	case NO_MEMORY:
		host_alloc_left = arg % 3;
		fuzz_worker_run();
		host_alloc_left = -1;
		break;
	case SETTLE:
		settle();
		break;
	case DRAIN:
		drain();
		break;
	case WHOLE:
		do_whole(key, arg >> 3);
		break;
	}
	sweep();
	check_counters();
}

static bool create(void)
{
	struct latency_tracker_config c = {
		.name = "fuzz",
		.callback = callback,
		.data = &tracker,
		.key_size = KEY_SIZE,
		.priv_size = PRIV_SIZE - 3,	/* rounded up */
	};
	u8 byte = fuzz_byte(input);
	bool fails = byte & 0x80;

	c.max_events = 1 + byte % 64;
	byte = fuzz_byte(input);
	c.grow_limit = byte;
	max_capacity = max(c.max_events, c.grow_limit);
	c.threshold_ns = threshold_ns = span();
	c.timeout_ns = timeout_ns = span();
	c.collect_ns = collect_ns = span();
	if (fails)
		host_alloc_left = byte % 10;
	tracker = latency_tracker_create(&c);
	EXPECT(fails || !IS_ERR(tracker), "create: %ld", PTR_ERR(tracker));
	host_alloc_left = -1;
	if (IS_ERR(tracker)) {
		EXPECT(!host_allocated, "%ld allocations are left",
		       host_allocated);
		return false;
	}
	EXPECT(latency_tracker_data(tracker) == &tracker, "data");
	return true;
}

/* The destruction waits for those who hold events. */
void msleep(unsigned int ms)
{
	struct model_event *e = held(0);

	EXPECT(e, "destroy waits for nobody");
	do_put(e);
	fuzz_clock += ms * NSEC_PER_MSEC;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_input in = { .data = data, .left = size };
	unsigned int ops = 0;

	fuzz_reset();
	fuzz_clock = 1ULL << 32;
	reset_calls(&in);
	nr_events = 0;
	tracking = true;
	back_ns = 0;
	want = (struct latency_tracker_counts){ };
	if (!create())
		return 0;
	while (in.left && ops++ < MAX_OPS)
		one_op();
	drain();
	check_counters();
	calls = 0;
	latency_tracker_destroy(tracker);
	EXPECT(!calls, "a callback in destroy");
	EXPECT(!host_allocated, "%ld allocations are left", host_allocated);
	return 0;
}
