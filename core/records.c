// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of reports: memory, and writing. See places.h; worst.c reads.
 *
 * A report is written to a place of the ring of the last ones, and copied from there to
 * the set of each window in which it is one of the slowest, before that place is left.
 */
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/key.h"
#include "core/places.h"
#include "core/records.h"
#include "core/tracker.h"

/* How one operation is told from others: by its key and its begin. */
static u64 operation_of(const struct latency_tracker_verdict *verdict)
{
	const struct lt_key key = { verdict->key, verdict->key_len };

	return (lt_key_hash(&key) ^ verdict->start_ns) * GOLDEN_RATIO_64 +
	       ror64(verdict->start_ns, 32);
}

/* The next place of the ring that no writer has. Bounded: it may be lost. */
static struct lt_place *take_last(struct lt_records *records, u64 *nr,
				  unsigned long *owner)
{
	struct lt_place *place, seen;
	unsigned int tries;

	for (tries = 0; tries < LT_PLACES_LAST; tries++) {
		*nr = atomic_long_inc_return(&records->reports);
		place = &records->place[*nr % LT_PLACES_LAST];
		/* Unless others have come around the ring meanwhile. */
		if (!lt_place_look(place, &seen) || seen.turn > *nr ||
		    !lt_place_take(place, &seen))
			continue;
		*owner = seen.owner;
		return place;
	}
	return NULL;
}

/**
 * latency_tracker_record_begin() - keep what a report says
 * @record: for latency_tracker_record_end(); on the stack of the caller
 * @verdict: what the callback was told
 * @event: what is kept
 *
 * The caller writes all values, and calls latency_tracker_record_end(). Preemption is off
 * until then.
 *
 * Context: Any.
 * Return: where the values go, aligned to 8; NULL if nothing is to be kept, and nothing is
 *	to be ended.
 */
void *
latency_tracker_record_begin(struct latency_tracker_record *record,
			     const struct latency_tracker_verdict *verdict,
			     const struct latency_tracker_record_event *event)
{
	struct latency_tracker *tracker = verdict->tracker;
	/* Its address: pairs with the smp_store_release() of lt_records_make(). */
	struct lt_records *records = READ_ONCE(tracker->records);
	struct lt_kept *kept;

	if (!records || !READ_ONCE(tracker->profile.counted) ||
	    event->size > tracker->record_size)
		return NULL;
	preempt_disable_notrace();
	record->place = take_last(records, &record->nr, &record->owner);
	if (!record->place) {
		preempt_enable_notrace();
		atomic_long_inc(&records->lost);
		return NULL;
	}
	record->verdict = verdict;
	kept = lt_kept_at(records, record->place - records->place);
	kept->event = event;
	kept->nr = record->nr;
	kept->at_ns = latency_tracker_clock();
	kept->start_ns = verdict->start_ns;
	kept->delay_ns = verdict->delay_ns;
	kept->flag = verdict->flag;
	kept->asked = verdict->asked;
	kept->size = event->size;
	return kept->values;
}
EXPORT_SYMBOL_GPL(latency_tracker_record_begin);

/* What find_place() says, but for a place. */
#define LT_PLACE_FAST	(-1)	/* others are slower */
#define LT_PLACE_LOST	(-2)	/* that cannot be told, for other writers */

/*
 * The place of the set where it belongs: that of the same operation, one that is empty,
 * or that of the least of all. What is being written is not known; so one place more than
 * the slowest is needed for each writer. The delay of a place only grows, within a step.
 */
static int find_place(const struct lt_place *set, const struct lt_place *mine,
		      struct lt_place *found)
{
	unsigned int i, busy = 0;
	struct lt_place seen;
	int least = LT_PLACE_LOST;

