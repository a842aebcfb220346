/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pre-allocated, lock-free free list of equal items.
 *
 * Each CPU owns a small cache, each memory node a depot of batches. A get pops
 * the cache of its CPU. An empty cache takes one batch: one that this CPU has
 * used last, since its memory is near; or one of the depot of its node; or one
 * of other CPUs and nodes. Of the batches that a CPU retires it gets back as
 * many as it has taken; the depot gets the rest.
 *
 * Guarantee: a pool made for @capacity items hands out at least @capacity
 * before it runs dry, whichever CPUs ask, because each cache holds at most one
 * batch, and so many items are there on top of @capacity for each CPU; a CPU
 * that comes later brings its own. (A context that interrupts a refill on the
 * same CPU can leave one batch more there.)
 *
 * The capacity is divided among the nodes by their CPUs. A get that finds its
 * own node low, or the one that it takes from, says so, and the pool grows where it is low.
 *
 * Why a lock-free pop is safe here
 * --------------------------------
 * A pop reads head and head->next and swings head with a compare-and-exchange.
 * It goes wrong if head was popped, used and pushed again in between, with
 * another next (ABA). Here a get runs inside an RCU read-side section with
 * preemption off, and an item comes back only by lt_pool_put_batches(), a grace period
 * after its last user: no item that a get has seen can return to a list before
 * that get is over. An item therefore never goes back to the pool by any other
 * way, not even one that was never published.
 *
 *                        lt_pool_get   lt_pool_put_batches   lt_pool_grow
 *  lt_pool_get           lock-free     lock-free             lock-free
 *  lt_pool_put_batches   lock-free     serialise             lock-free
 *  lt_pool_grow          lock-free     lock-free             lock
 *
 * "serialise": the caller has to; in a tracker one thread gives back. Growth and a CPU
 * that comes take the lock of the pool. Beside each other all of them push batches, each
 * its own, with a cmpxchg().
 */
#ifndef _LT_CORE_POOL_H
#define _LT_CORE_POOL_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/prefetch.h>
#include <linux/rcupdate.h>
#include <linux/topology.h>
#include <linux/types.h>

#include "core/alloc.h"
#include "core/item.h"
#include "wrapper/percpu.h"

/**
 * struct lt_pool_cache - of one CPU
 * @head: items; written only by the CPU itself
 * @taken: batches that the CPU took so far
 * @batches: stack of batches that the CPU has used last, linked by next_batch;
 *	other CPUs take from it when there are no other batches
 * @given: batches that it got back
 * @is_counted: what it holds at most was added to the pool
 *
 * What others write is not on the line that each get reads.
 */
struct lt_pool_cache {
	struct llist_node *head;
	unsigned int taken;
	struct lt_pool_item *batches ____cacheline_aligned_in_smp;
	unsigned int given;
	bool is_counted;
};

/**
 * struct lt_pool_depot - of one memory node
 * @head: stack of batches, linked by next_batch
 * @free: items of the node that are in a batch, here or of a CPU
 * @capacity: items of the node that the guarantee covers
 * @cpus: of the node, that are there or were
 * @chosen: by choose_nodes()
 */
struct lt_pool_depot {
	struct lt_pool_item *head;
	atomic_t free;
	unsigned int capacity;
	unsigned int cpus;
	unsigned int chosen;
} ____cacheline_aligned_in_smp;

/**
 * struct lt_pool - the pool
 * @caches: per CPU
 * @depots: one per possible node
 * @low: called from lt_pool_get() when less than half of the capacity of its node, or of
 *	the one that it takes from, is in batches, or no item is left; in any context, so
 *	it has to be cheap
 * @dry: a get found nothing since the last call of lt_pool_ran_dry()
 * @alloc: where items come from
 * @batch: items per batch
 * @capacity: items that the guarantee covers
 * @total: all items
 * @is_made: it is told of CPUs that come
 * @cpuhp: by which it is told
 * @lock: of what grows: all but the lists
 */
struct lt_pool {
	struct lt_pool_cache __percpu *caches;
	struct lt_pool_depot *depots;
	void (*low)(struct lt_pool *pool);
	bool dry;
	struct lt_alloc alloc;
	unsigned int batch;
	unsigned int capacity;
	unsigned int total;
	bool is_made;
	struct hlist_node cpuhp;
	struct mutex lock; /* alloc, capacity, total, batch */
};

/* The node of a CPU, or any node that has memory to hold its items. */
static inline int lt_pool_nid(int cpu)
{
	int nid = cpu_to_node(cpu);

	return nid == NUMA_NO_NODE || !node_online(nid) ? first_online_node :
							  nid;
}

/* Less than half of the items of the node are in batches. */
static inline bool
lt_pool_depot_is_low(const struct lt_pool_depot *depot)
{
	unsigned int capacity = READ_ONCE(depot->capacity);

	return (unsigned int)atomic_read(&depot->free) < capacity - capacity / 2;
}

struct lt_pool_item *lt_pool_refill(struct lt_pool *pool);
void lt_pool_put(struct lt_pool *pool, struct llist_node *items);
void lt_pool_put_batches(struct lt_pool *pool, int cpu,
			 struct lt_pool_item *batches);

bool lt_pool_is_low(const struct lt_pool *pool);
bool lt_pool_is_short(const struct lt_pool *pool);
bool lt_pool_ran_dry(struct lt_pool *pool);
unsigned int lt_pool_count_free(struct lt_pool *pool);

/**
 * lt_pool_join() - put an item in front of a chain of batches
 * @pool: the pool
 * @item: no other CPU sees it
 * @batches: first batch of the chain, of items of the same node, or NULL; not changed
 *
 * @item joins the first batch, or begins another one if that is full. Then the chain
 * begins with @item.
 *
 * Context: Any.
 */
static __always_inline void lt_pool_join(const struct lt_pool *pool,
					 struct lt_pool_item *item,
					 struct lt_pool_item *batches)
{
	if (likely(batches) && likely(batches->count < READ_ONCE(pool->batch))) {
		WRITE_ONCE(item->link.next, &batches->link);
		WRITE_ONCE(item->next_batch, batches->next_batch);
		item->count = batches->count + 1;
	} else {
		WRITE_ONCE(item->link.next, NULL);
		WRITE_ONCE(item->next_batch, batches);
		item->count = 1;
	}
}

/**
 * lt_pool_get() - take an item
 * @pool: the pool
 *
 * Context: Any, NMI included; inside an RCU read-side section with preemption
 * off.
 * Return: the item, or NULL if the pool is dry.
 */
static __always_inline struct lt_pool_item *lt_pool_get(struct lt_pool *pool)
{
	struct llist_node *head, *next, *old;

	RCU_LOCKDEP_WARN(!rcu_read_lock_sched_held(),
			 "pool used outside of an RCU-sched section");
	head = READ_ONCE(this_cpu_ptr(pool->caches)->head);
	while (likely(head)) {
		/* A nested context can win; ABA is ruled out, see above. */
		next = READ_ONCE(head->next);
		old = lt_this_cpu_cmpxchg(pool->caches->head, head, next);
		if (likely(old == head)) {
			lt_item_step(lt_pool_item_of(head), LT_ITEM_FREE,
				     LT_ITEM_TAKEN);
			/* It was last used a grace period ago, or longer. */
			prefetchw(next);
			return lt_pool_item_of(head);
		}
		head = old;
	}
	return lt_pool_refill(pool);
}

#endif /* _LT_CORE_POOL_H */
