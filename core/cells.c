// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of operations by group and bucket. See cells.h.
 *
 * A key is the id of the group, a bit for the dimension, and eight for the bucket, from 1
 * on, so that no key is 0. A group with an id that is too long for that has no cell.
 */
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>

#include "core/cells.h"

#define LT_CELLS_SHIFT		9
/* Cells that are looked at for one operation: eight lines. */
#define LT_CELLS_PROBES		16
/* Of an array. All arrays of a machine with up to 16 CPUs have a megabyte. */
#define LT_CELLS_LEAST		1024U
#define LT_CELLS_MOST		8192U
#define LT_CELLS_BYTES		BIT(20)

/* The maximum is written by other contexts of this CPU, too. */
static noinline notrace void raise_local(local64_t *max_ns, u64 delay_ns)
{
	u64 old = local64_read(max_ns), was;

	while (old < delay_ns) {
		was = local64_cmpxchg(max_ns, old, delay_ns);
		if (was == old)
			break;
		old = was;
	}
}

/* A cell was claimed. Is it the one with which half of the array is? */
static noinline notrace bool is_half(struct lt_cells *cells)
{
	unsigned long claimed = this_cpu_inc_return(cells->cpu->claimed);

	return claimed - this_cpu_read(cells->cpu->seen) == cells->mask / 2;
}

/* The cell of @key, claimed if it is new; NULL: there is no room. */
static __always_inline struct lt_cell *find_cell(struct lt_cells *cells, u64 key,
						 bool *half)
{
	struct lt_cell *array = this_cpu_read(cells->cpu->active), *cell;
	u32 at = (key * GOLDEN_RATIO_64) >> 32, n;
	u64 is;

	if (unlikely(!array))
		return NULL;
	for (n = 0; n < LT_CELLS_PROBES; n++) {
		cell = &array[(at + n) & cells->mask];
		is = local64_read(&cell->key);
		if (likely(is == key))
			return cell;
		if (is)
			continue;
		is = local64_cmpxchg(&cell->key, 0, key);
		if (!is) {
			*half = is_half(cells);
			return cell;
		}
		/* An interrupt has just claimed it. */
		if (is == key)
			return cell;
	}
	return NULL;
}

/* An operation has no cell. */
static noinline notrace void count_rest(struct lt_cells *cells,
					unsigned int dimension, u64 delay_ns)
{
	struct lt_cells_rest *rest;
	u64 old, was;

	preempt_disable_notrace();
	rest = &this_cpu_ptr(cells->cpu)->rest[dimension];
	/*
	 * First, so that a sum which has the operation has its delay, too: pairs with the
	 * xchg() of lt_cells_rest().
	 */
	old = READ_ONCE(rest->max_ns);
	while (old < delay_ns) {
		was = cmpxchg(&rest->max_ns, old, delay_ns);
		if (was == old)
			break;
		old = was;
	}
	this_cpu_inc(cells->cpu->rest[dimension].count[lt_cells_bucket(delay_ns)]);
	this_cpu_add(cells->cpu->rest[dimension].sum_ns, delay_ns);
	preempt_enable_notrace();
}

/**
 * lt_cells_count_rest() - count an operation that can't have cells
 * @cells: where
 * @delay_ns: how long it took
 *
 * Context: Any. Needs no RCU.
 */
void lt_cells_count_rest(struct lt_cells *cells, u64 delay_ns)
{
	unsigned int i;

	for (i = 0; i < cells->dimensions; i++)
		count_rest(cells, i, delay_ns);
}

/* In one dimension. */
static __always_inline bool count_one(struct lt_cells *cells, u64 key,
				      u64 delay_ns)
{
	struct lt_cell *cell;
	bool half = false;

	cell = find_cell(cells, key, &half);
	if (unlikely(!cell)) {
		count_rest(cells, key >> 8 & 1, delay_ns);
		return false;
	}
	local64_inc(&cell->count);
	local64_add(delay_ns, &cell->sum_ns);
	if (unlikely((u64)local64_read(&cell->max_ns) < delay_ns))
		raise_local(&cell->max_ns, delay_ns);
	return half;
}

