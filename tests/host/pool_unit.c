// SPDX-License-Identifier: GPL-2.0-only
/* Each function of pool and reclaim, each return code, one thread. */
#include "core/pool.h"
#include "core/reclaim.h"
#include "ktap.h"

#define SIZE	100

static unsigned int lows, dones;

static void on_low(struct lt_pool *pool)
{
	(void)pool;
	lows++;
}

static void on_done(struct lt_reclaim *reclaim)
{
	(void)reclaim;
	__atomic_fetch_add(&dones, 1, __ATOMIC_RELAXED);
}

static struct lt_pool_item *get(struct lt_pool *pool)
{
	struct lt_pool_item *item;

	rcu_read_lock_sched();
	item = lt_pool_get(pool);
	rcu_read_unlock_sched();
	return item;
}

/* Take all; returns how many, chained in *list. */
static unsigned int get_all(struct lt_pool *pool, struct llist_node **list)
{
	struct lt_pool_item *item;
	unsigned int n = 0;

	*list = NULL;
	for (;;) {
		item = get(pool);
		if (!item)
			return n;
		item->link.next = *list;
		*list = &item->link;
		n++;
	}
}

static void on_cpu(int cpu)
{
	host_thread_leave();
	host_thread_enter(cpu);
}

/* Each batch of a stack: items of this node, as many as it says. */
static unsigned int check_batches(const struct lt_pool *pool,
				  struct lt_pool_item *batch, int nid)
{
	struct lt_pool_item *item;
	struct llist_node *node;
	unsigned int n, free = 0;

	for (; batch; batch = batch->next_batch) {
		n = 0;
		for (node = &batch->link; node; node = node->next) {
			item = llist_entry(node, struct lt_pool_item, link);
			CHECK_EQ(item->nid, nid);
			n++;
		}
		CHECK_EQ(batch->count, n);
		CHECK(n <= pool->batch, "a batch of %u", n);
		free += n;
	}
	return free;
}

static void check_depots(struct lt_pool *pool)
{
	unsigned int free;
	int nid, cpu;

	for_each_online_node(nid) {
		free = check_batches(pool, pool->depots[nid].head, nid);
		for_each_possible_cpu(cpu)
			if (cpu_to_node(cpu) == nid)
				free += check_batches(pool,
					per_cpu_ptr(pool->caches, cpu)->batches,
					nid);
		CHECK_EQ(atomic_read(&pool->depots[nid].free), free);
	}
}

static void test_init(void)
{
	static const unsigned int capacity[] = { 1, 2, 7, 16, 100, 1000, 5000 };
	long before = host_allocated;
	struct llist_node *list;
	struct lt_pool pool;
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(capacity); i++) {
		if (!CHECK(!lt_pool_init(&pool, SIZE, capacity[i], on_low),
			   "init for %u failed", capacity[i]))
			return;
		CHECK(pool.item_size >= SIZE, "%zu bytes", pool.item_size);
		CHECK_EQ(pool.capacity, capacity[i]);
		CHECK_EQ(lt_pool_count_free(&pool), pool.total);
		check_depots(&pool);
		on_cpu(i % 8);
		n = get_all(&pool, &list);
		CHECK(n >= capacity[i], "%u items for a capacity of %u", n,
		      capacity[i]);
		on_cpu(-1);
		lt_pool_destroy(&pool);
		CHECK_EQ(host_allocated, before);
	}
}

static void test_nomem(void)
{
	long before = host_allocated, left;
	struct lt_pool pool;
	int ret;

	for (left = 0; left < 100; left++) {
		host_alloc_left = left;
		ret = lt_pool_init(&pool, SIZE, 100, on_low);
		host_alloc_left = -1;
		if (!ret)
			break;
		CHECK_EQ(ret, -ENOMEM);
		CHECK_EQ(host_allocated, before);
	}
	/* Depots, caches, a chunk per CPU and one per node. */
	CHECK_EQ(left, 2 + 8 + 2);
	host_alloc_left = 0;
	CHECK_EQ(lt_pool_grow(&pool, 100), -ENOMEM);
	CHECK_EQ(pool.capacity, 100);
	host_alloc_left = 1;
	CHECK_EQ(lt_pool_grow(&pool, 100), -ENOMEM);
	host_alloc_left = -1;
	CHECK_EQ(pool.capacity, 150);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total);
	lt_pool_destroy(&pool);
	CHECK_EQ(host_allocated, before);
}

