// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of the tracker: the input is a sequence of calls of the API, with a
 * clock that moves only as the input says. A list of the events that should be
 * there says what each call and each callback must tell, and what the counters
 * must show.
 */
#include "core/tracker.h"
#include "shim.h"

#define MAX_OPS		256
#define MAX_EVENTS	640
#define KEY_SIZE	16
#define PRIV_SIZE	16

struct model_event {
	struct latency_tracker_event *event;
	unsigned int id;
	unsigned int key;
	u32 flags;
	u32 priv_len;
	u64 start_ns;
	u64 threshold_ns;
	u64 timeout_ns;
	bool other_callback;
	bool pending;
	bool timed_out;
	unsigned int holds;
};

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

static const u8 key_len[] = { 1, 4, 7, 8, 8, 9, 15, 16 };
static const u64 spans_ns[] = {
	0, 1, 5, 1000, 999999, 1000000, 20000000, 3000000000ULL,
	1ULL << 63, U64_MAX,
};

static struct latency_tracker *tracker;
static struct fuzz_input *input;
static struct latency_tracker_counts want;
static struct model_event events[MAX_EVENTS];
static unsigned int nr_events;	/* in the order of the table */
static unsigned int next_id;
static bool tracking;
static u64 threshold_ns, timeout_ns, collect_ns;
static u64 back_ns;		/* by how much the clock went back, in all */
static u32 max_capacity;

/* The callback of an end that is expected; the event is a new one of event_whole(). */
static struct model_event *ending;
static bool ending_whole;
static u64 ending_ns;
static u32 ending_id;
static unsigned int calls;
static u8 callback_does;

/* ---- the model ---- */

static u64 add_ns(u64 a, u64 b)
{
	return a + b < a ? U64_MAX : a + b;
}

static const void *key_of(unsigned int key)
{
	static u8 buf[KEY_SIZE + 1];
	unsigned int i;

	/* Keys of the same bytes, but another length, are other keys. */
	for (i = 0; i < KEY_SIZE; i++)
		buf[i + 1] = key == 4 ? 0x44 : i;
	return buf + 1;		/* not aligned */
}

static u8 priv_byte(const struct model_event *e, unsigned int i)
{
	return i < e->priv_len ? e->id * 31 + i + 1 : 0;
}

static struct model_event *first_of(unsigned int key)
{
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		if (events[i].pending && events[i].key == key)
			return &events[i];
	return NULL;
}

static struct model_event *held(unsigned int n)
{
	unsigned int i, nr = 0;

	for (i = 0; i < nr_events; i++)
		nr += !!events[i].holds;
	if (!nr)
		return NULL;
	n %= nr;
	for (i = 0; !events[i].holds || n--; i++)
		;
	return &events[i];
}

static struct model_event *model_of(const struct latency_tracker_event *event)
{
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		if (events[i].event == event)
			return &events[i];
	return NULL;
}

/* Forget what is neither in the table nor held. */
static void sweep(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_events; i++)
		if (events[i].pending || events[i].holds)
			events[n++] = events[i];
	nr_events = n;
}

static u64 threshold_of(const struct model_event *e)
{
	return e->flags & LATENCY_TRACKER_THRESHOLD ? e->threshold_ns :
						      threshold_ns;
}

static u64 timeout_of(const struct model_event *e)
{
	return e->flags & LATENCY_TRACKER_TIMEOUT ? e->timeout_ns : timeout_ns;
}

static u64 delay_of(const struct model_event *e, u64 now_ns)
{
	return now_ns < e->start_ns ? 0 : now_ns - e->start_ns;
}

static bool is_due(const struct model_event *e, u64 span_ns, u64 now_ns)
{
	return span_ns && add_ns(e->start_ns, span_ns) <= now_ns;
}

static void forget(struct model_event *e)
{
	e->pending = false;
	want.cleared++;
}

/* ---- callbacks ---- */

static void begin(u32 flags, unsigned int key);

static void check_event(const struct model_event *e)
{
	const u8 *priv = latency_tracker_event_priv(e->event);
	unsigned int i;

	EXPECT(!memcmp(latency_tracker_event_key(e->event), key_of(e->key),
		       key_len[e->key]), "event %u: another key", e->id);
	EXPECT(latency_tracker_event_start(e->event) == e->start_ns,
	       "event %u: another begin", e->id);
	for (i = 0; i < PRIV_SIZE; i++)
		EXPECT(priv[i] == priv_byte(e, i), "event %u: priv[%u] is %u",
		       e->id, i, priv[i]);
}

