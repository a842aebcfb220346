// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of the API.
 */
#include "model.h"

/* A key as two arguments. */
#define KEY(key)	key_of(key), len_of(key)

const u64 spans_ns[NR_SPANS] = {
	0, 1, 5, 1000, 999999, 1000000, 20000000, 3000000000ULL,
	1ULL << 63, U64_MAX,
};

unsigned int next_id;

/* Every second key is one of which the compiler knows that it has 8 bytes, where it does. */
static bool knows_length(unsigned int key)
{
	return key & 1 && len_of(key) == sizeof(u64);
}

static u64 word_of(unsigned int key)
{
	u64 word;

	memcpy(&word, key_of(key), sizeof(word));
	return word;
}

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

static bool visit_again(struct latency_tracker_event *event, void *arg)
{
	const struct visit *v = arg;

	EXPECT(v->nr == 1 && v->event[0] == event, "another event");
	return false;
}

static void look_at(unsigned int key, struct visit *v, unsigned int max)
{
	int ret;

	v->nr = 0;
	v->max = max;
	ret = latency_tracker_for_each_event(tracker, KEY(key), visit, v);
	EXPECT(ret == (int)v->nr, "%d visited instead of %u", ret, v->nr);
	if (slots)
		EXPECT_EQ(latency_tracker_slot_visit(tracker, word_of(key), visit_again, v), ret);
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
	slot_of[e->key] = slots ? e->event : NULL;
}

static void no_event_free(const struct model_event *e, bool replaces)
{
	struct model_event *old = first_of(e->key);
	u32 out = tracker->pool.total - lt_pool_count_free(&tracker->pool);

	EXPECT(out >= tracker->pool.capacity, "skipped with %u of %u out", out,
	       tracker->pool.capacity);
	EXPECT(!slot_of[e->key] || telling || (model_of(slot_of[e->key]) &&
					       model_of(slot_of[e->key])->holds),
	       "skipped, though its slot is free");
	slot_of[e->key] = NULL;
	want.skipped++;
	if (replaces && old) {
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

/*
 * While a callback runs, others may have been given up of which it is not told yet. In a
 * slot such a one is not in the way.
 */
static bool is_untold(unsigned int key)
{
	struct latency_tracker_event *event;

	if (!slots || !telling)
		return false;
	event = latency_tracker_get_event(tracker, KEY(key));
	latency_tracker_put_event(tracker, event);
	return !event;
}

static bool has_all(unsigned int key)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_events; i++)
		n += events[i].pending && events[i].key == key;
	return n >= LATENCY_TRACKER_DUPLICATES_MAX;
}

/* What a begin returned that passes; @replaces: what is pending has to go. */
static void check_begin(struct model_event *e, struct model_event *old, bool replaces, int ret)
{
	if (!tracking) {
		EXPECT(ret == -ESHUTDOWN, "%d", ret);
	} else if ((e->flags & LATENCY_TRACKER_KEEP && old) ||
		   (e->flags & LATENCY_TRACKER_DUPLICATE && has_all(e->key))) {
		EXPECT(ret == -EEXIST, "%d", ret);
		want.kept++;
	} else if (ret == -ENOBUFS) {
		no_event_free(e, replaces);
	} else {
		EXPECT(!ret, "%d", ret);
		began(e, replaces ? old : NULL);
	}
}

void do_begin(u8 arg)
{
	unsigned int key = arg & 7;
	u32 flags = arg >> 3;
	bool replaces = !(flags & (LATENCY_TRACKER_DUPLICATE | LATENCY_TRACKER_KEEP));
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
	if (is_untold(key))
		old = NULL;
	if (!flags && knows_length(key))
		ret = latency_tracker_event_in(tracker, key_of(key), 8, 0, pass ? &in : NULL);
	else
		ret = latency_tracker_event_in(tracker, KEY(key), flags, pass ? &in : NULL);
	trace("  begin of key %u with flags %x: %d\n", key, flags, ret);
	if (!(~flags & (LATENCY_TRACKER_DUPLICATE | LATENCY_TRACKER_KEEP)) ||
	    (slots && flags & LATENCY_TRACKER_DUPLICATE))
		EXPECT(ret == -EINVAL, "%d", ret);
	else
		check_begin(&e, old, replaces, ret);
}