static void test_items(void)
{
	enum { N = 200 };
	struct lt_pool_item *item, *first;
	struct llist_node *list, *node;
	struct lt_pool pool;
	unsigned int n, all;

	CHECK_EQ(lt_pool_init(&pool, SIZE, N, on_low), 0);
	lows = 0;
	on_cpu(5);	/* the caches of the others stay full */
	first = get(&pool);
	CHECK(first, "nothing in a full pool");
	CHECK(!lt_pool_ran_dry(&pool), "ran dry when full");
	n = get_all(&pool, &list) + 1;
	CHECK(lows, "dry, and low was not called");
	CHECK(lt_pool_ran_dry(&pool), "nobody knows that it ran dry");
	CHECK(!lt_pool_ran_dry(&pool), "ran dry, told twice");
	CHECK(!get(&pool), "an item from a dry pool");
	CHECK_EQ(lt_pool_count_free(&pool), pool.total - n);
	all = 1;
	for (node = list; node; node = node->next) {
		item = llist_entry(node, struct lt_pool_item, link);
		CHECK(!((uintptr_t)item % SMP_CACHE_BYTES), "not aligned");
		CHECK(item->nid < 2, "node %u", item->nid);
		/* All bytes are mine: AddressSanitizer and the count agree. */
		memset((char *)item + sizeof(*item), 0x5a,
		       SIZE - sizeof(*item));
		all++;
	}
	CHECK_EQ(all, n);
	synchronize_rcu();
	first->link.next = list;
	lt_pool_put(&pool, &first->link);
	check_depots(&pool);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total);
	lt_pool_put(&pool, NULL);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total);
	CHECK(get_all(&pool, &list) >= N, "less at the second time");
	on_cpu(-1);
	lt_pool_destroy(&pool);
}

static void test_low_and_grow(void)
{
	enum { N = 640 };
	struct llist_node *list;
	struct lt_pool pool;
	unsigned int n;

	CHECK_EQ(lt_pool_init(&pool, SIZE, N, on_low), 0);
	CHECK(!lt_pool_is_low(&pool), "low when full");
	on_cpu(3);
	lows = 0;
	for (n = 0; n < N && !lows; n++)
		CHECK(get(&pool), "dry after %u", n);
	on_cpu(-1);
	CHECK(lt_pool_is_low(&pool), "low was called but it is not");
	CHECK(n > N / 2 && n < N / 2 + 3 * pool.batch,
	      "low after %u of %u, batches of %u", n, N, pool.batch);
	CHECK_EQ(lt_pool_grow(&pool, 2000), 0);
	CHECK_EQ(pool.capacity, N + 2000);
	CHECK(!lt_pool_is_low(&pool), "low after growth");
	CHECK(get_all(&pool, &list) + n >= N + 2000, "growth gave too little");
	CHECK_EQ(lt_pool_grow(&pool, 0), 0);
	CHECK_EQ(lt_pool_grow(&pool, 1), 0);
	CHECK_EQ(lt_pool_grow(&pool, 3), 0);
	CHECK_EQ(pool.capacity, N + 2004);
	CHECK(get(&pool), "an odd growth gave nothing");
	lt_pool_destroy(&pool);
}

/* Seven CPUs take what they can hold on to; the last one gets the rest. */
static void test_hoard(void)
{
	static const unsigned int capacity[] = { 8, 50, 100, 1000 };
	struct lt_pool_item *item;
	struct llist_node *list;
	struct lt_pool pool;
	unsigned int i, n;
	int cpu;

	for (i = 0; i < ARRAY_SIZE(capacity); i++) {
		CHECK_EQ(lt_pool_init(&pool, SIZE, capacity[i], on_low), 0);
		/* Each uses up its cache and refills it; then all give back. */
		list = NULL;
		for (cpu = 0; cpu < 7; cpu++) {
			on_cpu(cpu);
			for (n = 0; n <= pool.batch; n++) {
				item = get(&pool);
				if (!CHECK(item, "dry after %u", n))
					return;
				item->link.next = list;
				list = &item->link;
			}
		}
		synchronize_rcu();
		lt_pool_put(&pool, list);
		on_cpu(7);
		n = get_all(&pool, &list);
		CHECK(n >= capacity[i], "CPU 7 gets %u of %u", n, capacity[i]);
		on_cpu(-1);
		lt_pool_destroy(&pool);
	}
}

