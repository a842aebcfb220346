/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Retire and reuse of an event: nobody who found it sees the next operation in
 * it, and what was done to it is done before it is used again. The list of the retired is seen whole.
 * lt_retire(): cmpxchg()			<-> take_all(): xchg()
 * lt_reclaim(): call_rcu()			<-> the section of each lookup
 * grace_period_ended(): release of busy	<-> lt_reclaim(): load-acquire
 * lt_event_drop(): full barrier		<-> lt_event_ref(), the next begin
 *
 * twin 1: reused without a grace period
 * twin 2: retired without a barrier: the list is not seen whole
 * twin 3: busy is cleared before the grace period has ended
 * twin 4: the lookup is outside of a section
 * twin 5: retired before it is out of the table
 */
#define PROCS	4
#define LOCS	5
#define HIST	6
#define LINK	0	/* bucket -> the event, 0: not there */
#define DATA	1	/* of the event: which operation it is of */
#define RETIRED	2	/* the list of retired events */
#define BUSY	3	/* a grace period is under way */
#define NEXT	4	/* the event's link in the retired list */
#include "weak.inc"

bool handed;		/* the worker has handed a batch to RCU */

init {
	atomic {
		val[AT(LINK, 0)] = 1;
		val[AT(DATA, 0)] = 1;
		run end();
		run reader();
		run worker();
		run rcu()
	}
}

/* The end of operation 1. */
proctype end()
{
	bool ok;

	rcu_read_lock(0);
#if BROKEN == 5
	store(0, NEXT, 1);
	cmpxchg(0, RETIRED, 0, 1, ok);
	cmpxchg(0, LINK, 1, 0, ok);
#else
	cmpxchg(0, LINK, 1, 0, ok);	/* lfht_del() */
	store(0, DATA, 2);		/* the callback may write private data */
	store(0, NEXT, 1);
#if BROKEN == 2
	cmpxchg_relaxed(0, RETIRED, 0, 1, ok);
#else
	cmpxchg(0, RETIRED, 0, 1, ok);	/* lt_retire() */
#endif
#endif
	rcu_read_unlock(0)
}

/* A lookup that may find operation 1. */
proctype reader()
{
	byte link, data;

#if BROKEN != 4
	rcu_read_lock(1);
#endif
	load_acquire(1, LINK, link);
	if
	:: link -> load(1, DATA, data); assert(data != 3)
	:: else
	fi;
#if BROKEN != 4
	rcu_read_unlock(1);
#endif
	skip
}

proctype rcu()
{
	byte i;

	handed;
#if BROKEN == 3
	store(3, BUSY, 0);
	synchronize_rcu(3, i)
#else
#if BROKEN != 1
	synchronize_rcu(3, i);
#endif
	store_release(3, BUSY, 0)
#endif
}

proctype worker()
{
	byte list, busy, data;

	val[AT(RETIRED, last[RETIRED])];	/* it looks now and then */
	xchg(2, RETIRED, 0, list);		/* take_all() */
	load(2, NEXT, data);
	assert(data == 1);
	store(2, BUSY, 1);
	atomic { view[3 * LOCS + BUSY] = view[2 * LOCS + BUSY]; handed = true }
	do
	:: load_acquire(2, BUSY, busy);
		if
		:: !busy -> break
		:: else
		fi
	od;
	/* The next begin takes it from the pool. */
	store(2, DATA, 3);
	load(2, DATA, data);
	assert(data == 3)
}
