// SPDX-License-Identifier: GPL-2.0-only
/* Each function of rculfhash, each return code, one thread. */
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "ktap.h"
#include "rculfhash/rculfhash.h"

struct obj {
	struct lfht_node node;
	unsigned long key;
	unsigned int visits;
};

static bool match(const struct lfht_node *node, const void *key)
{
	return container_of(node, struct obj, node)->key ==
	       *(const unsigned long *)key;
}

static unsigned long mix(unsigned long x)
{
	x *= 0x9e3779b97f4a7c15UL;
	return x ^ (x >> 29);
}

static struct obj *find(struct lfht *ht, unsigned long hash, unsigned long key)
{
	struct lfht_iter iter;

	lfht_lookup(ht, hash, match, &key, &iter);
	return iter.node ? container_of(iter.node, struct obj, node) : NULL;
}

static unsigned long count(struct lfht *ht)
{
	struct lfht_iter iter;
	unsigned long n = 0;

	for (lfht_first(ht, &iter); iter.node; lfht_next(ht, &iter))
		n++;
	return n;
}

static struct lfht *make(unsigned long init, unsigned long max)
{
	struct lfht *ht = lfht_new(init, max);

	BUG_ON(IS_ERR(ht));
	return ht;
}

/* All buckets, in the order of the list, at the places that a lookup computes. */
static void check_buckets(struct lfht *ht)
{
	unsigned long i, nr = lfht_size(ht);
	struct lfht_node *node = ht->base;

	for (i = 0; i < nr; i++) {
		unsigned long key = i ? i << (BITS_PER_LONG - ht->order) : 0;

		if (!CHECK(node && node->order_key == key,
			   "bucket %lu of %lu is not in its place", i, nr) ||
		    !CHECK(lfht_bucket(ht, key) == node,
			   "bucket %lu of %lu is not found", i, nr) ||
		    !CHECK(lfht_bucket(ht, key | (~0UL >> 1 >> (ht->order ?: 1))) == node ||
			   !ht->order, "the end of bucket %lu is elsewhere", i))
			return;
		do {
			node = lfht_load_next(node);
		} while (node && node->order_key & 1);
	}
	CHECK(!node, "more than %lu buckets", nr);
}

static void test_new(void)
{
	static const struct {
		unsigned long init, max, size;
		long err;
	} t[] = {
		{ 0, 0, 0, -EINVAL },
		{ 0, 8, 0, -EINVAL },
		{ 8, 4, 0, -EINVAL },
		{ 8, 0, 0, -EINVAL },
		{ 1, (1UL << LFHT_MAX_ORDER) + 1, 0, -EINVAL },
		{ 1, ~0UL, 0, -EINVAL },
		{ ~0UL, ~0UL, 0, -EINVAL },
		{ 1, 1, 1, 0 },
		{ 1, 1UL << LFHT_MAX_ORDER, 1, 0 },
		{ 2, 1024, 2, 0 },
		{ 3, 3, 4, 0 },
		{ 1000, 1000, 1024, 0 },
		{ 4096, 8192, 4096, 0 },
	};
	long before = host_allocated;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct lfht *ht = lfht_new(t[i].init, t[i].max);

		if (t[i].err) {
			CHECK_EQ(PTR_ERR(ht), t[i].err);
			continue;
		}
		if (!CHECK(!IS_ERR(ht), "lfht_new(%lu, %lu) failed", t[i].init,
			   t[i].max))
			continue;
		CHECK_EQ(lfht_size(ht), t[i].size);
		check_buckets(ht);
		CHECK_EQ(lfht_destroy(ht), 0);
	}
	CHECK_EQ(host_allocated, before);
}

static void test_nomem(void)
{
	long before = host_allocated;
	struct lfht *ht;

	for (long left = 0; left < 2; left++) {
		host_alloc_left = left;
		CHECK_EQ(PTR_ERR(lfht_new(8, 64)), -ENOMEM);
		host_alloc_left = -1;
		CHECK_EQ(host_allocated, before);
	}
	ht = make(2, 64);
	host_alloc_left = 2;
	CHECK_EQ(lfht_resize(ht, 64), -ENOMEM);
	host_alloc_left = -1;
	CHECK_EQ(lfht_size(ht), 8);
	check_buckets(ht);
	CHECK_EQ(lfht_resize(ht, 64), 0);
	CHECK_EQ(lfht_size(ht), 64);
	check_buckets(ht);
	CHECK_EQ(lfht_destroy(ht), 0);
	CHECK_EQ(host_allocated, before);
}