	for (i = 0; i < LT_PLACES_SET; i++) {
		if (!lt_place_look(&set[i], &seen)) {
			busy++;
			continue;
		}
		/* The window has left that step behind. */
		if (seen.turn > mine->turn)
			return LT_PLACE_LOST;
		if (seen.turn < mine->turn) {
			seen.delay_ns = 0;
			seen.turn = 0;
		} else if (seen.operation == mine->operation) {
			*found = seen;
			return seen.delay_ns <= mine->delay_ns ? (int)i :
								 LT_PLACE_FAST;
		}
		if (least < 0 || (found->turn && !seen.turn) ||
		    (!found->turn == !seen.turn &&
		     seen.delay_ns < found->delay_ns)) {
			least = i;
			*found = seen;
		}
	}
	if (least < 0 || !found->turn)
		return least;
	if (busy > LT_PLACES_SPARE)
		return LT_PLACE_LOST;
	return found->delay_ns < mine->delay_ns ? least : LT_PLACE_FAST;
}

/* Each try that fails is one that another writer has won. */
static int take_slow(struct lt_place *set, struct lt_place *mine)
{
	unsigned int tries;
	struct lt_place found;
	int at;

	for (tries = 0; tries < LT_PLACES_SET; tries++) {
		at = find_place(set, mine, &found);
		if (at < 0)
			return at;
		if (lt_place_take(&set[at], &found)) {
			mine->owner = found.owner;
			return at;
		}
	}
	return LT_PLACE_LOST;
}

/* False: it was lost. */
static bool keep_slow(struct lt_records *records, const struct lt_kept *kept,
		      u64 operation, unsigned int window)
{
	u64 step = lt_place_step(window, kept->at_ns);
	unsigned int first = lt_place_set(window, step);
	struct lt_place mine = {
		.turn = step + 1,
		.delay_ns = kept->delay_ns,
		.operation = operation,
	};
	int at = take_slow(&records->place[first], &mine);

	if (at < 0)
		return at == LT_PLACE_FAST;
	/* Before the record is there: see worst_of(). */
	atomic_long_inc(&records->changes);
	memcpy(lt_kept_at(records, first + at), kept,
	       sizeof(*kept) + kept->size);
	lt_place_leave(&records->place[first + at], &mine);
	return true;
}

/**
 * latency_tracker_record_end() - the record is written
 * @record: of latency_tracker_record_begin()
 *
 * Context: Any, with preemption off since then.
 */
void latency_tracker_record_end(struct latency_tracker_record *record)
{
	struct lt_records *records = record->verdict->tracker->records;
	const struct lt_kept *kept =
		lt_kept_at(records, record->place - records->place);
	const struct lt_place last = {
		.owner = record->owner,
		.turn = record->nr,
		.delay_ns = kept->delay_ns,
		.operation = operation_of(record->verdict),
	};
	unsigned int window;
	bool is_lost = false;

	for (window = 0; window < LT_PROFILE_WINDOWS; window++)
		if (!keep_slow(records, kept, last.operation, window))
			is_lost = true;
	if (unlikely(is_lost))
		atomic_long_inc(&records->lost);
	lt_place_leave(record->place, &last);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(latency_tracker_record_end);

/**
 * lt_records_make() - have records from now on
 * @tracker: all else of its configuration is known
 *
 * They stay until the tracker goes, so switching the profile off waits for no writer.
 *
 * Context: Task, may sleep.
 * Return: 0, also if it has some; or -ENOMEM.
 */
int lt_records_make(struct latency_tracker *tracker)
{
	size_t stride = sizeof(struct lt_kept) + ALIGN(tracker->record_size, 8);
	size_t bytes = sizeof(struct lt_records) + LT_PLACES * stride;
	struct lt_records *records;
	int err = 0;

	if (!tracker->record_size)
		return 0;
	mutex_lock(&tracker->profile.lock);
	if (!tracker->records) {
		records = kvzalloc(bytes, GFP_KERNEL);
		if (records) {
			records->stride = stride;
			WRITE_ONCE(tracker->record_bytes, bytes);
			/* Pairs with latency_tracker_record_begin() and worst.c. */
			smp_store_release(&tracker->records, records);
		} else {
			err = -ENOMEM;
		}
	}
	mutex_unlock(&tracker->profile.lock);
	return err;
}

/**
 * lt_records_free() - free them
 * @tracker: no call on it runs or can begin
 *
 * Context: Task, may sleep.
 */
void lt_records_free(struct latency_tracker *tracker)
{
	kvfree(tracker->records);
}
