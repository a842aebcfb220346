// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports on request: of all that is pending, those that began first, once each.
 */
#include "model.h"

static u64 asked_until_ns, asked_after_ns, last_told_ns;
static unsigned int told;

static bool is_asked_for(const struct model_event *e)
{
	return e->pending && e->start_ns <= asked_until_ns && e->start_ns > asked_after_ns;
}

void note_asked(struct model_event *e)
{
	EXPECT(asked_until_ns, "nothing was asked");
	EXPECT(is_asked_for(e), "event %u was not asked for", e->id);
	EXPECT(!e->asked, "event %u is told twice", e->id);
	EXPECT(e->start_ns >= last_told_ns, "event %u is told too late", e->id);
	last_told_ns = e->start_ns;
	e->asked = true;
	told++;
	want.asked++;
}

/* Of @nr that were asked for, those that are still pending were told, or began too late. */
static void check_told(unsigned int nr, unsigned int before)
{
	unsigned int i;

	EXPECT(told <= LT_ASK_MAX, "%u are told", told);
	for (i = 0; i < nr_events; i++)
		if (events[i].id < before && is_asked_for(&events[i]) && !events[i].asked)
			EXPECT(nr > LT_ASK_MAX && events[i].start_ns >= last_told_ns,
			       "event %u is not told", events[i].id);
}

/* More than are told at once, which an input seldom has. */
static void begin_many(u8 key)
{
	unsigned int n;

	for (n = 0; n < LT_ASK_MAX + 8 && nr_events < MAX_EVENTS; n++) {
		do_begin(LATENCY_TRACKER_DUPLICATE << 3 | key);
		fuzz_clock++;
	}
}

void do_ask(u8 arg)
{
	unsigned int i, nr = 0, before;
	u64 age_ns, now_ns;

	if (arg & 0x80 && !slots)
		begin_many(arg & 7);
	before = next_id;
	now_ns = fuzz_clock;
	age_ns = span();
	asked_until_ns = now_ns > age_ns ? now_ns - age_ns : 0;
	asked_after_ns = arg & 1 && nr_events ? events[arg % nr_events].start_ns : 0;
	last_told_ns = told = 0;
	for (i = 0; i < nr_events; i++) {
		events[i].asked = false;
		nr += is_asked_for(&events[i]);
	}
	EXPECT_EQ(latency_tracker_report_pending(tracker, age_ns, asked_after_ns), 0);
	check_told(nr, before);
	asked_until_ns = 0;
}
