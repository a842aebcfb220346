// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pool and reclaim under fire.  Threads that move from CPU to CPU, or that are
 * interrupted by NMIs, get, share and retire items; one thread reclaims and
 * grows, as the tracker's does.  The oracle knows where each item is and counts
 * grace periods.
 */
#include <sched.h>

#include "checks.h"
#include "core/reclaim.h"
#include "ktap.h"

#define ROUNDS		4
#define SLOTS		24
#define CAPACITY	1500

enum { ITEM_NEW, ITEM_OUT = 0x17e, ITEM_RETIRED };

struct item {
	struct lt_pool_item pool;
	unsigned int state;
	unsigned long snap;	/* grace period at retirement */
	unsigned long life;	/* times handed out; plain: TSan watches */
};

static struct lt_pool pool;
static struct lt_reclaim reclaim;
static struct item *slots[SLOTS];
static unsigned long nmis;
static __thread bool dry;		/* a get found nothing */

static unsigned int lows;

static void on_low(struct lt_pool *p)
{
	__atomic_fetch_add(&lows, 1, __ATOMIC_RELAXED);
}

static void on_done(struct lt_reclaim *r)
{
}

/* In a section. */
static struct item *item_get(void)
{
	struct item *item = (struct item *)lt_pool_get(&pool);
	unsigned int state;

	if (!item) {
		dry = true;
		return NULL;
	}
	/* Relaxed: the test must not order what the pool has to order. */
	state = __atomic_exchange_n(&item->state, ITEM_OUT, __ATOMIC_RELAXED);
	EXPECT(state != ITEM_OUT, "an item was handed out twice");
	EXPECT(state != ITEM_RETIRED || host_gp_passed(item->snap),
	       "an item came back before a grace period");
	item->life++;
	return item;
}

/* In a section; readers may be on it. */
static void item_retire(struct item *item)
{
	unsigned int state;

	item->snap = host_gp_snap();
	state = __atomic_exchange_n(&item->state, ITEM_RETIRED, __ATOMIC_RELAXED);
	EXPECT(state == ITEM_OUT, "an item in state %x was retired", state);
	lt_retire(&reclaim, &item->pool);
}

static void read_slot(unsigned int i)
{
	unsigned long life;
	struct item *item;

	/* Pairs with xchg() in one_op(). */
	item = smp_load_acquire(&slots[i]);
	if (!item)
		return;
	life = item->life;
	if (!HOST_TSAN && !host_in_nmi() && !(host_random() % 64))
		sched_yield();
	EXPECT(item->life == life, "an item was reused under a reader");
}

static void one_op(void)
{
	unsigned int i = host_random() % SLOTS;
	struct item *item, *old;

	if (host_random() % 3 == 0) {
		read_slot(i);
		return;
	}
	item = host_random() % 4 ? item_get() : NULL;
	old = xchg(&slots[i], item);
	if (old)
		item_retire(old);
}

static void work_step(unsigned int id)
{
	dry = false;
	for (unsigned int i = 0; i < 20; i++) {
		rcu_read_lock_sched();
		one_op();
		rcu_read_unlock_sched();
	}
	if (dry)
		sched_yield();	/* let the grace period get on */
}

/* The tracker's thread. */
static void reclaim_step(void)
{
	lt_reclaim(&reclaim, true);
	if (!(host_random() % 64) && pool.capacity < 2 * CAPACITY)
		EXPECT_EQ(lt_pool_grow(&pool, host_random() % 300), 0);
	sched_yield();
}

static void on_nmi(void)
{
	unsigned int n = host_random() % 8;
	struct item *item;

	__atomic_fetch_add(&nmis, 1, __ATOMIC_RELAXED);
	while (n--) {
		one_op();
		item = item_get();
		if (item)	/* never published; goes back the same way */
			item_retire(item);
	}
}

static void on_cpu(int cpu)
{
	host_thread_leave();
	host_thread_enter(cpu);
}

/* All are home: whichever CPU asks now, it gets what the pool was made for. */
static void check_no_hoard(int cpu, unsigned int slack)
{
	unsigned int n = 0;
	int nid;
	struct item *item;

	on_cpu(cpu);
	rcu_read_lock_sched();
	for (item = item_get(); item; item = item_get()) {
		n++;
		item_retire(item);	/* comes home after the section */
	}
	rcu_read_unlock_sched();
	on_cpu(-1);
	for_each_node(nid)
		EXPECT_EQ(atomic_read(&pool.depots[nid].free), 0);
	EXPECT(n + slack >= pool.capacity, "CPU %d gets %u of %u", cpu, n, pool.capacity);
	EXPECT(lt_pool_ran_dry(&pool), "it ran dry, and this is not told");
	EXPECT(!lt_pool_ran_dry(&pool), "ran dry, told twice");
	lt_reclaim_drain(&reclaim);
	EXPECT_EQ(lt_pool_count_free(&pool), pool.total);
	check_pool(&pool);
}

