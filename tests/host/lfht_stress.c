// SPDX-License-Identifier: GPL-2.0-only
/*
 * rculfhash under fire: threads do operations of several kinds on one table that grows meanwhile.
 * Each kind has keys of its own and an oracle for a promise of rculfhash.h. In rounds with few
 * hashes all kinds are neighbours.
 */
#include <time.h>

#include "checks.h"
#include "ktap.h"
#include "objs.h"

#define ROUNDS		5
#define MAX_SIZE	2048
#define KEYS		48	/* per thread, where threads own keys or objects */
#define FOUGHT_FOR	2	/* keys that all threads add and remove */
#define REPLACED_KEYS	6
#define STABLE		100	/* nodes that never leave */
#define BIN_FULL	64

/* Of keys; a thread has those of OWNED + its number. */
enum kind { UNIQUE, REPLACED, DUPLICATE, STAYS, OWNED };

struct worker {
	unsigned int id;
	struct obj_bin bin;
	struct obj *mine[KEYS];
	struct obj *duplicates[KEYS];
	unsigned long seq;
	/* For the NMI handler on this thread. */
	struct obj *spare;
	struct obj_bin nmi_bin;
	unsigned short visits[STABLE];
} __aligned(128);

static struct worker workers[STRESS_WORKERS];
static unsigned int favourite_step;	/* half of all, so that threads meet */
static unsigned long nmis;
static __thread struct worker *nmi_worker;

static unsigned long key_of(enum kind kind, unsigned int i)
{
	return (unsigned long)kind << 20 | i;
}

static struct obj *add_new(unsigned long key, unsigned int owner, unsigned long seq)
{
	struct obj *o = obj_new(key);

	o->owner = owner;
	o->seq = seq;
	rcu_read_lock_sched();
	lfht_add(ht, hash_of(key), &o->node);
	rcu_read_unlock_sched();
	return o;
}

/* ---- each thread owns keys: what it added is there until it deletes it ---- */

static struct obj *owned_add(unsigned long key)
{
	unsigned int how = host_random() % 3;
	struct obj *o = obj_new(key);
	struct lfht_iter iter;

	rcu_read_lock_sched();
	EXPECT(!lookup(key, &iter), "a key is found that is not in");
	if (how == 0)
		lfht_add(ht, hash_of(key), &o->node);
	else if (how == 1)
		EXPECT(lfht_add_unique(ht, hash_of(key), obj_match, &key, &o->node) == &o->node,
		       "add_unique found a key that is not in");
	else
		EXPECT(!lfht_add_replace(ht, hash_of(key), obj_match, &key, &o->node),
		       "add_replace replaced a key that is not in");
	EXPECT(lookup(key, &iter) == &o->node, "an added key is not found");
	rcu_read_unlock_sched();
	return o;
}

static void owned_del(struct worker *w, struct obj *o)
{
	struct lfht_iter iter;

	rcu_read_lock_sched();
	EXPECT(lookup(o->key, &iter) == &o->node, "a key in the table is lost");
	EXPECT_EQ(lfht_del(ht, &o->node), 0);
	check_unlinked(&o->node);
	EXPECT(!lookup(o->key, &iter), "a deleted key is found");
	EXPECT_EQ(lfht_del(ht, &o->node), -ENOENT);
	rcu_read_unlock_sched();
	obj_retire(&w->bin, o);
}

static struct obj *owned_replace(struct worker *w, struct obj *old)
{
	struct obj *o = obj_new(old->key);
	struct lfht_iter iter;

	rcu_read_lock_sched();
	EXPECT(lfht_add_replace(ht, hash_of(o->key), obj_match, &o->key, &o->node) == &old->node,
	       "add_replace did not find the old node");
	EXPECT(lookup(o->key, &iter) == &o->node, "the replacement is not found");
	lfht_next_duplicate(ht, obj_match, &o->key, &iter);
	EXPECT(!iter.node, "a replaced key is there twice");
	check_unlinked(&old->node);
	rcu_read_unlock_sched();
	obj_retire(&w->bin, old);
	return o;
}

