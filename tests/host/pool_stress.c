// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pool and reclaim under fire.  Threads that move from CPU to CPU, or that are
 * interrupted by NMIs, get, share and retire items; one thread reclaims and
 * grows, as the tracker's does.  The oracle knows where each item is and counts
 * grace periods.
 */
#include <sched.h>
#include <stdio.h>

#include "core/pool.h"
#include "core/reclaim.h"
#include "ktap.h"

#define WORKERS		4
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

struct worker {
	unsigned long gets, dry, nmis;
} __aligned(128);

static struct lt_pool pool;
static struct lt_reclaim reclaim;
static struct worker workers[WORKERS];
static struct item *slots[SLOTS];
static unsigned long dones, lows;
static __thread struct worker *nmi_worker;

static void on_low(struct lt_pool *p)
{
	(void)p;
	__atomic_fetch_add(&lows, 1, __ATOMIC_RELAXED);
}

static void on_done(struct lt_reclaim *r)
{
	(void)r;
	__atomic_fetch_add(&dones, 1, __ATOMIC_RELAXED);
}

/* In a section. */
static struct item *item_get(struct worker *w)
{
	struct item *item = (struct item *)lt_pool_get(&pool);
	unsigned int state;

	if (!item) {
		w->dry++;
		return NULL;
	}
	w->gets++;
	/* Relaxed: the test must not order what the pool has to order. */
	state = __atomic_exchange_n(&item->state, ITEM_OUT, __ATOMIC_RELAXED);
	if (CHECK(state != ITEM_OUT, "an item was handed out twice") &&
	    state == ITEM_RETIRED)
		CHECK(host_gp_passed(item->snap),
		      "an item came back before a grace period");
	item->life++;
	return item;
}

/* In a section; readers may be on it. */
static void item_retire(struct item *item)
{
	unsigned int state;

	item->snap = host_gp_snap();
	state = __atomic_exchange_n(&item->state, ITEM_RETIRED,
				    __ATOMIC_RELAXED);
	CHECK(state == ITEM_OUT, "an item in state %x was retired", state);
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
	CHECK(item->life == life, "an item was reused under a reader");
}

static void one_op(struct worker *w)
{
	unsigned int i = host_random() % SLOTS;
	struct item *item, *old;

	if (host_random() % 3 == 0) {
		read_slot(i);
		return;
	}
	item = host_random() % 4 ? item_get(w) : NULL;
	old = xchg(&slots[i], item);
	if (old)
		item_retire(old);
}

static void work_step(unsigned int id)
{
	unsigned long dry = workers[id].dry;

	nmi_worker = &workers[id];
	barrier();
	for (unsigned int i = 0; i < 20; i++) {
		rcu_read_lock_sched();
		one_op(&workers[id]);
		rcu_read_unlock_sched();
	}
	if (workers[id].dry != dry)
		sched_yield();	/* let the grace period get on */
}

static void work_end(unsigned int id)
{
	(void)id;
	nmi_worker = NULL;
	barrier();
}

/* The tracker's thread. */
static void reclaim_step(unsigned int id)
{
	(void)id;
	lt_reclaim(&reclaim, true);
	if (!(host_random() % 64) && pool.capacity < 2 * CAPACITY)
		CHECK_EQ(lt_pool_grow(&pool, host_random() % 300), 0);
	sched_yield();
}

static void on_nmi(void)
{
	struct worker *w = nmi_worker;
	unsigned int i, n;
	struct item *item;

	if (!w)
		return;
	w->nmis++;
	for (n = host_random() % 8, i = 0; i < n; i++) {
		one_op(w);
		item = item_get(w);
		if (item)	/* never published; goes back the same way */
			item_retire(item);
	}
}

/* All are home: whichever CPU asks now, it gets what the pool was made for. */
static void check_no_hoard(unsigned int slack)
{
	unsigned int n = 0, cpu = host_random() % host_nr_cpus;
	struct worker w = { };
	struct item *item;

	host_thread_leave();
	host_thread_enter((int)cpu);
	rcu_read_lock_sched();
	for (;;) {
		item = item_get(&w);
		if (!item)
			break;
		n++;
		item_retire(item);	/* comes home after the section */
	}
	rcu_read_unlock_sched();
	host_thread_leave();
	host_thread_enter(-1);
	CHECK(n + slack >= pool.capacity, "CPU %u gets %u of %u", cpu, n,
	      pool.capacity);
	lt_reclaim_drain(&reclaim);
}

static void one_round(const struct stress_thread *threads, bool nmis)
{
	long before = host_allocated;

	memset(slots, 0, sizeof(slots));
	BUG_ON(lt_pool_init(&pool, sizeof(struct item), CAPACITY, on_low));
	BUG_ON(lt_reclaim_init(&reclaim, &pool, on_done));
	stress_run(threads, WORKERS + 1, ktap_seconds / ktap_nr / ROUNDS);
	if (ktap_failed())
		return;		/* the rest would only drown the cause */
	rcu_read_lock_sched();
	for (unsigned int i = 0; i < SLOTS; i++)
		if (slots[i])
			item_retire(slots[i]);
	rcu_read_unlock_sched();
	lt_reclaim_drain(&reclaim);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total);
	/* An NMI in the midst of a refill can leave a batch more per CPU. */
	check_no_hoard(nmis ? host_nr_cpus * pool.batch : 0);
	CHECK_EQ(lt_pool_count_free(&pool), pool.total);
	lt_reclaim_destroy(&reclaim);
	lt_pool_destroy(&pool);
	CHECK_EQ(host_allocated, before);
}

static void rounds(bool nmis)
{
	struct stress_thread threads[WORKERS + 1];
	unsigned long gets = 0, dry = 0, n = 0;
	unsigned int i, r;

	dones = 0;
	lows = 0;
	memset(workers, 0, sizeof(workers));
	for (i = 0; i < WORKERS; i++)
		threads[i] = (struct stress_thread){ work_step, work_end,
						     nmis ? (int)i : -1 };
	threads[WORKERS] = (struct stress_thread){ reclaim_step, NULL, -1 };
	for (r = 0; r < ROUNDS && !ktap_failed(); r++)
		one_round(threads, nmis);
	for (i = 0; i < WORKERS; i++) {
		gets += workers[i].gets;
		dry += workers[i].dry;
		n += workers[i].nmis;
	}
	ktap_note("%lu items handed out, %lu times dry, %lu batches reclaimed, %lu NMIs",
		  gets, dry, dones, n);
}

static void test_migrate(void)
{
	rounds(false);
}

static void test_nmi(void)
{
	if (HOST_TSAN) {
		ktap_skip("ThreadSanitizer holds signals back");
		return;
	}
	host_nmi_start(on_nmi, 50);
	rounds(true);
	host_nmi_stop();
}

static const struct ktap_test tests[] = {
	{ "migrate", test_migrate },
	{ "nmi", test_nmi },
};

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, tests, ARRAY_SIZE(tests));
}
