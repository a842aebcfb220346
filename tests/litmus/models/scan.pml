/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A begin with a deadline of its own and a scan of the worker: the scan sees
 * the event, or the begin sees the scan's horizon and asks for another one.
 * lt_scan(): smp_mb()	<-> the cmpxchg() of the add, before ask_for_scan() reads
 *
 * twin 1: lt_scan() without the barrier
 * twin 2: the add without a barrier
 * twin 3: rescan is cleared after the walk
 */
#define PROCS	2
#define LOCS	4
#define HIST	4
#define TABLE	0	/* the event */
#define NEXT	1	/* next_scan: 1 is far */
#define RESCAN	2
#define KICKED	3
#include "weak.inc"

bool ended, asked;

active proctype begin()
{
	byte next, rescan;
	bool ok;

#if BROKEN == 2
	cmpxchg_relaxed(0, TABLE, 0, 1, ok);
#else
	cmpxchg(0, TABLE, 0, 1, ok);
#endif
	load(0, NEXT, next);
	if
	:: next ->			/* it is due earlier */
		load(0, RESCAN, rescan);
		if
		:: rescan		/* somebody has asked */
		:: else -> store(0, RESCAN, 1)
		fi
	:: else				/* the next scan is early enough */
	fi;
	mb(0);
	ended = true
}

/* A scan that somebody else asked for, and then what was asked for meanwhile. */
active proctype worker()
{
	byte seen, rescan;

	store(1, RESCAN, 1);
	mb(1);
#if BROKEN != 3
	store(1, RESCAN, 0);
#endif
	store(1, NEXT, 1);
#if BROKEN != 1
	mb(1);
#endif
	load(1, TABLE, seen);
#if BROKEN == 3
	store(1, RESCAN, 0);
#endif
	ended;
	mb(1);
	load(1, RESCAN, rescan);
	assert(seen || rescan)
}
