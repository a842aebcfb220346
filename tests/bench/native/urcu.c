// SPDX-License-Identifier: GPL-2.0-only
/*
 * liburcu's cds_lfht with the cheapest flavor of RCU that it has, QSBR: a
 * read-side section costs nothing. The free list is per thread, without an
 * atomic operation; what was retired comes back after a grace period, in
 * batches, from a thread that is woken when half of the events are in use, as
 * that of the tracker.
 */
#include <pthread.h>

#define URCU_INLINE_SMALL_FUNCTIONS
#include <urcu/urcu-qsbr.h>
#include <urcu/rculfhash.h>

#include "bench.h"

#define BATCH	64

struct urcu_node {
	struct cds_lfht_node node;
	uint64_t key;
	uint64_t start;
	struct urcu_node *next;
	struct urcu_node *next_batch;
};

struct urcu_thread {
	struct urcu_node *free;
	struct urcu_node *retired;
	unsigned int nr_retired;
} __attribute__((__aligned__(128)));

struct urcu {
	struct cds_lfht *ht;
	uint64_t threshold;
	struct urcu_thread *threads;
	unsigned long half;	/* batches in half of the events */

	pthread_mutex_t lock __attribute__((__aligned__(128)));
	pthread_cond_t wake;
	struct urcu_node *depot, *retired;
	unsigned long nr_retired;
};

static void *reclaimer(void *arg)
{
	struct urcu_node *list, *last;
	struct urcu *u = arg;

	bench_helper();
	pthread_mutex_lock(&u->lock);
	for (;;) {
		while (u->nr_retired < u->half && (u->depot || !u->retired))
			pthread_cond_wait(&u->wake, &u->lock);
		list = u->retired;
		u->retired = NULL;
		u->nr_retired = 0;
		pthread_mutex_unlock(&u->lock);

		urcu_qsbr_synchronize_rcu();
		for (last = list; last->next_batch; last = last->next_batch)
			;
		pthread_mutex_lock(&u->lock);
		last->next_batch = u->depot;
		u->depot = list;
	}
	return NULL;
}

/* The free list of the thread is empty. */
static __attribute__((__noinline__)) struct urcu_node *refill(struct urcu *u)
{
	struct urcu_node *batch;

	pthread_mutex_lock(&u->lock);
	batch = u->depot;
	if (batch)
		u->depot = batch->next_batch;
	else
		pthread_cond_signal(&u->wake);
	pthread_mutex_unlock(&u->lock);
	return batch;
}

/* There is a batch of retired nodes. */
static __attribute__((__noinline__)) void retire_batch(struct urcu *u, struct urcu_thread *self)
{
	pthread_mutex_lock(&u->lock);
	self->retired->next_batch = u->retired;
	u->retired = self->retired;
	if (++u->nr_retired == u->half)
		pthread_cond_signal(&u->wake);
	pthread_mutex_unlock(&u->lock);
	self->retired = NULL;
	self->nr_retired = 0;
}

static void *create(struct bench_size *size)
{
	/* Those in the hands of the threads come on top, as in the tracker. */
	unsigned long i, events = size->events + 2 * BATCH * size->threads;
	struct urcu_node *nodes = bench_alloc(events, sizeof(*nodes));
	struct urcu *u = bench_alloc(1, sizeof(*u));
	pthread_t thread;

	for (i = 0; i < events; i++) {
		nodes[i].next = i % BATCH ? &nodes[i - 1] : NULL;
		if (i % BATCH == BATCH - 1) {
			nodes[i].next_batch = u->depot;
			u->depot = &nodes[i];
		}
	}
	size->bytes = sizeof(*nodes) + sizeof(struct cds_lfht_node);
	u->threshold = BENCH_NEVER;
	u->threads = bench_alloc(size->threads, sizeof(*u->threads));
	u->half = size->events / BATCH / 2;
	urcu_qsbr_register_thread();
	u->ht = cds_lfht_new_flavor(size->events, size->events, size->events, 0,
				    &urcu_qsbr_flavor, NULL);
	urcu_qsbr_unregister_thread();
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->wake, NULL);
	bench_check(u->ht && !pthread_create(&thread, NULL, reclaimer, u),
		    "cds_lfht cannot be made");
	return u;
}

static void enter(struct bench_thread *t)
{
	t->self = &((struct urcu *)t->table)->threads[t->nr];
}

/* Its buckets are chosen by the low bits. */
static bench_inline unsigned long hash_of(uint64_t key)
{
	return bench_hash(key) >> 32;
}

static bench_inline struct urcu_node *node_of(struct cds_lfht_node *node)
{
	return caa_container_of(node, struct urcu_node, node);
}

static int match(struct cds_lfht_node *node, const void *key)
{
	return node_of(node)->key == *(const uint64_t *)key;
}

static bench_inline void retire(struct bench_thread *t, struct urcu_node *node)
{
	struct urcu_thread *self = t->self;

	node->next = self->retired;
	self->retired = node;
	if (++self->nr_retired == BATCH)
		retire_batch(t->table, self);
}

static bench_inline bool add(struct bench_thread *t, const struct bench_op *op, bool unique)
{
	struct urcu *u = t->table;
	struct urcu_thread *self = t->self;
	struct urcu_node *node = self->free;
	struct cds_lfht_node *old = NULL;

	if (__builtin_expect(!node, 0))
		node = refill(u);
	if (!node)
		return false;
	self->free = node->next;
	node->key = op->key;
	node->start = bench_clock();
	urcu_qsbr_read_lock();
	if (unique)
		old = cds_lfht_add_replace(u->ht, hash_of(op->key), match, &op->key, &node->node);
	else
		cds_lfht_add(u->ht, hash_of(op->key), &node->node);
	if (old)
		retire(t, node_of(old));
	urcu_qsbr_read_unlock();
	return true;
}

static bench_inline bool begin(struct bench_thread *t, const struct bench_op *op)
{
	return add(t, op, false);
}

static bench_inline bool begin_unique(struct bench_thread *t, const struct bench_op *op)
{
	return add(t, op, true);
}

static bench_inline bool end(struct bench_thread *t, const struct bench_op *op)
{
	struct urcu *u = t->table;
	struct cds_lfht_node *found;
	struct cds_lfht_iter iter;
	uint64_t start;

	urcu_qsbr_read_lock();
	do {
		cds_lfht_lookup(u->ht, hash_of(op->key), match, &op->key, &iter);
		found = cds_lfht_iter_get_node(&iter);
	} while (found && cds_lfht_del(u->ht, found));
	urcu_qsbr_read_unlock();
	if (!found)
		return false;
	start = node_of(found)->start;
	retire(t, node_of(found));
	t->late += bench_clock() - start >= u->threshold;
	return true;
}

BENCH_CONTESTANT(bench_urcu, "cds_lfht", begin, end,
		 .create = create, .enter = enter);

BENCH_CONTESTANT(bench_urcu_unique, "cds_lfht, replace", begin_unique, end,
		 .create = create, .enter = enter);
