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

/*
 * A piece of a scan, and the rest behind it: at most a fifth of the time, at the
 * priority of the worker. Between them it does its other work.
 */
#define LT_SCAN_PIECE_NS	1000000ULL
#define LT_SCAN_SHARE		4
/* From one scan to the next: this is how exact a timeout is. */
#define LT_SCAN_GAP_NS		1000000ULL

/* Events of one RCU section that are due; of that many nodes, more can't be. */
struct lt_due {
	struct latency_tracker_event *event[LT_PENDING_NODES];
	bool is_collected[LT_PENDING_NODES];
	unsigned int nr;
};

/**
 * struct lt_look - a piece of a scan
 * @tracker: the tracker
 * @scan: what is kept from piece to piece
 * @now_ns: begin of the piece
 * @timeout_ns: default timeout, 0 is none
 * @collect_ns: collection age, 0 is never
 * @told_ns: for how long callbacks have run
 * @due: events to report once the RCU section is over, with a reference on
 *	each
 */
struct lt_look {
	struct latency_tracker *tracker;
	struct lt_scan *scan;
	u64 now_ns;
	u64 timeout_ns;
	u64 collect_ns;
	u64 told_ns;
	struct lt_due due;
};

static void remember(struct lt_look *look,
		     struct latency_tracker_event *event, bool is_collected)
{
	look->due.event[look->due.nr] = event;
	look->due.is_collected[look->due.nr++] = is_collected;
}

/* Is it due? The earliest deadline that is not is kept. */
static bool is_due(struct lt_look *look, u64 start_ns, u64 age_ns)
{
	u64 due = lt_add_ns(start_ns, age_ns);

	if (due <= look->now_ns)
		return true;
	look->scan->next_ns = min(look->scan->next_ns, due);
	return false;
}

/*
 * What lt_event_look() saw is given up; the reference of the table is the scan's then,
 * and that of a slot stays with it. False if refs have changed meanwhile.
 */
static bool give_up(struct lt_look *look, struct latency_tracker_event *event,
		    long refs)
{
	if (look->tracker->slots) {
		if (!lt_event_close(event, refs, 1))
			return false;
		remember(look, event, true);
	} else if (!lfht_del(look->tracker->ht, &event->node)) {
		remember(look, event, true);
	}
	return true;
}

/* What lt_event_look() saw. False if refs have changed meanwhile. */
static bool check_operation(struct lt_look *look,
			    struct latency_tracker_event *event, long refs)
{
	u64 start_ns = READ_ONCE(event->start_ns);
	u64 timeout_ns = lt_event_flags(event) & LATENCY_TRACKER_TIMEOUT ?
		READ_ONCE(lt_event_own(look->tracker, event)->timeout_ns) :
		look->timeout_ns;

	if (look->collect_ns && is_due(look, start_ns, look->collect_ns))
		return give_up(look, event, refs);
	if (!timeout_ns || refs & LT_EVENT_TIMED_OUT ||
	    !is_due(look, start_ns, timeout_ns))
		return true;
	if (!lt_event_claim(event, refs))
		return false;
	remember(look, event, false);
	return true;
}

static void check_event(struct lfht_node *node, void *arg)
{
	struct latency_tracker_event *event = lt_event_of_node(node);
	struct lt_look *look = arg;
	long refs;

	if (look->due.nr == LT_PENDING_NODES) {
		look->scan->next_ns = look->now_ns;	/* duplicates: the rest in another scan */
		return;
	}
	do {
		refs = lt_event_look(event);
	} while (refs && !check_operation(look, event, refs));
}

static void scan_tell(struct lt_look *look)
{
	struct lt_due *due = &look->due;
	u64 begin_ns = latency_tracker_clock();
	unsigned int i;

	for (i = 0; i < due->nr; i++) {
		lt_report_open(look->tracker, due->event[i],
			       latency_tracker_clock(),
			       due->is_collected[i] ? LATENCY_TRACKER_COLLECTED :
						      LATENCY_TRACKER_PENDING);
		preempt_disable_notrace();
		lt_put(look->tracker, due->event[i], 0);
		preempt_enable_notrace();
	}
	if (due->nr)
		look->told_ns += latency_tracker_clock() - begin_ns;
	due->nr = 0;
}

/* The age from which on events are given up; it is less if the pool is too small. */
static u64 collect_age(const struct latency_tracker *tracker)
{
	u64 age_ns = READ_ONCE(tracker->collect_ns);

	if (!tracker->scan.halved)
		return age_ns;
	return min(age_ns, max(age_ns >> tracker->scan.halved,
			       tracker->collect_least_ns));
}

