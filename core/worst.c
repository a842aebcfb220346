// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records are read: which are the slowest of a window, and all that one says. See
 * places.h; records.c writes.
 *
 * A reader copies a record, and looks whether it was written meanwhile: then it reads
 * again.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/places.h"
#include "core/records.h"
#include "core/tracker.h"
#include "core/worst.h"

/* With writers all the time, a read ends with what holds still. */
#define READ_TRIES	1000

/* struct lt_pick - a record of a window, maybe one of the slowest */
struct lt_pick {
	struct lt_place seen;
	unsigned int at;
};

/**
 * struct lt_reader - a read
 * @records: of the tracker
 * @window: of which
 * @step: the one that has begun
 * @nr: how many in @pick
 * @kept: copy of a record
 * @pick: one for each operation of the window
 */
struct lt_reader {
	struct lt_records *records;
	unsigned int window;
	u64 step;
	unsigned int nr;
	struct lt_kept *kept;
	struct lt_pick pick[LT_PLACES_RING * LT_PLACES_SET];
};

/* Of several reports of an operation the one with the longest delay; the last of these. */
static void add_pick(struct lt_reader *reader, const struct lt_place *seen,
		     unsigned int at)
{
	struct lt_pick *pick = reader->pick;
	unsigned int i;

	for (i = 0; i < reader->nr; i++)
		if (pick[i].seen.operation == seen->operation)
			break;
	if (i == reader->nr)
		reader->nr++;
	else if (pick[i].seen.delay_ns > seen->delay_ns)
		return;
	pick[i].seen = *seen;
	pick[i].at = at;
}

/* False: the record of a place is not known, since it is being written. */
static bool pick_set(struct lt_reader *reader, u64 step)
{
	unsigned int at = lt_place_set(reader->window, step), i;
	struct lt_place seen;
	bool all = true;

	for (i = at; i < at + LT_PLACES_SET; i++) {
		if (!lt_place_look(&reader->records->place[i], &seen))
			all = false;
		else if (seen.turn == step + 1)
			add_pick(reader, &seen, i);
	}
	return all;
}

static u64 first_step(const struct lt_reader *reader)
{
	if (reader->window == LT_PROFILE_TOTAL)
		return reader->step;
	return reader->step - min_t(u64, reader->step, LT_PLACES_STEPS);
}

static bool pick_window(struct lt_reader *reader)
{
	bool all = true;
	u64 step;

	reader->nr = 0;
	for (step = first_step(reader); step <= reader->step; step++)
		all &= pick_set(reader, step);
	return all;
}

/* So many are slower; in the order of the places, if they are as slow. NULL: not so many. */
static const struct lt_pick *pick_rank(struct lt_reader *reader,
				       unsigned int rank)
{
	struct lt_pick *pick = reader->pick;
	unsigned int i, most;

	if (rank >= reader->nr)
		return NULL;
	for (;;) {
		for (most = 0, i = 1; i < reader->nr; i++)
			if (pick[i].seen.delay_ns > pick[most].seen.delay_ns)
				most = i;
		if (!rank--)
			return &pick[most];
		for (reader->nr--, i = most; i < reader->nr; i++)
			pick[i] = pick[i + 1];
	}
}

/* To @reader->kept; false: it has changed since it was @seen. */
static bool copy_kept(struct lt_reader *reader, const struct lt_place *seen,
		      unsigned int at)
{
	struct lt_records *records = reader->records;

	/* It may be written meanwhile; then the copy is of no use. */
	data_race(memcpy(reader->kept, lt_kept_at(records, at),
			 records->stride));
	return lt_place_copied(&records->place[at], seen);
}

/* The line of a number in lines NUMBER=NAME: its name, and how long that is. Or NULL. */
static const char *name_of(const char *names, u32 number, size_t *len)
{
	const char *end;
	u32 is;

	for (; names && *names; names = end + 1) {
		for (is = 0; *names != '='; names++)
			is = is * 10 + *names - '0';
		end = strchr(++names, '\n');
		*len = end - names;
		if (is == number)
			return names;
	}
	return NULL;
}

/* Its value and the name of that; all fits, or LT_KEEP_EVENT() does not compile. */
static void tell_field(struct lt_record *record, unsigned int nr,
		       const struct latency_tracker_field *field,
		       const struct lt_kept *kept)
{
	struct lt_record_field *told =
		(struct lt_record_field *)record->rest + nr;
	const void *value = (const void *)kept->values + field->offset;
	const unsigned long *ip = value;
	const char *name;
	u32 number;
	size_t len;

	strscpy(told->name, field->name, sizeof(told->name));
	told->kind = field->kind;
	told->size = field->size;
	if (field->kind == LATENCY_TRACKER_STACK)
		for (told->size = 0; told->size < field->size && *ip; ip++)
			told->size += sizeof(*ip);
	told->at = record->size;
	memcpy((void *)record + told->at, value, told->size);
	record->size = ALIGN(record->size + told->size, 8);
	if (field->kind != LATENCY_TRACKER_NAMED)
		return;
	number = field->size == sizeof(u16) ? *(const u16 *)value :
					      *(const u32 *)value;
	name = name_of(field->names, number, &len);
	if (!name)
		return;
	told->text = record->size;
	memcpy((void *)record + told->text, name, len);
	record->size = ALIGN(record->size + len + 1, 8);
}

