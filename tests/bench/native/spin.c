// SPDX-License-Identifier: GPL-2.0-only
/* A chained hash table and a free list, both under one spinlock. */
#include <pthread.h>

#include "bench.h"

struct spin_node {
	struct spin_node *next;
	uint64_t key;
	uint64_t start;
};

struct spin {
	uint64_t threshold;
	unsigned int shift;
	struct spin_node **buckets;
	pthread_spinlock_t lock __attribute__((__aligned__(BENCH_LINE)));
	struct spin_node *free;
};

static void *create(struct bench_size *size)
{
	struct spin_node *nodes = bench_alloc(size->events, sizeof(*nodes));
	struct spin *s = bench_alloc(1, sizeof(*s));
	unsigned long i;

	size->bytes = sizeof(*nodes) + sizeof(*s->buckets);
	s->threshold = BENCH_NEVER;
	s->shift = 64 - __builtin_ctzl(size->events);
	s->buckets = bench_alloc(size->events, sizeof(*s->buckets));
	pthread_spin_init(&s->lock, PTHREAD_PROCESS_PRIVATE);
	for (i = 0; i < size->events; i++) {
		nodes[i].next = s->free;
		s->free = &nodes[i];
	}
	return s;
}

static bench_inline bool begin(struct bench_thread *t, const struct bench_op *op)
{
	struct spin *s = t->table;
	uint64_t now = bench_clock();
	struct spin_node **link = &s->buckets[bench_hash(op->key) >> s->shift], *node;

	pthread_spin_lock(&s->lock);
	node = s->free;
	if (node) {
		s->free = node->next;
		node->key = op->key;
		node->start = now;
		/* The oldest of a key comes first. */
		while (*link)
			link = &(*link)->next;
		node->next = NULL;
		*link = node;
	}
	pthread_spin_unlock(&s->lock);
	return node;
}

static bench_inline bool end(struct bench_thread *t, const struct bench_op *op)
{
	struct spin *s = t->table;
	uint64_t now = bench_clock(), start = 0;
	struct spin_node **link = &s->buckets[bench_hash(op->key) >> s->shift], *node;

	pthread_spin_lock(&s->lock);
	while ((node = *link) && node->key != op->key)
		link = &node->next;
	if (node) {
		start = node->start;
		*link = node->next;
		node->next = s->free;
		s->free = node;
	}
	pthread_spin_unlock(&s->lock);
	if (!node)
		return false;
	t->late += now - start >= s->threshold;
	return true;
}

BENCH_CONTESTANT(bench_spin, "spinlocked table", begin, end, .create = create);
