/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects with a life that is watched: each step from one state to the next
 * happens once, and memory is poisoned and freed a grace period after removal.
 */
#ifndef LT_OBJS_H
#define LT_OBJS_H

#include "ktap.h"
#include "rculfhash/rculfhash.h"

enum obj_state { OBJ_OWNED = 0x0b1, OBJ_IN, OBJ_OUT, OBJ_DEAD };

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

extern unsigned long objs_made, objs_freed;

static inline struct obj *to_obj(const struct lfht_node *node)
{
	return container_of(node, struct obj, node);
}

static inline bool obj_match(const struct lfht_node *node, const void *key)
{
	return to_obj(node)->key == *(const unsigned long *)key;
}

static inline unsigned long mix(unsigned long x)
{
	x *= 0x9e3779b97f4a7c15UL;
	return x ^ (x >> 29);
}

struct obj *obj_new(unsigned long key);
void obj_step(struct obj *o, enum obj_state from, enum obj_state to);
/* A reader in its section: the object is not freed. */
bool obj_check_seen(const struct obj *o, unsigned long key);
/* Taken out of the table by the caller: free it after a grace period. */
void obj_retire(struct obj_bin *bin, struct obj *o);
void obj_empty(struct obj_bin *bin);	/* may wait; outside of sections */
void obj_free_now(struct obj *o);	/* nobody has ever seen it */

#endif /* LT_OBJS_H */
