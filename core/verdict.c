// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens to an event when its time has come: decide whether it was late,
 * tell the callback, let go of it.
 */
#include "core/tracker.h"

static u64 delay_of(struct latency_tracker *tracker, u64 start_ns, u64 now_ns)
{
	if (likely(now_ns >= start_ns))
		return now_ns - start_ns;
	lt_count(tracker->counters, LT_CLOCK_BACK);
	return 0;
}

static u64 threshold_of(const struct latency_tracker *tracker,
			const struct latency_tracker_event *event)
{
	return event->flags & LATENCY_TRACKER_THRESHOLD ?
		       event->threshold_ns :
		       READ_ONCE(tracker->threshold_ns);
}

static void call_back(struct latency_tracker *tracker,
		      struct latency_tracker_event *event,
		      struct latency_tracker_verdict *verdict)
{
	latency_tracker_cb callback = event->callback ?: tracker->callback;

	verdict->tracker = tracker;
	verdict->event = event;
	verdict->key = event->data;
	verdict->key_len = event->key_len;
	verdict->priv = lt_event_priv(event);
	verdict->start_ns = event->start_ns;
	callback(verdict);
}

/**
 * lt_put() - drop a reference
 * @tracker: of the event
 * @event: the caller's reference is gone on return
 * @flags: LT_EVENT_PENDING if the caller owns the verdict and has not settled
 *
 * Context: Any; preemption off.
 */
void lt_put(struct latency_tracker *tracker,
	    struct latency_tracker_event *event, int flags)
{
	if (lt_event_drop(event, flags))
		lt_retire(&tracker->reclaim, &event->item);
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
		.delay_ns = delay_of(tracker, event->start_ns, now_ns),
		.threshold_ns = threshold_of(tracker, event),
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

/* Apart, so that what is in time pays for no verdict on the stack. */
static noinline void finish_late(struct latency_tracker *tracker,
				 struct latency_tracker_event *event,
				 u64 now_ns, u64 delay_ns, u32 out_id,
				 void *out_data)
{
	struct latency_tracker_verdict verdict = {
		.out_data = out_data,
		.now_ns = now_ns,
		.delay_ns = delay_ns,
		.threshold_ns = threshold_of(tracker, event),
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

/**
 * lt_finish() - the operation ended
 * @tracker: of the event
 * @event: the caller has taken it from the table; its reference is gone on
 *	return
 * @now_ns: when
 * @out_id: for the callback
 * @out_data: for the callback
 *
 * Context: Any; preemption off.
 * Return: 1 if it was late and the callback ran, 0 if not.
 */
int lt_finish(struct latency_tracker *tracker,
	      struct latency_tracker_event *event, u64 now_ns, u32 out_id,
	      void *out_data)
{
	u64 delay_ns = delay_of(tracker, event->start_ns, now_ns);

	lt_count(tracker->counters, LT_FINISHED);
	if (unlikely(delay_ns >= threshold_of(tracker, event))) {
		finish_late(tracker, event, now_ns, delay_ns, out_id,
			    out_data);
		return 1;
	}
	lt_put(tracker, event, LT_EVENT_PENDING);
	return 0;
}
