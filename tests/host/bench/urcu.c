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
	struct urcu_node *nodes;
	unsigned long half;	/* batches in half of the events */

	pthread_mutex_t lock __attribute__((__aligned__(128)));
	pthread_cond_t wake;
	struct urcu_node *depot, *retired;
	unsigned long nr_retired;
	bool stop;
	pthread_t reclaimer;
};

static void *reclaimer(void *arg)
{
	struct urcu_node *list, *last;
	struct urcu *u = arg;

	bench_helper();
	pthread_mutex_lock(&u->lock);
	for (;;) {
		while (!u->stop && u->nr_retired < u->half &&
		       (u->depot || !u->retired))
			pthread_cond_wait(&u->wake, &u->lock);
		if (u->stop)
			break;
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
	pthread_mutex_unlock(&u->lock);
	bench_helper_ends();
	return NULL;
}

/* The free list of the thread is empty. */
static __attribute__((__noinline__)) bool refill(struct urcu *u, struct urcu_thread *self)
{
	struct urcu_node *batch;

	pthread_mutex_lock(&u->lock);
	batch = u->depot;
	if (batch)
		u->depot = batch->next_batch;
	else
		pthread_cond_signal(&u->wake);
	pthread_mutex_unlock(&u->lock);
	self->free = batch;
	return batch;
}

/* There is a batch of retired nodes. */
static __attribute__((__noinline__)) void retire(struct urcu *u, struct urcu_thread *self)
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

static void fill_depot(struct urcu *u, unsigned long events)
{
	struct urcu_node *batch = NULL;
	unsigned long i;

	u->nodes = bench_alloc(events, sizeof(*u->nodes));
	for (i = 0; i < events; i++) {
		u->nodes[i].next = batch;
		batch = &u->nodes[i];
		if ((i + 1) % BATCH == 0) {
			batch->next_batch = u->depot;
			u->depot = batch;
			batch = NULL;
		}
	}
}

static void *create(const struct bench_size *size)
{
	struct urcu *u = bench_alloc(1, sizeof(*u));

	u->threshold = BENCH_NEVER;
	u->threads = bench_alloc(size->threads, sizeof(*u->threads));
	/* Those in the hands of the threads come on top, as in the tracker. */
	fill_depot(u, size->events + 2 * BATCH * size->threads);
	u->half = size->events / BATCH / 2;
	urcu_qsbr_register_thread();
	u->ht = cds_lfht_new_flavor(size->buckets, size->buckets, size->buckets, 0,
				    &urcu_qsbr_flavor, NULL);
	urcu_qsbr_unregister_thread();
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->wake, NULL);
	bench_check(u->ht && !pthread_create(&u->reclaimer, NULL, reclaimer, u),
		    "cds_lfht cannot be made");
	return u;
}

static void destroy(void *table)
{
	struct cds_lfht_iter iter;
	struct urcu *u = table;
	struct urcu_node *pos;

	pthread_mutex_lock(&u->lock);
	u->stop = true;
	pthread_cond_signal(&u->wake);
	pthread_mutex_unlock(&u->lock);
	pthread_join(u->reclaimer, NULL);
	urcu_qsbr_register_thread();
	cds_lfht_for_each_entry(u->ht, &iter, pos, node)
		cds_lfht_del(u->ht, &pos->node);
	urcu_qsbr_quiescent_state();
	bench_check(!cds_lfht_destroy(u->ht, NULL), "cds_lfht is not empty");
	urcu_qsbr_unregister_thread();
	bench_free(u->nodes);
	bench_free(u->threads);
	bench_free(u);
}

static double bytes(const struct bench_size *size)
{
	return sizeof(struct urcu_node) +
	       (double)sizeof(struct cds_lfht_node) * size->buckets / size->events;
}

static void enter(struct bench_thread *t)
{
	struct urcu *u = t->table;

	t->self = &u->threads[t->nr];
	urcu_qsbr_register_thread();
}

static void leave(struct bench_thread *t)
{
	urcu_qsbr_unregister_thread();
}

static bench_inline void quiescent(struct bench_thread *t)
{
	urcu_qsbr_quiescent_state();
}

/* Its buckets are chosen by the low bits. */
static bench_inline unsigned long hash_of(uint64_t key)
{
	return bench_hash(key) >> 32;
}

static int match(struct cds_lfht_node *node, const void *key)
{
	return caa_container_of(node, struct urcu_node, node)->key ==
	       *(const uint64_t *)key;
}

static bench_inline void retire_node(struct urcu *u, struct urcu_thread *self,
				     struct urcu_node *node)
{
	node->next = self->retired;
	self->retired = node;
	if (++self->nr_retired == BATCH)
		retire(u, self);
}

/* A node that is filled, or NULL. */
static bench_inline struct urcu_node *new_node(struct urcu *u, struct urcu_thread *self,
					       uint64_t key)
{
	struct urcu_node *node = self->free;

	if (__builtin_expect(!node, 0)) {
		if (!refill(u, self))
			return NULL;
		node = self->free;
	}
	self->free = node->next;
	node->key = key;
	node->start = bench_clock();
	return node;
}

static bench_inline bool begin(struct bench_thread *t, const struct bench_op *op)
{
	struct urcu *u = t->table;
	struct urcu_node *node = new_node(u, t->self, op->key);

	if (!node)
		return false;
	urcu_qsbr_read_lock();
	cds_lfht_add(u->ht, hash_of(op->key), &node->node);
	urcu_qsbr_read_unlock();
	return true;
}

static bench_inline bool begin_unique(struct bench_thread *t, const struct bench_op *op)
{
	struct urcu *u = t->table;
	struct urcu_node *node = new_node(u, t->self, op->key);
	struct cds_lfht_node *old;

	if (!node)
		return false;
	urcu_qsbr_read_lock();
	old = cds_lfht_add_replace(u->ht, hash_of(op->key), match, &op->key,
				   &node->node);
	if (old)
		retire_node(u, t->self, caa_container_of(old, struct urcu_node, node));
	urcu_qsbr_read_unlock();
	return true;
}

static bench_inline bool end(struct bench_thread *t, const struct bench_op *op)
{
	struct urcu *u = t->table;
	struct cds_lfht_node *found;
	struct cds_lfht_iter iter;
	struct urcu_node *node;
	uint64_t start;

	urcu_qsbr_read_lock();
	do {
		cds_lfht_lookup(u->ht, hash_of(op->key), match, &op->key, &iter);
		found = cds_lfht_iter_get_node(&iter);
		if (!found)
			break;
	} while (cds_lfht_del(u->ht, found));
	urcu_qsbr_read_unlock();
	if (!found)
		return false;
	node = caa_container_of(found, struct urcu_node, node);
	start = node->start;
	retire_node(u, t->self, node);
	t->late += bench_clock() - start >= u->threshold;
	return true;
}

BENCH_LOOPS(urcu, begin, end, quiescent)
BENCH_LOOPS(unique, begin_unique, end, quiescent)

const struct bench_contestant bench_urcu = {
	.name = "cds_lfht",
	.create = create,
	.destroy = destroy,
	.enter = enter,
	.leave = leave,
	.bytes = bytes,
	.loop = BENCH_LOOPS_OF(urcu),
};

const struct bench_contestant bench_urcu_unique = {
	.name = "cds_lfht, replace",
	.create = create,
	.destroy = destroy,
	.enter = enter,
	.leave = leave,
	.bytes = bytes,
	.loop = BENCH_LOOPS_OF(unique),
};
