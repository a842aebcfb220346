// SPDX-License-Identifier: GPL-2.0-only
/*
 * The free list. See pool.h for the guarantee and the reason why the lock-free
 * pops are safe.
 */
#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/rcupdate.h>
#include <linux/topology.h>

#include "core/pool.h"
#include "wrapper/percpu.h"

static void batch_push(struct lt_pool *pool, struct lt_pool_item **stack,
		       struct lt_pool_item *batch)
{
	struct lt_pool_item *head = READ_ONCE(*stack), *old;

	/*
	 * Counted before another CPU can pop the batch and make another one of
	 * it: the count is never too small, see has_batches().
	 */
	atomic_add(batch->count, &pool->depots[batch->nid].free);
	for (;;) {
		WRITE_ONCE(batch->next_batch, head);
		/*
		 * Full barrier on success: publishes the links of the batch.
		 * Pairs with the cmpxchg() of batch_pop().
		 */
		old = cmpxchg(stack, head, batch);
		if (old == head)
			break;
		head = old;
	}
}

/* In an RCU read-side section, preemption off: no ABA, see pool.h. */
static struct lt_pool_item *batch_pop(struct lt_pool *pool,
				      struct lt_pool_item **stack)
{
	/* Acquire: pairs with the cmpxchg() of batch_push(). */
	struct lt_pool_item *head = smp_load_acquire(stack), *old;

	while (head) {
		/* Pairs with the cmpxchg() of batch_push(). */
		old = cmpxchg(stack, head, READ_ONCE(head->next_batch));
		if (old == head) {
			/*
			 * Full barrier: either supply() sees the new count, or
			 * low() sees low_armed. Pairs with the smp_mb() of
			 * supply() in worker.c.
			 */
			atomic_sub_return(head->count,
					  &pool->depots[head->nid].free);
			break;
		}
		/* As above: a failed cmpxchg() orders nothing. */
		head = smp_load_acquire(stack);
	}
	return head;
}

/* Without it, each get of a dry pool would search the stacks of all CPUs. */
static bool has_batches(const struct lt_pool *pool)
{
	int nid;

	for_each_node(nid) {
		if (atomic_read(&pool->depots[nid].free))
			return true;
	}
	return false;
}

/*
 * A batch of another CPU or node, the near ones first. Rare: batches that their
 * CPU does not take are in the depots.
 */
static noinline struct lt_pool_item *batch_of_others(struct lt_pool *pool,
						     int home)
{
	struct lt_pool_item *batch;
	int cpu, nid;

	for_each_possible_cpu(cpu) {
		if (lt_pool_nid(cpu) != home)
			continue;
		batch = batch_pop(pool, &per_cpu_ptr(pool->caches, cpu)->batches);
		if (batch)
			return batch;
	}
	for_each_node(nid) {
		batch = batch_pop(pool, &pool->depots[nid].head);
		if (batch)
			return batch;
	}
	for_each_possible_cpu(cpu) {
		batch = batch_pop(pool, &per_cpu_ptr(pool->caches, cpu)->batches);
		if (batch)
			return batch;
	}
	return NULL;
}

/*
 * Put a chain into the cache of this CPU, which is empty unless a context that
 * interrupts this one has filled it. Only then look for the end of the chain,
 * which is a cache miss per item.
 */
static void cache_push(struct lt_pool *pool, struct llist_node *first)
{
	struct llist_node *head = NULL, *last = NULL, *old;

	for (;;) {
		/* Only contexts of this CPU read it: program order is enough. */
		old = lt_this_cpu_cmpxchg(pool->caches->head, head, first);
		if (likely(old == head))
			break;
		head = old;
		if (!last)
			for (last = first; last->next; last = last->next)
				;
		WRITE_ONCE(last->next, head);
	}
}

/**
 * lt_pool_refill() - take an item, the cache of this CPU being empty
 * @pool: the pool
 *
 * Context: as lt_pool_get(), which calls it.
 * Return: the item, or NULL if the pool is dry.
 */
struct lt_pool_item *lt_pool_refill(struct lt_pool *pool)
{
	int home = lt_pool_nid(raw_smp_processor_id());
	struct lt_pool_cache *cache;
	struct lt_pool_item *batch;

	batch = batch_pop(pool, &this_cpu_ptr(pool->caches)->batches);
	if (!batch)
		batch = batch_pop(pool, &pool->depots[home].head);
	if (!batch && has_batches(pool))
		batch = batch_of_others(pool, home);
	if (!batch && !READ_ONCE(pool->dry))
		WRITE_ONCE(pool->dry, true);
	/* Also for a node that lives on others': it has perhaps no items of its own. */
	if (!batch || lt_pool_depot_is_low(&pool->depots[home]) ||
	    lt_pool_depot_is_low(&pool->depots[batch->nid]))
		pool->low(pool);
	if (!batch)
		return NULL;

	cache = this_cpu_ptr(pool->caches);
	/* Two increments of nested contexts may count once; the count is an estimate. */
	WRITE_ONCE(cache->taken, READ_ONCE(cache->taken) + 1);
	if (batch->link.next) {
		prefetchw(batch->link.next);
		cache_push(pool, batch->link.next);
	}
	lt_item_step(batch, LT_ITEM_FREE, LT_ITEM_TAKEN);
	return batch;
}

