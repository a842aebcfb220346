// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tracker should know and have counted. See model.h.
 */
#include "model.h"

static const u8 key_len[FUZZ_KEYS] = { 1, 4, 7, 8, 8, 9, 15, 16 };

struct latency_tracker *tracker;
struct latency_tracker_counts want;
struct model_event events[MAX_EVENTS];
unsigned int nr_events;
bool tracking, slots;
struct latency_tracker_event *slot_of[FUZZ_KEYS];
u64 threshold_ns, least_ns, timeout_ns, collect_ns;
u64 own_ns;
u8 own_keys;
u32 per_minute;
u32 max_capacity;

u64 add_ns(u64 a, u64 b)
{
	return a + b < a ? U64_MAX : a + b;
}

/* Modulo 2^64: with that many of it as the key, the hash is a small number. */
#define GOLDEN_RATIO_INVERSE	0xE217C1E66C88CC3ull

const void *key_of(unsigned int key)
{
	static u8 buf[KEY_SIZE + 1];
	unsigned int i;
	u64 word;

	/* Keys of the same bytes, but another length, are other keys. */
	for (i = 0; i < KEY_SIZE; i++)
		buf[i + 1] = slots ? key : key == 4 ? 0x44 : i;
	/* Half of those of slots have one place in the front. */
	word = key * GOLDEN_RATIO_INVERSE;
	if (slots && key < 4)
		memcpy(buf + 1, &word, sizeof(word));
	return buf + 1;		/* not aligned */
}

unsigned int len_of(unsigned int key)
{
	return slots ? sizeof(u64) : key_len[key];
}

u8 priv_byte(const struct model_event *e, unsigned int i)
{
	return i < e->priv_len ? e->id * 31 + i + 1 : 0;
}

struct model_event *first_of(unsigned int key)
{
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		if (events[i].pending && events[i].key == key)
			return &events[i];
	return NULL;
}

struct model_event *held(unsigned int n)
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

struct model_event *model_of(const struct latency_tracker_event *event)
{
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		if (events[i].event == event)
			return &events[i];
	return NULL;
}

/* Forget what is neither in the table nor held. */
void sweep(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_events; i++)
		if (events[i].pending || events[i].holds)
			events[n++] = events[i];
	nr_events = n;
}

/* A threshold that finds itself is what it is, but not below the one that was set. */
void sync_threshold(void)
{
	u64 now_ns = latency_tracker_get_threshold(tracker);

	EXPECT_EQ(latency_tracker_get_least_threshold(tracker), least_ns);
	if (per_minute)
		EXPECT(now_ns >= least_ns, "below the least");
	else
		EXPECT_EQ(now_ns, least_ns);
	threshold_ns = now_ns;
}

static u64 default_of(const struct model_event *e)
{
	return e->flags & LATENCY_TRACKER_THRESHOLD ? e->threshold_ns :
						      threshold_ns;
}

u64 threshold_of(const struct model_event *e)
{
	return own_keys & 1 << e->key ? own_ns : default_of(e);
}

/* The tracker may have to look closer; as it does at what seems to be negative. */
bool may_be_late(const struct model_event *e, u64 delay_ns)
{
	return delay_ns >= S64_MAX || delay_ns >= default_of(e) || (own_keys && delay_ns >= own_ns);
}

u64 own_threshold(const struct latency_tracker_verdict *v)
{
	const struct model_event *e = ending_whole ? ending : model_of(v->event);

	EXPECT(e, "the threshold of an unknown event");
	if (!ending)
		sync_threshold();
	EXPECT_EQ(v->threshold_ns, default_of(e));
	EXPECT(may_be_late(e, v->delay_ns) || is_told(v->delay_ns) || v->flag != LATENCY_TRACKER_ENDED,
	       "asked about one in time");
	return own_keys & 1 << e->key ? own_ns : v->threshold_ns;
}

u64 timeout_of(const struct model_event *e)
{
	return e->flags & LATENCY_TRACKER_TIMEOUT ? e->timeout_ns : timeout_ns;
}

u64 delay_of(const struct model_event *e, u64 now_ns)
{
	return now_ns < e->start_ns ? 0 : now_ns - e->start_ns;
}

bool is_due(const struct model_event *e, u64 span_ns, u64 now_ns)
{
	return span_ns && add_ns(e->start_ns, span_ns) <= now_ns;
}

void forget(struct model_event *e)
{
	e->pending = false;
	want.cleared++;
}

void forget_slots(void)
{
	unsigned int key;

	for (key = 0; key < FUZZ_KEYS; key++)
		slot_of[key] = NULL;
}

unsigned int nr_out(void)
{
	unsigned int key, n = nr_events;

	for (key = 0; key < FUZZ_KEYS; key++)
		n += slot_of[key] && !model_of(slot_of[key]);
	return n;
}

void check_event(const struct model_event *e)
{
	const u8 *priv = latency_tracker_event_priv(e->event);
	unsigned int i;

	EXPECT(!memcmp(latency_tracker_event_key(e->event), key_of(e->key),
		       len_of(e->key)), "event %u: another key", e->id);
	EXPECT(latency_tracker_event_start(e->event) == e->start_ns,
	       "event %u: another begin", e->id);
	for (i = 0; i < PRIV_SIZE; i++)
		EXPECT(priv[i] == priv_byte(e, i), "event %u: priv[%u] is %u", e->id, i, priv[i]);
}

void check_counters(void)
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
	SAME(asked);
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