static void owned_step(struct worker *w)
{
	unsigned int i = host_random() % KEYS, what = host_random() % 4;
	struct obj **o = &w->mine[i];
	struct lfht_iter iter;

	if (!what) {
		rcu_read_lock_sched();
		lookup(key_of(OWNED + host_random() % STRESS_WORKERS, i), &iter);
		rcu_read_unlock_sched();
	} else if (!*o) {
		*o = owned_add(key_of(OWNED + w->id, i));
	} else if (what == 1) {
		*o = owned_replace(w, *o);
	} else {
		owned_del(w, *o);
		*o = NULL;
	}
}

/* ---- all threads fight for a few keys: never two of one key, one winner of each node ---- */

/* Two matches that are alive at the same time are one too many. */
static void check_single(unsigned long key)
{
	struct lfht_node *before;
	struct lfht_iter iter;

	for (before = lookup(key, &iter); before; before = iter.node) {
		lfht_next_duplicate(ht, obj_match, &key, &iter);
		if (!iter.node)
			break;
		/* iter.node was alive when it was found, later than before. */
		EXPECT(is_removed(before), "key %lx is there twice", key);
	}
}

static void unique_add(struct worker *w, unsigned long key)
{
	struct obj *o = obj_new(key);
	struct lfht_node *node;

	rcu_read_lock_sched();
	node = lfht_add_unique(ht, hash_of(key), obj_match, &key, &o->node);
	check_seen(node, key);
	rcu_read_unlock_sched();
	if (node != &o->node)
		obj_free(o);
}

/* A node of the key that this thread alone has removed, in one of three ways. */
static struct lfht_node *unique_remove(unsigned long key, unsigned int how)
{
	struct lfht_iter iter;

	if (how == 0)
		return lfht_add_replace(ht, hash_of(key), obj_match, &key, &obj_new(key)->node);
	if (how == 1)
		return lfht_take(ht, hash_of(key), obj_match, &key);
	return lookup(key, &iter) && !lfht_del(ht, iter.node) ? iter.node : NULL;
}

static void unique_step(struct worker *w)
{
	unsigned long key = key_of(UNIQUE, host_random() % FOUGHT_FOR);
	unsigned int what = host_random() % 8;
	struct lfht_node *node;

	if (what >= 6) {
		unique_add(w, key);
		return;
	}
	rcu_read_lock_sched();
	if (what >= 4) {
		check_single(key);
	} else {
		node = unique_remove(key, what);
		if (node) {
			check_seen(node, key);
			check_unlinked(node);
			obj_retire(&w->bin, to_obj(node));
		}
	}
	rcu_read_unlock_sched();
}

/* ---- replace: never a moment without the key ---- */

static void replace_step(struct worker *w)
{
	unsigned long key = key_of(REPLACED, host_random() % REPLACED_KEYS);
	struct lfht_node *old;
	struct lfht_iter iter;

	rcu_read_lock_sched();
	if (host_random() % 3) {
		EXPECT(lookup(key, &iter), "a gap in key %lx", key);
		lfht_next_duplicate(ht, obj_match, &key, &iter);
		EXPECT(!iter.node, "old and new of key %lx", key);
	} else {
		old = lfht_add_replace(ht, hash_of(key), obj_match, &key, &obj_new(key)->node);
		EXPECT(old, "add_replace did not find key %lx", key);
		EXPECT(lookup(key, &iter) != old, "a replaced node is found");
		obj_retire(&w->bin, to_obj(old));
	}
	rcu_read_unlock_sched();
}

/* ---- iteration: what stays is visited once ---- */

static void visit(struct lfht_node *node, void *arg)
{
	struct obj *o = to_obj(node);
	struct worker *w = arg;

	check_seen(node, o->key);
	if (o->key >> 20 == STAYS)
		w->visits[o->seq]++;
}