void do_slot_begin(u8 arg)
{
	u32 flags = arg & 8 ? LATENCY_TRACKER_KEEP : 0;
	struct model_event e = {
		.id = next_id++, .key = arg & 7, .flags = flags, .pending = true,
	};
	struct model_event *old = first_of(e.key);
	struct latency_tracker_in in;
	u8 bytes[PRIV_SIZE] = { };
	u64 start_ns, past_ns;
	bool is_begun;
	u8 *priv;

	if (!slots || nr_events == MAX_EVENTS)
		return;
	if (arg & 0x20)
		e.flags |= LATENCY_TRACKER_START;
	fill(&e, &in, bytes);
	e.other_callback = false;
	/* A begin at 0 is one at this moment. */
	if (!(e.flags & LATENCY_TRACKER_START) || !e.start_ns)
		e.start_ns = fuzz_clock;
	preempt_disable();
	past_ns = start_ns = e.flags & LATENCY_TRACKER_START ? e.start_ns : 0;
	priv = arg & 0x10 ?
		latency_tracker_slot_try_begin(tracker, word_of(e.key), &start_ns) : NULL;
	is_begun = priv;
	EXPECT(!priv || (start_ns == e.start_ns && !(old && old->pending)), "no simple begin");
	if (!priv)
		priv = latency_tracker_slot_begin(tracker, word_of(e.key), flags);
	trace("  slot_begin of key %u with flags %x: %d\n", e.key, e.flags, !IS_ERR(priv));
	if (!IS_ERR(priv)) {
		memcpy(priv, bytes, PRIV_SIZE);
		/* It is found once it is published only. */
		EXPECT_EQ(latency_tracker_get_event(tracker, KEY(e.key)), NULL);
		if (is_begun)
			latency_tracker_slot_publish_begun(tracker, priv, past_ns);
		else
			latency_tracker_slot_publish(tracker, priv, past_ns);
	}
	preempt_enable();
	check_begin(&e, old, !flags, PTR_ERR_OR_ZERO(priv));
}

