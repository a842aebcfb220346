/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects in the table with a life that is watched: each step from one state to the next happens
 * once, and memory is poisoned and freed a grace period after removal.
 */
#ifndef LT_OBJS_H
#define LT_OBJS_H

#include "lt_kernel.h"
#include "rculfhash/rculfhash.h"

enum obj_state { OBJ_IN = 0x0b1, OBJ_OUT, OBJ_DEAD };

struct obj {
	struct lfht_node node;
	unsigned long key;
	unsigned long seq;
	unsigned int owner;
	unsigned int state;
	struct obj *next_retired;
};

/* What a thread took out and may not free yet. */
struct obj_bin {
	struct obj *first;
	unsigned int nr;
};

static struct lfht *ht;
static unsigned long hash_mask;		/* this round: how many hashes there are */
static long objs;			/* made and not freed */

static inline struct obj *to_obj(const struct lfht_node *node)
{
	return container_of(node, struct obj, node);
}

static inline bool obj_match(const struct lfht_node *node, const void *key)
{
	return to_obj(node)->key == *(const unsigned long *)key;
}

static inline unsigned long hash_of(unsigned long key)
{
	return (key & hash_mask) * 0x9e3779b97f4a7c15UL;
}

static inline bool is_removed(const struct lfht_node *node)
{
	return lfht_is_removed(READ_ONCE(node->next));
}

static inline struct obj *obj_new(unsigned long key)
{
	struct obj *o = calloc(1, sizeof(*o));

	BUG_ON(!o);
	o->key = key;
	o->state = OBJ_IN;
	__atomic_fetch_add(&objs, 1, __ATOMIC_RELAXED);
	return o;
}

/* No other thread sees it, or not any more. */
static inline void obj_free(struct obj *o)
{
	memset(o, 0x6b, sizeof(*o));
	o->state = OBJ_DEAD;
	free(o);
	__atomic_fetch_sub(&objs, 1, __ATOMIC_RELAXED);
}

/* Taken out of the table by the caller. */
static inline void obj_retire(struct obj_bin *bin, struct obj *o)
{
	/* Relaxed: the test must not order what the table has to order. */
	unsigned int old = __atomic_exchange_n(&o->state, OBJ_OUT, __ATOMIC_RELAXED);

	EXPECT(old == OBJ_IN, "key %lx: retired in state %x", o->key, old);
	o->next_retired = bin->first;
	bin->first = o;
	bin->nr++;
}

/* May wait; outside of sections. */
static inline void obj_empty(struct obj_bin *bin)
{
	struct obj *o, *next;

	if (bin->first)
		synchronize_rcu();
	for (o = bin->first; o; o = next) {
		next = o->next_retired;
		obj_free(o);
	}
	*bin = (struct obj_bin){ };
}

/* A reader in its section: the object is not freed. */
static inline void check_seen(const struct lfht_node *node, unsigned long key)
{
	unsigned int state = READ_ONCE(to_obj(node)->state);

	EXPECT(state == OBJ_IN || state == OBJ_OUT, "an object in state %x was found", state);
	EXPECT(to_obj(node)->key == key, "key %lx was found for %lx", to_obj(node)->key, key);
}

/* In a section: the first of the key, or NULL. */
static inline struct lfht_node *lookup(unsigned long key, struct lfht_iter *iter)
{
	lfht_lookup(ht, hash_of(key), obj_match, &key, iter);
	if (iter->node)
		check_seen(iter->node, key);
	return iter->node;
}

/* Taken out by the caller, in this section: marked, and not on the chain any more. */
static inline void check_unlinked(const struct lfht_node *gone)
{
	const struct lfht_node *node = lfht_bucket(ht, gone->order_key);

	EXPECT(is_removed(gone), "alive after its removal");
	/* Whatever its mark says. Each node on this way was on the chain since the walk began. */
	for (; node && node->order_key <= gone->order_key;
	     node = lfht_clear_flag(lfht_load_next(node)))
		EXPECT(node != gone, "a removed node is still linked");
}

#endif /* LT_OBJS_H */
