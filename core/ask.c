// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is pending now, reported on request.
 *
 * The caller walks, at its own priority, and takes references on the operations that are
 * pending longest. The worker reports them, one in each of its rounds, since a callback
 * for what is pending runs in the worker only: it may use what only one thread may. An
 * operation that has ended meanwhile is not reported.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "core/ask.h"
#include "core/kick.h"
#include "core/outcome.h"
#include "core/pending.h"
#include "core/tracker.h"

/**
 * struct lt_ask_walk - the search of a request
 * @tracker: the tracker
 * @until_ns: what began later is too young
 * @after_ns: what began then, or earlier, was reported before
 * @max: as many as are wanted, up to LT_ASK_MAX
 * @nr: how many were found, the one that began first in front
 */
struct lt_ask_walk {
	struct latency_tracker *tracker;
	u64 until_ns;
	u64 after_ns;
	unsigned int max;
	unsigned int nr;
};

/**
 * lt_ask_init() - before the first request
 * @tracker: the tracker
 *
 * Context: Task.
 */
void lt_ask_init(struct latency_tracker *tracker)
{
	mutex_init(&tracker->ask.lock);
	init_completion(&tracker->ask.done);
}

static u64 ask_start(const struct lt_ask_walk *walk, unsigned int nr)
{
	return walk->tracker->ask.event[nr]->start_ns;
}

static bool ask_wants(const struct lt_ask_walk *walk, u64 start_ns)
{
	return start_ns <= walk->until_ns && start_ns > walk->after_ns &&
	       (walk->nr < walk->max || start_ns < ask_start(walk, walk->nr - 1));
}

/* In the order of their begins; the last one goes if there are too many. */
static void ask_insert(struct lt_ask_walk *walk,
		       struct latency_tracker_event *event)
{
	struct latency_tracker_event **of = walk->tracker->ask.event;
	unsigned int at;

	if (walk->nr == walk->max)
		lt_put(walk->tracker, of[--walk->nr], 0);
	for (at = walk->nr++; at && ask_start(walk, at - 1) > event->start_ns; at--)
		of[at] = of[at - 1];
	of[at] = event;
}

/* In an RCU read-side section with preemption off. */
static void ask_look(struct lfht_node *node, void *arg)
{
	struct latency_tracker_event *event = lt_event_of_node(node);
	struct lt_ask_walk *walk = arg;

	if (!ask_wants(walk, READ_ONCE(event->start_ns)) ||
	    !lt_event_ref(event, LT_EVENT_OPEN))
		return;
	/* A slot may have had another operation before; from now on it has this one. */
	if (ask_wants(walk, event->start_ns))
		ask_insert(walk, event);
	else
		lt_put(walk->tracker, event, 0);
}

/* Hand to the worker what was found. Returns how many it has reported. */
static unsigned int ask_worker(const struct lt_ask_walk *walk)
{
	struct lt_ask *ask = &walk->tracker->ask;

	reinit_completion(&ask->done);
	ask->taken = 0;
	ask->told = 0;
	/* With all that it refers to. Pairs with lt_ask_answer(). */
	smp_store_release(&ask->nr, walk->nr);
	lt_kick(walk->tracker);
	wait_for_completion(&ask->done);
	return ask->told;
}

/* What the filter of the tracker leaves out is not counted in: then there may be more. */
static void ask_all(struct lt_ask_walk *walk)
{
	unsigned int told = 0;
	u64 last_ns;

	do {
		walk->nr = 0;
		walk->max = LT_ASK_MAX - told;
		lt_pending_walk(walk->tracker, ask_look, walk);
		if (!walk->nr)
			return;
		last_ns = ask_start(walk, walk->nr - 1);
		told += ask_worker(walk);
		walk->after_ns = last_ns;
	} while (walk->nr == walk->max && told < LT_ASK_MAX);
}

/**
 * latency_tracker_report_pending() - report what is pending now
 * @tracker: the tracker
 * @age_ns: only what is pending for that long, ns
 * @after_ns: only what began later than that, ns of latency_tracker_clock(); 0: all
 *
 * The callback is called as for a timeout, with latency_tracker_verdict.asked, for the
 * 32 operations that began first. For the next ones, ask with the begin of the last one. It
 * is no crossing, and whether an operation has timed out does not matter. When it
 * returns, all have been reported.
 *
 * Context: Task, may sleep; not in a callback.
 * Return: 0; -EINVAL for NULL and ERR_PTR().
 */
int latency_tracker_report_pending(struct latency_tracker *tracker, u64 age_ns,
				   u64 after_ns)
{
	u64 now_ns = latency_tracker_clock();
	struct lt_ask_walk walk = {
		.tracker = tracker,
		.until_ns = now_ns > age_ns ? now_ns - age_ns : 0,
		.after_ns = after_ns,
	};

	if (IS_ERR_OR_NULL(tracker))
		return -EINVAL;
	mutex_lock(&tracker->ask.lock);
	ask_all(&walk);
	mutex_unlock(&tracker->ask.lock);
	return 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_report_pending);

/**
 * lt_ask_answer() - report one of the operations of a request
 * @tracker: the tracker
 *
 * Context: The worker.
 * Return: when to call it next, ns of latency_tracker_clock(): at once; or U64_MAX, if the
 * next request will kick.
 */
u64 lt_ask_answer(struct latency_tracker *tracker)
{
	struct lt_ask *ask = &tracker->ask;
	/* Pairs with latency_tracker_report_pending(). */
	unsigned int nr = smp_load_acquire(&ask->nr);
	struct latency_tracker_event *event;

	if (!nr)
		return U64_MAX;
	event = ask->event[ask->taken++];
	if (lt_event_look(event))
		ask->told += lt_report_asked(tracker, event, latency_tracker_clock());
	preempt_disable_notrace();
	lt_put(tracker, event, 0);
	preempt_enable_notrace();
	if (ask->taken < nr)
		return 0;
	WRITE_ONCE(ask->nr, 0);
	/* The caller may go on, and another one may ask. */
	complete(&ask->done);
	return U64_MAX;
}