/*
 * How many batches the CPU of @cache has taken and not got back, at most as many
 * as there are: batches that it took while all its events ended on other CPUs
 * are forgotten.
 */
static unsigned int batches_owed(const struct lt_pool *pool,
				 struct lt_pool_cache *cache)
{
	unsigned int all = READ_ONCE(pool->capacity) / READ_ONCE(pool->batch);
	unsigned int owed = READ_ONCE(cache->taken) - cache->given;

	if (owed > all) {
		cache->given += owed - all;
		owed = all;
	}
	return owed;
}

/* Replace the items of retired batches by new ones. */
static struct lt_pool_item *renew_batches(struct lt_pool *pool,
					  struct lt_pool_item *batches)
{
	struct lt_pool_item *chain = NULL, *item, *next_batch;
	struct llist_node *node, *next;

	for (; batches; batches = next_batch) {
		next_batch = batches->next_batch;
		for (node = &batches->link; node; node = next) {
			next = node->next;
			item = lt_alloc_renew(&pool->alloc,
					      lt_pool_item_of(node));
			lt_pool_join(pool, item, chain);
			chain = item;
		}
	}
	return chain;
}

/**
 * lt_pool_put_batches() - give items back that are in batches already
 * @pool: the pool
 * @cpu: the CPU that has retired them
 * @batches: chain of lt_pool_join(), each item a grace period after its last
 *	user; or NULL
 *
 * The CPU gets back as many as it has taken; the depots get the rest. Where
 * events begin on one CPU and end on another, the second has no use for them,
 * and the first would have to search the stacks of all CPUs.
 *
 * Context: Task; the caller serialises it with itself.
 */
void lt_pool_put_batches(struct lt_pool *pool, int cpu,
			 struct lt_pool_item *batches)
{
	struct lt_pool_cache *cache = per_cpu_ptr(pool->caches, cpu);
	struct lt_pool_item *next, **to;
	int home = lt_pool_nid(cpu);

	if (LT_ALLOC_RENEWS)
		batches = renew_batches(pool, batches);
	for (; batches; batches = next) {
		next = batches->next_batch;
		to = &pool->depots[batches->nid].head;
		if (batches->nid == home && batches_owed(pool, cache)) {
			to = &cache->batches;
			cache->given++;
		}
		batch_push(pool, to, batches);
	}
}

/**
 * lt_pool_put() - give items back
 * @pool: the pool
 * @items: chain of items of one node, which no other CPU sees
 *
 * Context: Task.
 */
void lt_pool_put(struct lt_pool *pool, struct llist_node *items)
{
	struct lt_pool_item *batches = NULL, *item;
	struct llist_node *next;

	for (; items; items = next) {
		next = items->next;
		item = lt_pool_item_of(items);
		lt_pool_join(pool, item, batches);
		batches = item;
	}
	for (; batches; batches = item) {
		item = batches->next_batch;
		batch_push(pool, &pool->depots[batches->nid].head, batches);
	}
}

/**
 * lt_pool_is_low() - is it time to bring items back, or more of them?
 * @pool: the pool
 *
 * Context: Any.
 * Return: true if less than half of the capacity of a node is in batches.
 */
bool lt_pool_is_low(const struct lt_pool *pool)
{
	int nid;

	for_each_node(nid) {
		if (lt_pool_depot_is_low(&pool->depots[nid]))
			return true;
	}
	return false;
}

/**
 * lt_pool_is_short() - is the pool low as a whole?
 * @pool: the pool
 *
 * Context: Any.
 * Return: true if less than half of the capacity of all nodes is in batches. A node that
 * is low can live on the others until then.
 */
bool lt_pool_is_short(const struct lt_pool *pool)
{
	unsigned int capacity = READ_ONCE(pool->capacity), free = 0;
	int nid;

	for_each_node(nid)
		free += atomic_read(&pool->depots[nid].free);
	return free < capacity - capacity / 2;
}

/**
 * lt_pool_ran_dry() - has a get found the pool empty since the last call?
 * @pool: the pool
 *
 * Context: Any; of two callers at once, one may not be told.
 * Return: true if lt_pool_get() found nothing.
 */
bool lt_pool_ran_dry(struct lt_pool *pool)
{
	if (!READ_ONCE(pool->dry))
		return false;
	WRITE_ONCE(pool->dry, false);
	return true;
}

static unsigned int chain_length(const struct llist_node *node)
{
	unsigned int n = 0;

	for (; node; node = node->next)
		n++;
	return n;
}

static unsigned int batches_length(const struct lt_pool_item *batch)
{
	unsigned int n = 0;

	for (; batch; batch = batch->next_batch)
		n += chain_length(&batch->link);
	return n;
}

/**
 * lt_pool_count_free() - items at home
 * @pool: the pool; no item is taken meanwhile
 *
 * Context: Task; for the balance at the end and for tests.
 * Return: items in caches and batches.
 */
unsigned int lt_pool_count_free(struct lt_pool *pool)
{
	struct lt_pool_cache *cache;
	unsigned int n = 0;
	int cpu, nid;

	for_each_possible_cpu(cpu) {
		cache = per_cpu_ptr(pool->caches, cpu);
		n += chain_length(cache->head) + batches_length(cache->batches);
	}
	for_each_node(nid)
		n += batches_length(pool->depots[nid].head);
	return n;
}