static void walk_step(struct worker *w)
{
	unsigned int i, budget = 1 + host_random() % 60;
	unsigned long cursor = 0;
	bool more;

	if (host_random() % 16)
		return;
	memset(w->visits, 0, sizeof(w->visits));
	do {
		rcu_read_lock_sched();
		more = lfht_walk(ht, &cursor, budget, visit, w);
		rcu_read_unlock_sched();
	} while (more);
	for (i = 0; i < STABLE; i++)
		EXPECT(w->visits[i] == 1, "node %u was visited %u times", i, w->visits[i]);
}

/* ---- duplicates: all there, in the order in which they were added ---- */

static void duplicate_del(struct worker *w, struct obj **o)
{
	if (!*o)
		return;
	rcu_read_lock_sched();
	EXPECT_EQ(lfht_del(ht, &(*o)->node), 0);
	rcu_read_unlock_sched();
	obj_retire(&w->bin, *o);
	*o = NULL;
}

static void duplicate_scan(struct worker *w, unsigned long key)
{
	unsigned long last[STRESS_WORKERS] = { };
	unsigned int i, n = 0, mine = 0;
	struct lfht_iter iter;
	struct obj *o;

	for (i = 0; i < KEYS; i++)
		mine += w->duplicates[i] && w->duplicates[i]->key == key;
	rcu_read_lock_sched();
	for (lookup(key, &iter); iter.node; lfht_next_duplicate(ht, obj_match, &key, &iter)) {
		o = to_obj(iter.node);
		check_seen(iter.node, key);
		EXPECT(o->seq > last[o->owner], "number %lu of thread %u after %lu", o->seq,
		       o->owner, last[o->owner]);
		last[o->owner] = o->seq;
		n += o->owner == w->id;
	}
	rcu_read_unlock_sched();
	EXPECT_EQ(n, mine);
}

static void duplicates_step(struct worker *w)
{
	unsigned long key = key_of(DUPLICATE, host_random() % 2);
	struct obj **o = &w->duplicates[host_random() % KEYS];
	unsigned int what = host_random() % 5;

	if (what == 0)
		duplicate_scan(w, key);
	else if (what <= 2)
		duplicate_del(w, o);
	else if (!*o)
		*o = add_new(key, w->id, ++w->seq);
}

/* ---- NMIs in the middle of everything ---- */

static void on_nmi(void)
{
	unsigned long key = key_of(UNIQUE, host_random() % FOUGHT_FOR);
	struct worker *w = nmi_worker;
	struct lfht_iter iter;
	struct lfht_node *node;

	if (!w)
		return;
	__atomic_fetch_add(&nmis, 1, __ATOMIC_RELAXED);
	check_single(key);
	if (w->spare && host_random() % 2) {
		w->spare->key = key;
		node = &w->spare->node;
		if (lfht_add_unique(ht, hash_of(key), obj_match, &key, node) == node)
			w->spare = NULL;
	} else if (lookup(key, &iter) && !lfht_del(ht, iter.node)) {
		obj_retire(&w->nmi_bin, to_obj(iter.node));
	}
}

/* ---- the threads and their rounds ---- */

static void (*const steps[])(struct worker *w) = {
	owned_step, unique_step, replace_step, duplicates_step, walk_step,
};

static void step(unsigned int id)
{
	unsigned int favourite = READ_ONCE(favourite_step);
	struct worker *w = &workers[id];

	if (!w->spare)
		w->spare = obj_new(0);
	/* From here on the spare and the bin of the NMIs are theirs. */
	WRITE_ONCE(nmi_worker, w);
	barrier();
	for (unsigned int i = 0; i < 20; i++)
		steps[i % 2 ? favourite : host_random() % ARRAY_SIZE(steps)](w);
	barrier();
	WRITE_ONCE(nmi_worker, NULL);
	barrier();
	if (w->bin.nr + w->nmi_bin.nr >= BIN_FULL) {
		obj_empty(&w->bin);
		obj_empty(&w->nmi_bin);
	}
}

static void end(unsigned int id)
{
	struct worker *w = &workers[id];

	if (w->spare)
		obj_free(w->spare);
	obj_empty(&w->bin);
	obj_empty(&w->nmi_bin);
}

