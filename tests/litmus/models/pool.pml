/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The depot: a lock-free stack of batches. A pop reads head and head->next and
 * exchanges: what it has seen at head must not come back meanwhile with another
 * next. batch_push(): cmpxchg() <-> batch_pop(): load-acquire, and the grace
 * period before a push <-> the section of each pop.
 *
 * twin 1: pushed without a grace period
 * twin 2: popped outside of a section
 * twin 3: pushed without a barrier
 * twin 4: popped by a load and a store
 */
#define PROCS	3
#define LOCS	3
#define HIST	7
#define HEAD	0	/* 1, 2: a batch; 0: empty */
/* Locations 1 and 2 are the links of the batches. */
#include "weak.inc"

bool out[3];	/* a batch is in somebody's hands */

init {
	atomic {
		val[AT(HEAD, 0)] = 1;
		val[AT(1, 0)] = 2;
		run victim();
		run worker();
		run other()
	}
}

inline pop(p)
{
#if BROKEN != 2
	rcu_read_lock(p);
#endif
	load_acquire(p, HEAD, head);
	do
	:: !head -> break
	:: else ->
		load(p, head, next);
#if BROKEN == 4
		store_release(p, HEAD, next);
		break;
#else
		cmpxchg(p, HEAD, head, next, ok);
		if
		:: ok -> break
		:: else -> load_acquire(p, HEAD, head)
		fi
#endif
	od;
	if
	:: head -> atomic { assert(!out[head]); out[head] = true }
	:: else
	fi;
	next = 0;
#if BROKEN != 2
	rcu_read_unlock(p)
#else
	skip
#endif
}

proctype victim()
{
	byte head, next;
	bool ok;

	pop(0)
}

/* Takes two, as probes do, and gives the first one back. */
proctype worker()
{
	byte head, next, first, i;
	bool ok;

	pop(1);
	first = head;
	pop(1);
	if
	:: first ->
#if BROKEN != 1
		synchronize_rcu(1, i);
#endif
		load_acquire(1, HEAD, head);
		do
		:: store(1, first, head);
			out[first] = false;
#if BROKEN == 3
			cmpxchg_relaxed(1, HEAD, head, first, ok);
#else
			cmpxchg(1, HEAD, head, first, ok);
#endif
			if
			:: ok -> break
			:: else -> load_acquire(1, HEAD, head)
			fi
		od
	:: else
	fi
}

proctype other()
{
	byte head, next;
	bool ok;

	pop(2)
}
