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

static void *create(const struct bench_size *size)
{
	struct slots *s = bench_alloc(1, sizeof(*s) + size->slots * sizeof(s->slot[0]));

	s->threshold = BENCH_NEVER;
	return s;
}

static double bytes(const struct bench_size *size)
{
	return sizeof(struct slot);
}

static void nothing(struct bench_thread *t)
{
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
static bench_inline bool begin_nothing(struct bench_thread *t, const struct bench_op *op)
{
	return bench_clock();
}

static bench_inline bool end_nothing(struct bench_thread *t, const struct bench_op *op)
{
	return bench_clock();
}

BENCH_LOOPS(clocks, begin_nothing, end_nothing, nothing)
BENCH_LOOPS(slot, begin, end, nothing)

const struct bench_contestant bench_slot = {
	.name = "slot",
	.create = create,
	.destroy = bench_free,
	.enter = nothing,
	.leave = nothing,
	.bytes = bytes,
	.loop = BENCH_LOOPS_OF(slot),
	.control = true,
};

const struct bench_contestant bench_clocks = {
	.name = "two clock reads",
	.create = create,
	.destroy = bench_free,
	.enter = nothing,
	.leave = nothing,
	.bytes = bytes,
	.loop = BENCH_LOOPS_OF(clocks),
};
