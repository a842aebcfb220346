// SPDX-License-Identifier: GPL-2.0-only
#include <time.h>

#include "table.h"

#define ROUNDS		5
#define MAX_SIZE	2048
#define BIN_FULL	64

struct lfht *ht;
struct worker workers[WORKERS];
unsigned long hash_mask;
static unsigned long reached;		/* largest size of the table */

struct lfht_node *lookup(unsigned long key, struct lfht_iter *iter)
{
	lfht_lookup(ht, hash_of(key), obj_match, &key, iter);
	if (iter->node)
		obj_check_seen(to_obj(iter->node), key);
	return iter->node;
}

/* Whatever its mark says. Each node on this way was on the chain since the walk began. */
void check_unlinked(const struct obj *o)
{
	const struct lfht_node *node = lfht_bucket(ht, o->node.order_key);

	for (; node && node->order_key <= o->node.order_key;
	     node = lfht_clear_flag(lfht_load_next(node)))
		if (!CHECK(node != &o->node, "a removed node is still linked"))
			break;
}

void done_op(struct worker *w)
{
	w->ops++;
	if (w->bin.nr >= BIN_FULL)
		obj_empty(&w->bin);
}

void empty_my_bin(unsigned int id)
{
	obj_empty(&workers[id].bin);
}

static void resize_step(unsigned int id)
{
	struct timespec ts = { .tv_nsec = 300000 };
	unsigned long size = lfht_size(ht);

	(void)id;
	if (size < MAX_SIZE)
		CHECK_EQ(lfht_resize(ht, size << (1 + host_random() % 2)), 0);
	WRITE_ONCE(reached, lfht_size(ht));
	ts.tv_nsec += host_random() % 3000000;
	nanosleep(&ts, NULL);
}

/* What is left at the end is taken out; then in must equal out. */
static void clear_table(void)
{
	struct obj_bin bin = { };
	struct lfht_iter iter;

	rcu_read_lock_sched();
	for (lfht_first(ht, &iter); iter.node; lfht_next(ht, &iter)) {
		CHECK_EQ(lfht_del(ht, iter.node), 0);
		obj_retire(&bin, to_obj(iter.node));
	}
	rcu_read_unlock_sched();
	obj_empty(&bin);
}

void rounds(void (*setup)(void), void (*step)(unsigned int),
	    void (*end)(unsigned int), bool bound)
{
	static const unsigned long sizes[ROUNDS] = { 1, 1, 16, 256, 2 };
	static const unsigned long masks[ROUNDS] = { ~0UL, 1, ~0UL, 7, ~0UL };
	struct stress_thread threads[WORKERS + 1];
	unsigned long ops = 0, nmis = 0, gps = host_gp_snap();
	unsigned int i, r;

	for (i = 0; i < WORKERS; i++)
		threads[i] = (struct stress_thread){ step, end,
						     bound ? (int)i : -1 };
	threads[WORKERS] = (struct stress_thread){ resize_step, NULL, -1 };
	for (r = 0; r < ROUNDS && !ktap_failed(); r++) {
		memset(workers, 0, sizeof(workers));
		hash_mask = masks[r];
		objs_made = 0;
		objs_freed = 0;
		ht = lfht_new(sizes[r], MAX_SIZE * 4);
		BUG_ON(IS_ERR(ht));
		if (setup)
			setup();
		stress_run(threads, WORKERS + 1,
			   ktap_seconds / ktap_nr / ROUNDS);
		if (ktap_failed())
			return;	/* the rest would only drown the cause */
		clear_table();
		CHECK_EQ(lfht_destroy(ht), 0);
		CHECK_EQ(objs_made, objs_freed);
		for (i = 0; i < WORKERS; i++) {
			ops += workers[i].ops;
			nmis += workers[i].nmis;
		}
	}
	ktap_note("%lu operations, %lu NMIs, %lu grace periods, grown to %lu buckets",
		  ops, nmis, host_gp_snap() - gps, reached);
}
