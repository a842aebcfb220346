// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of the API, and the callbacks that they lead to.
 */
#include "model.h"

/* A key as two arguments. */
#define KEY(key)	key_of(key), key_len[key]

/* The callback of an end that is expected; the event is a new one of event_whole(). */
static struct model_event *ending;
static bool ending_whole;
static u64 ending_ns;
static u32 ending_id;

const u64 spans_ns[NR_SPANS] = {
	0, 1, 5, 1000, 999999, 1000000, 20000000, 3000000000ULL,
	1ULL << 63, U64_MAX,
};

unsigned int calls, next_id;
u8 callback_does;

/* ---- callbacks ---- */

static void check_worker_verdict(const struct latency_tracker_verdict *v, struct model_event *e)
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
		do_begin(what >> 5);
	}
}

static void on_verdict(const struct latency_tracker_verdict *v, bool other)
{
	struct model_event *e = model_of(v->event);

	trace("  callback, flag %d\n", v->flag);
	calls++;
	if (ending_whole) {
		EXPECT(!e, "the event is in the model already");
		e = ending;
		e->event = v->event;
	}
	EXPECT(e, "a verdict on an unknown event");
	EXPECT(e->other_callback == other, "the callback of another event");
	EXPECT(v->tracker == tracker, "another tracker");
	EXPECT(v->key_len == key_len[e->key], "another length of the key");
	EXPECT(v->key == latency_tracker_event_key(e->event) &&
	       v->priv == latency_tracker_event_priv(e->event), "another key or private data");
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

void callback(const struct latency_tracker_verdict *v)
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
	ret = latency_tracker_for_each_event(tracker, KEY(key), visit, v);
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

u64 span(void)
{
	return spans_ns[fuzz_byte() % NR_SPANS];
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
		byte = fuzz_byte();
		e->start_ns = byte & 0x80 ? add_ns(fuzz_clock, span()) :
					    fuzz_clock - span();
	}
	byte = fuzz_byte();
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

void do_begin(u8 arg)
{
	unsigned int key = arg & 7;
	u32 flags = arg >> 3;
	struct model_event e = { .id = next_id++, .key = key, .flags = flags };
	struct latency_tracker_in in = { };
	struct model_event *old = first_of(key);
	bool pass = flags || fuzz_byte() & 1;
	u8 priv[PRIV_SIZE];
	int ret;

	e.pending = true;
	e.start_ns = fuzz_clock;
	if (pass)
		fill(&e, &in, priv);
	ret = latency_tracker_event_in(tracker, KEY(key), flags, pass ? &in : NULL);
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

/* The next callback is for the end of @e; returns whether one has to come. */
static bool expect_callback(struct model_event *e, u64 end_ns)
{
	ending = e;
	ending_ns = end_ns ?: fuzz_clock;
	ending_id = next_id;
	calls = 0;
	return delay_of(e, ending_ns) >= threshold_of(e);
}

static u64 pick_end(void)
{
	u8 byte = fuzz_byte();

	if (byte < 0x80)
		return 0;
	return byte & 1 ? fuzz_clock - span() : add_ns(fuzz_clock, span());
}

/* By its key, or by a reference; @e: the event, NULL if there is none. */
static void end(struct model_event *e, unsigned int key, bool by_key)
{
	u64 end_ns = pick_end();
	bool late = false, found = e && e->pending;
	int ret;

	if (found) {
		late = expect_callback(e, end_ns);
		e->pending = false;
		want.finished++;
		want.late += late;
		want.clock_back += ending_ns < e->start_ns;
	}
	if (by_key)
		ret = latency_tracker_event_out(tracker, KEY(key), next_id, &ending, end_ns);
	else
		ret = latency_tracker_event_end(tracker, e->event, next_id, &ending, end_ns);
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

void do_end(u8 arg)
{
	end(first_of(arg & 7), arg & 7, true);
}

void do_end_event(u8 arg)
{
	if (held(arg))
		end(held(arg), 0, false);
}

/* Only the callback ever sees the event. */
void do_whole(u8 arg)
{
	struct model_event e = {
		.id = next_id++,
		.key = arg & 7,
		.flags = (arg >> 3 & LATENCY_TRACKER_THRESHOLD) | LATENCY_TRACKER_START,
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
	late = expect_callback(&e, end_ns);
	ending_whole = true;
	ret = latency_tracker_event_whole(tracker, KEY(e.key), e.flags, &in, next_id, &ending,
					  end_ns);
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

void do_cancel(u8 arg)
{
	struct model_event *e = first_of(arg & 7);
	int ret = latency_tracker_event_cancel(tracker, KEY(arg & 7));

	EXPECT(ret == (e ? 0 : -ENOENT), "%d", ret);
	if (e)
		forget(e);
	else
		want.unmatched++;
}

void do_get(u8 arg)
{
	struct model_event *e = first_of(arg & 7);

	EXPECT(latency_tracker_get_event(tracker, KEY(arg & 7)) == (e ? e->event : NULL),
	       "another event");
	if (e)
		e->holds++;
}

void do_put(u8 arg)
{
	struct model_event *e = held(arg);

	if (!e)
		return;
	check_event(e);
	EXPECT_EQ(latency_tracker_put_event(tracker, e->event), 0);
	e->holds--;
}

/* A put without a reference. */
void do_bad_put(u8 arg)
{
	struct model_event *e = first_of(arg & 7);

	if (e && !e->holds)
		EXPECT_EQ(latency_tracker_put_event(tracker, e->event), -EINVAL);
}

void do_for_each(u8 arg)
{
	unsigned int key = arg & 7, max = arg >> 3;
	static struct visit v;
	unsigned int i, n = 0;

	look_at(key, &v, max);
	for (i = 0; i < nr_events && (!max || n < max); i++) {
		if (!events[i].pending || events[i].key != key)
			continue;
		EXPECT(n < v.nr && v.event[n] == events[i].event, "another event in place %u", n);
		n++;
	}
	EXPECT(n == v.nr, "%u events instead of %u", v.nr, n);
}

static void forget_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		if (events[i].pending)
			forget(&events[i]);
}

void do_clear(u8 arg)
{
	latency_tracker_clear(tracker);
	forget_all();
}

void do_set_tracking(u8 arg)
{
	tracking = arg & 3;
	EXPECT_EQ(latency_tracker_set_tracking(tracker, tracking), 0);
	if (!tracking)
		forget_all();
}

void do_unwatched(u8 arg)
{
	unsigned int key = arg & 7;

	fuzz_rcu_is_watching = false;
	EXPECT_EQ(latency_tracker_event_in(tracker, KEY(key), 0, NULL), -EAGAIN);
	EXPECT_EQ(latency_tracker_event_out(tracker, KEY(key), 0, NULL, 0), -EAGAIN);
	EXPECT_EQ(latency_tracker_event_cancel(tracker, KEY(key)), -EAGAIN);
	EXPECT_EQ(latency_tracker_get_event(tracker, KEY(key)), NULL);
	fuzz_rcu_is_watching = true;
	want.unwatched += 4;
}

void do_bad_args(u8 arg)
{
	struct latency_tracker_in in = { .priv_len = PRIV_SIZE + 1, .priv = key_of(0) };
	const u32 no_timeout = LATENCY_TRACKER_TIMEOUT, unknown = 32;
	const void *key = key_of(0);

	EXPECT_EQ(latency_tracker_event_in(tracker, NULL, 1, 0, NULL), -EINVAL);
	EXPECT_EQ(latency_tracker_event_in(tracker, key, 0, 0, NULL), -EINVAL);
	EXPECT_EQ(latency_tracker_event_in(tracker, key, KEY_SIZE + 1, 0, NULL), -EINVAL);
	EXPECT_EQ(latency_tracker_event_in(tracker, key, 1, unknown, NULL), -EINVAL);
	EXPECT_EQ(latency_tracker_event_in(tracker, key, 1, no_timeout, NULL), -EINVAL);
	EXPECT_EQ(latency_tracker_event_in(tracker, key, 1, 0, &in), -EINVAL);
	EXPECT_EQ(latency_tracker_event_out(tracker, key, KEY_SIZE + 1, 0, NULL, 0), -EINVAL);
	EXPECT_EQ(latency_tracker_event_end(tracker, NULL, 0, NULL, 0), -EINVAL);
	EXPECT(!latency_tracker_put_event(tracker, NULL), "no event");
}
