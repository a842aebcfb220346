/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rculfhash - lock-free RCU hash table on split-ordered lists
 *
 * Shalev & Shavit, "Split-Ordered Lists: Lock-Free Extensible Hash Tables"
 * (JACM 2006), on the lock-free list of Michael, "High Performance Dynamic
 * Lock-Free Hash Tables and List-Based Sets" (SPAA 2002), with RCU in the
 * place of hazard pointers.  The names follow userspace-rcu's public API.
 *
 * All nodes are on one list sorted by order key.  The order key of a data node
 * is its hash with bit 0 set; that of a bucket node has bit 0 clear, so that a
 * bucket node comes before all nodes of its bucket.  Bucket t of a table of
 * 2^k buckets starts at t << (BITS_PER_LONG - k): the TOP bits of the hash
 * select the bucket, they must be well mixed (multiplicative hashing does
 * that), and growing splits each bucket in two without moving a node.
 *
 * What may run against what, without any lock of the caller:
 *
 *		   | read | add* / ... / take    | resize | destroy
 *  read	   |  -   |  -                   |  -     |  X
 *  add* / ...	   |  -   |  -                   |  -     |  X
 *  resize	   |  -   |  -                   |  L     |  X
 *  destroy	   |  X   |  X                   |  X     |  X
 *
 *  "-": no lock.  "L": the caller serializes (a loser gets -EBUSY and nothing
 *  happens).  "X": excluded by the caller; before lfht_destroy() a grace period
 *  must have passed after the last reader that could find the table.
 *  read: lookup, next_duplicate, walk, size.
 *  add* / ... / take: add, add_unique, add_replace, del, take.
 *
 * Contexts: read, add*, del and take run in any context, NMI included
 * (where cmpxchg() is NMI-safe, as on every architecture with
 * ARCH_HAVE_NMI_SAFE_CMPXCHG), inside an RCU read-side section of the sched
 * kind (preemption off) that the caller holds over the call and over every use
 * of a node or iterator that came out of it.  They take no lock, allocate
 * nothing, and call nothing but the caller's match function.  new, destroy and
 * resize may sleep.
 *
 * Progress: readers never restart and never write (wait-free: a reader's steps
 * are bounded by the nodes on its way, those added meanwhile included).  add*,
 * del and take are lock-free: one of them restarts from its bucket only because
 * another one succeeded.  None waits for an interrupted peer.
 *
 * Ordering:
 *  - A successful add*, del or take is a full memory barrier: cmpxchg().
 *    A reader that finds a node sees all that was written to it before it was
 *    added: the cmpxchg() that links it pairs with the address
 *    dependency of lfht_load_next().
 *  - Add, then find: a lookup that starts after the add returned finds the
 *    node until a del, take or add_replace of it started.
 *  - Del or take, then not find: a lookup that starts after it returned does
 *    not find the node.
 *  - add_replace is atomic: at each instant a lookup finds either the old or the
 *    new node, never none; and an iteration over duplicates that found the old
 *    one goes on behind the new one, so it never sees both.
 *  - Nodes with the same order key stay in the order in which they were added;
 *    a lookup finds the oldest first.  A replacement takes the old one's place.
 *  - add_unique and add_replace never leave two nodes of one key among
 *    themselves: see lfht_find_end() in rculfhash.c.  lfht_add() of the same
 *    key makes duplicates, by design.
 *
 * Grace periods: a node that del, take or add_replace took out is no
 * longer reachable from the table, but readers that started earlier may still
 * stand on it.  Its memory, the links in struct lfht_node included, must not be
 * reused (nor added again) before a grace period (synchronize_rcu(),
 * call_rcu()) has passed since that call returned.  Walking over removed nodes
 * is safe: a removed node's link is frozen, and a node leaves the chain only
 * after all removed nodes in front of it have left, so each node that a reader
 * comes to was on the chain at some time since this reader's section began;
 * hence no grace period for it has ended.
 * The same makes all cmpxchg() here free of ABA: an address that was read in
 * this section cannot come back as another node before the section ends.
 */
#ifndef LT_RCULFHASH_H
#define LT_RCULFHASH_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

/* Bit 0 of lfht_node.next: this node (not the one pointed to) is removed. */
#define LFHT_REMOVED	1UL

/* 2^26 buckets are 1 GiB of bucket nodes. */
#define LFHT_MAX_ORDER	26

/**
 * struct lfht_node - what an object in the table embeds
 * @next: link, with LFHT_REMOVED in bit 0; touched by the table alone
 * @order_key: place in the list; constant while the node is in the table
 */
struct lfht_node {
	struct lfht_node *next;
	unsigned long order_key;
};

/**
 * struct lfht_iter - position of a reader
 * @node: the node found, NULL: none
 * @next: its successor at the time when it was seen alive
 */
struct lfht_iter {
	struct lfht_node *node;
	struct lfht_node *next;
};

