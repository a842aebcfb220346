// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many items a pool has, by what the machine has, and where. See pool.h for the
 * guarantee.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "core/pool.h"
#include "core/pool_size.h"

#define LT_POOL_BATCH_MAX	64
/* Enough that a refill, divided by it, costs next to nothing. */
#define LT_POOL_BATCH_MIN	32
/* The caches of all CPUs together hold this part of the capacity, or a least batch each. */
#define LT_POOL_CACHE_SHARE	4

static enum cpuhp_state lt_pool_cpuhp;

/* Make @count items on @nid; returns them chained, or NULL. */
static struct llist_node *make_items(struct lt_pool *pool, int nid,
				     unsigned int count)
{
	struct llist_node *items;
	size_t size;

	if (check_mul_overflow((size_t)count, pool->alloc.item_size, &size))
		return NULL;
	/*
	 * Before vmalloc() gives up it calls the OOM killer, and a tracker is no
	 * reason to kill a task. Half is left to other users, and to errors of
	 * the estimate.
	 */
	if (size >> PAGE_SHIFT > (size_t)si_mem_available() / 2)
		return NULL;
	items = lt_alloc_items(&pool->alloc, nid, count);
	if (items)
		pool->total += count;
	return items;
}

/* For the depot of a node. */
static int add_items(struct lt_pool *pool, int nid, unsigned int count)
{
	struct llist_node *items = make_items(pool, nid, count);

	if (!items)
		return -ENOMEM;
	lt_pool_put(pool, items);
	return 0;
}

/* Which nodes get more, by their CPUs. Returns how many CPUs these have. */
static unsigned int choose_nodes(struct lt_pool *pool, bool only_low)
{
	struct lt_pool_depot *depot;
	unsigned int cpus = 0;
	int nid;

	for_each_node(nid) {
		depot = &pool->depots[nid];
		depot->chosen = !only_low || lt_pool_depot_is_low(depot) ? depot->cpus : 0;
		cpus += depot->chosen;
	}
	return cpus;
}

/* For the nodes that are low, or, if none is any more, for all. */
static int grow_nodes(struct lt_pool *pool, unsigned int more)
{
	unsigned int cpus = choose_nodes(pool, true) ?: choose_nodes(pool, false);
	unsigned int share;
	struct lt_pool_depot *depot;
	int nid;

	for_each_node(nid) {
		depot = &pool->depots[nid];
		if (!depot->chosen)
			continue;
		share = div_u64((u64)more * depot->chosen, cpus);
		cpus -= depot->chosen;
		more -= share;
		if (!share)
			continue;
		if (add_items(pool, nid, share))
			return -ENOMEM;
		/* Read in any context. */
		WRITE_ONCE(depot->capacity, depot->capacity + share);
		WRITE_ONCE(pool->capacity, pool->capacity + share);
	}
	return more ? -ENOMEM : 0;
}

static unsigned int batch_of(unsigned int capacity)
{
	unsigned int all = max(capacity / LT_POOL_CACHE_SHARE, 1U);

	return clamp_t(unsigned int, all / num_online_cpus(),
		       min_t(unsigned int, all, LT_POOL_BATCH_MIN),
		       LT_POOL_BATCH_MAX);
}

/* A larger pool has larger batches; what the caches hold is on top of the capacity. */
static int grow_batch(struct lt_pool *pool)
{
	unsigned int batch = batch_of(pool->capacity), more;
	struct lt_pool_depot *depot;
	int nid;

	if (batch <= pool->batch)
		return 0;
	for_each_node(nid) {
		depot = &pool->depots[nid];
		more = depot->cpus * (batch - pool->batch);
		if (more && add_items(pool, nid, more))
			return -ENOMEM;
	}
	/* Read in any context. */
	WRITE_ONCE(pool->batch, batch);
	return 0;
}

/**
 * lt_pool_grow() - add items
 * @pool: the pool
 * @more: how many: for the nodes that are low, or for all
 *
 * Context: Task, may sleep.
 * Return: 0, or -ENOMEM if not all of them could be had; those that could are
 * in use.
 */
int lt_pool_grow(struct lt_pool *pool, unsigned int more)
{
	int err;

	mutex_lock(&pool->lock);
	err = grow_nodes(pool, more);
	if (!err)
		err = grow_batch(pool);
	mutex_unlock(&pool->lock);
	return err;
}

