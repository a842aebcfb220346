// SPDX-License-Identifier: GPL-2.0-only
/*
 * rculfhash - lock-free RCU hash table on split-ordered lists
 *
 * Guarantees, contexts and sources: see rculfhash.h.
 *
 * Invariants of the list, on which every comment below leans:
 *  - Unlinking: a node leaves the chain only after its link was marked, and a
 *    marked link never changes.  So an unmarked node is on the chain, and a
 *    cmpxchg() from an unmarked value cannot succeed on a node that left it.
 *  - Order: nodes never change places, and a node that left does not return
 *    (before a grace period).
 *  - Ends: a data node is inserted behind all nodes of its order key, or, by
 *    lfht_add_replace(), directly behind the node that it replaces.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "rculfhash/rculfhash.h"

/* Buckets linked by a resize in one read-side section: some microseconds. */
#define LFHT_RESIZE_CHUNK	256

/* A place in the list: @prev was alive and had the successor @next. */
struct lfht_pos {
	struct lfht_node *prev;
	struct lfht_node *next;
};

static __always_inline bool lfht_is_bucket(const struct lfht_node *node)
{
	return !(node->order_key & 1);
}

/*
 * Find a live node that matches, or else the place behind all nodes whose
 * order key is not above @order_key.  Removed nodes on the way are unlinked.
 *
 * Why this keeps keys unique: a peer that adds the same key without replacing
 * does so at the very place that is found here.  If it was there before this
 * walk came by, it is found; if it comes later, the caller's cmpxchg() on
 * pos->prev fails.  A peer that replaces a node of this key has the old one in
 * front of the new one: either the old one is found alive, or its marked link
 * leads to the new one.
 */
static __always_inline struct lfht_node *
lfht_find_end(struct lfht_node *bucket, unsigned long order_key,
	      lfht_match_fn match, const void *key, struct lfht_pos *pos)
{
	struct lfht_node *prev, *node, *next;

restart:
	prev = bucket;
	node = lfht_load_next(prev);
	while (node && node->order_key <= order_key) {
		next = lfht_load_next(node);
		if (lfht_is_removed(next)) {
			if (!lfht_unlink(prev, node, next))
				goto restart;
			node = lfht_clear_flag(next);
			continue;
		}
		prev = node;
		node = next;
		if (match && prev->order_key == order_key && match(prev, key)) {
			pos->next = next;
			return prev;
		}
	}
	pos->prev = prev;
	pos->next = node;
	return NULL;
}

/* Insert @node at @pos; false: the place has changed meanwhile. */
static __always_inline bool lfht_insert(const struct lfht_pos *pos,
					struct lfht_node *node)
{
	WRITE_ONCE(node->next, pos->next);
	return lfht_set_next(pos->prev, pos->next, node);
}

/*
 * Private. Take the removed node @victim out of the chain, unless a peer has
 * done so.
 *
 * The walk passes live nodes only and unlinks the others, and restarts when it
 * cannot: if it gets past the victim's order key, the victim is not on the
 * chain any more.
 */
void lfht_purge(struct lfht *ht, struct lfht_node *victim)
{
	unsigned long order_key = victim->order_key;
	struct lfht_node *bucket = lfht_bucket(ht, order_key);
	struct lfht_node *prev, *node, *next;

restart:
	prev = bucket;
	node = lfht_load_next(prev);
	while (node && node->order_key <= order_key) {
		next = lfht_load_next(node);
		if (lfht_is_removed(next)) {
			if (!lfht_unlink(prev, node, next))
				goto restart;
			if (node == victim)
				return;
		} else {
			prev = node;
		}
		node = lfht_clear_flag(next);
	}
}

/**
 * lfht_add() - add a node, duplicates allowed
 * @ht: the table
 * @hash: hash of the node's key; bit 0 is ignored
 * @node: the node; not in a table, and a grace period after its removal
 *
 * The node goes behind all others of its order key: a lookup finds the oldest.
 *
 * Context: any, NMI included; inside an RCU read-side section with preemption
 * off.  Lock-free.
 */
void lfht_add(struct lfht *ht, unsigned long hash, struct lfht_node *node)
{
	struct lfht_pos pos;

	lfht_assert_reader();
	node->order_key = lfht_order_key(hash);
	do {
		lfht_find_end(lfht_bucket(ht, hash), node->order_key, NULL,
			      NULL, &pos);
	} while (!lfht_insert(&pos, node));
}

/**
 * lfht_add_unique() - add a node unless its key is in the table
 * @ht: the table
 * @hash: hash of @key; bit 0 is ignored
 * @match: comparison
 * @key: the key of @node, handed to @match
 * @node: the node; not in a table, and a grace period after its removal
 *
 * Context: any, NMI included; inside an RCU read-side section with preemption
 * off.  Lock-free.
 * Return: @node when it was added, else the node that is there (no
 * reader has seen @node, which can be reused at once).
 */