static void test_add_del(void)
{
	struct lfht *ht = make(4, 4);
	struct obj a = { .key = 1 }, b = { .key = 2 };

	rcu_read_lock_sched();
	lfht_node_init_deleted(&a.node);
	CHECK(lfht_is_node_deleted(&a.node), "a node never added is in");
	CHECK_EQ(lfht_del(ht, &a.node), -ENOENT);
	lfht_add(ht, mix(1), &a.node);
	CHECK(!lfht_is_node_deleted(&a.node), "an added node is deleted");
	CHECK(find(ht, mix(1), 1) == &a, "an added node is not found");
	CHECK(!find(ht, mix(2), 2), "a node that was not added is found");
	lfht_add(ht, mix(2), &b.node);
	CHECK(find(ht, mix(1), 1) == &a, "a is lost");
	CHECK(find(ht, mix(2), 2) == &b, "b is lost");
	CHECK_EQ(count(ht), 2);
	CHECK_EQ(lfht_del(ht, &a.node), 0);
	CHECK(lfht_is_node_deleted(&a.node), "a deleted node is not deleted");
	CHECK_EQ(lfht_del(ht, &a.node), -ENOENT);
	CHECK_EQ(lfht_del(ht, &a.node), -ENOENT);
	CHECK(!find(ht, mix(1), 1), "a deleted node is found");
	CHECK(find(ht, mix(2), 2) == &b, "b is lost");
	CHECK_EQ(count(ht), 1);
	rcu_read_unlock_sched();

	synchronize_rcu();
	rcu_read_lock_sched();
	lfht_add(ht, mix(1), &a.node);
	CHECK(find(ht, mix(1), 1) == &a, "a node added again is not found");
	CHECK_EQ(lfht_del(ht, &b.node), 0);
	CHECK_EQ(lfht_del(ht, &a.node), 0);
	CHECK_EQ(count(ht), 0);
	rcu_read_unlock_sched();
	check_buckets(ht);
	CHECK_EQ(lfht_destroy(ht), 0);
}

static void test_take(void)
{
	struct lfht *ht = make(1, 1);
	struct obj a = { .key = 1 }, b = { .key = 2 }, c = { .key = 1 };
	unsigned long one = 1, two = 2, hash = mix(1);

	rcu_read_lock_sched();
	CHECK(!lfht_take(ht, hash, match, &one), "found in an empty table");
	/* One hash: b is between the two others. */
	lfht_add(ht, hash, &a.node);
	lfht_add(ht, hash, &b.node);
	lfht_add(ht, hash, &c.node);
	CHECK(lfht_take(ht, hash, match, &one) == &a.node, "not the oldest");
	CHECK(lfht_is_node_deleted(&a.node), "a taken node is not deleted");
	CHECK_EQ(lfht_del(ht, &a.node), -ENOENT);
	CHECK(lfht_take(ht, hash, match, &one) == &c.node, "not the next");
	CHECK(!lfht_take(ht, hash, match, &one), "found a third time");
	CHECK_EQ(count(ht), 1);
	CHECK(lfht_take(ht, hash, match, &two) == &b.node, "b is lost");
	CHECK_EQ(count(ht), 0);
	CHECK(!lfht_load_next(ht->base), "something is still linked");
	rcu_read_unlock_sched();
	CHECK_EQ(lfht_destroy(ht), 0);
}

/* The last order key of all: nothing may be taken for the end of the list. */
static void test_extreme_hashes(void)
{
	static const unsigned long hash[] = {
		0, 1, 2, ~0UL, ~0UL - 1, 1UL << (BITS_PER_LONG - 1),
		(1UL << (BITS_PER_LONG - 1)) - 1,
	};
	struct obj o[ARRAY_SIZE(hash)] = { };
	struct lfht *ht = make(1, 256);
	unsigned int i;

	for (unsigned long size = 1; size <= 256; size *= 4) {
		CHECK_EQ(lfht_resize(ht, size), 0);
		rcu_read_lock_sched();
		for (i = 0; i < ARRAY_SIZE(hash); i++) {
			o[i].key = i;
			lfht_add(ht, hash[i], &o[i].node);
		}
		for (i = 0; i < ARRAY_SIZE(hash); i++)
			CHECK(find(ht, hash[i], i) == &o[i],
			      "hash %lx is not found at size %lu", hash[i],
			      size);
		CHECK_EQ(count(ht), ARRAY_SIZE(hash));
		for (i = 0; i < ARRAY_SIZE(hash); i++)
			CHECK_EQ(lfht_del(ht, &o[i].node), 0);
		rcu_read_unlock_sched();
		synchronize_rcu();
		check_buckets(ht);
	}
	CHECK_EQ(lfht_destroy(ht), 0);
}

