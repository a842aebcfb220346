/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bring retired items back to the pool, a grace period after their last user.
 *
 * A probe calls lt_retire(), which is one push on a list of its CPU: no
 * call_rcu(), no wake-up. The list is made of batches as the pool wants them, so
 * that the thread does not touch each item. The thread of the tracker calls
 * lt_reclaim(), which takes all lists, starts a grace period for them and, when
 * it has ended, gives them to the pool. One grace period is under way at a time.
 *
 *                lt_retire     lt_reclaim
 *  lt_retire     lock-free     lock-free
 *  lt_reclaim    lock-free     serialise
 */
#ifndef _LT_CORE_RECLAIM_H
#define _LT_CORE_RECLAIM_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "core/pool.h"

/**
 * struct lt_retired - of one CPU, items of one memory node
 * @head: chain of batches; pushed by the CPU, taken by lt_reclaim()
 * @waiting: batches that wait for the grace period; the worker's
 */
struct lt_retired {
	struct lt_pool_item *head;
	struct lt_pool_item *waiting;
};

/**
 * struct lt_reclaim - retired items on their way to the pool
 * @pool: where they go
 * @retired: per CPU, an array by the node of the items: so batches are full
 *	wherever the items come from
 * @done: called when a grace period has ended, in softirq or task context
 * @rcu: the grace period
 * @waiting: there are batches that wait for the grace period of @rcu
 * @busy: set by lt_reclaim() before @rcu is queued, cleared when it has ended
 *
 * What each end reads is not on the line that is written for each grace period.
 */
struct lt_reclaim {
	struct lt_pool *pool;
	struct lt_retired __percpu *retired;
	void (*done)(struct lt_reclaim *reclaim);
	struct rcu_head rcu ____cacheline_aligned_in_smp;
	bool waiting;
	bool busy;
};

/**
 * enum lt_reclaim_did - what a call of lt_reclaim() did
 * @LT_RECLAIM_IDLE: nothing; with start, because nothing is retired
 * @LT_RECLAIM_WAITING: a grace period is still under way
 * @LT_RECLAIM_STARTED: a grace period was started, nothing given back
 * @LT_RECLAIM_GAVE: items were given back; others may be under way
 */
enum lt_reclaim_did {
	LT_RECLAIM_IDLE,
	LT_RECLAIM_WAITING,
	LT_RECLAIM_STARTED,
	LT_RECLAIM_GAVE,
};

int lt_reclaim_init(struct lt_reclaim *reclaim, struct lt_pool *pool,
		    void (*done)(struct lt_reclaim *reclaim));
void lt_reclaim_destroy(struct lt_reclaim *reclaim);
enum lt_reclaim_did lt_reclaim(struct lt_reclaim *reclaim, bool start);
void lt_reclaim_drain(struct lt_reclaim *reclaim);

/**
 * lt_retire() - the last user is done with an item
 * @reclaim: of the pool that the item is from
 * @item: readers may still see it
 *
 * Context: Any, NMI included; inside an RCU read-side section with preemption
 * off.
 */
static __always_inline void lt_retire(struct lt_reclaim *reclaim,
				      struct lt_pool_item *item)
{
	struct lt_pool_item **list =
		&this_cpu_ptr(reclaim->retired)[item->nid].head;
	struct lt_pool_item *head = READ_ONCE(*list), *old;

	lt_item_step(item, LT_ITEM_FILLED, LT_ITEM_RETIRED);
	for (;;) {
		/*
		 * The head may be read: the grace period of the items that are
		 * on the list now cannot end before this section does. The same
		 * rules out ABA.
		 */
		lt_pool_join(reclaim->pool, item, head);
		/*
		 * Full barrier: orders all that was done to the item before.
		 * Pairs with the xchg() in take_all().
		 */
		old = cmpxchg(list, head, item);
		if (likely(old == head))
			return;
		head = old;	/* a nested context, or taken */
	}
}

#endif /* _LT_CORE_RECLAIM_H */