static void check_worker_verdict(const struct latency_tracker_verdict *v,
				 struct model_event *e)
{
	EXPECT(e->pending, "event %u is over", e->id);
	EXPECT(!v->out_data && !v->out_id, "an end where there is none");
	EXPECT(v->now_ns == fuzz_clock, "another moment");
	if (v->flag == LATENCY_TRACKER_COLLECTED) {
		EXPECT(is_due(e, collect_ns, fuzz_clock), "collected too early");
		e->pending = false;
		want.collected++;
	} else {
		EXPECT(v->flag == LATENCY_TRACKER_PENDING, "flag %d", v->flag);
		EXPECT(!e->timed_out, "event %u timed out twice", e->id);
		EXPECT(is_due(e, timeout_of(e), fuzz_clock), "timeout too early");
		e->timed_out = true;
		want.timeouts++;
	}
}

static void act_in_callback(struct model_event *e)
{
	u8 what = callback_does;

	callback_does = 0;
	if (what & 1) {
		EXPECT(latency_tracker_hold_event(e->event), "no hold");
		e->holds++;
	} else if (what & 2 && nr_events < MAX_EVENTS) {
		begin(0, what >> 5);
	}
}

static void on_verdict(const struct latency_tracker_verdict *v, bool other)
{
	struct model_event *e = model_of(v->event);

	trace("  callback, flag %d\n", v->flag);
	calls++;
	if (ending_whole) {
		EXPECT(!e, "the event is somebody's");
		e = ending;
		e->event = v->event;
	}
	EXPECT(e, "a verdict on an unknown event");
	EXPECT(e->other_callback == other, "the callback of another event");
	EXPECT(v->tracker == tracker, "another tracker");
	EXPECT(v->key_len == key_len[e->key], "another length of the key");
	EXPECT(v->key == latency_tracker_event_key(e->event) &&
	       v->priv == latency_tracker_event_priv(e->event),
	       "another key or private data");
	EXPECT(v->start_ns == e->start_ns, "another begin");
	EXPECT(v->delay_ns == delay_of(e, v->now_ns), "delay %llu",
	       (unsigned long long)v->delay_ns);
	EXPECT(v->threshold_ns == threshold_of(e), "another threshold");
	check_event(e);
	if (ending) {
		EXPECT(e == ending, "the end of another event");
		EXPECT(v->flag == LATENCY_TRACKER_ENDED, "flag %d", v->flag);
		EXPECT(v->now_ns == ending_ns && v->out_id == ending_id &&
		       v->out_data == &ending, "another end");
	} else {
		check_worker_verdict(v, e);
	}
	EXPECT(v->timed_out == e->timed_out, "timed_out is %d", v->timed_out);
	act_in_callback(e);
}

static void callback(const struct latency_tracker_verdict *v)
{
	on_verdict(v, false);
}

static void other_callback(const struct latency_tracker_verdict *v)
{
	on_verdict(v, true);
}

/* ---- calls ---- */

struct visit {
	struct latency_tracker_event *event[MAX_EVENTS];
	unsigned int nr;
	unsigned int max;
};

static bool visit(struct latency_tracker_event *event, void *arg)
{
	struct visit *v = arg;

	EXPECT(v->nr < MAX_EVENTS, "no end of events");
	v->event[v->nr++] = event;
	return v->nr != v->max;
}

static void look_at(unsigned int key, struct visit *v, unsigned int max)
{
	int ret;

	v->nr = 0;
	v->max = max;
	ret = latency_tracker_for_each_event(tracker, key_of(key), key_len[key],
					     visit, v);
	EXPECT(ret == (int)v->nr, "%d visited instead of %u", ret, v->nr);
}

/* A begin that got an event; @at: in the place of which. */
static void began(struct model_event *e, struct model_event *at)
{
	static struct visit v;
	unsigned int n = 0;
	struct model_event *i;

	look_at(e->key, &v, 0);
	EXPECT(v.nr, "what began is not there");
	if (at) {
		for (i = events; i != at; i++)
			n += i->pending && i->key == e->key;
		EXPECT(n < v.nr, "what began is not in its place");
		e->event = v.event[n];
		forget(at);
		want.replaced++;
		if (at->holds) {	/* still ours: keep it, elsewhere */
			EXPECT(nr_events < MAX_EVENTS, "full");
			events[nr_events++] = *at;
		}
		*at = *e;
	} else {
		e->event = v.event[v.nr - 1];
		events[nr_events++] = *e;
	}
	check_event(e);
	want.started++;
}

