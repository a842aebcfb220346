/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The references and flags of an event: the end and the timeout agree on whether
 * the timeout was told, it is told once, and the last reference is dropped once,
 * after all use of the event.
 * lt_event_settle(): fetch_andnot	<-> lt_event_ref(): the claim
 * lt_event_drop(): full barrier	<-> lt_event_drop() of the others, and the
 *					    next begin behind the grace period
 *
 * twin 1: the claim is not atomic
 * twin 2: the claim does not look at PENDING
 * twin 3: a reference is taken from 0
 * twin 4: a drop without a barrier: the last use is late
 * twin 5: the flag of the timeout is set after the reference is taken
 */
#define PROCS	4
#define LOCS	2
#define HIST	14
#define REFS	0	/* count + flags */
#define PRIV	1	/* what the callbacks may write */
#define PENDING		16
#define TIMED_OUT	32
#define COUNT(x)	((x) & 15)
#include "weak.inc"

byte told;		/* timeouts that were told */
bool settled, said;	/* the end has looked, and this is what it saw */
bool retired;

init {
	atomic {
		val[AT(REFS, 0)] = 1 + PENDING;
		run end();
		run worker(1);
		run worker(2);
		run holder()
	}
}

inline drop(p)
{
	atomic {
		refs = val[AT(REFS, last[REFS])];
		assert(COUNT(refs) > 0);
		VIEW(p, REFS) = last[REFS];
		join_msg(p, REFS);
		sync_full(p);
		append(p, REFS, refs - 1, true);
		sync_full(p);
		if
		:: COUNT(refs) == 1 -> assert(!retired); retired = true
		:: else
		fi;
		refs = 0
	}
}

proctype end()
{
	byte refs;

	atomic {		/* lt_event_settle() */
		refs = val[AT(REFS, last[REFS])];
		append(0, REFS, refs & ~PENDING, true);
		settled = true;
		said = (refs & TIMED_OUT) != 0
	}
	store(0, PRIV, 1);
	drop(0)
}

proctype worker(byte me)
{
	byte refs, new;
	bool ok;

	if
	:: retired -> goto out	/* it is not in the table any more */
	:: else
	fi;
	load(me, REFS, refs);
	do
	:: if
	   :: COUNT(refs) == 0 -> goto out
#if BROKEN == 2
	   :: (refs & TIMED_OUT) -> goto out
#else
	   :: COUNT(refs) && (refs & (PENDING + TIMED_OUT)) != PENDING -> goto out
#endif
	   :: else
	   fi;
#if BROKEN == 5
		new = refs + 1;
#else
		new = (refs + 1) | TIMED_OUT;
#endif
#if BROKEN == 1
		cmpxchg_torn(me, REFS, refs, new, ok);
#else
		cmpxchg(me, REFS, refs, new, ok);
#endif
		if
		:: ok -> break
		:: else -> load(me, REFS, refs)
		fi
	od;
	assert(!retired);
	atomic {
		told++;
		assert(told == 1);
		assert(!settled || said)
	}
#if BROKEN == 5
	atomic {
		refs = val[AT(REFS, last[REFS])];
		append(me, REFS, refs | TIMED_OUT, true)
	}
#endif
#if BROKEN == 4
	drop(me);
	assert(!retired);	/* the callback's write, so late */
	store(me, PRIV, 2)
#else
	assert(!retired);
	store(me, PRIV, 2);
	drop(me)
#endif
out:	skip
}

/* latency_tracker_get_event() and put_event() */
proctype holder()
{
	byte refs;
	bool ok;

	load(3, REFS, refs);
	do
	::
#if BROKEN != 3
		if
		:: COUNT(refs) == 0 -> goto out
		:: else
		fi;
#endif
		cmpxchg(3, REFS, refs, refs + 1, ok);
		if
		:: ok -> break
		:: else -> load(3, REFS, refs)
		fi
	od;
	assert(!retired);
	drop(3);
out:	skip
}
