/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the pool gets the memory of its items from.
 *
 * There are two allocators behind this header, and a build has one of them.
 * alloc.c makes large chunks, which are freed with the pool.
 *
 * A pool hides the life of its items from the detectors of the kernel: an item
 * that is never freed is never used after it was freed. So a debug build (make
 * LT_DEBUG=1, for kernels with KASAN and friends) has alloc_debug.c: each item
 * is one object of the slab allocator. A grace period after the item was
 * retired, the thread of the tracker frees it and puts a new one in its place;
 * probes still allocate nothing.
 */
#ifndef _LT_CORE_ALLOC_H
#define _LT_CORE_ALLOC_H

#include <linux/types.h>

/* Does lt_alloc_renew() do anything? */
#ifdef LT_DEBUG
#define LT_ALLOC_RENEWS	1
#else
#define LT_ALLOC_RENEWS	0
#endif

struct llist_node;
struct lt_alloc_chunk;
struct lt_pool_item;

/**
 * struct lt_alloc - an allocator
 * @item_size: bytes per item
 * @bytes: memory of the items; read at any time
 * @chunks: what alloc.c has allocated, newest first
 */
struct lt_alloc {
	size_t item_size;
	size_t bytes;
	struct lt_alloc_chunk *chunks;
};

void lt_alloc_init(struct lt_alloc *alloc, size_t item_size);
struct llist_node *lt_alloc_items(struct lt_alloc *alloc, int nid,
				  unsigned int count);
struct lt_pool_item *lt_alloc_renew(struct lt_alloc *alloc,
				    struct lt_pool_item *item);
void lt_alloc_free(struct lt_alloc *alloc, struct llist_node *items);
void lt_alloc_destroy(struct lt_alloc *alloc);

#endif /* _LT_CORE_ALLOC_H */
