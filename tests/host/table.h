/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table under fire: threads that do steps on it while it grows, in rounds that
 * differ in its size and in how many hashes there are.
 */
#ifndef LT_TABLE_H
#define LT_TABLE_H

#include "objs.h"

#define WORKERS		4
#define KEYS		48	/* per thread, where threads own keys */
#define STABLE		300	/* nodes that never leave, in the iteration test */
#define STOCK		32	/* objects that an NMI finds prepared */

struct worker {
	struct obj_bin bin;
	struct obj *mine[KEYS];
	unsigned long ops;
	unsigned long seq;
	/* For the NMI handler on this thread. */
	struct obj *stock[STOCK];
	unsigned int nr_stock;
	unsigned long nmis;
	struct obj *nmi_out;
	unsigned short visits[STABLE];
} __aligned(128);

extern struct lfht *ht;
extern struct worker workers[WORKERS];
extern unsigned long hash_mask;		/* this round: how many hashes there are */

static inline unsigned long hash_of(unsigned long key)
{
	return mix(key & hash_mask);
}

static inline unsigned long my_key(unsigned int id, unsigned int i)
{
	return (unsigned long)(id + 1) << 20 | i;
}

/* In a section: the first of the key, or NULL. */
struct lfht_node *lookup(unsigned long key, struct lfht_iter *iter);
/* Taken out by the caller, in this section: not on the chain any more. */
void check_unlinked(const struct obj *o);
/* After each step. */
void done_op(struct worker *w);
void empty_my_bin(unsigned int id);
/* One test: @setup with the table of each round; @bound: a CPU for each thread. */
void rounds(void (*setup)(void), void (*step)(unsigned int),
	    void (*end)(unsigned int), bool bound);

#endif /* LT_TABLE_H */
