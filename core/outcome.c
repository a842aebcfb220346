// SPDX-License-Identifier: GPL-2.0-only
/*
 * How an operation turned out: what the callback is told. See outcome.h for the
 * decision whether it was late.
 */
#include "core/crossings.h"
#include "core/outcome.h"
#include "core/per_minute.h"

/* The threshold that an operation has if its tracker knows of no other. */
static __always_inline u64 default_of(const struct latency_tracker *tracker,
				      struct latency_tracker_event *event)
{
	return lt_event_flags(event) & LATENCY_TRACKER_THRESHOLD ?
		       READ_ONCE(lt_event_own(tracker, event)->threshold_ns) :
		       READ_ONCE(tracker->default_ns);
}

/* Returns the threshold that it has if it has none of its own. */
static __always_inline u64
complete_verdict(struct latency_tracker *tracker,
		 struct latency_tracker_event *event,
		 struct latency_tracker_verdict *verdict)
{
	u64 default_ns = default_of(tracker, event);

	verdict->tracker = tracker;
	verdict->event = event;
	verdict->key = event->data;
	verdict->key_len = lt_event_key_len(event);
	verdict->priv = lt_event_priv(event);
	verdict->start_ns = event->start_ns;
	verdict->threshold_ns = default_ns;
	if (tracker->own_threshold)
		verdict->threshold_ns = tracker->own_threshold(verdict);
	return default_ns;
}

static __always_inline bool
is_wanted(struct latency_tracker *tracker,
	  const struct latency_tracker_verdict *verdict)
{
	return !tracker->wanted || tracker->wanted(verdict);
}

static void call_back(struct latency_tracker *tracker,
		      struct latency_tracker_event *event,
		      const struct latency_tracker_verdict *verdict)
{
	latency_tracker_cb callback =
		lt_event_flags(event) & LT_EVENT_CALLBACK ?
			lt_event_own(tracker, event)->callback :
			tracker->callback;

	callback(verdict);
}

/**
 * lt_report_open() - tell the callback about an operation that did not end
 * @tracker: of the event
 * @event: the caller holds a reference and has claimed the timeout, or owns
 *	the verdict if @flag is COLLECTED
 * @now_ns: when it was found
 * @flag: PENDING or COLLECTED
 *
 * Context: The worker.
 */
void lt_report_open(struct latency_tracker *tracker,
		    struct latency_tracker_event *event, u64 now_ns,
		    enum latency_tracker_flag flag)
{
	struct latency_tracker_verdict verdict = {
		.now_ns = now_ns,
		.delay_ns = lt_delay_of(tracker, event->start_ns, now_ns),
		.flag = flag,
		.timed_out = true,
	};

	if (flag == LATENCY_TRACKER_COLLECTED) {
		verdict.timed_out = lt_event_settle(event);
		lt_count(tracker->counters, LT_COLLECTED);
	}
	complete_verdict(tracker, event, &verdict);
	if (!is_wanted(tracker, &verdict))
		return;
	if (flag == LATENCY_TRACKER_PENDING)
		lt_count(tracker->counters, LT_TIMEOUTS);
	call_back(tracker, event, &verdict);
}

/**
 * lt_report_asked() - tell the callback about a pending operation, on request
 * @tracker: of the event
 * @event: the caller holds a reference; it was pending a moment ago
 * @now_ns: now
 *
 * Context: The worker.
 * Return: false: the filter of the tracker leaves it out.
 */
bool lt_report_asked(struct latency_tracker *tracker,
		     struct latency_tracker_event *event, u64 now_ns)
{
	struct latency_tracker_verdict verdict = {
		.now_ns = now_ns,
		.delay_ns = lt_delay_of(tracker, event->start_ns, now_ns),
		.flag = LATENCY_TRACKER_PENDING,
		.timed_out = atomic_long_read(&event->refs) & LT_EVENT_TIMED_OUT,
		.asked = true,
	};

	complete_verdict(tracker, event, &verdict);
	if (!is_wanted(tracker, &verdict))
		return false;
	lt_count(tracker->counters, LT_ASKED);
	call_back(tracker, event, &verdict);
	return true;
}