struct lfht_node *lfht_add_unique(struct lfht *ht, unsigned long hash,
				  lfht_match_fn match, const void *key,
				  struct lfht_node *node)
{
	struct lfht_node *found;
	struct lfht_pos pos;

	lfht_assert_reader();
	node->order_key = lfht_order_key(hash);
	do {
		found = lfht_find_end(lfht_bucket(ht, hash), node->order_key,
				      match, key, &pos);
		if (found)
			return found;
	} while (!lfht_insert(&pos, node));
	return node;
}

/*
 * Mark @old_node and make @new_node its successor in one step: a reader that
 * finds the old one removed is led to the new one.
 */
static __always_inline bool lfht_swap(struct lfht_node *old_node,
				      struct lfht_node *old_next,
				      struct lfht_node *new_node)
{
	unsigned long link = (unsigned long)new_node | LFHT_REMOVED;

	WRITE_ONCE(new_node->next, old_next);
	return lfht_set_next(old_node, old_next, (struct lfht_node *)link);
}

/* Private. The rest of lfht_add_replace(). */
struct lfht_node *lfht_add_replace_other(struct lfht *ht, unsigned long hash,
					 lfht_match_fn match, const void *key,
					 struct lfht_node *node)
{
	struct lfht_node *found;
	struct lfht_pos pos;

	node->order_key = lfht_order_key(hash);
	for (;;) {
		found = lfht_find_end(lfht_bucket(ht, hash), node->order_key,
				      match, key, &pos);
		if (!found) {
			if (lfht_insert(&pos, node))
				return NULL;
		} else if (lfht_swap(found, pos.next, node)) {
			lfht_purge(ht, found);
			return found;
		}
	}
}

/**
 * lfht_del() - remove a node
 * @ht: the table
 * @node: a node found in this read-side section, or kept by the caller
 *
 * Of all removals of one node, exactly one wins.
 *
 * Context: any, NMI included; inside an RCU read-side section with preemption
 * off.  Lock-free.
 * Return: 0 to the winner, for which the node is unlinked (to be reused after a
 * grace period); -ENOENT to all others, which own nothing.
 */
int lfht_del(struct lfht *ht, struct lfht_node *node)
{
	struct lfht_node *next;
	unsigned long link;

	lfht_assert_reader();
	do {
		next = lfht_load_next(node);
		if (lfht_is_removed(next))
			return -ENOENT;
		link = (unsigned long)next | LFHT_REMOVED;
	} while (!lfht_set_next(node, next, (struct lfht_node *)link));
	lfht_purge(ht, node);
	return 0;
}

/**
 * lfht_walk() - visit a part of the table
 * @ht: the table
 * @cursor: where to begin, moved on; 0 is the beginning of the table, and its
 *	value after the end
 * @budget: number of nodes, bucket nodes included, after which to stop; nodes
 *	of one order key are visited together, even beyond it
 * @fn: called for each live node; may remove it
 * @arg: handed to @fn
 *
 * For walking over a large table in short read-side sections:
 * ``do { lock; more = lfht_walk(...); unlock; cond_resched(); } while (more)``.
 * Every node that is in the table during the whole walk is visited once.
 *
 * Context: any, NMI included; inside an RCU read-side section with preemption
 * off, which may end between calls.  Wait-free.
 * Return: true when there is more to visit, false at the end of the table.
 */
bool lfht_walk(struct lfht *ht, unsigned long *cursor, unsigned int budget,
	       lfht_walk_fn fn, void *arg)
{
	unsigned long last = *cursor;
	struct lfht_node *node, *next;
	unsigned int visited = 0;

	lfht_assert_reader();
	for (node = lfht_bucket(ht, last); node; node = lfht_clear_flag(next)) {
		next = lfht_load_next(node);
		if (node->order_key < *cursor)
			continue;
		if (visited && visited >= budget && node->order_key != last) {
			*cursor = node->order_key;
			return true;
		}
		visited++;
		last = node->order_key;
		if (!lfht_is_bucket(node) && !lfht_is_removed(next))
			fn(node, arg);
	}
	*cursor = 0;
	return false;
}

/*
 * Link @node in as the bucket of @order_key, in the list behind its parent
 * bucket.  Data nodes have odd order keys: the place is unique.
 */
static void lfht_link_bucket(struct lfht *ht, struct lfht_node *node,
			     unsigned long order_key)
{
	struct lfht_pos pos;

	node->order_key = order_key;
	do {
		lfht_find_end(lfht_bucket(ht, order_key), order_key, NULL, NULL,
			      &pos);
	} while (!lfht_insert(&pos, node));
}