static void test_duplicates(void)
{
	struct lfht *ht = make(1, 16);
	struct obj o[10] = { }, other = { .key = 8 };
	unsigned long key = 7;
	struct lfht_iter iter;
	int i, n;

	rcu_read_lock_sched();
	for (i = 0; i < 10; i++) {
		o[i].key = 7;
		lfht_add(ht, mix(7), &o[i].node);
		if (i == 4)	/* the same hash, another key, in between */
			lfht_add(ht, mix(7), &other.node);
	}
	n = 0;
	for (lfht_lookup(ht, mix(7), match, &key, &iter); iter.node;
	     lfht_next_duplicate(ht, match, &key, &iter))
		CHECK(iter.node == &o[n++].node, "duplicate %d is not in order",
		      n);
	CHECK_EQ(n, 10);
	CHECK(find(ht, mix(7), 8) == &other, "the collision is not found");

	/* A reader on its way meets nodes that were removed meanwhile. */
	lfht_lookup(ht, mix(7), match, &key, &iter);
	CHECK_EQ(lfht_del(ht, &o[0].node), 0);
	CHECK_EQ(lfht_del(ht, &o[1].node), 0);
	lfht_next_duplicate(ht, match, &key, &iter);
	CHECK(iter.node == &o[2].node, "a removed node is found");

	/* The oldest goes: the next one is found. */
	for (i = 2; i < 10; i++) {
		CHECK(find(ht, mix(7), 7) == &o[i], "not the oldest");
		CHECK_EQ(lfht_del(ht, &o[i].node), 0);
	}
	CHECK(!find(ht, mix(7), 7), "a deleted duplicate is found");
	CHECK(find(ht, mix(7), 8) == &other, "the collision is lost");
	CHECK_EQ(lfht_del(ht, &other.node), 0);
	rcu_read_unlock_sched();
	CHECK_EQ(lfht_destroy(ht), 0);
}

static void test_add_unique(void)
{
	struct lfht *ht = make(2, 2);
	struct obj a = { .key = 5 }, b = { .key = 5 }, c = { .key = 6 };
	unsigned long k5 = 5, k6 = 6;

	rcu_read_lock_sched();
	CHECK(lfht_add_unique(ht, mix(5), match, &k5, &a.node) == &a.node,
	      "the first was not added");
	CHECK(lfht_add_unique(ht, mix(5), match, &k5, &b.node) == &a.node,
	      "the second was added");
	CHECK_EQ(count(ht), 1);
	CHECK(lfht_add_unique(ht, mix(5), match, &k6, &c.node) == &c.node,
	      "another key with this hash was not added");
	CHECK_EQ(count(ht), 2);
	CHECK(find(ht, mix(5), 5) == &a && find(ht, mix(5), 6) == &c,
	      "not found");
	CHECK_EQ(lfht_del(ht, &a.node), 0);
	CHECK(lfht_add_unique(ht, mix(5), match, &k5, &b.node) == &b.node,
	      "not added after the first was deleted");
	CHECK_EQ(lfht_del(ht, &b.node), 0);
	CHECK_EQ(lfht_del(ht, &c.node), 0);
	rcu_read_unlock_sched();
	CHECK_EQ(lfht_destroy(ht), 0);
}

static void test_add_replace(void)
{
	struct lfht *ht = make(1, 1);
	struct obj a = { .key = 5 }, b = { .key = 5 }, c = { .key = 5 };
	struct obj x = { .key = 6 };
	unsigned long k = 5;
	struct lfht_iter iter;

	rcu_read_lock_sched();
	CHECK(!lfht_add_replace(ht, mix(5), match, &k, &a.node),
	      "something was replaced in an empty table");
	lfht_add(ht, mix(5), &x.node);
	lfht_lookup(ht, mix(5), match, &k, &iter);
	CHECK(lfht_add_replace(ht, mix(5), match, &k, &b.node) == &a.node,
	      "a was not replaced");
	CHECK(lfht_is_node_deleted(&a.node), "a is alive");
	CHECK_EQ(lfht_del(ht, &a.node), -ENOENT);
	CHECK(find(ht, mix(5), 5) == &b, "b is not found");
	CHECK_EQ(count(ht), 2);
	/* A reader on a does not see b as another duplicate. */
	lfht_next_duplicate(ht, match, &k, &iter);
	CHECK(!iter.node, "an iteration sees old and new");
	/* b has a's place: before x. */
	lfht_first(ht, &iter);
	CHECK(iter.node == &b.node, "the replacement is elsewhere");

	/* With duplicates, the oldest is replaced. */
	lfht_add(ht, mix(5), &c.node);
	rcu_read_unlock_sched();
	synchronize_rcu();	/* before a is used again */
	rcu_read_lock_sched();
	CHECK(lfht_add_replace(ht, mix(5), match, &k, &a.node) == &b.node,
	      "not the oldest was replaced");
	CHECK(find(ht, mix(5), 5) == &a, "a is not found");
	CHECK_EQ(lfht_del(ht, &a.node), 0);
	CHECK(find(ht, mix(5), 5) == &c, "c is not found");
	CHECK_EQ(lfht_del(ht, &c.node), 0);
	CHECK_EQ(lfht_del(ht, &x.node), 0);
	rcu_read_unlock_sched();
	CHECK_EQ(lfht_destroy(ht), 0);
}

