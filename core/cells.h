/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of operations by group and bucket, on the CPU where they end.
 *
 * A cell counts the operations of one group in one bucket. Each CPU has two arrays of
 * cells, which are hash tables, and counts in one of them. lt_cells_turn() lets the CPUs
 * go on with the other one; a grace period later lt_cells_take() reads and empties the
 * first. So a cell in which a CPU counts is touched by that CPU only, in any of its
 * contexts, without locks; and what was counted is taken once and whole.
 *
 * How many groups there are, and which, is not known here. An operation that finds no
 * cell is in the rest of its dimension, which each CPU counts by buckets, too, and which
 * is never reset.
 *
 *			lt_cells_count()	lt_cells_turn()		lt_cells_take()
 * lt_cells_count()	any CPU and context	any			not the same array
 * lt_cells_turn()				the caller: one at a time
 */
#ifndef _LT_CORE_CELLS_H
#define _LT_CORE_CELLS_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include <asm/local64.h>

#include "core/bucket.h"
#include "core/types.h"

/*
 * Four buckets of a profile are one here, which is 9.1 % wide: schema 3. What is below
 * 2^(-191/8) s, which is 65 ns, and above 64 s, is in the first and in the last.
 */
#define LT_CELLS_SCHEMA		3
#define LT_CELLS_FIRST		(-191)
#define LT_CELLS_BUCKETS	241

/**
 * struct lt_cell - what ended in a group, in a bucket
 * @key: group and bucket, see cells.c; 0: it is free
 * @count: operations
 * @sum_ns: of their delays
 * @max_ns: the longest
 */
struct lt_cell {
	local64_t key;
	local64_t count;
	local64_t sum_ns;
	local64_t max_ns;
} __aligned(32);

/**
 * struct lt_cells_rest - what has found no cell, since the begin
 * @count: operations, by bucket
 * @sum_ns: of their delays
 * @max_ns: the longest since it was taken
 */
struct lt_cells_rest {
	u64 count[LT_CELLS_BUCKETS];
	u64 sum_ns;
	u64 max_ns;
};

/**
 * struct lt_cells_cpu - those of a CPU
 * @active: the array in which it counts; NULL: it has none yet
 * @claimed: cells that were claimed in both of them, since the begin
 * @seen: as many there were at the last turn
 * @turned: the array that lt_cells_take() is to empty, or NULL
 * @array: both
 * @rest: by dimension
 */
struct lt_cells_cpu {
	struct lt_cell *active;
	unsigned long claimed;
	unsigned long seen;
	struct lt_cell *turned;
	struct lt_cell *array;
	struct lt_cells_rest rest[LATENCY_TRACKER_DIMENSIONS];
};

/**
 * struct lt_cells - those of a tracker
 * @cpu: per CPU
 * @dimensions: of the groups
 * @mask: cells of an array, less one
 * @bytes: of all arrays
 */
struct lt_cells {
	struct lt_cells_cpu __percpu *cpu;
	unsigned int dimensions;
	u32 mask;
	size_t bytes;
};

/**
 * struct lt_cells_sum - what was counted of a group in a bucket
 * @dimension: of the group
 * @bucket: of the delays
 * @id: the group
 * @count: operations
 * @sum_ns: of their delays
 * @max_ns: the longest
 */
struct lt_cells_sum {
	unsigned int dimension;
	unsigned int bucket;
	u64 id;
	u64 count;
	u64 sum_ns;
	u64 max_ns;
};

static __always_inline unsigned int lt_cells_bucket(u64 delay_ns)
{
	/* LT_BUCKET_FIRST is alone in its four. */
	return (lt_bucket(delay_ns) + 2) >> 2;
}

int lt_cells_init(struct lt_cells *cells);
void lt_cells_destroy(struct lt_cells *cells);
bool lt_cells_count(struct lt_cells *cells, const u64 *id, u64 delay_ns);
void lt_cells_add(struct lt_cells *cells, const u64 *id, u64 delay_ns, u32 nr);
void lt_cells_count_rest(struct lt_cells *cells, u64 delay_ns);
bool lt_cells_turn(struct lt_cells *cells);
void lt_cells_take(struct lt_cells *cells,
		   void (*take)(void *arg, const struct lt_cells_sum *sum),
		   void *arg);
void lt_cells_rest(struct lt_cells *cells, unsigned int dimension,
		   struct lt_cells_rest *rest);

#endif /* _LT_CORE_CELLS_H */
