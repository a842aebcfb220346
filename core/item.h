/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An item: what the pool hands out, and what an event begins with.
 *
 * In a debug build an item also records where in its life it is:
 *
 *	free -> taken -> filled -> retired -> free
 */
#ifndef _LT_CORE_ITEM_H
#define _LT_CORE_ITEM_H

#include <linux/compiler.h>
#include <linux/llist.h>
#include <linux/types.h>

#ifdef LT_DEBUG
#include <linux/atomic.h>
#include <linux/bug.h>
#endif

/* Not likely to be found in memory by chance. */
#define LT_ITEM_FREE	0x1a7e4c01
#define LT_ITEM_TAKEN	0x1a7e4c02
#define LT_ITEM_FILLED	0x1a7e4c03
#define LT_ITEM_RETIRED	0x1a7e4c04

/**
 * struct lt_pool_item - to be embedded at the start of what the pool holds
 * @link: next item of the batch or the cache; an item is in at most one of them
 * @next_batch: in the first item of a batch: the next batch of the depot or of
 *	the retired ones
 * @nid: memory node, set once
 * @count: in the first item of a batch: items in it
 * @tag: what embeds the item has these bytes, which would be padding
 * @state: in a debug build, LT_ITEM_*
 */
struct lt_pool_item {
	struct llist_node link;
	struct lt_pool_item *next_batch;
	u16 nid;
	u16 count;
	u8 tag[4];
#ifdef LT_DEBUG
	u32 state;
#endif
};

static inline struct lt_pool_item *lt_pool_item_of(struct llist_node *node)
{
	return llist_entry(node, struct lt_pool_item, link);
}

/* In a debug build: the caller owns the item, and knows its state. */
static __always_inline void lt_item_step(struct lt_pool_item *item, u32 from,
					 u32 to)
{
#ifdef LT_DEBUG
	u32 was = xchg(&item->state, to);

	WARN_ONCE(was != from, "item %p: %x, not %x, becomes %x", item, was,
		  from, to);
#endif
}

#endif /* _LT_CORE_ITEM_H */