static void test_reclaim(void)
{
	struct lt_reclaim reclaim;
	long before = host_allocated;
	struct lt_pool_item *item[3];
	struct lt_pool pool;
	unsigned long snap;

	CHECK_EQ(lt_pool_init(&pool, SIZE, 100, on_low), 0);
	host_alloc_left = 0;
	CHECK_EQ(lt_reclaim_init(&reclaim, &pool, on_done), -ENOMEM);
	host_alloc_left = -1;
	CHECK_EQ(lt_reclaim_init(&reclaim, &pool, on_done), 0);
	CHECK_EQ(lt_reclaim(&reclaim, true), LT_RECLAIM_IDLE);
	dones = 0;
	for (int i = 0; i < 3; i++) {
		on_cpu(2 * i);
		item[i] = get(&pool);
		rcu_read_lock_sched();
		lt_retire(&reclaim, item[i]);
		rcu_read_unlock_sched();
	}
	on_cpu(-1);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total - 3);
	snap = host_gp_snap();
	/* No grace period ends while this section lasts. */
	rcu_read_lock_sched();
	/* Not wanted: no grace period. */
	CHECK_EQ(lt_reclaim(&reclaim, false), LT_RECLAIM_IDLE);
	CHECK_EQ(lt_reclaim(&reclaim, true), LT_RECLAIM_STARTED);
	CHECK_EQ(lt_reclaim(&reclaim, true), LT_RECLAIM_WAITING);
	lt_retire(&reclaim, lt_pool_get(&pool));
	CHECK_EQ(lt_reclaim(&reclaim, true), LT_RECLAIM_WAITING);
	rcu_read_unlock_sched();
	rcu_barrier();
	CHECK(host_gp_passed(snap), "rcu_barrier() without a grace period");
	CHECK_EQ(READ_ONCE(dones), 1);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total - 4);
	CHECK_EQ(lt_reclaim(&reclaim, true), LT_RECLAIM_GAVE);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total - 1);
	rcu_barrier();
	CHECK_EQ(READ_ONCE(dones), 2);
	CHECK_EQ(lt_reclaim(&reclaim, false), LT_RECLAIM_GAVE);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total);
	CHECK_EQ(lt_reclaim(&reclaim, true), LT_RECLAIM_IDLE);

	item[0] = get(&pool);
	rcu_read_lock_sched();
	lt_retire(&reclaim, item[0]);
	rcu_read_unlock_sched();
	lt_reclaim_drain(&reclaim);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total);
	lt_reclaim_drain(&reclaim);
	lt_reclaim_destroy(&reclaim);
	lt_pool_destroy(&pool);
	CHECK_EQ(host_allocated, before);
}

/* One after the other, on CPU @begin, and retired on CPU @end. */
static void use(struct lt_pool *pool, struct lt_reclaim *reclaim, unsigned int n,
		int begin, int end)
{
	struct lt_pool_item *item;

	while (n--) {
		on_cpu(begin);
		rcu_read_lock_sched();
		item = lt_pool_get(pool);
		rcu_read_unlock_sched();
		on_cpu(end);
		rcu_read_lock_sched();
		lt_retire(reclaim, item);
		rcu_read_unlock_sched();
	}
	lt_reclaim_drain(reclaim);
	check_depots(pool);
}

/*
 * What a CPU has used comes back to it, in batches, as many as it has taken, and
 * others can have it.
 */
static void test_own_batches(void)
{
	struct lt_pool_cache *cache;
	struct lt_reclaim reclaim;
	struct llist_node *list;
	struct lt_pool pool;
	unsigned int n;

	CHECK_EQ(lt_pool_init(&pool, SIZE, 1000, on_low), 0);
	CHECK_EQ(lt_reclaim_init(&reclaim, &pool, on_done), 0);
	/* The first ones are in its cache; the last one begins a batch. */
	use(&pool, &reclaim, 3 * pool.batch + 1, 2, 2);
	cache = per_cpu_ptr(pool.caches, 2);
	CHECK_EQ(cache->taken, 3);
	CHECK_EQ(check_batches(&pool, cache->batches, cpu_to_node(2)),
		 2 * pool.batch + 1);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total);
	/* Who only retires has no use for them. */
	use(&pool, &reclaim, 2 * pool.batch, 3, 2);
	CHECK_EQ(check_batches(&pool, cache->batches, cpu_to_node(2)),
		 2 * pool.batch + 1);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total);
	/* What is owed is never more than there is. */
	for (n = 0; n < 3; n++)
		use(&pool, &reclaim, 20 * pool.batch, 2, 3);
	n = cache->taken - cache->given;
	CHECK(n > 1000 / pool.batch, "CPU 2 is owed %u batches", n);
	use(&pool, &reclaim, 2 * pool.batch, 2, 2);
	n = cache->taken - cache->given;
	CHECK(n < 1000 / pool.batch, "CPU 2 is owed %u batches", n);
	on_cpu(7);
	n = get_all(&pool, &list);
	CHECK(n >= 1000, "CPU 7 gets %u of 1000", n);
	CHECK(!cache->batches, "CPU 7 leaves batches of another CPU");
	on_cpu(-1);
	lt_reclaim_destroy(&reclaim);
	lt_pool_destroy(&pool);
}

static const struct ktap_test tests[] = {
	{ "init", test_init },
	{ "nomem", test_nomem },
	{ "items", test_items },
	{ "low_and_grow", test_low_and_grow },
	{ "hoard", test_hoard },
	{ "reclaim", test_reclaim },
	{ "own_batches", test_own_batches },
};

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, tests, ARRAY_SIZE(tests));
}
