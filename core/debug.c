// SPDX-License-Identifier: GPL-2.0-only
/*
 * The items of a debug build come from the slab allocator. See debug.h.
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/slab.h>

#include "core/pool.h"

/* For tests: "modinfo -F debug latency_tracker". */
MODULE_INFO(debug, "Y");

static struct lt_pool_item *item_alloc(const struct lt_pool *pool, int nid)
{
	struct lt_pool_item *item;

	item = kmalloc_node(pool->item_size, GFP_KERNEL | __GFP_NOWARN, nid);
	if (!item)
		return NULL;
	item->link.next = NULL;
	item->next_batch = NULL;
	item->nid = nid;
	item->count = 0;
	item->state = LT_ITEM_FREE;
	return item;
}

static void chain_free(struct llist_node *items)
{
	struct llist_node *next;

	for (; items; items = next) {
		next = items->next;
		kfree(lt_pool_item_of(items));
	}
}

/**
 * lt_debug_alloc() - make new items
 * @pool: the pool
 * @nid: memory node
 * @count: how many
 *
 * Context: Task, may sleep.
 * Return: the items, chained; NULL if not all of them could be had.
 */
struct llist_node *lt_debug_alloc(struct lt_pool *pool, int nid,
				  unsigned int count)
{
	struct llist_node *list = NULL;
	struct lt_pool_item *item;
	unsigned int n;

	for (n = 0; n < count; n++) {
		item = item_alloc(pool, nid);
		if (!item) {
			chain_free(list);
			return NULL;
		}
		item->link.next = list;
		list = &item->link;
	}
	pool->total += count;
	pool->bytes += count * pool->item_size;
	return list;
}

static struct lt_pool_item *renew(struct lt_pool *pool,
				  struct lt_pool_item *item)
{
	struct lt_pool_item *other = item_alloc(pool, item->nid);

	lt_item_step(item, LT_ITEM_RETIRED, LT_ITEM_FREE);
	if (!other)
		return item;
	kfree(item);
	return other;
}

/**
 * lt_debug_renew() - free items, and put new ones in their place
 * @pool: of the items
 * @batches: chain of retired batches, a grace period after their last user
 *
 * An item for which there is no memory is used again.
 *
 * Context: Task, may sleep.
 * Return: the new chain.
 */
struct lt_pool_item *lt_debug_renew(struct lt_pool *pool,
				    struct lt_pool_item *batches)
{
	struct lt_pool_item *chain = NULL, *item, *next_batch;
	struct llist_node *node, *next;

	for (; batches; batches = next_batch) {
		next_batch = batches->next_batch;
		for (node = &batches->link; node; node = next) {
			next = node->next;
			item = renew(pool, lt_pool_item_of(node));
			lt_pool_join(pool, item, chain);
			chain = item;
		}
	}
	return chain;
}

static void batches_free(struct lt_pool_item *batches)
{
	struct lt_pool_item *next;

	for (; batches; batches = next) {
		next = batches->next_batch;
		chain_free(&batches->link);
	}
}

/**
 * lt_debug_free() - free all items that are at home
 * @pool: the pool, perhaps not complete; nobody uses an item any more
 *
 * Context: Task, may sleep.
 */
void lt_debug_free(struct lt_pool *pool)
{
	struct lt_pool_cache *cache;
	int cpu, nid;

	if (!pool->caches || !pool->depots)
		return;		/* nothing was made before they were */
	for_each_possible_cpu(cpu) {
		cache = per_cpu_ptr(pool->caches, cpu);
		chain_free(cache->head);
		batches_free(cache->batches);
	}
	for_each_online_node(nid)
		batches_free(pool->depots[nid].head);
}