static void resize_step(void)
{
	struct timespec ts = { .tv_nsec = 300000 + host_random() % 3000000 };
	unsigned long size = lfht_size(ht);

	if (size < MAX_SIZE)
		EXPECT_EQ(lfht_resize(ht, size << (1 + host_random() % 2)), 0);
	WRITE_ONCE(favourite_step, host_random() % ARRAY_SIZE(steps));
	nanosleep(&ts, NULL);
}

static void clear_node(struct lfht_node *node, void *arg)
{
	EXPECT_EQ(lfht_del(ht, node), 0);
	obj_retire(arg, to_obj(node));
}

/* What is left at the end is taken out; then all objects are gone. */
static void clear_table(void)
{
	struct worker visits = { };
	struct obj_bin bin = { };
	unsigned long cursor = 0;

	rcu_read_lock_sched();
	check_table(ht, visit, &visits);
	while (lfht_walk(ht, &cursor, ~0U, clear_node, &bin))
		;
	rcu_read_unlock_sched();
	obj_empty(&bin);
	EXPECT_EQ(lfht_destroy(ht), 0);
	EXPECT_EQ(objs, 0);
}

static void one_round(const struct stress *stress, unsigned long size)
{
	unsigned int i;

	memset(workers, 0, sizeof(workers));
	ht = lfht_new(size, MAX_SIZE * 4);
	BUG_ON(IS_ERR(ht));
	for (i = 0; i < STABLE; i++)
		add_new(key_of(STAYS, i), 0, i);
	for (i = 0; i < REPLACED_KEYS; i++)
		add_new(key_of(REPLACED, i), 0, 0);
	for (i = 0; i < STRESS_WORKERS; i++)
		workers[i].id = i;
	stress_run(stress, ktap_seconds / ROUNDS);
	clear_table();
}

static void rounds(void (*nmi)(void))
{
	static const unsigned long sizes[ROUNDS] = { 1, 1, 16, 256, 2 };
	static const unsigned long masks[ROUNDS] = { ~0UL, 1, ~0UL, 7, ~0UL };
	const struct stress stress = { step, end, resize_step, nmi };
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		hash_mask = masks[i];
		one_round(&stress, sizes[i]);
	}
}

static void test_mix(void)
{
	rounds(NULL);
}

static void test_nmi(void)
{
	rounds(on_nmi);
	EXPECT(nmis, "no NMI came");
}

/* ---- what a table refuses ---- */

static void test_limits(void)
{
	static const unsigned long bad[][2] = {
		{ 0, 0 }, { 0, 8 }, { 8, 4 }, { 8, 0 }, { 1, (1UL << LFHT_MAX_ORDER) + 1 },
		{ 1, ~0UL }, { ~0UL, ~0UL },
	};
	static const unsigned long good[][3] = {
		{ 1, 1, 1 }, { 1, 1UL << LFHT_MAX_ORDER, 1 }, { 3, 3, 4 }, { 1000, 1000, 1024 },
		{ 4096, 8192, 4096 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(PTR_ERR(lfht_new(bad[i][0], bad[i][1])), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ht = lfht_new(good[i][0], good[i][1]);
		EXPECT_EQ(lfht_size(ht), good[i][2]);
		check_table(ht, visit, NULL);
		EXPECT_EQ(lfht_resize(ht, 2 * max(good[i][1], good[i][2]) + 1), -EINVAL);
		ht->resizing = 1;
		EXPECT_EQ(lfht_resize(ht, good[i][1]), -EBUSY);
		EXPECT_EQ(lfht_size(ht), good[i][2]);
		EXPECT_EQ(lfht_destroy(ht), 0);
	}
}

static const struct ktap_test tests[] = {
	{ "limits", test_limits, 0, NULL },
	{ "mix", test_mix, 0.8, NULL },
	{ "nmi", test_nmi, 0.2, HOST_TSAN ? "ThreadSanitizer holds signals back" : NULL },
};

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, tests, ARRAY_SIZE(tests));
}
