// SPDX-License-Identifier: GPL-2.0-only
/*
 * rculfhash under fire: many threads on one table that grows meanwhile, with
 * an oracle for each promise of rculfhash.h.
 */
#include "table.h"

#define SHARED		6	/* keys that all threads fight for */

static struct obj *slots[SHARED];
static struct obj *stable[STABLE];
static __thread struct worker *nmi_worker;

/* ---- each thread owns keys: what it added is there until it deletes it ---- */

static void owned_add(unsigned int id, unsigned int i)
{
	struct worker *w = &workers[id];
	unsigned long key = my_key(id, i);
	struct obj *o = obj_new(key);
	unsigned int how = host_random() % 3;
	struct lfht_iter iter;

	obj_step(o, OBJ_OWNED, OBJ_IN);
	rcu_read_lock_sched();
	CHECK(!lookup(key, &iter), "a key is found that is not in");
	if (how == 0)
		lfht_add(ht, hash_of(key), &o->node);
	else if (how == 1)
		CHECK(lfht_add_unique(ht, hash_of(key), obj_match, &key,
				      &o->node) == &o->node,
		      "add_unique found a key that is not in");
	else
		CHECK(!lfht_add_replace(ht, hash_of(key), obj_match, &key,
					&o->node),
		      "add_replace replaced a key that is not in");
	CHECK(lookup(key, &iter) == &o->node, "an added key is not found");
	rcu_read_unlock_sched();
	w->mine[i] = o;
}

static void owned_del(unsigned int id, unsigned int i)
{
	struct worker *w = &workers[id];
	struct obj *o = w->mine[i];
	struct lfht_iter iter;

	rcu_read_lock_sched();
	CHECK(lookup(o->key, &iter) == &o->node, "a key in the table is lost");
	CHECK_EQ(lfht_del(ht, &o->node), 0);
	check_unlinked(o);
	CHECK(!lookup(o->key, &iter), "a deleted key is found");
	CHECK_EQ(lfht_del(ht, &o->node), -ENOENT);
	rcu_read_unlock_sched();
	w->mine[i] = NULL;
	obj_retire(&w->bin, o);
}

static void owned_replace(unsigned int id, unsigned int i)
{
	struct worker *w = &workers[id];
	struct obj *old = w->mine[i], *o = obj_new(old->key);
	struct lfht_iter iter;

	obj_step(o, OBJ_OWNED, OBJ_IN);
	rcu_read_lock_sched();
	if (host_random() % 2)
		CHECK_EQ(lfht_replace(ht, &old->node, &o->node), 0);
	else
		CHECK(lfht_add_replace(ht, hash_of(o->key), obj_match, &o->key,
				       &o->node) == &old->node,
		      "add_replace did not find the old node");
	CHECK(lookup(o->key, &iter) == &o->node, "the replacement is not found");
	lfht_next_duplicate(ht, obj_match, &o->key, &iter);
	CHECK(!iter.node, "a replaced key is there twice");
	check_unlinked(old);
	rcu_read_unlock_sched();
	w->mine[i] = o;
	obj_retire(&w->bin, old);
}

static void owned_step(unsigned int id)
{
	unsigned int i = host_random() % KEYS;
	struct worker *w = &workers[id];
	struct lfht_iter iter;

	switch (host_random() % 4) {
	case 0:
		rcu_read_lock_sched();
		lookup(my_key(host_random() % WORKERS, i), &iter);
		rcu_read_unlock_sched();
		break;
	case 1:
		if (w->mine[i]) {
			owned_replace(id, i);
			break;
		}
		fallthrough;
	default:
		if (w->mine[i])
			owned_del(id, i);
		else
			owned_add(id, i);
	}
	done_op(w);
}

static void owned_end(unsigned int id)
{
	for (unsigned int i = 0; i < KEYS; i++)
		if (workers[id].mine[i] && !ktap_failed())
			owned_del(id, i);
	empty_my_bin(id);
}

/* ---- all threads fight for a few keys: never two of one key ---- */

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
		CHECK(lfht_is_node_deleted(before), "key %lu is there twice",
		      key);
	}
}

