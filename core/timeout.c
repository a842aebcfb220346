// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deadlines of pending events: timeouts and collection.
 *
 * A timeout costs a begin and an end nothing. The worker walks the table at
 * the earliest deadline it knows of. An event with the default timeout that
 * begins after a walk has begun cannot be due before that walk's horizon,
 * begin of the walk + timeout, and the next walk is never later than that. An
 * event with a timeout or a begin of its own that is due earlier than the next
 * walk asks for one, see lt_scan_ask() in timeout.h.
 */
#include <linux/minmax.h>
#include <linux/preempt.h>

#include "core/outcome.h"
#include "core/pending.h"
#include "core/timeout.h"
#include "core/tracker.h"

/* Events that are reported after one RCU section of the walk. */
#define LT_DUE_MAX	32

/*
 * Never walk more often than this, nor for more than a fifth of the time. This
 * is how exact a timeout is.
 */
#define LT_SCAN_GAP_NS	1000000ULL
#define LT_SCAN_SHARE	4

struct lt_due {
	struct latency_tracker_event *event;
	enum latency_tracker_flag flag;
};

/**
 * struct lt_look - one look at all deadlines
 * @tracker: the tracker
 * @now_ns: begin of the walk
 * @timeout_ns: default timeout, 0 is none
 * @collect_ns: collection age, 0 is never
 * @next_ns: earliest deadline seen so far
 * @nr: events in @due
 * @due: events to report once the RCU section is over, with a reference on
 *	each
 */
struct lt_look {
	struct latency_tracker *tracker;
	u64 now_ns;
	u64 timeout_ns;
	u64 collect_ns;
	u64 next_ns;
	unsigned int nr;
	struct lt_due due[LT_DUE_MAX];
};

static void remember(struct lt_look *look,
		     struct latency_tracker_event *event,
		     enum latency_tracker_flag flag)
{
	look->due[look->nr].event = event;
	look->due[look->nr].flag = flag;
	look->nr++;
}

static void check_event(struct lfht_node *node, void *arg)
{
	struct latency_tracker_event *event = lt_event_of_node(node);
	struct lt_look *look = arg;
	u64 due, timeout_ns = event->flags & LATENCY_TRACKER_TIMEOUT ?
				      lt_event_own(look->tracker, event)->timeout_ns :
				      look->timeout_ns;

	if (look->nr == LT_DUE_MAX) {
		look->next_ns = look->now_ns;	/* the rest at once, in another walk */
		return;
	}
	if (look->collect_ns) {
		due = lt_add_ns(event->start_ns, look->collect_ns);
		if (due <= look->now_ns) {
			if (!lfht_del(look->tracker->ht, node))
				remember(look, event, LATENCY_TRACKER_COLLECTED);
			return;
		}
		look->next_ns = min(look->next_ns, due);
	}
	if (!timeout_ns ||
	    atomic_read(&event->refs) & LT_EVENT_TIMED_OUT)
		return;
	due = lt_add_ns(event->start_ns, timeout_ns);
	if (due > look->now_ns)
		look->next_ns = min(look->next_ns, due);
	else if (lt_event_ref(event, true))
		remember(look, event, LATENCY_TRACKER_PENDING);
}

static void tell(void *arg)
{
	struct lt_look *look = arg;
	unsigned int i;

	for (i = 0; i < look->nr; i++) {
		lt_report_open(look->tracker, look->due[i].event,
			       latency_tracker_clock(), look->due[i].flag);
		preempt_disable_notrace();
		lt_put(look->tracker, look->due[i].event, 0);
		preempt_enable_notrace();
	}
	look->nr = 0;
}

/**
 * lt_scan() - look at the deadlines of all pending events
 * @tracker: the tracker
 *
 * Sets next_scan.
 *
 * Context: The worker, may sleep.
 * Return: when to scan next, ns of latency_tracker_clock(); U64_MAX if nothing
 * can become due by itself.
 */
u64 lt_scan(struct latency_tracker *tracker)
{
	u64 now_ns = latency_tracker_clock(), end_ns;
	struct lt_look look = {
		.tracker = tracker,
		.now_ns = now_ns,
		.next_ns = U64_MAX,
	};

	WRITE_ONCE(tracker->rescan, false);
	/*
	 * Either this scan sees a new timeout or age, or the setter sees that
	 * the request was taken, and asks again. Pairs with the smp_mb() in
	 * lt_kick_rescan().
	 */
	smp_mb();
	look.timeout_ns = READ_ONCE(tracker->timeout_ns);
	look.collect_ns = READ_ONCE(tracker->collect_ns);
	if (look.timeout_ns)
		look.next_ns = lt_add_ns(now_ns, look.timeout_ns);
	if (look.collect_ns)
		look.next_ns = min(look.next_ns, lt_add_ns(now_ns, look.collect_ns));
	WRITE_ONCE(tracker->next_scan, look.next_ns);
	/*
	 * Either this walk sees an event, or its begin sees this horizon and
	 * asks for a scan if it is due earlier. Pairs with the full barrier of
	 * the cmpxchg() that adds the event, before lt_scan_ask() reads.
	 */
	smp_mb();
	lt_pending_walk(tracker, check_event, tell, &look);

	end_ns = latency_tracker_clock();
	tracker->scan_rest_ns = end_ns + max(LT_SCAN_GAP_NS,
					     LT_SCAN_SHARE * (end_ns - now_ns));
	look.next_ns = max(look.next_ns, tracker->scan_rest_ns);
	WRITE_ONCE(tracker->next_scan, look.next_ns);
	return look.next_ns;
}
