// SPDX-License-Identifier: GPL-2.0-only
/*
 * The callbacks that the calls lead to: were they to come, and are they told the truth?
 */
#include "model.h"

struct model_event *ending;
bool ending_whole;
u64 ending_ns;
u32 ending_id;
bool telling;

unsigned int calls;
u8 callback_does;

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
		if (v->asked) {
			note_asked(e);
			return;
		}
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
	telling = true;
	if (what & 1) {
		EXPECT(latency_tracker_hold_event(e->event), "no hold");
		e->holds++;
	} else if (what & 2 && nr_events < MAX_EVENTS) {
		/* What has timed out as well, and is not told yet, stays. */
		do_begin(what >> 5 | (slots ? LATENCY_TRACKER_KEEP :
					      LATENCY_TRACKER_DUPLICATE) << 3);
	}
	telling = false;
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
	EXPECT(v->key_len == len_of(e->key), "another length of the key");
	EXPECT(v->key == latency_tracker_event_key(e->event) &&
	       v->priv == latency_tracker_event_priv(e->event), "another key or private data");
	EXPECT(v->start_ns == e->start_ns, "another begin");
	EXPECT(v->delay_ns == delay_of(e, v->now_ns), "delay %llu",
	       (unsigned long long)v->delay_ns);
	if (!ending)
		sync_threshold();
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
	EXPECT(!v->asked || (!ending && v->flag == LATENCY_TRACKER_PENDING), "asked");
	EXPECT(v->timed_out == e->timed_out, "timed_out is %d", v->timed_out);
	keep_report(v, e->key);
	act_in_callback(e);
}

void callback(const struct latency_tracker_verdict *v)
{
	on_verdict(v, false);
}

void other_callback(const struct latency_tracker_verdict *v)
{
	on_verdict(v, true);
}