static void unique_add(struct worker *w, unsigned long key, bool replace)
{
	struct obj *o = obj_new(key);
	struct lfht_node *node;

	obj_step(o, OBJ_OWNED, OBJ_IN);
	rcu_read_lock_sched();
	if (replace) {
		node = lfht_add_replace(ht, hash_of(key), obj_match, &key,
					&o->node);
		if (node)
			obj_check_seen(to_obj(node), key);
	} else {
		node = lfht_add_unique(ht, hash_of(key), obj_match, &key,
				       &o->node);
		obj_check_seen(to_obj(node), key);
	}
	rcu_read_unlock_sched();
	if (replace) {
		if (node)
			obj_retire(&w->bin, to_obj(node));
	} else if (node != &o->node) {
		obj_free_now(o);
	}
}

static void unique_del(struct worker *w, unsigned long key)
{
	struct lfht_iter iter;
	int ret = -ENOENT;

	rcu_read_lock_sched();
	if (lookup(key, &iter)) {
		ret = lfht_del(ht, iter.node);
		CHECK(lfht_is_node_deleted(iter.node), "alive after del");
		if (!ret)
			check_unlinked(to_obj(iter.node));
	}
	rcu_read_unlock_sched();
	if (!ret)
		obj_retire(&w->bin, to_obj(iter.node));
}

static void unique_take(struct worker *w, unsigned long key)
{
	struct lfht_node *node;

	rcu_read_lock_sched();
	node = lfht_take(ht, hash_of(key), obj_match, &key);
	if (node) {
		obj_check_seen(to_obj(node), key);
		CHECK(lfht_is_node_deleted(node), "alive after take");
		check_unlinked(to_obj(node));
	}
	rcu_read_unlock_sched();
	if (node)
		obj_retire(&w->bin, to_obj(node));
}

static void unique_step(unsigned int id)
{
	unsigned long key = host_random() % SHARED;
	struct worker *w = &workers[id];

	switch (host_random() % 8) {
	case 0:
	case 1:
		rcu_read_lock_sched();
		check_single(key);
		rcu_read_unlock_sched();
		break;
	case 2:
		unique_del(w, key);
		break;
	case 3:
	case 4:
		unique_take(w, key);
		break;
	case 5:
		unique_add(w, key, true);
		break;
	default:
		unique_add(w, key, false);
	}
	done_op(w);
}

/* ---- replace: never a moment without the key ---- */

static void replace_write(struct worker *w, unsigned long key)
{
	struct obj *o = obj_new(key), *old = NULL;
	struct lfht_node *node;
	struct lfht_iter iter;

	obj_step(o, OBJ_OWNED, OBJ_IN);
	rcu_read_lock_sched();
	if (host_random() % 2) {
		node = lfht_add_replace(ht, hash_of(key), obj_match, &key,
					&o->node);
		if (CHECK(node, "add_replace did not find key %lu", key))
			old = to_obj(node);
	} else {
		do {
			if (!CHECK(lookup(key, &iter), "a gap in key %lu", key))
				break;
		} while (lfht_replace(ht, iter.node, &o->node));
		if (iter.node)
			old = to_obj(iter.node);
	}
	if (old && lookup(key, &iter))
		CHECK(iter.node != &old->node, "a replaced node is found");
	rcu_read_unlock_sched();
	if (old)
		obj_retire(&w->bin, old);
}

/* Neighbours with the same hash come and go. */
static void neighbour(unsigned int id)
{
	unsigned int i = host_random() % KEYS;

	if (workers[id].mine[i])
		owned_del(id, i);
	else
		owned_add(id, i);
}

static void replace_step(unsigned int id)
{
	unsigned long key = host_random() % SHARED;
	struct worker *w = &workers[id];
	struct lfht_iter iter;

	switch (host_random() % 4) {
	case 0:
		replace_write(w, key);
		break;
	case 1:
		neighbour(id);
		break;
	default:
		rcu_read_lock_sched();
		if (CHECK(lookup(key, &iter), "a gap in key %lu", key)) {
			lfht_next_duplicate(ht, obj_match, &key, &iter);
			CHECK(!iter.node, "old and new of key %lu", key);
		}
		rcu_read_unlock_sched();
	}
	done_op(w);
}

static void fill_shared(void)
{
	for (unsigned long key = 0; key < SHARED; key++) {
		struct obj *o = obj_new(key);

		obj_step(o, OBJ_OWNED, OBJ_IN);
		rcu_read_lock_sched();
		lfht_add(ht, hash_of(key), &o->node);
		rcu_read_unlock_sched();
	}
}

/* ---- del and replace of one node: one winner ---- */