/* The next callback is for the end of @e; returns whether one has to come. */
static bool expect_callback(struct model_event *e, u64 end_ns)
{
	sync_threshold();
	ending = e;
	ending_ns = end_ns ?: fuzz_clock;
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

enum by { BY_KEY, BY_SLOT, BY_SLOT_IF_ANY, BY_REFERENCE };

static int end_slot(u64 key, u64 end_ns, bool is_sure)
{
	int ret;

	preempt_disable();
	ret = is_sure ? latency_tracker_slot_end(tracker, key, &ending, end_ns) :
			latency_tracker_slot_try_end(tracker, key, &ending, end_ns);
	preempt_enable();
	return ret;
}

/* @e: the event, NULL if there is none. */
static void end(struct model_event *e, unsigned int key, enum by by)
{
	u64 end_ns = pick_end();
	bool late = false, found = e && e->pending;
	int ret;

	ending_id = by == BY_SLOT || by == BY_SLOT_IF_ANY ? 0 : next_id;
	if (found) {
		late = expect_callback(e, end_ns);
		e->pending = false;
		want.finished++;
		note_delay(delay_of(e, ending_ns));
		note_group(e, delay_of(e, ending_ns));
		note_wait(delay_of(e, ending_ns));
		want.late += late;
		want.clock_back += ending_ns < e->start_ns;
	}
	if (by == BY_KEY && knows_length(key))
		ret = latency_tracker_event_out(tracker, key_of(key), 8, ending_id, &ending, end_ns);
	else if (by == BY_KEY)
		ret = latency_tracker_event_out(tracker, KEY(key), ending_id, &ending, end_ns);
	else if (by != BY_REFERENCE)
		ret = end_slot(word_of(key), end_ns, by == BY_SLOT);
	else
		ret = latency_tracker_event_end(tracker, e->event, ending_id, &ending, end_ns);
	trace("  end: %d\n", ret);
	if (!found) {
		EXPECT(ret == -ENOENT, "%d", ret);
		want.unmatched += by == BY_KEY || by == BY_SLOT;
	} else {
		EXPECT(ret == late, "%d", ret);
		EXPECT(calls == late, "%u callbacks", calls);
	}
	ending = NULL;
}

void do_end(u8 arg)
{
	end(first_of(arg & 7), arg & 7, BY_KEY);
}

static bool is_meant;

static bool check_meant(const void *priv)
{
	EXPECT(ending && ending->event == lt_event_of_priv((void *)priv), "another event");
	return is_meant;
}

/* Only what is simply in time may end, and need not. */
static void end_in_time(struct model_event *e, unsigned int key, bool asks)
{
	u64 end_ns = pick_end();
	bool late = true, is_over;

	if (e && e->pending)
		late = expect_callback(e, end_ns);
	preempt_disable();
	is_over = latency_tracker_slot_end_in_time(tracker, word_of(key), end_ns,
						   asks ? check_meant : NULL);
	preempt_enable();
	trace("  end in time: %d\n", is_over);
	ending = NULL;
	if (!is_over)
		return;
	EXPECT((is_meant || !asks) && !late && ending_ns >= e->start_ns && !calls &&
	       !lt_groups_are_on(&tracker->groups),
	       "not in time, or not meant");
	e->pending = false;
	want.finished++;
	note_delay(delay_of(e, ending_ns));
	note_wait(delay_of(e, ending_ns));
}

void do_slot_end(u8 arg)
{
	is_meant = arg & 8;
	if (slots && arg & 16)
		end_in_time(first_of(arg & 7), arg & 7, !(arg & 0x20));
	else if (slots)
		end(first_of(arg & 7), arg & 7, arg & 8 ? BY_SLOT : BY_SLOT_IF_ANY);
}

void do_end_event(u8 arg)
{
	if (held(arg))
		end(held(arg), 0, BY_REFERENCE);
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
	ending_id = next_id;
	late = expect_callback(&e, end_ns);
	ending_whole = true;
	ret = latency_tracker_event_whole(tracker, KEY(e.key), e.flags, &in, ending_id,
					  &ending, end_ns);
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
		EXPECT(may_be_late(&e, delay_of(&e, ending_ns)) ||
		       is_told(delay_of(&e, ending_ns)),
		       "an event for one that is in time");
		EXPECT(out >= tracker->pool.capacity, "skipped with %u out", out);
		want.skipped++;
		return;
	}
	EXPECT(ret == late, "%d", ret);
	want.started++;
	want.finished++;
	note_delay(delay_of(&e, ending_ns));
	note_group(&e, delay_of(&e, ending_ns));
	note_wait(delay_of(&e, ending_ns));
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

void do_slot_free(u8 arg)
{
	unsigned int key = arg & 7;
	struct model_event *e = first_of(key);

	if (!slots)
		return;
	EXPECT_EQ(latency_tracker_slot_free(tracker, word_of(key)), slot_of[key] ? 0 : -ENOENT);
	if (e)
		forget(e);
	slot_of[key] = NULL;
}

/* By the threshold of each, and by no other. */
static struct model_event *get(unsigned int key)
{
	struct model_event *e = first_of(key);

	EXPECT(latency_tracker_get_event(tracker, KEY(key)) == (e ? e->event : NULL),
	       "another event");
	if (!e)
		return NULL;
	sync_threshold();
	EXPECT_EQ(latency_tracker_is_late(tracker, e->event, fuzz_clock),
		  fuzz_clock > e->start_ns && delay_of(e, fuzz_clock) >= threshold_of(e));
	return e;
}

void do_get(u8 arg)
{
	struct model_event *e = get(arg & 7);

	if (e)
		e->holds++;
}

void look_who_is_late(void)
{
	struct model_event *e;
	unsigned int key;

	for (key = 0; key < 8; key++) {
		e = get(key);
		if (e)
			EXPECT_EQ(latency_tracker_put_event(tracker, e->event), 0);
	}
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
	if (slot_of[arg & 7] && !model_of(slot_of[arg & 7]))
		EXPECT_EQ(latency_tracker_put_event(tracker, slot_of[arg & 7]), -EINVAL);
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
	if (!tracking) {
		forget_all();
		forget_slots();
	}
}

void do_unwatched(u8 arg)
{
	unsigned int key = arg & 7;

	fuzz_rcu_is_watching = false;
	EXPECT_EQ(latency_tracker_event_in(tracker, KEY(key), 0, NULL), -EAGAIN);
	EXPECT_EQ(latency_tracker_event_out(tracker, KEY(key), 0, NULL, 0), -EAGAIN);
	EXPECT_EQ(latency_tracker_event_cancel(tracker, KEY(key)), -EAGAIN);
	EXPECT_EQ(latency_tracker_get_event(tracker, KEY(key)), NULL);
	want.unwatched += 4;
	if (held(arg)) {
		EXPECT_EQ(latency_tracker_put_event(tracker, held(arg)->event), -EAGAIN);
		want.unwatched++;
	}
	if (slots) {
		preempt_disable();
		EXPECT_EQ(PTR_ERR(latency_tracker_slot_begin(tracker, word_of(key), 0)), -EAGAIN);
		EXPECT_EQ(latency_tracker_slot_end(tracker, word_of(key), NULL, 0), -EAGAIN);
		preempt_enable();
		EXPECT_EQ(latency_tracker_slot_free(tracker, word_of(key)), -EAGAIN);
		want.unwatched += 3;
	}
	fuzz_rcu_is_watching = true;
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