/* Once for each CPU, before it may ask: what its cache will hold. */
static int count_cpu(struct lt_pool *pool, int cpu)
{
	struct lt_pool_cache *cache = per_cpu_ptr(pool->caches, cpu);
	int err = 0;

	mutex_lock(&pool->lock);
	if (!cache->is_counted) {
		err = add_items(pool, lt_pool_nid(cpu), pool->batch);
		cache->is_counted = !err;
		pool->depots[lt_pool_nid(cpu)].cpus += !err;
	}
	mutex_unlock(&pool->lock);
	return err;
}

static int cpu_comes(unsigned int cpu, struct hlist_node *node)
{
	struct lt_pool *pool = hlist_entry(node, struct lt_pool, cpuhp);
	int err = count_cpu(pool, cpu);

	/* A CPU is not kept away for want of memory: its cache may hold what others need. */
	return pool->is_made ? 0 : err;
}

/**
 * lt_pool_setup() - before the first pool is made
 *
 * Context: Task, may sleep.
 * Return: 0 or a negative errno.
 */
int lt_pool_setup(void)
{
	int state = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN,
					    "latency_tracker:prepare",
					    cpu_comes, NULL);

	if (state < 0)
		return state;
	lt_pool_cpuhp = state;
	return 0;
}

/**
 * lt_pool_teardown() - after the last pool was destroyed
 *
 * Context: Task, may sleep.
 */
void lt_pool_teardown(void)
{
	cpuhp_remove_multi_state(lt_pool_cpuhp);
}

/**
 * lt_pool_init() - make a pool
 * @pool: the pool
 * @item_size: bytes per item
 * @capacity: items that can be out at once, at least 1
 * @low: see struct lt_pool
 *
 * Context: Task, may sleep.
 * Return: 0 or -ENOMEM; on error nothing is left allocated.
 */
int lt_pool_init(struct lt_pool *pool, size_t item_size, unsigned int capacity,
		 void (*low)(struct lt_pool *pool))
{
	int err = -ENOMEM;

	memset(pool, 0, sizeof(*pool));
	mutex_init(&pool->lock);
	lt_alloc_init(&pool->alloc, item_size);
	pool->batch = batch_of(capacity);
	pool->low = low;
	pool->depots = kcalloc(nr_node_ids, sizeof(*pool->depots), GFP_KERNEL);
	pool->caches = alloc_percpu(struct lt_pool_cache);
	if (pool->depots && pool->caches)
		/* count_cpu() for each CPU that is there, and from now on comes. */
		err = cpuhp_state_add_instance(lt_pool_cpuhp, &pool->cpuhp);
	if (!err) {
		pool->is_made = true;
		err = lt_pool_grow(pool, capacity);
	}
	if (err)
		lt_pool_destroy(pool);
	return err;
}

static void free_batches(struct lt_pool *pool, struct lt_pool_item *batches)
{
	struct lt_pool_item *next;

	for (; batches; batches = next) {
		next = batches->next_batch;
		lt_alloc_free(&pool->alloc, &batches->link);
	}
}

static void free_items(struct lt_pool *pool)
{
	struct lt_pool_cache *cache;
	int cpu, nid;

	for_each_possible_cpu(cpu) {
		cache = per_cpu_ptr(pool->caches, cpu);
		lt_alloc_free(&pool->alloc, cache->head);
		free_batches(pool, cache->batches);
	}
	for_each_node(nid)
		free_batches(pool, pool->depots[nid].head);
}

/**
 * lt_pool_destroy() - free all items
 * @pool: the pool, perhaps not complete; no item is in use any more
 *
 * Context: Task, may sleep.
 */
void lt_pool_destroy(struct lt_pool *pool)
{
	if (pool->is_made)
		cpuhp_state_remove_instance_nocalls(lt_pool_cpuhp, &pool->cpuhp);
	pool->is_made = false;
	/* There are items only if there was a place for them. */
	if (LT_ALLOC_RENEWS && pool->caches && pool->depots)
		free_items(pool);
	lt_alloc_destroy(&pool->alloc);
	free_percpu(pool->caches);
	pool->caches = NULL;
	kfree(pool->depots);
	pool->depots = NULL;
}