static void read_ages(struct lt_look *look)
{
	look->timeout_ns = READ_ONCE(look->tracker->timeout_ns);
	look->collect_ns = collect_age(look->tracker);
}

/**
 * lt_scan_older() - give up more of the oldest events
 * @tracker: what its pool lacks is pending
 *
 * Context: The worker.
 * Return: whether the next scan may free some; false: all that may be given up is.
 */
bool lt_scan_older(struct latency_tracker *tracker)
{
	u64 age_ns = collect_age(tracker);

	if (!tracker->collect_least_ns || !age_ns)
		return false;
	if (tracker->scan.is_under_way || READ_ONCE(tracker->rescan))
		return true;
	if (age_ns <= tracker->collect_least_ns)
		return false;
	tracker->scan.halved++;
	WRITE_ONCE(tracker->rescan, true);
	return true;
}

/**
 * lt_scan_relax() - the pool has enough again
 * @tracker: the tracker
 *
 * Context: The worker.
 */
void lt_scan_relax(struct latency_tracker *tracker)
{
	if (tracker->scan.halved)
		tracker->scan.halved--;
}

/* What begins from now on is not due before. */
static u64 horizon(const struct lt_look *look, u64 age_ns)
{
	return age_ns ? lt_add_ns(look->now_ns, age_ns) : U64_MAX;
}

static void scan_begin(struct lt_look *look)
{
	struct latency_tracker *tracker = look->tracker;

	WRITE_ONCE(tracker->rescan, false);
	/*
	 * Either this scan sees a new timeout or age, or the setter sees that
	 * the request was taken, and asks again. Pairs with the smp_mb() in
	 * lt_kick_rescan().
	 */
	smp_mb();
	read_ages(look);
	look->scan->next_ns = min(horizon(look, look->timeout_ns),
				  horizon(look, look->collect_ns));
	WRITE_ONCE(tracker->next_scan, look->scan->next_ns);
	/*
	 * Either this scan sees an event, or its begin sees this horizon and
	 * asks for a scan if it is due earlier. Pairs with the full barrier of
	 * the cmpxchg() that adds the event, before lt_scan_ask() reads.
	 */
	smp_mb();
}

/* Returns whether there is more. */
static bool scan_piece(struct lt_look *look)
{
	u64 until_ns = lt_add_ns(look->now_ns, LT_SCAN_PIECE_NS);
	bool more;

	do {
		more = lt_pending_step(look->tracker, &look->scan->cursor,
				       check_event, look);
		scan_tell(look);
		cond_resched();
	} while (more && latency_tracker_clock() < until_ns);
	return more;
}

/**
 * lt_scan() - look at the deadlines of all pending events, or of some
 * @tracker: the tracker
 *
 * Begins a scan, or goes on with the one that is under way. Sets next_scan.
 *
 * Context: The worker, may sleep.
 * Return: when to call it next, ns of latency_tracker_clock(); U64_MAX if nothing
 * can become due by itself.
 */
u64 lt_scan(struct latency_tracker *tracker)
{
	struct lt_look look = {
		.tracker = tracker,
		.scan = &tracker->scan,
		.now_ns = latency_tracker_clock(),
	};
	struct lt_scan *scan = &tracker->scan;
	u64 end_ns, worked_ns;

	if (scan->is_under_way)
		read_ages(&look);
	else
		scan_begin(&look);
	scan->is_under_way = scan_piece(&look);
	end_ns = latency_tracker_clock();
	/*
	 * A callback is no walk. And whatever has kept the worker from its CPU
	 * meanwhile is no reason to be late once more.
	 */
	worked_ns = end_ns - look.now_ns - look.told_ns;
	scan->rest_ns = end_ns + LT_SCAN_SHARE *
				 min(worked_ns, LT_SCAN_PIECE_NS);
	if (scan->is_under_way)
		return scan->rest_ns;
	scan->rest_ns = max(scan->rest_ns, end_ns + LT_SCAN_GAP_NS);
	scan->next_ns = max(scan->next_ns, scan->rest_ns);
	WRITE_ONCE(tracker->next_scan, scan->next_ns);
	/* Asked for while this one was under way, and its kick may be gone. */
	return READ_ONCE(tracker->rescan) ? scan->rest_ns : scan->next_ns;
}
