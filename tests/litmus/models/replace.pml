/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replace, delete and insert on one chain: bucket -> old -> end. The new node of
 * the same key takes the place of the old one in one step, the mark that removes
 * it: a lookup finds one of them as long as neither was deleted. Of replace and
 * delete of one node one wins, and an insertion next to them is not lost.
 * lfht_swap(), lfht_del(), lfht_insert(): cmpxchg() <-> lfht_load_next()
 *
 * twin 1: removed first, then inserted
 * twin 2: unlinked without looking whether the place has changed
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

/*
 * Weak memory, as views. A location keeps all values it ever had, HIST at most. Each
 * process knows for each location the oldest of them that it may still read; it reads
 * that one or any newer one, and then nothing older. What moves this view on is only what
 * orders in the kernel's model: an acquire (or an address dependency) takes over what the
 * release knew that it reads from, full barriers take over from each other. So a store is
 * late, or a load early, for as long as no barrier forbids it. A view can't say that a load
 * or store moves behind a later one to another location: the litmus tests can.
 */
#define AT(l, t)	((l) * HIST + (t))
#define VIEW(p, l)	view[(p) * LOCS + (l)]
#define MSG(l, t, k)	msg[AT(l, t) * LOCS + (k)]

byte val[LOCS * HIST];
byte last[LOCS];		/* index of the newest value */
byte view[PROCS * LOCS];	/* of a process: index that it may read */
byte msg[LOCS * HIST * LOCS];	/* what comes with a value */
byte fenced[LOCS];		/* known at the last full barrier */
hidden byte wi, wt;

#define UP(to, from)	to = ((from) > (to) -> (from) : (to))

inline join_msg(p, l)
{
	for (wi : 0 .. LOCS - 1) {
		UP(VIEW(p, wi), MSG(l, VIEW(p, l), wi));
	}
	wi = 0
}

inline sync_full(p)
{
	for (wi : 0 .. LOCS - 1) {
		UP(VIEW(p, wi), fenced[wi]);
		fenced[wi] = VIEW(p, wi);
	}
	wi = 0
}

/* With what p knows, or, if not a release, with the value alone. */
inline append(p, l, v, is_release)
{
	last[l]++;
	assert(last[l] < HIST);
	val[AT(l, last[l])] = v;
	VIEW(p, l) = last[l];
	for (wi : 0 .. LOCS - 1) {
		MSG(l, last[l], wi) = ((is_release) -> VIEW(p, wi) : 0);
	}
	wi = 0
}

/* smp_load_acquire() or lfht_load_next() */
inline load_acquire(p, l, out)
{
	atomic {
		wt = VIEW(p, l);
		do
		:: wt < last[l] -> wt++
		:: break
		od;
		VIEW(p, l) = wt;
		out = val[AT(l, wt)];
		wt = 0;
		join_msg(p, l)
	}
}

inline store(p, l, v)		{ atomic { append(p, l, v, false) } }
inline store_release(p, l, v)	{ atomic { append(p, l, v, true) } }

/* An atomic operation acts on the newest value. A failed one orders nothing. */
inline cmpxchg(p, l, old, new, ok)
{
	atomic {
		VIEW(p, l) = last[l];
		ok = (val[AT(l, last[l])] == (old));
		if
		:: ok ->
			join_msg(p, l);
			sync_full(p);
			append(p, l, new, true);
			sync_full(p)
		:: else
		fi
	}
}

#ifndef BROKEN
#define BROKEN 0
#endif

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
#if BROKEN == 2
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
	store(0, NEW, END);
	cmpxchg(0, OLD, END, NEW + MARK, ok);
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
		/* Nothing takes it out: it stays where a walk finds it. */
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