static void no_event_free(const struct model_event *e)
{
	struct model_event *old = first_of(e->key);
	u32 out = tracker->pool.total - lt_pool_count_free(&tracker->pool);

	EXPECT(out >= tracker->pool.capacity, "skipped with %u of %u out", out,
	       tracker->pool.capacity);
	want.skipped++;
	if (e->flags & LATENCY_TRACKER_UNIQUE && old) {
		forget(old);
		want.replaced++;
	}
}

static u64 span(void)
{
	return spans_ns[fuzz_byte(input) % ARRAY_SIZE(spans_ns)];
}

static void fill(struct model_event *e, struct latency_tracker_in *in, u8 *priv)
{
	unsigned int i;
	u8 byte;

	e->start_ns = fuzz_clock;
	if (e->flags & LATENCY_TRACKER_THRESHOLD)
		e->threshold_ns = span();
	if (e->flags & LATENCY_TRACKER_TIMEOUT)
		e->timeout_ns = span();
	if (e->flags & LATENCY_TRACKER_START) {
		byte = fuzz_byte(input);
		e->start_ns = byte & 0x80 ? add_ns(fuzz_clock, span()) :
					    fuzz_clock - span();
	}
	byte = fuzz_byte(input);
	e->other_callback = byte & 0x80;
	e->priv_len = (byte & 0x7f) % (PRIV_SIZE + 1);
	for (i = 0; i < e->priv_len; i++)
		priv[i] = priv_byte(e, i);
	in->priv = priv;
	in->priv_len = e->priv_len;
	in->callback = e->other_callback ? other_callback : NULL;
	in->start_ns = e->start_ns;
	in->threshold_ns = e->threshold_ns;
	in->timeout_ns = e->timeout_ns;
}

static void begin(u32 flags, unsigned int key)
{
	struct model_event e = { .id = next_id++, .key = key, .flags = flags };
	struct latency_tracker_in in = { };
	struct model_event *old = first_of(key);
	bool pass = flags || fuzz_byte(input) & 1;
	u8 priv[PRIV_SIZE];
	int ret;

	e.pending = true;
	e.start_ns = fuzz_clock;
	if (pass)
		fill(&e, &in, priv);
	ret = latency_tracker_event_in(tracker, key_of(key), key_len[key],
				       flags, pass ? &in : NULL);
	trace("  begin of key %u with flags %x: %d\n", key, flags, ret);
	if (!(~flags & (LATENCY_TRACKER_UNIQUE | LATENCY_TRACKER_KEEP))) {
		EXPECT(ret == -EINVAL, "%d", ret);
	} else if (!tracking) {
		EXPECT(ret == -ESHUTDOWN, "%d", ret);
	} else if (flags & LATENCY_TRACKER_KEEP && old) {
		EXPECT(ret == -EEXIST, "%d", ret);
		want.kept++;
	} else if (ret == -ENOBUFS) {
		no_event_free(&e);
	} else {
		EXPECT(!ret, "%d", ret);
		began(&e, flags & LATENCY_TRACKER_UNIQUE ? old : NULL);
	}
}

/* What an end of @e is to tell; the end follows. */
static bool expect_end(struct model_event *e, u64 end_ns)
{
	u64 now_ns = end_ns ?: fuzz_clock;
	bool late = delay_of(e, now_ns) >= threshold_of(e);

	e->pending = false;
	want.finished++;
	want.late += late;
	want.clock_back += now_ns < e->start_ns;
	ending = e;
	ending_ns = now_ns;
	ending_id = next_id;
	calls = 0;
	return late;
}

static u64 pick_end(void)
{
	u8 byte = fuzz_byte(input);

	if (byte < 0x80)
		return 0;
	return byte & 1 ? fuzz_clock - span() : add_ns(fuzz_clock, span());
}