/* Double the number of buckets. */
static int lfht_grow(struct lfht *ht)
{
	unsigned int order = ht->order + 1;
	unsigned long i = 0, end, nr = 1UL << (order - 1);
	struct lfht_node *tbl;

	tbl = kvcalloc(nr, sizeof(*tbl), GFP_KERNEL);
	if (!tbl)
		return -ENOMEM;
	while (i < nr) {
		end = min(nr, i + LFHT_RESIZE_CHUNK);
		rcu_read_lock_sched_notrace();
		do {
			lfht_link_bucket(ht, &tbl[i],
					 (2 * i + 1) << (BITS_PER_LONG - order));
		} while (++i < end && !need_resched());
		rcu_read_unlock_sched_notrace();
		cond_resched();
	}
	ht->grown[order - ht->base_order - 1] = tbl;
	/* Pairs with smp_load_acquire() in lfht_bucket(). */
	smp_store_release(&ht->order, order);
	return 0;
}

/**
 * lfht_resize() - grow the table
 * @ht: the table
 * @new_size: number of buckets, rounded up to a power of two
 *
 * Everybody else goes on meanwhile.  Tables do not shrink: a smaller size is a
 * success that changes nothing.
 *
 * Context: task, may sleep.  One at a time per table: the caller serializes.
 * Return: 0; -EINVAL when @new_size is above the maximum and -EBUSY when
 * another resize is running, with nothing changed; -ENOMEM, with the table in
 * order at the size reached so far.
 */
int lfht_resize(struct lfht *ht, unsigned long new_size)
{
	int ret = 0;

	might_sleep();
	if (new_size > 1UL << ht->max_order)
		return -EINVAL;
	/* Pairs with smp_store_release() at the end of the last resize. */
	if (cmpxchg(&ht->resizing, 0, 1))
		return -EBUSY;
	while (!ret && new_size > lfht_size(ht))
		ret = lfht_grow(ht);
	/* Pairs with cmpxchg() of the next resize. */
	smp_store_release(&ht->resizing, 0);
	return ret;
}

/**
 * lfht_new() - create a table
 * @init_size: number of buckets to begin with, rounded up to a power of two
 * @max_size: number of buckets that lfht_resize() may reach, rounded likewise
 *
 * Context: task, may sleep.
 * Return: the table, or ERR_PTR(): -EINVAL for a size of 0, a maximum below
 * @init_size or above 2^LFHT_MAX_ORDER; -ENOMEM.
 */
struct lfht *lfht_new(unsigned long init_size, unsigned long max_size)
{
	unsigned int base_order, max_order;
	struct lfht *ht;
	unsigned long i, nr;

	if (!init_size || max_size < init_size ||
	    max_size > 1UL << LFHT_MAX_ORDER)
		return ERR_PTR(-EINVAL);
	base_order = order_base_2(init_size);
	max_order = order_base_2(max_size);
	nr = 1UL << base_order;

	/* A power of two is aligned to itself: the front is one cache line. */
	ht = kzalloc(roundup_pow_of_two(struct_size(ht, grown, max_order -
						    base_order)), GFP_KERNEL);
	if (!ht)
		return ERR_PTR(-ENOMEM);
	ht->base = kvcalloc(nr, sizeof(*ht->base), GFP_KERNEL);
	if (!ht->base) {
		kfree(ht);
		return ERR_PTR(-ENOMEM);
	}
	for (i = 0; i < nr; i++) {
		ht->base[i].order_key = i ? i << (BITS_PER_LONG - base_order) :
					0;
		ht->base[i].next = i + 1 < nr ? &ht->base[i + 1] : NULL;
		if (!(i % 4096))
			cond_resched();
	}
	ht->order = base_order;
	ht->base_order = base_order;
	ht->max_order = max_order;
	return ht;
}

/**
 * lfht_destroy() - free an empty table
 * @ht: the table; no other user is left
 *
 * Context: task, may sleep; a grace period after the last reader.
 * Return: 0; -EBUSY when there are nodes in it, with nothing changed.
 */
int lfht_destroy(struct lfht *ht)
{
	unsigned long steps = 0;
	struct lfht_node *node;
	unsigned int i;

	might_sleep();
	for (node = ht->base; node; node = lfht_load_next(node)) {
		if (!lfht_is_bucket(node))
			return -EBUSY;
		if (!(++steps % 4096))
			cond_resched();
	}
	for (i = 0; i < ht->order - ht->base_order; i++)
		kvfree(ht->grown[i]);
	kvfree(ht->base);
	kfree(ht);
	return 0;
}
