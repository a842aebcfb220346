/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replace, delete and insert on one chain: bucket -> old -> end. The new node of
 * the same key takes the place of the old one in one step, the mark that removes
 * it: a lookup finds one of them as long as neither was deleted. Of replace and
 * delete of one node one wins, and an insertion next to them is not lost.
 * lfht_swap(), lfht_del(), lfht_insert(): cmpxchg() <-> lfht_load_next()
 *
 * twin 1: removed first, then inserted
 * twin 2: the mark is not set by a compare-and-exchange: two winners
 * twin 3: unlinked without looking whether the place has changed
 * twin 4: the new node's link is written after the swap
 */
#define PROCS	3
#define LOCS	4
#define HIST	5
/* Nodes; the location of a node is its link. A link: node, or node + MARK. */
#define BUCKET	0
#define OLD	1
#define NEW	2
#define OTHER	3	/* sorts in front of the key */
#define END	7
#define MARK	8
#define NODE(x)		((x) & 7)
#define REMOVED(x)	((x) >= MARK)
#include "weak.inc"

byte wins;
bool deleted;

init {
	atomic {
		val[AT(BUCKET, 0)] = OLD;
		val[AT(OLD, 0)] = END;
		run replace();
		run other();
		run lookup()
	}
}

/* lfht_purge(): take OLD out of the chain. */
inline purge(p)
{
	do
	:: load_acquire(p, BUCKET, prev);
		at = BUCKET;
		if
		:: prev == OTHER ->
			at = OTHER;
			load_acquire(p, OTHER, prev)
		:: else
		fi;
		if
		:: NODE(prev) == OLD -> load_acquire(p, OLD, link)
		:: else -> break
		fi;
#if BROKEN == 3
		store_release(p, at, NODE(link));
		break
#else
		cmpxchg(p, at, OLD, NODE(link), ok);
		if
		:: ok -> break
		:: else
		fi
#endif
	od
}

proctype replace()
{
	byte link, prev, at;
	bool ok;

#if BROKEN == 1
	cmpxchg(0, OLD, END, END + MARK, ok);
	if
	:: ok -> wins++; purge(0); store(0, NEW, END);
		cmpxchg(0, BUCKET, END, NEW, ok)
	:: else
	fi
#else
#if BROKEN != 4
	store(0, NEW, END);
#endif
#if BROKEN == 2
	cmpxchg_torn(0, OLD, END, NEW + MARK, ok);
#else
	cmpxchg(0, OLD, END, NEW + MARK, ok);
#endif
#if BROKEN == 4
	store(0, NEW, END);
#endif
	if
	:: ok -> wins++; purge(0)
	:: else
	fi
#endif
}

/* A delete of OLD, or an insertion in front of it. */
proctype other()
{
	byte link, prev, at, tries;
	bool ok;

	if
	:: deleted = true;		/* from here on it need not be found */
		cmpxchg(1, OLD, END, END + MARK, ok);
		if
		:: ok ->
			wins++;
			purge(1)
		:: else
		fi
	:: do
		:: tries < 4 ->
			tries++;
			load_acquire(1, BUCKET, prev);
			store(1, OTHER, prev);
			cmpxchg(1, BUCKET, prev, OTHER, ok);
			if
			:: ok -> break
			:: else
			fi
		:: else -> assert(false)
		od;
		tries = 0;
		/* Nobody takes it out: it stays where a walk finds it. */
		load_acquire(1, BUCKET, prev);
		assert(prev == OTHER)
	fi;
	assert(wins <= 1)
}

/* lfht_find_from(): the key of OLD and NEW, with what comes after it. */
proctype lookup()
{
	byte node, link, steps;
	bool found;

	load_acquire(2, BUCKET, node);
	do
	:: node == END -> break
	:: else ->
		assert(node != 0 && steps < 4);
		steps++;
		load_acquire(2, node, link);
		assert(link != 0);
		if
		:: node != OTHER && !REMOVED(link) -> found = true; break
		:: else
		fi;
		node = NODE(link)
	od;
	assert(found || deleted);
	assert(wins <= 1)
}