static void end(struct model_event *e, unsigned int key, bool by_key)
{
	u64 end_ns = pick_end();
	bool late = false, found = e && e->pending;
	int ret;

	if (found)
		late = expect_end(e, end_ns);
	if (by_key)
		ret = latency_tracker_event_out(tracker, key_of(key),
						key_len[key], next_id, &ending,
						end_ns);
	else
		ret = latency_tracker_event_end(tracker, e->event, next_id,
						&ending, end_ns);
	trace("  end: %d\n", ret);
	if (!found) {
		EXPECT(ret == -ENOENT, "%d", ret);
		want.unmatched += by_key;
	} else {
		EXPECT(ret == late, "%d", ret);
		EXPECT(calls == late, "%u callbacks", calls);
	}
	ending = NULL;
}

/* Nobody but the callback ever sees the event. */
static void whole(unsigned int key, u32 flags)
{
	struct model_event e = {
		.id = next_id++,
		.key = key,
		.flags = (flags & LATENCY_TRACKER_THRESHOLD) |
			 LATENCY_TRACKER_START,
	};
	u32 out = tracker->pool.total - lt_pool_count_free(&tracker->pool);
	struct latency_tracker_in in = { };
	u8 priv[PRIV_SIZE];
	u64 end_ns;
	bool late;
	int ret;

	if (nr_events == MAX_EVENTS)
		return;
	fill(&e, &in, priv);
	end_ns = pick_end();
	ending = &e;
	ending_whole = true;
	ending_ns = end_ns ?: fuzz_clock;
	ending_id = next_id;
	calls = 0;
	late = delay_of(&e, ending_ns) >= threshold_of(&e);
	ret = latency_tracker_event_whole(tracker, key_of(key), key_len[key],
					  e.flags, &in, next_id, &ending, end_ns);
	trace("  whole: %d\n", ret);
	ending = NULL;
	ending_whole = false;
	EXPECT(calls == (ret == 1), "%u callbacks", calls);
	if (!tracking) {
		EXPECT(ret == -ESHUTDOWN, "%d", ret);
		return;
	}
	want.clock_back += ending_ns < e.start_ns;
	if (ret == -ENOBUFS) {
		EXPECT(late, "an event for one that is in time");
		EXPECT(out >= tracker->pool.capacity, "skipped with %u out", out);
		want.skipped++;
		return;
	}
	EXPECT(ret == late, "%d", ret);
	want.started++;
	want.finished++;
	want.late += late;
	if (e.holds)
		events[nr_events++] = e;
}

static void cancel(unsigned int key)
{
	struct model_event *e = first_of(key);
	int ret = latency_tracker_event_cancel(tracker, key_of(key), key_len[key]);

	EXPECT(ret == (e ? 0 : -ENOENT), "%d", ret);
	if (e)
		forget(e);
	else
		want.unmatched++;
}

static void get(unsigned int key)
{
	struct model_event *e = first_of(key);
	struct latency_tracker_event *event =
		latency_tracker_get_event(tracker, key_of(key), key_len[key]);

	EXPECT(event == (e ? e->event : NULL), "another event");
	if (e)
		e->holds++;
}

static void put(struct model_event *e)
{
	int ret;

	check_event(e);
	ret = latency_tracker_put_event(tracker, e->event);
	EXPECT(!ret, "%d", ret);
	e->holds--;
}

/* Somebody who holds nothing. */
static void bad_put(unsigned int key)
{
	struct model_event *e = first_of(key);

	if (!e || e->holds)
		return;
	EXPECT(latency_tracker_put_event(tracker, e->event) == -EINVAL,
	       "the table's reference was dropped");
}

static void for_each(unsigned int key, u8 max)
{
	static struct visit v;
	unsigned int i, n = 0;

	look_at(key, &v, max);
	for (i = 0; i < nr_events && (!max || n < max); i++) {
		if (!events[i].pending || events[i].key != key)
			continue;
		EXPECT(n < v.nr && v.event[n] == events[i].event,
		       "another event in place %u", n);
		n++;
	}
	EXPECT(n == v.nr, "%u events instead of %u", v.nr, n);
}

static void clear_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		if (events[i].pending)
			forget(&events[i]);
}

static void set_tracking(bool on)
{
	EXPECT(!latency_tracker_set_tracking(tracker, on), "set_tracking");
	tracking = on;
	if (!on)
		clear_all();
}