static void test_replace(void)
{
	struct lfht *ht = make(8, 8);
	struct obj a = { .key = 5 }, b = { .key = 5 };

	rcu_read_lock_sched();
	lfht_add(ht, mix(5), &a.node);
	CHECK_EQ(lfht_replace(ht, &a.node, &b.node), 0);
	CHECK(find(ht, mix(5), 5) == &b, "b is not found");
	CHECK_EQ(count(ht), 1);
	CHECK_EQ(lfht_del(ht, &a.node), -ENOENT);
	CHECK_EQ(lfht_del(ht, &b.node), 0);
	rcu_read_unlock_sched();
	synchronize_rcu();
	rcu_read_lock_sched();
	CHECK_EQ(lfht_replace(ht, &b.node, &a.node), -ENOENT);
	CHECK_EQ(count(ht), 0);
	rcu_read_unlock_sched();
	CHECK_EQ(lfht_destroy(ht), 0);
}

static void test_resize(void)
{
	enum { N = 3000 };
	struct obj *o = calloc(N, sizeof(*o));
	struct lfht *ht = make(1, 4096);
	unsigned long size, i;

	CHECK_EQ(lfht_resize(ht, 4097), -EINVAL);
	CHECK_EQ(lfht_resize(ht, ~0UL), -EINVAL);
	CHECK_EQ(lfht_size(ht), 1);
	ht->resizing = 1;
	CHECK_EQ(lfht_resize(ht, 2), -EBUSY);
	ht->resizing = 0;
	CHECK_EQ(lfht_size(ht), 1);

	rcu_read_lock_sched();
	for (i = 0; i < N; i++) {
		o[i].key = i;
		lfht_add(ht, mix(i), &o[i].node);
	}
	rcu_read_unlock_sched();
	for (size = 1; size <= 4096; size *= size < 16 ? 2 : 4) {
		CHECK_EQ(lfht_resize(ht, size - size / 4), 0);
		CHECK_EQ(lfht_size(ht), size);
		CHECK_EQ(lfht_resize(ht, size / 2), 0);
		CHECK_EQ(lfht_resize(ht, 0), 0);
		CHECK_EQ(lfht_size(ht), size);
		check_buckets(ht);
		rcu_read_lock_sched();
		CHECK_EQ(count(ht), N);
		for (i = 0; i < N && !ktap_failed(); i++)
			CHECK(find(ht, mix(i), i) == &o[i],
			      "%lu is lost at size %lu", i, size);
		rcu_read_unlock_sched();
	}
	rcu_read_lock_sched();
	for (i = 0; i < N; i++)
		CHECK_EQ(lfht_del(ht, &o[i].node), 0);
	CHECK_EQ(count(ht), 0);
	rcu_read_unlock_sched();
	check_buckets(ht);
	CHECK_EQ(lfht_destroy(ht), 0);
	free(o);
}

static void visit(struct lfht_node *node, void *arg)
{
	container_of(node, struct obj, node)->visits++;
	(*(unsigned int *)arg)++;
}

static void check_visits(struct obj *o, unsigned int nr, unsigned int visits)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!CHECK(o[i].visits == visits, "%u was visited %u times", i,
			   o[i].visits))
			return;
}

