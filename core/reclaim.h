/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bring retired items back to the pool, a grace period after their last user.
 *
 * lt_retire() is what a probe may do: one push on a list of its CPU, no
 * call_rcu(), no wake-up. The thread of the tracker calls lt_reclaim(), which
 * takes all lists, starts a grace period for the batch and, when it has ended,
 * gives the batch to the pool. One grace period is under way at a time.
 *
 *                lt_retire     lt_reclaim
 *  lt_retire     lock-free     lock-free
 *  lt_reclaim    lock-free     serialise
 */
#ifndef _LT_CORE_RECLAIM_H
#define _LT_CORE_RECLAIM_H

#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "core/pool.h"

/**
 * struct lt_reclaim - retired items on their way to the pool
 * @pool: where they go
 * @retired: per CPU, pushed by its CPU, taken whole by lt_reclaim()
 * @batch: waits for the grace period of @rcu
 * @rcu: the grace period
 * @busy: set by lt_reclaim() before @rcu is queued, cleared when it has ended
 * @done: called when a grace period has ended, in softirq or task context
 */
struct lt_reclaim {
	struct lt_pool *pool;
	struct llist_head __percpu *retired;
	struct llist_node *batch;
	struct rcu_head rcu;
	bool busy;
	void (*done)(struct lt_reclaim *reclaim);
};

/**
 * enum lt_reclaim_did - what a call of lt_reclaim() did
 * @LT_RECLAIM_IDLE: nothing; with start, because nothing is retired
 * @LT_RECLAIM_WAITING: a grace period is still under way
 * @LT_RECLAIM_STARTED: a grace period was started, nothing given back
 * @LT_RECLAIM_GAVE: a batch was given back; another may be under way
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
 * Context: Any, NMI included; preemption off.
 */
static __always_inline void lt_retire(struct lt_reclaim *reclaim,
				      struct lt_pool_item *item)
{
	/*
	 * The cmpxchg() in llist_add() orders all that was done to the item
	 * before; pairs with the xchg() of llist_del_all() in take_all().
	 */
	llist_add(&item->link, this_cpu_ptr(reclaim->retired));
}

#endif /* _LT_CORE_RECLAIM_H */