static void unwatched(unsigned int key)
{
	fuzz_rcu_is_watching = false;
	EXPECT(latency_tracker_event_in(tracker, key_of(key), key_len[key], 0,
					NULL) == -EAGAIN, "in");
	EXPECT(latency_tracker_event_out(tracker, key_of(key), key_len[key], 0,
					 NULL, 0) == -EAGAIN, "out");
	EXPECT(latency_tracker_event_cancel(tracker, key_of(key),
					    key_len[key]) == -EAGAIN, "cancel");
	EXPECT(!latency_tracker_get_event(tracker, key_of(key), key_len[key]),
	       "get");
	fuzz_rcu_is_watching = true;
	want.unwatched += 4;
}

static void bad_args(void)
{
	struct latency_tracker_in in = { .priv_len = PRIV_SIZE + 1 };
	const void *key = key_of(0);

	EXPECT(latency_tracker_event_in(tracker, NULL, 1, 0, NULL) == -EINVAL,
	       "no key");
	EXPECT(latency_tracker_event_in(tracker, key, 0, 0, NULL) == -EINVAL,
	       "an empty key");
	EXPECT(latency_tracker_event_in(tracker, key, KEY_SIZE + 1, 0, NULL) ==
	       -EINVAL, "a long key");
	EXPECT(latency_tracker_event_in(tracker, key, 1, 32, NULL) == -EINVAL,
	       "an unknown flag");
	EXPECT(latency_tracker_event_in(tracker, key, 1,
					LATENCY_TRACKER_TIMEOUT, NULL) ==
	       -EINVAL, "no timeout");
	in.priv = key;
	EXPECT(latency_tracker_event_in(tracker, key, 1, 0, &in) == -EINVAL,
	       "too much private data");
	EXPECT(latency_tracker_event_out(tracker, key, KEY_SIZE + 1, 0, NULL,
					 0) == -EINVAL, "a long key");
	EXPECT(latency_tracker_event_end(tracker, NULL, 0, NULL, 0) == -EINVAL,
	       "no event");
	EXPECT(!latency_tracker_put_event(tracker, NULL), "no event");
}

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

static void check_counters(void)
{
	struct latency_tracker_counts have;
	unsigned int i;

	want.pending = 0;
	for (i = 0; i < nr_events; i++)
		want.pending += events[i].pending;
	latency_tracker_snapshot(tracker, &have);
	EXPECT(have.capacity >= want.capacity && have.capacity <= max_capacity,
	       "capacity %llu", (unsigned long long)have.capacity);
	want.capacity = have.capacity;
	want.memory = have.memory;
#define SAME(name)							\
	EXPECT(have.name == want.name, "%llu instead of %llu",		\
	       (unsigned long long)have.name, (unsigned long long)want.name)
	SAME(started);
	SAME(finished);
	SAME(late);
	SAME(timeouts);
	SAME(collected);
	SAME(cleared);
	SAME(replaced);
	SAME(pending);
	SAME(skipped);
	SAME(kept);
	SAME(unmatched);
	SAME(clock_back);
	SAME(unwatched);
#undef SAME
	EXPECT(have.started == have.finished + have.collected + have.cleared +
	       have.pending, "the accounts do not add up");
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
		begin(arg >> 3, key);
		break;
	case END:
		end(first_of(key), key, true);
		break;
	case END_EVENT:
		if (held(arg))
			end(held(arg), 0, false);
		break;
	case CANCEL:
		cancel(key);
		break;
	case GET:
		get(key);
		break;
	case PUT:
		if (held(arg))
			put(held(arg));
		break;
	case FOR_EACH:
		for_each(key, arg >> 3);
		break;
	case BAD_PUT:
		bad_put(key);
		break;
	case SET_THRESHOLD:
	case SET_TIMEOUT:
	case SET_COLLECT:
		set_value(code);
		break;
	case SET_TRACKING:
		set_tracking(arg & 3);
		break;
	case CLEAR:
		latency_tracker_clear(tracker);
		clear_all();
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
		unwatched(key);
		break;
	case BAD_ARGS:
		bad_args();
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
		whole(key, arg >> 3);
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
	put(e);
	fuzz_clock += ms * NSEC_PER_MSEC;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_input in = { .data = data, .left = size };
	unsigned int ops = 0;

	fuzz_reset();
	fuzz_clock = 1ULL << 32;
	input = &in;
	nr_events = 0;
	next_id = 1;
	tracking = true;
	back_ns = 0;
	callback_does = 0;
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
