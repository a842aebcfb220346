// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens to an event when its time has come: decide whether it was late,
 * tell the callback, let go of it.
 */
#include "core/verdict.h"

static void call_back(struct latency_tracker *tracker,
		      struct latency_tracker_event *event,
		      struct latency_tracker_verdict *verdict)
{
	latency_tracker_cb callback =
		event->flags & LT_EVENT_CALLBACK ?
			lt_event_own(tracker, event)->callback :
			tracker->callback;

	verdict->tracker = tracker;
	verdict->event = event;
	verdict->key = event->data;
	verdict->key_len = event->key_len;
	verdict->priv = lt_event_priv(event);
	verdict->start_ns = event->start_ns;
	callback(verdict);
}

/**
 * lt_verdict() - tell the callback about an event that did not end
 * @tracker: of the event
 * @event: the caller holds a reference and has claimed the timeout, or owns
 *	the verdict if @flag is COLLECTED
 * @now_ns: when it was seen
 * @flag: PENDING or COLLECTED
 *
 * Context: The worker.
 */
void lt_verdict(struct latency_tracker *tracker,
		struct latency_tracker_event *event, u64 now_ns,
		enum latency_tracker_flag flag)
{
	struct latency_tracker_verdict verdict = {
		.now_ns = now_ns,
		.delay_ns = lt_delay_of(tracker, event->start_ns, now_ns),
		.threshold_ns = lt_threshold_of(tracker, event),
		.flag = flag,
		.timed_out = true,
	};

	if (flag == LATENCY_TRACKER_COLLECTED) {
		verdict.timed_out = lt_event_settle(event);
		lt_count(tracker->counters, LT_COLLECTED);
	} else {
		lt_count(tracker->counters, LT_TIMEOUTS);
	}
	call_back(tracker, event, &verdict);
}

/**
 * lt_finish_late() - the rest of lt_finish(), for what was late
 * @tracker: of the event
 * @event: its reference is gone on return
 * @now_ns: when it ended
 * @delay_ns: how long it took
 * @out_id: for the callback
 * @out_data: for the callback
 *
 * Apart, so that what is in time pays for no verdict on the stack.
 *
 * Context: Any; preemption off.
 */
void lt_finish_late(struct latency_tracker *tracker,
		    struct latency_tracker_event *event, u64 now_ns,
		    u64 delay_ns, u32 out_id, void *out_data)
{
	struct latency_tracker_verdict verdict = {
		.out_data = out_data,
		.now_ns = now_ns,
		.delay_ns = delay_ns,
		.threshold_ns = lt_threshold_of(tracker, event),
		.out_id = out_id,
		.flag = LATENCY_TRACKER_ENDED,
		.timed_out = lt_event_settle(event),
	};

	call_back(tracker, event, &verdict);
	/* Behind the callback: who waits for a crossing finds its report. */
	lt_count(tracker->counters, LT_LATE);
	lt_crossings_kick(tracker);
	lt_put(tracker, event, 0);
}
