/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where records are: places of one size, each with a word that says whose it is.
 *
 * A place that is written has an odd owner. A writer takes it by a compare-and-exchange,
 * in any context, and waits for none: it goes to another place if this one is taken. A
 * reader finds the same even owner before and behind what it has read, or reads again.
 *
 * The last reports are in a ring. Each window has a ring of sets, a set for each of its
 * steps; a step that comes again finds what is too old in its places, and takes them as
 * empty, so that nothing has to be cleared. All of them are in the set of the total.
 */
#ifndef _LT_CORE_PLACES_H
#define _LT_CORE_PLACES_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "core/profile.h"

struct latency_tracker_record_event;

#define LT_PLACES_LAST		64U
/* What is told of a window. */
#define LT_PLACES_WORST		16U
/* So many writers at once leave the 16 slowest of a set in it, see find_place(). */
#define LT_PLACES_SPARE		4U
#define LT_PLACES_SET		(LT_PLACES_WORST + LT_PLACES_SPARE)
/* A window has so many whole steps, and the one that has begun. */
#define LT_PLACES_STEPS		5U
#define LT_PLACES_RING		(LT_PLACES_STEPS + 1)
#define LT_PLACES_SETS		(LT_PROFILE_RINGS * LT_PLACES_RING + 1)
#define LT_PLACES		(LT_PLACES_LAST + LT_PLACES_SETS * LT_PLACES_SET)

/**
 * struct lt_place - a place, without its record
 * @owner: odd while it is written; changes with each record
 * @turn: number of the report, in the ring of the last; else the step, plus 1; 0: empty
 * @delay_ns: of its record
 * @operation: what tells the operation from others
 */
struct lt_place {
	unsigned long owner;
	u64 turn;
	u64 delay_ns;
	u64 operation;
};

/**
 * struct lt_kept - a record in a place
 * @event: what the values are
 * @nr: of the report
 * @at_ns: when it was made, CLOCK_MONOTONIC
 * @start_ns: the operation began
 * @delay_ns: and took so long, or did so far
 * @flag: enum latency_tracker_flag
 * @size: bytes of @values that are used
 * @asked: see struct latency_tracker_verdict
 * @values: of the fields
 */
struct lt_kept {
	const struct latency_tracker_record_event *event;
	u64 nr;
	u64 at_ns;
	u64 start_ns;
	u64 delay_ns;
	u32 flag;
	u16 size;
	u16 asked;
	u64 values[];
};

/**
 * struct lt_records - the records of a tracker
 * @reports: how many there were; the last number that was given
 * @changes: how often the slowest of any window have changed
 * @lost: records that found no place
 * @stride: bytes of a struct lt_kept
 * @place: those of the last reports, then the sets
 * @kept: likewise, @stride apart
 */
struct lt_records {
	atomic_long_t reports;
	atomic_long_t changes;
	atomic_long_t lost;
	size_t stride;
	struct lt_place place[LT_PLACES];
	u64 kept[];
};

static inline struct lt_kept *lt_kept_at(struct lt_records *records,
					 unsigned int place)
{
	return (void *)records->kept + place * records->stride;
}

/* A fifth of a window. */
static inline u64 lt_place_step_ns(unsigned int window)
{
	static const u64 step_ns[LT_PROFILE_RINGS] = {
		12 * (u64)NSEC_PER_SEC, 60 * (u64)NSEC_PER_SEC,
		720 * (u64)NSEC_PER_SEC,
	};

	return step_ns[window];
}

/* The step of a window that a moment is in. */
static inline u64 lt_place_step(unsigned int window, u64 at_ns)
{
	if (window == LT_PROFILE_TOTAL)
		return 0;
	return div64_u64(at_ns, lt_place_step_ns(window));
}

/* The first place of the set of a step. */
static inline unsigned int lt_place_set(unsigned int window, u64 step)
{
	unsigned int set = window * LT_PLACES_RING;
	u32 in_ring = 0;

	if (window != LT_PROFILE_TOTAL)
		div_u64_rem(step, LT_PLACES_RING, &in_ring);
	return LT_PLACES_LAST + (set + in_ring) * LT_PLACES_SET;
}

/**
 * lt_place_look() - what is in a place?
 * @place: the place
 * @seen: result
 *
 * Context: Any.
 * Return: true; false if it is being written, or was meanwhile.
 */
static inline bool lt_place_look(const struct lt_place *place,
				 struct lt_place *seen)
{
	/* Pairs with lt_place_leave(): its record is there. */
	seen->owner = smp_load_acquire(&place->owner);
	seen->turn = READ_ONCE(place->turn);
	seen->delay_ns = READ_ONCE(place->delay_ns);
	seen->operation = READ_ONCE(place->operation);
	/* Pairs with lt_place_take(): none of it is of the next record. */
	smp_rmb();
	return !(seen->owner & 1) && READ_ONCE(place->owner) == seen->owner;
}

/**
 * lt_place_take() - become the writer of a place
 * @place: the place
 * @seen: as it was looked at
 *
 * The cmpxchg() is in front of all that is written, which pairs with the smp_rmb() of
 * lt_place_look() and lt_place_copied().
 *
 * Context: Any; preemption off.
 * Return: true; false if it has another record by now, or another writer.
 */
static inline bool lt_place_take(struct lt_place *place,
				 const struct lt_place *seen)
{
	return cmpxchg(&place->owner, seen->owner, seen->owner + 1) == seen->owner;
}

/**
 * lt_place_leave() - the place has another record
 * @place: the caller has it by lt_place_take(), and has written the record
 * @now: what is in it; @now->owner as it was before
 *
 * Context: Any.
 */
static inline void lt_place_leave(struct lt_place *place,
				  const struct lt_place *now)
{
	WRITE_ONCE(place->turn, now->turn);
	WRITE_ONCE(place->delay_ns, now->delay_ns);
	WRITE_ONCE(place->operation, now->operation);
	/* Pairs with lt_place_look(). */
	smp_store_release(&place->owner, now->owner + 2);
}

/**
 * lt_place_copied() - was the record that was copied the one that was seen?
 * @place: the place
 * @seen: as it was looked at, before
 *
 * Context: Any.
 * Return: true; false if what was copied may be of two records.
 */
static inline bool lt_place_copied(const struct lt_place *place,
				   const struct lt_place *seen)
{
	/* Pairs with lt_place_take(). */
	smp_rmb();
	return READ_ONCE(place->owner) == seen->owner;
}

#endif /* _LT_CORE_PLACES_H */