/*
 * Private; here for the inline functions.  Everything a lookup needs is at the
 * front, in one cache line: written at creation and by a resize, never else.
 * Buckets of the initial size lie in one array in the order of the list; each
 * doubling (order k) adds an array of the 2^(k-1) buckets with an odd number.
 */
struct lfht {
	unsigned int order;		/* log2 of the buckets in use */
	unsigned int base_order;	/* log2 of the buckets in base */
	struct lfht_node *base;
	unsigned int max_order;
	unsigned int resizing;		/* 1 while lfht_resize() runs */
	struct lfht_node *grown[];	/* arrays of order base_order + 1, ... */
};

/*
 * The caller's comparison, called for nodes with the right order key only.
 * Runs in the context of the caller; must not sleep, nor write the node.
 */
typedef bool (*lfht_match_fn)(const struct lfht_node *node, const void *key);
typedef void (*lfht_walk_fn)(struct lfht_node *node, void *arg);

struct lfht *lfht_new(unsigned long init_size, unsigned long max_size);
int lfht_destroy(struct lfht *ht);
int lfht_resize(struct lfht *ht, unsigned long new_size);

void lfht_add(struct lfht *ht, unsigned long hash, struct lfht_node *node);
struct lfht_node *lfht_add_unique(struct lfht *ht, unsigned long hash,
				  lfht_match_fn match, const void *key,
				  struct lfht_node *node);
struct lfht_node *lfht_add_replace_other(struct lfht *ht, unsigned long hash,
					 lfht_match_fn match, const void *key,
					 struct lfht_node *node);
int lfht_del(struct lfht *ht, struct lfht_node *node);
void lfht_purge(struct lfht *ht, struct lfht_node *victim);

bool lfht_walk(struct lfht *ht, unsigned long *cursor, unsigned int budget,
	       lfht_walk_fn fn, void *arg);

static __always_inline void lfht_assert_reader(void)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_sched_held(),
			 "rculfhash used outside of an RCU sched section");
}

/* The order key of data nodes with this hash. */
static __always_inline unsigned long lfht_order_key(unsigned long hash)
{
	return hash | 1;
}

static __always_inline bool lfht_is_removed(const struct lfht_node *next)
{
	return (unsigned long)next & LFHT_REMOVED;
}

static __always_inline struct lfht_node *
lfht_clear_flag(const struct lfht_node *next)
{
	return (struct lfht_node *)((unsigned long)next & ~LFHT_REMOVED);
}

/*
 * Pairs, by address dependency, with the cmpxchg() that made the link: the
 * node behind it is seen as it was when it was added.
 */
static __always_inline struct lfht_node *
lfht_load_next(const struct lfht_node *node)
{
	return rcu_dereference_raw(node->next);
}

/*
 * Change the link of @node from @old_next to @new_next.  Fully ordered: as a
 * release it pairs with lfht_load_next() of a reader that follows the new link.
 */
static __always_inline bool lfht_set_next(struct lfht_node *node,
					  struct lfht_node *old_next,
					  struct lfht_node *new_next)
{
	return cmpxchg(&node->next, old_next, new_next) == old_next;
}

/* Take the removed node @node, whose link is @next, out of the chain. */
static __always_inline bool lfht_unlink(struct lfht_node *prev,
					struct lfht_node *node,
					struct lfht_node *next)
{
	/* Fails if prev was removed or has another successor by now. */
	return lfht_set_next(prev, node, lfht_clear_flag(next));
}

static __always_inline struct lfht_node *
lfht_bucket_of(const struct lfht *ht, unsigned int order, unsigned long hash)
{
	/* Two shifts: order 0 must give bucket 0, not an undefined shift. */
	unsigned long t = (hash >> 1) >> (BITS_PER_LONG - 1 - order);
	unsigned int diff, zeros;

	/* Most tables have the size that they were made with. */
	if (likely(order == ht->base_order))
		return &ht->base[t];
	diff = order - ht->base_order;
	if (!(t & ((1UL << diff) - 1)))
		return &ht->base[t >> diff];
	zeros = __ffs(t);
	return &ht->grown[diff - zeros - 1][t >> (zeros + 1)];
}

/* The bucket node behind which nodes of this hash are, for the present size. */
static __always_inline struct lfht_node *
lfht_bucket(const struct lfht *ht, unsigned long hash)
{
	/*
	 * Pairs with smp_store_release() in lfht_grow(): a reader that sees the
	 * new order sees its array, linked into the list.
	 */
	return lfht_bucket_of(ht, smp_load_acquire(&ht->order), hash);
}

/**
 * lfht_add_replace() - add a node, in the place of one with the same key if any
 * @ht: the table
 * @hash: hash of @key; bit 0 is ignored
 * @match: comparison
 * @key: the key of @node, handed to @match
 * @node: the node; not in a table, and a grace period after its removal
 *
 * Of several nodes with this key the oldest is replaced.
 *
 * Context: any, NMI included; inside an RCU read-side section with preemption
 * off.  Lock-free.
 * Return: the replaced node, unlinked and owned by the caller (to be reused
 * after a grace period), or NULL when the key was not there.
 */