static void refill_slot(struct worker *w, unsigned int i)
{
	struct obj *o = obj_new(my_key(WORKERS, i));

	obj_step(o, OBJ_OWNED, OBJ_IN);
	rcu_read_lock_sched();
	lfht_add(ht, hash_of(o->key), &o->node);
	if (cmpxchg(&slots[i], NULL, o)) {
		CHECK_EQ(lfht_del(ht, &o->node), 0);
		obj_retire(&w->bin, o);
	}
	rcu_read_unlock_sched();
}

static void winner_step(unsigned int id)
{
	unsigned int i = host_random() % SHARED;
	struct worker *w = &workers[id];
	struct obj *o, *new = NULL;
	int ret;

	if (host_random() % 4 == 0) {
		new = obj_new(my_key(WORKERS, i));
		obj_step(new, OBJ_OWNED, OBJ_IN);
	}
	rcu_read_lock_sched();
	/* Pairs with cmpxchg() below and in refill_slot(). */
	o = smp_load_acquire(&slots[i]);
	if (o) {
		ret = new ? lfht_replace(ht, &o->node, &new->node) :
			    lfht_del(ht, &o->node);
		CHECK(!ret || ret == -ENOENT, "del or replace returned %d", ret);
		CHECK(lfht_is_node_deleted(&o->node), "alive after del");
		if (!ret) {
			CHECK(cmpxchg(&slots[i], o, new) == o,
			      "somebody else won, too");
			/* Before anybody can free it: still in the section. */
			obj_retire(&w->bin, o);
			new = NULL;
		}
	}
	rcu_read_unlock_sched();
	if (new)
		obj_free_now(new);
	if (!o)
		refill_slot(w, i);
	done_op(w);
}

static void clear_slots(void)
{
	memset(slots, 0, sizeof(slots));
}

/* ---- iteration: who stays is visited once ---- */

static void fill_stable(void)
{
	for (unsigned int i = 0; i < STABLE; i++) {
		stable[i] = obj_new(my_key(WORKERS, i));
		stable[i]->seq = i + 1;
		obj_step(stable[i], OBJ_OWNED, OBJ_IN);
		rcu_read_lock_sched();
		lfht_add(ht, hash_of(stable[i]->key), &stable[i]->node);
		rcu_read_unlock_sched();
	}
}

static void visit(struct lfht_node *node, void *arg)
{
	struct obj *o = to_obj(node);
	struct worker *w = arg;

	obj_check_seen(o, o->key);
	if (o->seq)
		w->visits[o->seq - 1]++;
}

static void iteration_step(unsigned int id)
{
	struct worker *w = &workers[id];
	unsigned int i, budget = 1 + host_random() % 60;
	unsigned long cursor = 0;
	struct lfht_iter iter;
	bool more;

	for (i = 0; i < 200; i++) {
		neighbour(id);
		done_op(w);
	}
	memset(w->visits, 0, sizeof(w->visits));
	if (host_random() % 2) {
		do {
			rcu_read_lock_sched();
			more = lfht_walk(ht, &cursor, budget, visit, w);
			rcu_read_unlock_sched();
		} while (more);
	} else {
		rcu_read_lock_sched();
		for (lfht_first(ht, &iter); iter.node; lfht_next(ht, &iter))
			visit(iter.node, w);
		rcu_read_unlock_sched();
	}
	for (i = 0; i < STABLE; i++)
		CHECK(w->visits[i] == 1, "node %u was visited %u times", i,
		      w->visits[i]);
}

/* ---- duplicates: all there, in the order in which they were added ---- */

static void duplicate_add(unsigned int id, unsigned long key)
{
	struct worker *w = &workers[id];
	struct obj *o = obj_new(key);
	unsigned int i = host_random() % KEYS;

	if (w->mine[i]) {
		obj_free_now(o);
		return;
	}
	o->owner = id;
	o->seq = ++w->seq;
	obj_step(o, OBJ_OWNED, OBJ_IN);
	rcu_read_lock_sched();
	lfht_add(ht, hash_of(key), &o->node);
	rcu_read_unlock_sched();
	w->mine[i] = o;
}

static void duplicate_del(unsigned int id)
{
	struct worker *w = &workers[id];
	unsigned int i = host_random() % KEYS;

	if (!w->mine[i])
		return;
	rcu_read_lock_sched();
	CHECK_EQ(lfht_del(ht, &w->mine[i]->node), 0);
	rcu_read_unlock_sched();
	obj_retire(&w->bin, w->mine[i]);
	w->mine[i] = NULL;
}

