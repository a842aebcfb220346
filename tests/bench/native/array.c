// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control: an operation knows its place, there is nothing to search and,
 * with private slots, nothing to share. The least that a begin and an end cost.
 */
#include "bench.h"

struct slot {
	uint64_t start;
} __attribute__((__aligned__(BENCH_LINE)));

struct slots {
	uint64_t threshold;
	struct slot slot[] __attribute__((__aligned__(BENCH_LINE)));
};

static void *create(struct bench_size *size)
{
	struct slots *s = bench_alloc(1, sizeof(*s) + size->slots * sizeof(s->slot[0]));

	size->bytes = sizeof(struct slot);
	s->threshold = BENCH_NEVER;
	return s;
}

static bench_inline bool begin(struct bench_thread *t, const struct bench_op *op)
{
	struct slots *s = t->table;

	__atomic_store_n(&s->slot[op->slot].start, bench_clock(), __ATOMIC_RELAXED);
	return true;
}

static bench_inline bool end(struct bench_thread *t, const struct bench_op *op)
{
	struct slots *s = t->table;
	uint64_t start = __atomic_load_n(&s->slot[op->slot].start, __ATOMIC_RELAXED);

	t->late += bench_clock() - start >= s->threshold;
	return true;
}

/* Without a slot: what the clock is worth. */
static bench_inline bool clock_only(struct bench_thread *t, const struct bench_op *op)
{
	return bench_clock();
}

BENCH_CONTESTANT(bench_slot, "slot", begin, end, .create = create);

BENCH_CONTESTANT(bench_clocks, "two clock reads", clock_only, clock_only, .create = create);