/**
 * lt_finish_late() - the rest of lt_finish(), for an operation that may be late
 * @tracker: of the event
 * @event: its reference is gone on return
 * @now_ns: when it ended
 * @delay_ns: how long it took
 * @out_id: for the callback
 * @out_data: for the callback
 *
 * It has reached the least of all thresholds. By which it is late, or is not, is only found
 * out here, once, so that the callback is told the truth.
 *
 * Apart, so that an operation in time needs no room for the struct on the stack.
 *
 * Context: Any; preemption off.
 * Return: 1 if it was late and the callback ran, 0 if not.
 */
int lt_finish_late(struct latency_tracker *tracker,
		   struct latency_tracker_event *event, u64 now_ns,
		   u64 delay_ns, u32 out_id, void *out_data)
{
	struct latency_tracker_verdict verdict = {
		.out_data = out_data,
		.now_ns = now_ns,
		.delay_ns = delay_ns,
		.out_id = out_id,
		.flag = LATENCY_TRACKER_ENDED,
		.timed_out = lt_event_settle(event),
	};
	u64 default_ns = complete_verdict(tracker, event, &verdict);
	bool is_late;

	if (lt_is_late(delay_ns, READ_ONCE(tracker->waits_least_ns)))
		tracker->waited(&verdict);
	is_late = lt_is_late(delay_ns, verdict.threshold_ns) &&
		  is_wanted(tracker, &verdict);
	if (is_late) {
		call_back(tracker, event, &verdict);
		if (unlikely(READ_ONCE(tracker->per_minute.wanted)) &&
		    verdict.threshold_ns == default_ns &&
		    !(lt_event_flags(event) & LATENCY_TRACKER_THRESHOLD))
			lt_per_minute_late(tracker, delay_ns);
		/* Behind it: a poller that is woken finds the report. */
		lt_count(tracker->counters, LT_LATE);
		lt_crossings_kick(tracker);
	}
	lt_put(tracker, event, 0);
	return is_late;
}

/**
 * lt_would_be_late() - see latency_tracker_is_late()
 * @tracker: the tracker
 * @event: of which it is asked
 * @now_ns: now
 *
 * Context: Any.
 * Return: true if it has reached its threshold.
 */
bool lt_would_be_late(struct latency_tracker *tracker,
		      struct latency_tracker_event *event, u64 now_ns)
{
	struct latency_tracker_verdict verdict = {
		.now_ns = now_ns,
		.flag = LATENCY_TRACKER_PENDING,
	};
	u64 start_ns = READ_ONCE(event->start_ns);

	if (now_ns <= start_ns ||
	    !lt_is_late(now_ns - start_ns, lt_threshold_of(tracker, event)))
		return false;
	verdict.delay_ns = now_ns - start_ns;
	complete_verdict(tracker, event, &verdict);
	return lt_is_late(verdict.delay_ns, verdict.threshold_ns);
}

/**
 * lt_clear_event() - an event that has no verdict
 * @tracker: of the event
 * @event: the caller has taken it from the table; its reference is gone on
 *	return
 *
 * Context: Any; preemption off.
 */
void lt_clear_event(struct latency_tracker *tracker,
		    struct latency_tracker_event *event)
{
	lt_count(tracker->counters, LT_CLEARED);
	lt_put(tracker, event, LT_EVENT_OPEN);
}

/**
 * lt_group_end() - count an operation that has ended in its groups
 * @tracker: the tracker
 * @key: of the operation
 * @priv: its private bytes
 * @out_data: of its end
 * @delay_ns: how long it took
 *
 * Context: Any; in a read-side section.
 */
void lt_group_end(struct latency_tracker *tracker, const void *key,
		  const void *priv, const void *out_data, u64 delay_ns)
{
	u64 id[LATENCY_TRACKER_DIMENSIONS] = {};

	lt_groups_ids(&tracker->groups, key, priv, out_data, id);
	lt_groups_count(&tracker->groups, id, delay_ns);
}

/**
 * lt_finish_slot_grouped() - lt_finish_slot() with groups
 * @tracker: of the event
 * @event: the slot
 * @now_ns: when; 0 is now
 * @out_id: for the callback
 * @out_data: for the callback
 *
 * Apart, so that without groups there is no room for ids on the stack.
 *
 * Context: Any; in a read-side section.
 * Return: as lt_finish_slot().
 */
int lt_finish_slot_grouped(struct latency_tracker *tracker,
			   struct latency_tracker_event *event, u64 now_ns,
			   u32 out_id, void *out_data)
{
	u64 id[LATENCY_TRACKER_DIMENSIONS] = {};

	return lt_close_slot(tracker, event, now_ns, out_id, out_data, id);
}