static void duplicate_scan(unsigned int id, unsigned long key)
{
	unsigned long last[WORKERS] = { };
	unsigned int i, n = 0, mine = 0;
	struct lfht_iter iter;
	struct obj *o;

	for (i = 0; i < KEYS; i++)
		mine += workers[id].mine[i] && workers[id].mine[i]->key == key;
	rcu_read_lock_sched();
	for (lookup(key, &iter); iter.node;
	     lfht_next_duplicate(ht, obj_match, &key, &iter)) {
		o = to_obj(iter.node);
		obj_check_seen(o, key);
		CHECK(o->seq > last[o->owner], "number %lu of thread %u after %lu",
		      o->seq, o->owner, last[o->owner]);
		last[o->owner] = o->seq;
		n += o->owner == id;
	}
	rcu_read_unlock_sched();
	CHECK_EQ(n, mine);
}

static void duplicates_step(unsigned int id)
{
	unsigned long key = host_random() % 2;

	switch (host_random() % 5) {
	case 0:
		duplicate_scan(id, key);
		break;
	case 1:
	case 2:
		duplicate_del(id);
		break;
	default:
		duplicate_add(id, key);
	}
	done_op(&workers[id]);
}

static void duplicates_end(unsigned int id)
{
	for (unsigned int i = 0; i < KEYS; i++)
		workers[id].mine[i] = NULL;	/* the round takes them out */
	empty_my_bin(id);
}

/* ---- NMIs in the middle of everything ---- */

static void on_nmi(void)
{
	unsigned long key = host_random() % SHARED;
	struct worker *w = nmi_worker;
	struct lfht_iter iter;
	struct obj *o;

	if (!w)
		return;
	w->nmis++;
	check_single(key);
	if (w->nr_stock && host_random() % 2) {
		o = w->stock[w->nr_stock - 1];
		o->key = key;
		if (lfht_add_unique(ht, hash_of(key), obj_match, &key,
				    &o->node) == &o->node)
			w->nr_stock--;
	} else if (lookup(key, &iter) && !lfht_del(ht, iter.node)) {
		o = to_obj(iter.node);
		o->next_retired = w->nmi_out;
		w->nmi_out = o;
	}
}

static void nmi_collect(struct worker *w)
{
	struct obj *o = xchg(&w->nmi_out, NULL), *next;

	for (; o; o = next) {
		next = o->next_retired;
		obj_retire(&w->bin, o);
	}
}

static void nmi_step(unsigned int id)
{
	struct worker *w = &workers[id];
	unsigned int i;

	if (!READ_ONCE(w->nr_stock)) {
		for (i = 0; i < STOCK; i++) {
			w->stock[i] = obj_new(0);
			obj_step(w->stock[i], OBJ_OWNED, OBJ_IN);
		}
		barrier();
		WRITE_ONCE(w->nr_stock, STOCK);
	}
	nmi_worker = w;
	barrier();
	for (i = 0; i < 20; i++)
		unique_step(id);
	nmi_collect(w);
}

static void nmi_end(unsigned int id)
{
	struct worker *w = &workers[id];

	nmi_worker = NULL;
	barrier();
	nmi_collect(w);
	while (w->nr_stock)
		obj_free_now(w->stock[--w->nr_stock]);
	empty_my_bin(id);
}

/* ---- the tests ---- */

static void test_owned(void)
{
	rounds(NULL, owned_step, owned_end, false);
}

static void test_unique(void)
{
	rounds(NULL, unique_step, empty_my_bin, false);
}

static void test_replace(void)
{
	rounds(fill_shared, replace_step, owned_end, false);
}

static void test_one_winner(void)
{
	rounds(clear_slots, winner_step, empty_my_bin, false);
}

static void test_iteration(void)
{
	rounds(fill_stable, iteration_step, owned_end, false);
}

static void test_duplicates(void)
{
	rounds(NULL, duplicates_step, duplicates_end, false);
}

static void test_nmi(void)
{
	if (HOST_TSAN) {
		ktap_skip("ThreadSanitizer holds signals back");
		return;
	}
	host_nmi_start(on_nmi, 50);
	rounds(NULL, nmi_step, nmi_end, true);
	host_nmi_stop();
}

static const struct ktap_test tests[] = {
	{ "owned", test_owned },
	{ "unique", test_unique },
	{ "replace", test_replace },
	{ "one_winner", test_one_winner },
	{ "iteration", test_iteration },
	{ "duplicates", test_duplicates },
	{ "nmi", test_nmi },
};

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, tests, ARRAY_SIZE(tests));
}
