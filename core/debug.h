/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a debug build adds (make LT_DEBUG=1, for kernels with KASAN and friends).
 *
 * A pool hides the life of its items from the detectors of the kernel: what is
 * never freed is never used after it was. In a debug build each item is one
 * object of the slab allocator; a grace period after it was retired it is freed,
 * and a new one takes its place. This is done by the thread of the tracker, so
 * probes still allocate nothing. Each item also says where in its life it is:
 *
 *	free -> taken -> pending -> retired -> free
 */
#ifndef _LT_CORE_DEBUG_H
#define _LT_CORE_DEBUG_H

#include <linux/types.h>

/* Not likely to be found in memory by chance. */
#define LT_ITEM_FREE	0x1a7e4c01
#define LT_ITEM_TAKEN	0x1a7e4c02
#define LT_ITEM_PENDING	0x1a7e4c03
#define LT_ITEM_RETIRED	0x1a7e4c04

#ifdef LT_DEBUG
#define LT_DEBUG_POOL	1
#else
#define LT_DEBUG_POOL	0
#endif

struct llist_node;
struct lt_pool;
struct lt_pool_item;

struct llist_node *lt_debug_alloc(struct lt_pool *pool, int nid,
				  unsigned int count);
struct lt_pool_item *lt_debug_renew(struct lt_pool *pool,
				    struct lt_pool_item *batches);
void lt_debug_free(struct lt_pool *pool);

#endif /* _LT_CORE_DEBUG_H */
