/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Publish and lookup: who finds a node sees it as it was when it was added.
 * lfht_insert(), lfht_set_next(): cmpxchg()	<-> lfht_load_next(): dependency
 * lfht_grow(): smp_store_release(&order)	<-> lfht_bucket(): load-acquire
 *
 * twin 1: the link is written without a barrier
 * twin 2: the link is followed without a dependency
 * twin 3: the new size is written without a release
 * twin 4: the size is read without an acquire
 */
#define PROCS	3
#define LOCS	4
#define HIST	3
#define LINK	0	/* bucket -> node */
#define DATA	1	/* the event behind the node */
#define ORDER	2	/* log2 of the size */
#define BUCKET	3	/* the bucket of the new size: linked in */
#include "weak.inc"

active proctype begin()
{
	bool ok;

	store(0, DATA, 1);
#if BROKEN == 1
	cmpxchg_relaxed(0, LINK, 0, 1, ok)
#else
	cmpxchg(0, LINK, 0, 1, ok)
#endif
	assert(ok)
}

active proctype grow()
{
	store(1, BUCKET, 1);
#if BROKEN == 3
	store(1, ORDER, 1)
#else
	store_release(1, ORDER, 1)
#endif
}

active proctype end()
{
	byte order, link, data;

#if BROKEN == 4
	load(2, ORDER, order);
#else
	load_acquire(2, ORDER, order);
#endif
	if
	:: order -> load(2, BUCKET, data); assert(data == 1)
	:: else
	fi;
#if BROKEN == 2
	load(2, LINK, link);
#else
	load_acquire(2, LINK, link);	/* the dependency */
#endif
	if
	:: link -> load(2, DATA, data); assert(data == 1)
	:: else
	fi
}