static void tell(struct lt_record *record, const struct lt_kept *kept)
{
	const struct latency_tracker_record_event *event = kept->event;
	unsigned int i;

	record->nr = kept->nr;
	record->at_ns = kept->at_ns;
	record->start_ns = kept->start_ns;
	record->delay_ns = kept->delay_ns;
	record->flag = kept->flag;
	record->asked = kept->asked;
	record->nr_fields = event->nr_fields;
	record->fields = offsetof(struct lt_record, rest);
	strscpy(record->event, event->name, sizeof(record->event));
	record->size = record->fields +
		       event->nr_fields * sizeof(struct lt_record_field);
	for (i = 0; i < event->nr_fields; i++)
		tell_field(record, i, &event->fields[i], kept);
}

/* What is told of each record, also of one that is not there. */
static void begin_record(struct lt_record *record, unsigned int window,
			 unsigned int rank)
{
	memset(record, 0, sizeof(*record));
	record->magic = LT_RECORD_MAGIC;
	record->version = LT_RECORD_VERSION;
	record->size = offsetof(struct lt_record, rest);
	record->window = window;
	record->rank = rank;
}

/* NULL and no error: there are no records. */
static struct lt_reader *begin_read(struct latency_tracker *tracker, int *err)
{
	/* Pairs with lt_records_make(). */
	struct lt_records *records = smp_load_acquire(&tracker->records);
	struct lt_reader *reader;

	*err = 0;
	if (!records)
		return NULL;
	reader = kvzalloc(sizeof(*reader) + records->stride, GFP_KERNEL);
	if (!reader) {
		*err = -ENOMEM;
		return NULL;
	}
	reader->records = records;
	reader->kept = (void *)(reader + 1);
	return reader;
}

/* What changes whenever a record of the window does, and when the window slides. */
static u64 generation_of(const struct lt_reader *reader)
{
	/* Pairs with cmpxchg() and atomic_long_inc() of keep_slow(). */
	u64 changes = atomic_long_read_acquire(&reader->records->changes);

	return changes + reader->step;
}

/*
 * keep_slow() takes a place, counts the change, and then writes: what is read here while
 * no place was being written, at one count, is the same for each rank.
 */
static bool worst_of(struct lt_reader *reader, struct lt_record *record,
		     bool is_last_try)
{
	const struct lt_pick *pick;
	bool all;

	reader->step = lt_place_step(reader->window, record->end_ns);
	record->generation = generation_of(reader);
	all = pick_window(reader);
	pick = pick_rank(reader, record->rank);
	if (pick && !copy_kept(reader, &pick->seen, pick->at))
		return false;
	if (!is_last_try &&
	    (!all || generation_of(reader) != record->generation))
		return false;
	if (pick)
		tell(record, reader->kept);
	return true;
}

/* When the window that is read begins; what is older was left out. */
static u64 begin_of(const struct lt_reader *reader)
{
	return reader->window == LT_PROFILE_TOTAL ? 0 :
		first_step(reader) * lt_place_step_ns(reader->window);
}

/**
 * lt_record_of_worst() - one of the slowest operations of a window
 * @tracker: the tracker
 * @nr: which one, below LT_RECORDS_WORST: window by window
 * @record: result
 *
 * Context: Task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lt_record_of_worst(struct latency_tracker *tracker, unsigned int nr,
		       struct lt_record *record)
{
	struct lt_reader *reader;
	unsigned int tries;
	int err;

	begin_record(record, nr / LT_PLACES_WORST, nr % LT_PLACES_WORST);
	reader = begin_read(tracker, &err);
	if (!reader)
		return err;
	reader->window = record->window;
	for (tries = 0; tries < READ_TRIES; tries++) {
		record->end_ns = latency_tracker_clock();
		if (worst_of(reader, record, tries == READ_TRIES - 1))
			break;
		cond_resched();
	}
	record->begin_ns = begin_of(reader);
	kvfree(reader);
	return 0;
}

/**
 * lt_record_of_last() - one of the last reports
 * @tracker: the tracker
 * @nr: its place, below LT_PLACES_LAST
 * @record: result
 *
 * Context: Task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lt_record_of_last(struct latency_tracker *tracker, unsigned int nr,
		      struct lt_record *record)
{
	struct lt_reader *reader;
	struct lt_place seen;
	unsigned int tries;
	int err;

	begin_record(record, LT_RECORD_LAST, nr);
	reader = begin_read(tracker, &err);
	if (!reader)
		return err;
	for (tries = 0; tries < READ_TRIES; tries++) {
		record->end_ns = latency_tracker_clock();
		record->generation =
			atomic_long_read_acquire(&reader->records->reports);
		if (lt_place_look(&reader->records->place[nr], &seen) &&
		    (!seen.turn || copy_kept(reader, &seen, nr)))
			break;
		cond_resched();
	}
	if (tries < READ_TRIES && seen.turn)
		tell(record, reader->kept);
	kvfree(reader);
	return 0;
}

/**
 * lt_records_lost() - records that found no place
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: how many.
 */
u64 lt_records_lost(const struct latency_tracker *tracker)
{
	/* Pairs with lt_records_make(). */
	struct lt_records *records = smp_load_acquire(&tracker->records);

	return records ? atomic_long_read(&records->lost) : 0;
}
