// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of items in a debug build: objects of the slab allocator. See
 * alloc.h.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "core/alloc.h"
#include "core/item.h"

/* For tests: "modinfo -F debug latency_tracker". */
MODULE_INFO(debug, "Y");

/**
 * lt_alloc_init() - set an allocator up
 * @alloc: the allocator
 * @item_size: bytes per item; no padding, so that KASAN sees overruns
 *
 * Context: Any.
 */
void lt_alloc_init(struct lt_alloc *alloc, size_t item_size)
{
	alloc->item_size = item_size;
	alloc->bytes = 0;
	alloc->chunks = NULL;
}

static struct lt_pool_item *item_alloc(const struct lt_alloc *alloc, int nid)
{
	struct lt_pool_item *item;

	item = kmalloc_node(alloc->item_size, GFP_KERNEL | __GFP_NOWARN, nid);
	if (!item)
		return NULL;
	item->link.next = NULL;
	item->next_batch = NULL;
	item->nid = nid;
	item->count = 0;
	item->state = LT_ITEM_FREE;
	return item;
}

/**
 * lt_alloc_items() - make items
 * @alloc: the allocator
 * @nid: memory node
 * @count: how many
 *
 * Context: Task, may sleep.
 * Return: the items, chained; NULL if there is no memory for all of them.
 */
struct llist_node *lt_alloc_items(struct lt_alloc *alloc, int nid,
				  unsigned int count)
{
	struct llist_node *list = NULL;
	struct lt_pool_item *item;
	unsigned int n;

	for (n = 0; n < count; n++) {
		item = item_alloc(alloc, nid);
		if (!item) {
			lt_alloc_free(alloc, list);
			return NULL;
		}
		item->link.next = list;
		list = &item->link;
	}
	WRITE_ONCE(alloc->bytes, alloc->bytes + count * alloc->item_size);
	return list;
}

/**
 * lt_alloc_renew() - free an item and put a new one in its place
 * @alloc: the allocator
 * @item: retired, a grace period after its last user
 *
 * Context: Task, may sleep.
 * Return: the new item; @item if there is no memory for another one.
 */
struct lt_pool_item *lt_alloc_renew(struct lt_alloc *alloc,
				    struct lt_pool_item *item)
{
	struct lt_pool_item *other = item_alloc(alloc, item->nid);

	lt_item_step(item, LT_ITEM_RETIRED, LT_ITEM_FREE);
	if (!other)
		return item;
	kfree(item);
	return other;
}

/**
 * lt_alloc_free() - free items
 * @alloc: the allocator
 * @items: chain of items, or NULL
 *
 * Context: Task, may sleep.
 */
void lt_alloc_free(struct lt_alloc *alloc, struct llist_node *items)
{
	struct llist_node *next;

	for (; items; items = next) {
		next = items->next;
		kfree(lt_pool_item_of(items));
	}
}

/**
 * lt_alloc_destroy() - nothing is left to free
 * @alloc: the allocator; lt_alloc_free() was called for all items
 *
 * Context: Task, may sleep.
 */
void lt_alloc_destroy(struct lt_alloc *alloc)
{
}
