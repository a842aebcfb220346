// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks over the pending events: timeouts, collection, clear, count.
 *
 * A timeout costs a begin and an end nothing. The worker walks the table at
 * the earliest deadline it knows of. An event with the default timeout that
 * begins after a walk has begun cannot be due before that walk's horizon,
 * begin of the walk + timeout, and the next walk is never later than that. An
 * event with a timeout or a begin of its own that is due earlier than the next
 * walk asks for one, see ask_for_scan() in latency_tracker.c.
 */
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "core/verdict.h"

/* Nodes per RCU section: some microseconds with preemption off. */
#define LT_WALK_NODES	64
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
 * struct lt_walk - one walk
 * @tracker: over whose table
 * @now_ns: begin of the walk
 * @timeout_ns: default timeout, 0 is none
 * @collect_ns: collection age, 0 is never
 * @next_ns: earliest deadline seen so far
 * @pending: live events seen
 * @nr: events in @due
 * @due: what to tell the callback once the RCU section is over; the walk holds
 *	a reference on each
 */
struct lt_walk {
	struct latency_tracker *tracker;
	u64 now_ns;
	u64 timeout_ns;
	u64 collect_ns;
	u64 next_ns;
	u64 pending;
	unsigned int nr;
	struct lt_due due[LT_DUE_MAX];
};

/* Visit all live events, a few per RCU section. */
static void walk(struct lt_walk *w, lfht_walk_fn visit,
		 void (*after)(struct lt_walk *w))
{
	unsigned long cursor = 0;
	bool more;

	do {
		rcu_read_lock_sched();
		more = lfht_walk(w->tracker->ht, &cursor, LT_WALK_NODES, visit,
				 w);
		rcu_read_unlock_sched();
		if (after)
			after(w);
		cond_resched();
	} while (more);
}

static void remember(struct lt_walk *w, struct latency_tracker_event *event,
		     enum latency_tracker_flag flag)
{
	w->due[w->nr].event = event;
	w->due[w->nr].flag = flag;
	w->nr++;
}

static void check_event(struct lfht_node *node, void *arg)
{
	struct latency_tracker_event *event = lt_event_of_node(node);
	struct lt_walk *w = arg;
	u64 due, timeout_ns = event->flags & LATENCY_TRACKER_TIMEOUT ?
				      lt_event_own(w->tracker, event)->timeout_ns :
				      w->timeout_ns;

	if (w->nr == LT_DUE_MAX) {
		w->next_ns = w->now_ns;	/* the rest at once, in another walk */
		return;
	}
	if (w->collect_ns) {
		due = lt_add_ns(event->start_ns, w->collect_ns);
		if (due <= w->now_ns) {
			if (!lfht_del(w->tracker->ht, node))
				remember(w, event, LATENCY_TRACKER_COLLECTED);
			return;
		}
		w->next_ns = min(w->next_ns, due);
	}
	if (!timeout_ns ||
	    atomic_read(&event->refs) & LT_EVENT_TIMED_OUT)
		return;
	due = lt_add_ns(event->start_ns, timeout_ns);
	if (due > w->now_ns)
		w->next_ns = min(w->next_ns, due);
	else if (lt_event_ref(event, true))
		remember(w, event, LATENCY_TRACKER_PENDING);
}

static void tell(struct lt_walk *w)
{
	unsigned int i;

	for (i = 0; i < w->nr; i++) {
		lt_verdict(w->tracker, w->due[i].event,
			   latency_tracker_clock(), w->due[i].flag);
		preempt_disable_notrace();
		lt_put(w->tracker, w->due[i].event, 0);
		preempt_enable_notrace();
	}
	w->nr = 0;
}

/**
 * lt_scan() - look at the deadlines of all pending events
 * @tracker: whose
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
	struct lt_walk w = {
		.tracker = tracker,
		.now_ns = now_ns,
		.timeout_ns = READ_ONCE(tracker->timeout_ns),
		.collect_ns = READ_ONCE(tracker->collect_ns),
		.next_ns = U64_MAX,
	};

	if (w.timeout_ns)
		w.next_ns = lt_add_ns(now_ns, w.timeout_ns);
	if (w.collect_ns)
		w.next_ns = min(w.next_ns, lt_add_ns(now_ns, w.collect_ns));
	WRITE_ONCE(tracker->rescan, false);
	WRITE_ONCE(tracker->next_scan, w.next_ns);
	/*
	 * Either this walk sees an event, or its begin sees this horizon and
	 * asks for a scan if it is due earlier. Pairs with the full barrier of
	 * the cmpxchg() that adds the event, before ask_for_scan() reads.
	 */
	smp_mb();
	walk(&w, check_event, tell);

	end_ns = latency_tracker_clock();
	tracker->scan_rest_ns = end_ns + max(LT_SCAN_GAP_NS,
					     LT_SCAN_SHARE * (end_ns - now_ns));
	w.next_ns = max(w.next_ns, tracker->scan_rest_ns);
	WRITE_ONCE(tracker->next_scan, w.next_ns);
	return w.next_ns;
}

static void clear_event(struct lfht_node *node, void *arg)
{
	struct lt_walk *w = arg;

	if (lfht_del(w->tracker->ht, node))
		return;
	lt_count(w->tracker->counters, LT_CLEARED);
	lt_put(w->tracker, lt_event_of_node(node), LT_EVENT_PENDING);
}

/**
 * lt_clear() - remove all events that are pending now, without a verdict
 * @tracker: whose
 *
 * Context: Task, may sleep.
 */
void lt_clear(struct latency_tracker *tracker)
{
	struct lt_walk w = { .tracker = tracker };

	walk(&w, clear_event, NULL);
}

static void count_event(struct lfht_node *node, void *arg)
{
	struct lt_walk *w = arg;

	w->pending++;
}

/**
 * lt_count_pending() - count the events in the table
 * @tracker: whose
 *
 * Context: Task, may sleep.
 * Return: how many there are.
 */
u64 lt_count_pending(struct latency_tracker *tracker)
{
	struct lt_walk w = { .tracker = tracker };

	walk(&w, count_event, NULL);
	return w.pending;
}