static __always_inline struct lfht_node *
lfht_add_replace(struct lfht *ht, unsigned long hash, lfht_match_fn match,
		 const void *key, struct lfht_node *node)
{
	struct lfht_node *bucket = lfht_bucket(ht, hash);
	struct lfht_node *next = lfht_load_next(bucket);

	lfht_assert_reader();
	node->order_key = lfht_order_key(hash);
	/*
	 * Most buckets have no node that comes before it: then its place is right here, behind
	 * all of its order key, and a peer with the same key changes the same link.
	 */
	if (likely(!next || next->order_key > node->order_key)) {
		WRITE_ONCE(node->next, next);
		if (likely(lfht_set_next(bucket, next, node)))
			return NULL;
	}
	return lfht_add_replace_other(ht, hash, match, key, node);
}

/* First live match at or behind @node among those of this order key. */
static __always_inline void
lfht_find_from(struct lfht_node *node, unsigned long order_key,
	       lfht_match_fn match, const void *key, struct lfht_iter *iter)
{
	struct lfht_node *next;

	while (node && node->order_key <= order_key) {
		next = lfht_load_next(node);
		if (node->order_key == order_key && !lfht_is_removed(next) &&
		    match(node, key)) {
			iter->node = node;
			iter->next = next;
			return;
		}
		node = lfht_clear_flag(next);
	}
	iter->node = NULL;
	iter->next = NULL;
}

/**
 * lfht_lookup() - find the oldest node with a key
 * @ht: the table
 * @hash: hash of @key; bit 0 is ignored, the top bits select the bucket
 * @match: comparison, inlined when constant
 * @key: handed to @match
 * @iter: result; @iter->node is NULL when there is none
 *
 * The node may be removed by another CPU at any time; lfht_del() tells one of
 * several contenders that it was the one.
 *
 * Context: any, NMI included; inside an RCU read-side section with preemption
 * off.  Wait-free.
 */
static __always_inline void lfht_lookup(struct lfht *ht, unsigned long hash,
					lfht_match_fn match, const void *key,
					struct lfht_iter *iter)
{
	/* A bucket node is never removed: its link carries no flag. */
	lfht_find_from(lfht_load_next(lfht_bucket(ht, hash)),
		       lfht_order_key(hash), match, key, iter);
}

/**
 * lfht_take() - find the oldest node with a key, and remove it
 * @ht: the table
 * @hash: hash of @key; bit 0 is ignored
 * @match: comparison, as for lfht_lookup()
 * @key: handed to @match
 *
 * lfht_lookup() and lfht_del() in one, which knows what is in front of the node
 * and need not look for it again.
 *
 * Context: any, NMI included; inside an RCU read-side section with preemption
 * off.  Lock-free.
 * Return: the node, unlinked and owned by the caller (to be reused after a grace
 * period), or NULL when the key was not there.
 */
static __always_inline struct lfht_node *lfht_take(struct lfht *ht,
						   unsigned long hash,
						   lfht_match_fn match,
						   const void *key)
{
	unsigned long order_key = lfht_order_key(hash), link;
	struct lfht_node *prev, *node, *next;

	lfht_assert_reader();
restart:
	prev = lfht_bucket(ht, hash);
	node = lfht_load_next(prev);
	while (node && node->order_key <= order_key) {
		next = lfht_load_next(node);
		if (node->order_key == order_key && !lfht_is_removed(next) &&
		    match(node, key)) {
			link = (unsigned long)next | LFHT_REMOVED;
			if (!lfht_set_next(node, next,
					   (struct lfht_node *)link))
				goto restart;
			if (!lfht_unlink(prev, node, next))
				lfht_purge(ht, node);
			return node;
		}
		prev = node;
		node = lfht_clear_flag(next);
	}
	return NULL;
}

/**
 * lfht_next_duplicate() - find the next node with the same key
 * @ht: the table
 * @match: comparison, as for lfht_lookup()
 * @key: handed to @match
 * @iter: position on a node; moved to the next match, @iter->node NULL: none
 *
 * Context: as lfht_lookup(), in the same read-side section.  Wait-free.
 */
static __always_inline void lfht_next_duplicate(struct lfht *ht,
						lfht_match_fn match,
						const void *key,
						struct lfht_iter *iter)
{
	lfht_find_from(iter->next, iter->node->order_key, match, key, iter);
}

/**
 * lfht_node_init_deleted() - mark a node that was never added as removed
 * @node: a node that no other CPU can see
 *
 * Lets lfht_del() be asked about it.
 *
 * Context: any.
 */
static inline void lfht_node_init_deleted(struct lfht_node *node)
{
	WRITE_ONCE(node->next, (struct lfht_node *)LFHT_REMOVED);
}

/**
 * lfht_size() - number of buckets
 * @ht: the table
 *
 * Context: any.
 * Return: the number of buckets in use, a power of two.
 */
static inline unsigned long lfht_size(const struct lfht *ht)
{
	return 1UL << READ_ONCE(ht->order);
}

#endif /* LT_RCULFHASH_H */