static void init(unsigned int capacity)
{
	EXPECT_EQ(lt_pool_init(&pool, sizeof(struct item), capacity, on_low), 0);
	EXPECT_EQ(lt_reclaim_init(&reclaim, &pool, on_done), 0);
}

static void destroy(void)
{
	lt_reclaim_destroy(&reclaim);
	lt_pool_destroy(&pool);
	EXPECT_EQ(host_allocated, 0);
}

static void one_round(void (*nmi)(void))
{
	const struct stress stress = { work_step, NULL, reclaim_step, nmi };

	memset(slots, 0, sizeof(slots));
	init(CAPACITY);
	stress_run(&stress, ktap_seconds / ROUNDS);
	rcu_read_lock_sched();
	for (unsigned int i = 0; i < SLOTS; i++)
		if (slots[i])
			item_retire(slots[i]);
	rcu_read_unlock_sched();
	lt_reclaim_drain(&reclaim);
	EXPECT_EQ(lt_pool_count_free(&pool), pool.total);
	/* An NMI in the midst of a refill can leave a batch more per CPU. */
	check_no_hoard((int)(host_random() % host_nr_cpus), nmi ? host_nr_cpus * pool.batch : 0);
	destroy();
}

static void test_migrate(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++)
		one_round(NULL);
}

static void test_nmi(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++)
		one_round(on_nmi);
	EXPECT(nmis, "no NMI came");
}

/* ---- one thread: what a CPU gets back ---- */

static struct item *get_on(int cpu)
{
	struct item *item;

	on_cpu(cpu);
	rcu_read_lock_sched();
	item = item_get();
	rcu_read_unlock_sched();
	return item;
}

static void retire_on(int cpu, struct item *item)
{
	on_cpu(cpu);
	rcu_read_lock_sched();
	item_retire(item);
	rcu_read_unlock_sched();
}

static void come_home(void)
{
	lt_reclaim_drain(&reclaim);
	on_cpu(-1);
	check_pool(&pool);
	EXPECT_EQ(lt_pool_count_free(&pool), pool.total);
}

/* @n items one after the other, got on CPU @begin and retired on CPU @end. */
static void use(unsigned int n, int begin, int end)
{
	while (n--)
		retire_on(end, get_on(begin));
	come_home();
}

/* What a CPU has used comes back to it, in batches, as many as it has taken. */
static void test_own_batches(void)
{
	struct lt_pool_cache *cache;
	unsigned int n;

	init(1000);
	/* The last one begins a batch. */
	use(3 * pool.batch + 1, 2, 2);
	cache = per_cpu_ptr(pool.caches, 2);
	EXPECT_EQ(cache->taken, 4);
	EXPECT_EQ(check_batches(&pool, cache->batches, cpu_to_node(2)), 3 * pool.batch + 1);
	/* A CPU that only retires has no use for them. */
	use(2 * pool.batch, 3, 2);
	EXPECT_EQ(check_batches(&pool, cache->batches, cpu_to_node(2)), 3 * pool.batch + 1);
	/* What is owed is never more than there is. */
	for (n = 0; n < 3; n++)
		use(20 * pool.batch, 2, 3);
	n = cache->taken - cache->given;
	EXPECT(n > 1000 / pool.batch, "CPU 2 is owed %u batches", n);
	use(2 * pool.batch, 2, 2);
	n = cache->taken - cache->given;
	EXPECT(n < 1000 / pool.batch, "CPU 2 is owed %u batches", n);
	/* Others can have them. */
	check_no_hoard(7, 0);
	destroy();
}

/*
 * Seven CPUs use as many as they can hold on to; then the last one can have all, also
 * those of a node that has gone off line.
 */
static void test_hoard(void)
{
	static const unsigned int capacity[] = { 1, 2, 7, 8, 50, 100, 1000, 5000 };
	unsigned int i;
	int cpu;

	for (i = 0; i < ARRAY_SIZE(capacity); i++) {
		init(capacity[i]);
		EXPECT_EQ(pool.capacity, capacity[i]);
		for (cpu = 0; cpu < 7; cpu++)
			use(pool.batch + 1, cpu, cpu);
		host_nodes_offline = i % 2;
		check_no_hoard(7, 0);
		destroy();
		host_nodes_offline = 0;
	}
}