/**
 * lt_cells_count() - count an operation
 * @cells: where
 * @id: of its groups, by dimension, below LATENCY_TRACKER_GROUP_MAX
 * @delay_ns: how long it took
 *
 * Context: Any; in a read-side section with preemption off, which the grace period between
 * lt_cells_turn() and lt_cells_take() waits for.
 * Return: true if the array of this CPU has just become half full: it is time for a turn.
 */
notrace bool lt_cells_count(struct lt_cells *cells, const u64 *id, u64 delay_ns)
{
	u64 bucket = lt_cells_bucket(delay_ns) + 1;
	bool half = false;
	unsigned int i;

	RCU_LOCKDEP_WARN(!rcu_read_lock_sched_held(), "not in a section");
	for (i = 0; i < cells->dimensions; i++) {
		if (likely(id[i] < LATENCY_TRACKER_GROUP_MAX))
			half |= count_one(cells, id[i] << LT_CELLS_SHIFT |
						 i << 8 | bucket, delay_ns);
		else
			count_rest(cells, i, delay_ns);
	}
	return half;
}

/**
 * lt_cells_add() - count more operations, like the one before
 * @cells: where lt_cells_count() has just counted one, in the same section
 * @id: as there
 * @delay_ns: as there
 * @nr: how many more
 *
 * Context: As lt_cells_count().
 */
void lt_cells_add(struct lt_cells *cells, const u64 *id, u64 delay_ns, u32 nr)
{
	u64 bucket = lt_cells_bucket(delay_ns) + 1;
	struct lt_cells_cpu __percpu *cpu = cells->cpu;
	struct lt_cell *cell;
	unsigned int i;
	bool half;

	RCU_LOCKDEP_WARN(!rcu_read_lock_sched_held(), "not in a section");
	for (i = 0; i < cells->dimensions; i++) {
		cell = NULL;
		if (id[i] < LATENCY_TRACKER_GROUP_MAX)
			cell = find_cell(cells, id[i] << LT_CELLS_SHIFT | i << 8 | bucket,
					 &half);
		if (cell) {
			local64_add(nr, &cell->count);
			local64_add(nr * delay_ns, &cell->sum_ns);
		} else {
			this_cpu_add(cpu->rest[i].count[lt_cells_bucket(delay_ns)], nr);
			this_cpu_add(cpu->rest[i].sum_ns, nr * delay_ns);
		}
	}
}

/* Without arrays, its CPU counts in the rest; the next turn tries again. */
static void make_arrays(struct lt_cells *cells, int cpu)
{
	struct lt_cells_cpu *of = per_cpu_ptr(cells->cpu, cpu);
	size_t bytes = 2 * (cells->mask + 1) * sizeof(*of->array);

	of->array = kvzalloc_node(bytes, GFP_KERNEL | __GFP_NOWARN,
				  cpu_to_node(cpu));
	if (!of->array)
		return;
	WRITE_ONCE(cells->bytes, cells->bytes + bytes);
	/* Pairs with the address dependency in find_cell(). */
	smp_store_release(&of->active, of->array);
}

/* From now on @of counts in its other array. */
static void turn_cpu(struct lt_cells_cpu *of, u32 mask)
{
	struct lt_cell *active = of->active;

	/* Pairs with the this_cpu_read() in is_half(), for which any of both will do. */
	WRITE_ONCE(of->seen, READ_ONCE(of->claimed));
	of->turned = active;
	/*
	 * That one is empty: the store is behind those of lt_cells_take(). Pairs with the
	 * address dependency in find_cell().
	 */
	smp_store_release(&of->active, active == of->array ?
				       of->array + mask + 1 : of->array);
}

/**
 * lt_cells_turn() - let the CPUs count in their other arrays
 * @cells: one caller at a time
 *
 * A CPU that has come since has its arrays from here on. The caller waits for a grace
 * period, then calls lt_cells_take().
 *
 * Context: Task, may sleep.
 * Return: false if nothing was counted since the last turn: there is nothing to wait for.
 */
