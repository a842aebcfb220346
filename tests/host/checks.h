/* SPDX-License-Identifier: GPL-2.0-only */
/* What must hold of a table and of a pool while no operation is under way. */
#ifndef LT_HOST_CHECKS_H
#define LT_HOST_CHECKS_H

#include "core/pool.h"
#include "core/pool_size.h"
#include "lt_kernel.h"
#include "rculfhash/rculfhash.h"

/*
 * The list is sorted, nothing removed is in it, all buckets are where a lookup
 * looks for them. @fn is called for each node of data.
 */
static inline void check_table(const struct lfht *ht, lfht_walk_fn fn, void *arg)
{
	const struct lfht_node *bucket = NULL;
	unsigned long last = 0, nr = 0;
	struct lfht_node *node;

	for (node = ht->base; node; node = lfht_clear_flag(node->next)) {
		EXPECT(!lfht_is_removed(node->next), "removed and still linked");
		EXPECT(node->order_key >= last, "the list is not sorted");
		last = node->order_key;
		if (!(last & 1)) {
			EXPECT_EQ(last, nr ? nr << (BITS_PER_LONG - ht->order) : 0);
			bucket = node;
			nr++;
		}
		EXPECT(lfht_bucket(ht, last) == bucket, "%lx is not in its bucket", last);
		if (last & 1)
			fn(node, arg);
	}
	EXPECT_EQ(nr, lfht_size(ht));
}

/*
 * Each batch of a stack: items of one node, as many as it says. Returns how many there
 * are of node @nid in all.
 */
static inline unsigned int check_batches(const struct lt_pool *pool,
					 const struct lt_pool_item *batch, int nid)
{
	const struct llist_node *node;
	unsigned int n, free = 0;

	for (; batch; batch = batch->next_batch) {
		n = 0;
		for (node = &batch->link; node; node = node->next) {
			EXPECT_EQ(llist_entry(node, struct lt_pool_item, link)->nid, batch->nid);
			n++;
		}
		EXPECT_EQ(batch->count, n);
		EXPECT(n <= pool->batch, "a batch of %u", n);
		free += batch->nid == nid ? n : 0;
	}
	return free;
}

static inline void check_pool(const struct lt_pool *pool)
{
	const struct lt_pool_depot *depot;
	unsigned int free, all = 0;
	bool low = false;
	int nid, cpu;

	for_each_node(nid) {
		depot = &pool->depots[nid];
		free = check_batches(pool, depot->head, nid);
		/* Of another node only if that of the CPU is off line. */
		for_each_possible_cpu(cpu)
			free += check_batches(pool, per_cpu_ptr(pool->caches, cpu)->batches, nid);
		EXPECT_EQ(atomic_read(&depot->free), free);
		all += free;
		low |= free < depot->capacity - depot->capacity / 2;
	}
	EXPECT_EQ(lt_pool_is_low(pool), low);
	EXPECT_EQ(lt_pool_is_short(pool), all < pool->capacity - pool->capacity / 2);
}

#endif /* LT_HOST_CHECKS_H */