static void test_iteration(void)
{
	enum { N = 500 };
	struct obj *o = calloc(N, sizeof(*o));
	struct lfht *ht = make(4, 1024);
	unsigned long cursor = 0, last = 0;
	unsigned int i, n, most, budget;
	struct lfht_iter iter;

	rcu_read_lock_sched();
	lfht_first(ht, &iter);
	CHECK(!iter.node, "an empty table has a first node");
	CHECK(!lfht_seek(ht, 0, &iter) && !iter.node, "seek in an empty table");
	CHECK(!lfht_walk(ht, &cursor, 100, visit, &n), "walk in an empty table");
	for (i = 0; i < N; i++)	/* runs of five of one hash */
		lfht_add(ht, mix(i / 5), &o[i].node);
	rcu_read_unlock_sched();
	lfht_resize(ht, 1024);
	rcu_read_lock_sched();

	for (lfht_first(ht, &iter); iter.node; lfht_next(ht, &iter)) {
		CHECK(iter.node->order_key >= last, "not in order");
		last = iter.node->order_key;
		container_of(iter.node, struct obj, node)->visits++;
	}
	check_visits(o, N, 1);
	/* By seek alone: the first node of each run. */
	n = 0;
	for (cursor = 0; lfht_seek(ht, cursor, &iter);
	     cursor = iter.node->order_key + 1) {
		CHECK(iter.node->order_key >= cursor, "seek went back");
		if (!n)
			CHECK(lfht_seek(ht, iter.node->order_key, &iter),
			      "seek to the key of a node");
		n++;
	}
	CHECK_EQ(n, N / 5);

	for (budget = 0; budget < 2000; budget = budget * 3 + 1) {
		most = 0;
		for (i = 0; i < N; i++)
			o[i].visits = 0;
		cursor = 0;
		do {
			n = 0;
			i = lfht_walk(ht, &cursor, budget, visit, &n);
			most = max(most, n);
		} while (i);
		CHECK_EQ(cursor, 0);
		check_visits(o, N, 1);
		CHECK(most <= budget + 5, "%u visits with a budget of %u", most,
		      budget);
	}
	for (i = 0; i < N; i++)
		lfht_del(ht, &o[i].node);
	rcu_read_unlock_sched();
	CHECK_EQ(lfht_destroy(ht), 0);
	free(o);
}

static struct lfht *walk_ht;

static void del_visited(struct lfht_node *node, void *arg)
{
	visit(node, arg);
	CHECK_EQ(lfht_del(walk_ht, node), 0);
}

static void test_del_in_walk(void)
{
	enum { N = 300 };
	struct obj *o = calloc(N, sizeof(*o));
	unsigned long cursor = 0;
	unsigned int i, n = 0;
	struct lfht_iter iter;

	walk_ht = make(16, 16);
	rcu_read_lock_sched();
	for (i = 0; i < N; i++)
		lfht_add(walk_ht, mix(i), &o[i].node);
	/* An iterator outlives the deletion of its node. */
	lfht_first(walk_ht, &iter);
	lfht_del(walk_ht, iter.node);
	lfht_next(walk_ht, &iter);
	CHECK(iter.node, "lost after a deletion");
	CHECK_EQ(count(walk_ht), N - 1);
	while (lfht_walk(walk_ht, &cursor, 7, del_visited, &n))
		;
	CHECK_EQ(n, N - 1);
	CHECK_EQ(count(walk_ht), 0);
	rcu_read_unlock_sched();
	check_buckets(walk_ht);
	CHECK_EQ(lfht_destroy(walk_ht), 0);
	free(o);
}

static void test_destroy_busy(void)
{
	long before = host_allocated;
	struct lfht *ht = make(2, 8);
	struct obj a = { .key = 5 };

	rcu_read_lock_sched();
	lfht_add(ht, mix(5), &a.node);
	rcu_read_unlock_sched();
	CHECK_EQ(lfht_resize(ht, 8), 0);
	CHECK_EQ(lfht_destroy(ht), -EBUSY);
	rcu_read_lock_sched();
	CHECK(find(ht, mix(5), 5) == &a, "a failed destroy changed the table");
	CHECK_EQ(lfht_size(ht), 8);
	CHECK_EQ(lfht_del(ht, &a.node), 0);
	rcu_read_unlock_sched();
	CHECK_EQ(lfht_destroy(ht), 0);
	CHECK_EQ(host_allocated, before);
}

static const struct ktap_test tests[] = {
	{ "new", test_new },
	{ "nomem", test_nomem },
	{ "add_del", test_add_del },
	{ "take", test_take },
	{ "extreme_hashes", test_extreme_hashes },
	{ "duplicates", test_duplicates },
	{ "add_unique", test_add_unique },
	{ "add_replace", test_add_replace },
	{ "replace", test_replace },
	{ "resize", test_resize },
	{ "iteration", test_iteration },
	{ "del_in_walk", test_del_in_walk },
	{ "destroy_busy", test_destroy_busy },
};

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, tests, ARRAY_SIZE(tests));
}