/* Batches stay full, although a quarter of what begins on a node ends on the other one. */
static void test_other_node(void)
{
	unsigned int i, round, gets = 0, taken;

	init(5000);
	EXPECT(cpu_to_node(0) != cpu_to_node(1), "they are on one node");
	for (round = 0; round < 8; round++) {
		for (i = 0; i < 400; i++, gets += 2) {
			retire_on(i % 4 ? 0 : 1, get_on(0));
			retire_on(i % 4 ? 1 : 0, get_on(1));
		}
		come_home();
	}
	taken = per_cpu_ptr(pool.caches, 0)->taken + per_cpu_ptr(pool.caches, 1)->taken;
	EXPECT(gets / taken > pool.batch / 2, "%u items of %u in a batch", gets / taken,
	       pool.batch);
	destroy();
}

/* Only a CPU on a node that is low asks, and it grows there. */
static void test_low_node(void)
{
	struct item *out[1000];
	unsigned int n, last, here, there;

	init(1000);
	here = pool.depots[0].capacity;
	there = pool.depots[1].capacity;
	EXPECT_EQ(here, there);
	for (n = 0; !lt_pool_is_low(&pool); n++)
		out[n] = get_on(0);
	EXPECT(n >= here / 2 && n < here, "low with %u of %u out", n, here);
	EXPECT(lows, "it does not say so");
	lows = 0;
	for (last = n + here / 4; n < last; n++)
		out[n] = get_on(1);
	EXPECT_EQ(lows, 0);
	EXPECT(!lt_pool_is_short(&pool), "the pool is short for one node");
	for (; n < 900; n++)
		out[n] = get_on(n < 700 ? 0 : 1);
	EXPECT(lows, "it does not say so any more");
	lows = 0;
	EXPECT_EQ(lt_pool_grow(&pool, 300), 0);
	EXPECT_EQ(pool.depots[0].capacity, here + 300);
	EXPECT_EQ(pool.depots[1].capacity, there);
	while (n)
		retire_on(0, out[--n]);
	come_home();
	EXPECT_EQ(lt_pool_grow(&pool, 300), 0);
	EXPECT_EQ(pool.depots[1].capacity, there + 150);
	destroy();
}

/* A CPU that comes brings what its cache will hold, once; its node gets more from then on. */
static void test_cpus_come(void)
{
	unsigned int least, total;

	host_cpus_offline = 4;
	init(4000);
	EXPECT_EQ(pool.total, 4000 + 4 * pool.batch);
	EXPECT_EQ(pool.depots[0].cpus, 2);
	EXPECT_EQ(host_cpu_comes(&pool.cpuhp), 0);
	EXPECT_EQ(pool.total, 4000 + 5 * pool.batch);
	EXPECT_EQ(pool.depots[0].cpus, 3);
	host_cpus_offline++;
	EXPECT_EQ(host_cpu_comes(&pool.cpuhp), 0);
	EXPECT_EQ(pool.total, 4000 + 5 * pool.batch);
	/* One for which there is no memory comes all the same. */
	host_alloc_left = 0;
	EXPECT_EQ(host_cpu_comes(&pool.cpuhp), 0);
	host_alloc_left = -1;
	EXPECT_EQ(pool.total, 4000 + 5 * pool.batch);
	check_pool(&pool);
	EXPECT_EQ(lt_pool_grow(&pool, 500), 0);
	EXPECT_EQ(pool.depots[0].capacity, 2000 + 300);
	destroy();
	host_cpus_offline = 0;
	/* A small pool that grows has larger batches, and as much more for each cache. */
	init(4);
	least = pool.batch;
	total = pool.total;
	EXPECT_EQ(lt_pool_grow(&pool, 996), 0);
	EXPECT(pool.batch >= 32 && pool.batch > least, "batches of %u", pool.batch);
	EXPECT_EQ(pool.total, total + 996 + host_nr_cpus * (pool.batch - least));
	check_no_hoard(3, 0);
	destroy();
}

static const struct ktap_test tests[] = {
	{ "other_node", test_other_node, 0, NULL },
	{ "low_node", test_low_node, 0, NULL },
	{ "cpus_come", test_cpus_come, 0, NULL },
	{ "own_batches", test_own_batches, 0, NULL },
	{ "hoard", test_hoard, 0, NULL },
	{ "migrate", test_migrate, 0.5, NULL },
	{ "nmi", test_nmi, 0.5, HOST_TSAN ? "ThreadSanitizer holds signals back" : NULL },
};

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, tests, ARRAY_SIZE(tests));
}
