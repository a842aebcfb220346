// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of items: large chunks, freed with the pool. See alloc.h.
 */
#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/alloc.h"
#include "core/item.h"

struct lt_alloc_chunk {
	struct lt_alloc_chunk *next;
	char items[] __aligned(SMP_CACHE_BYTES);
};

/**
 * lt_alloc_init() - set an allocator up
 * @alloc: the allocator
 * @item_size: bytes per item, rounded up to a cache line
 *
 * Context: Any.
 */
void lt_alloc_init(struct lt_alloc *alloc, size_t item_size)
{
	alloc->item_size = ALIGN(item_size, SMP_CACHE_BYTES);
	alloc->bytes = 0;
	alloc->chunks = NULL;
}

/**
 * lt_alloc_items() - make items
 * @alloc: the allocator
 * @nid: memory node
 * @count: how many; the caller has checked that their size is below that of the
 *	memory
 *
 * Context: Task, may sleep.
 * Return: the items, chained; NULL if there is no memory for all of them.
 */
struct llist_node *lt_alloc_items(struct lt_alloc *alloc, int nid,
				  unsigned int count)
{
	size_t size = sizeof(struct lt_alloc_chunk) + count * alloc->item_size;
	struct llist_node *list = NULL;
	struct lt_alloc_chunk *chunk;
	struct lt_pool_item *item;

	chunk = kvzalloc_node(size, GFP_KERNEL | __GFP_NOWARN, nid);
	if (!chunk)
		return NULL;
	chunk->next = alloc->chunks;
	alloc->chunks = chunk;
	WRITE_ONCE(alloc->bytes, alloc->bytes + size);
	while (count--) {
		item = (void *)(chunk->items + count * alloc->item_size);
		item->nid = nid;
		item->link.next = list;
		list = &item->link;
	}
	return list;
}

/**
 * lt_alloc_renew() - an item as good as new; here, the same one
 * @alloc: the allocator
 * @item: retired, a grace period after its last user
 *
 * Context: Task, may sleep.
 * Return: the item.
 */
struct lt_pool_item *lt_alloc_renew(struct lt_alloc *alloc,
				    struct lt_pool_item *item)
{
	return item;
}

/**
 * lt_alloc_free() - free items; here, lt_alloc_destroy() frees them
 * @alloc: the allocator
 * @items: chain of items, or NULL
 *
 * Context: Task, may sleep.
 */
void lt_alloc_free(struct lt_alloc *alloc, struct llist_node *items)
{
}

/**
 * lt_alloc_destroy() - free all memory
 * @alloc: the allocator; lt_alloc_free() was called for all items
 *
 * Context: Task, may sleep.
 */
void lt_alloc_destroy(struct lt_alloc *alloc)
{
	struct lt_alloc_chunk *chunk, *next;

	for (chunk = alloc->chunks; chunk; chunk = next) {
		next = chunk->next;
		kvfree(chunk);
	}
	alloc->chunks = NULL;
}
