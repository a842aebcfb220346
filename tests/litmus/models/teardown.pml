/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Teardown: once tracking is off and the table was cleared, nothing is added; and
 * when the memory is freed, no callback of RCU is using it.
 * latency_tracker_set_tracking(): synchronize_rcu() <-> the section of begin()
 * lt_reclaim_drain(): rcu_barrier()		     <-> grace_period_ended()
 *
 * twin 1: cleared without waiting for begins that saw tracking on
 * twin 2: begin() looks at the flag before its section
 * twin 3: cleared before the flag is off
 * twin 4: freed without waiting for the callback that has cleared busy
 */
#define PROCS	3
#define LOCS	3
#define HIST	4
#define ON	0
#define TABLE	1
#define BUSY	2
#include "weak.inc"

bool freed, cb_ended;

init {
	atomic {
		val[AT(ON, 0)] = 1;
		val[AT(BUSY, 0)] = 1;
		run begin();
		run rcu();
		run destroy()
	}
}

proctype begin()
{
	byte on;
	bool ok;

#if BROKEN == 2
	load(0, ON, on);
	rcu_read_lock(0);
#else
	rcu_read_lock(0);
	load(0, ON, on);
#endif
	if
	:: on ->
		assert(!freed);
		cmpxchg(0, TABLE, 0, 1, ok)
	:: else
	fi;
	rcu_read_unlock(0)
}

/* grace_period_ended() */
proctype rcu()
{
	store_release(1, BUSY, 0);
	assert(!freed);		/* reclaim->done */
	cb_ended = true
}

/* The walk of lt_clear() */
inline clear()
{
	load_acquire(2, TABLE, seen);
	if
	:: seen -> cmpxchg(2, TABLE, 1, 0, ok); assert(ok)
	:: else
	fi
}

proctype destroy()
{
	byte seen, busy, i;
	bool ok;

#if BROKEN == 3
	rcu_read_lock(2);
	clear();
	rcu_read_unlock(2);
#endif
	store(2, ON, 0);
#if BROKEN != 1
	synchronize_rcu(2, i);
#endif
#if BROKEN != 3
	clear();
#endif
	do				/* lt_reclaim_drain() */
	:: load_acquire(2, BUSY, busy);
		if
		:: !busy -> break
		:: else
		fi
	od;
#if BROKEN != 4
	cb_ended;			/* rcu_barrier() */
#endif
	freed = true;
	assert(val[AT(TABLE, last[TABLE])] == 0)
}