bool lt_cells_turn(struct lt_cells *cells)
{
	struct lt_cells_cpu *of;
	bool is_any = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		of = per_cpu_ptr(cells->cpu, cpu);
		if (!of->array && cpu_online(cpu))
			make_arrays(cells, cpu);
		/* A claim that comes now is seen at the next turn. */
		if (of->seen == READ_ONCE(of->claimed))
			continue;
		turn_cpu(of, cells->mask);
		is_any = true;
	}
	return is_any;
}

static void take_cell(struct lt_cell *cell,
		      void (*take)(void *arg, const struct lt_cells_sum *sum),
		      void *arg)
{
	u64 key = local64_read(&cell->key);
	struct lt_cells_sum sum = {
		.dimension = key >> 8 & 1,
		.bucket = (key & 0xff) - 1,
		.id = key >> LT_CELLS_SHIFT,
		.count = local64_read(&cell->count),
		.sum_ns = local64_read(&cell->sum_ns),
		.max_ns = local64_read(&cell->max_ns),
	};

	if (!key)
		return;
	take(arg, &sum);
	memset(cell, 0, sizeof(*cell));
}

/**
 * lt_cells_take() - read and empty the arrays that were turned away from
 * @cells: a grace period has passed since lt_cells_turn()
 * @take: called for each cell
 * @arg: for @take
 *
 * Context: Task, may sleep.
 */
void lt_cells_take(struct lt_cells *cells,
		   void (*take)(void *arg, const struct lt_cells_sum *sum),
		   void *arg)
{
	struct lt_cells_cpu *of;
	u32 i;
	int cpu;

	for_each_possible_cpu(cpu) {
		of = per_cpu_ptr(cells->cpu, cpu);
		if (!of->turned)
			continue;
		for (i = 0; i <= cells->mask; i++)
			take_cell(&of->turned[i], take, arg);
		of->turned = NULL;
		cond_resched();
	}
}

/**
 * lt_cells_rest() - sum up what has found no cell
 * @cells: the cells
 * @dimension: of what
 * @rest: result: counts and sum since the begin, the maximum since the last call
 *
 * Each CPU is read at its own moment.
 *
 * Context: Task, may sleep.
 */
void lt_cells_rest(struct lt_cells *cells, unsigned int dimension,
		   struct lt_cells_rest *rest)
{
	struct lt_cells_rest *of;
	unsigned int i;
	int cpu;

	memset(rest, 0, sizeof(*rest));
	for_each_possible_cpu(cpu) {
		of = &per_cpu_ptr(cells->cpu, cpu)->rest[dimension];
		for (i = 0; i < LT_CELLS_BUCKETS; i++)
			rest->count[i] += READ_ONCE(of->count[i]);
		rest->sum_ns += READ_ONCE(of->sum_ns);
		/* Behind the counts: pairs with the cmpxchg() of lt_cells_count_rest(). */
		rest->max_ns = max(rest->max_ns, xchg(&of->max_ns, 0));
		cond_resched();
	}
}

/**
 * lt_cells_init() - cells for the CPUs that are there
 * @cells: all 0, but for the number of dimensions
 *
 * Context: Task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lt_cells_init(struct lt_cells *cells)
{
	u32 fit = LT_CELLS_BYTES / (2 * sizeof(struct lt_cell)) / num_online_cpus();

	cells->cpu = alloc_percpu(struct lt_cells_cpu);
	if (!cells->cpu)
		return -ENOMEM;
	cells->mask = clamp_t(u32, roundup_pow_of_two(fit + 1) / 2, LT_CELLS_LEAST,
			      LT_CELLS_MOST) - 1;
	cells->bytes = num_possible_cpus() * sizeof(struct lt_cells_cpu);
	lt_cells_turn(cells);
	return 0;
}

/**
 * lt_cells_destroy() - free them
 * @cells: nothing is counted any more
 *
 * Context: Task, may sleep.
 */
void lt_cells_destroy(struct lt_cells *cells)
{
	int cpu;

	if (!cells->cpu)
		return;
	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(cells->cpu, cpu)->array);
	free_percpu(cells->cpu);
}
