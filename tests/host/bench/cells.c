// SPDX-License-Identifier: GPL-2.0-only
/* What is measured: the cells of "pair" and of "scale", in random order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"

#define MAX_CELLS	512
#define MAX_TABLES	128

struct cell *cells;
unsigned int nr_cells;
struct bench_op *private_ops, *shared_ops;

static struct table tables[MAX_TABLES];
static unsigned int nr_tables;

static const struct bench_contestant *const all[] = {
	&bench_clocks, &bench_slot, &bench_tracker, &bench_tracker_unique,
	&bench_tracker_priv,
#ifdef LIBURCU
	&bench_urcu, &bench_urcu_unique,
#endif
	&bench_spin,
};

/* Those of which curves are drawn. */
static const struct bench_contestant *const main_ones[] = {
	&bench_slot, &bench_tracker,
#ifdef LIBURCU
	&bench_urcu,
#endif
	&bench_spin,
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

const struct bench_contestant *contestant(const char *name)
{
	unsigned int i;

	for (i = 0; i < COUNT(all); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	fprintf(stderr, "lt_bench: there is no '%s'; there are:\n", name);
	for (i = 0; i < COUNT(all); i++)
		fprintf(stderr, "  %s\n", all[i]->name);
	exit(1);
}

/* A power of two, for all to have as many buckets as events. */
struct bench_size size_for(unsigned long events, unsigned int threads)
{
	struct bench_size size = {
		.threads = threads, .events = 1, .slots = threads * BENCH_RING,
	};

	while (size.events < events)
		size.events *= 2;
	size.buckets = size.events;
	if (size.slots < BENCH_SHARED)
		size.slots = BENCH_SHARED;
	return size;
}

void make_ops(void)
{
	unsigned long i, nr = nr_cpus * options.keys;

	private_ops = bench_alloc(nr, sizeof(*private_ops));
	shared_ops = bench_alloc(BENCH_SHARED, sizeof(*shared_ops));
	for (i = 0; i < nr; i++) {
		private_ops[i].key = bench_mix(i + 1);
		private_ops[i].slot = i / options.keys;
	}
	for (i = 0; i < BENCH_SHARED; i++) {
		shared_ops[i].key = bench_mix(nr + i + 1);
		shared_ops[i].slot = i;
	}
}

static struct table *add_table(const struct bench_contestant *is, struct bench_size size)
{
	struct table *table = &tables[nr_tables++];

	bench_check(nr_tables <= MAX_TABLES, "too many tables");
	table->is = is;
	table->size = size;
	table->table = is->create(&size);
	return table;
}

static void add_cell(struct table *table, enum bench_work work, unsigned int threads,
		     unsigned long pending)
{
	struct cell *cell = &cells[nr_cells++];

	bench_check(nr_cells <= MAX_CELLS, "too many measurements: take fewer --threads");
	cell->table = table;
	cell->work = work;
	cell->threads = threads;
	cell->pending = pending;
	cell->ns = bench_alloc(options.rounds, sizeof(double));
	cell->wall_ns = bench_alloc(options.rounds, sizeof(double));
	cell->own_ns = bench_alloc(options.rounds, sizeof(double));
}

static void shuffle(unsigned int *order)
{
	static uint64_t state;
	unsigned int i, j, tmp;

	for (i = 0; i < nr_cells; i++)
		order[i] = i;
	for (i = nr_cells - 1; i; i--) {
		j = bench_mix(++state) % (i + 1);
		tmp = order[i];
		order[i] = order[j];
		order[j] = tmp;
	}
}

static void one(struct cell *cell, unsigned int round)
{
	struct result r = measure(cell, options.ms);

	bench_check(r.pairs, "a thread did nothing at all: take more --ms");
	cell->ns[round] = (r.own_ns + r.helpers_ns) / r.pairs;
	cell->own_ns[round] = r.own_ns / r.pairs;
	cell->wall_ns[round] = r.wall_ns / r.pairs * cell->threads;
	cell->pairs += r.pairs;
	cell->lost += r.lost;
	cell->waits += r.waits;
	if (r.lost)
		fprintf(stderr, "lt_bench: %s: %lu ends found nothing: this is a bug\n",
			cell->table->is->name, (unsigned long)r.lost);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sum_up(struct cell *cell)
{
	unsigned int n = options.rounds;

	qsort(cell->ns, n, sizeof(double), by_size);
	qsort(cell->wall_ns, n, sizeof(double), by_size);
	qsort(cell->own_ns, n, sizeof(double), by_size);
	cell->median = cell->ns[n / 2];
	cell->own_median = cell->own_ns[n / 2];
	cell->wall_median = cell->wall_ns[n / 2];
	/* Of the middle half. */
	cell->spread = (cell->ns[n * 3 / 4] - cell->ns[n / 4]) / cell->median;
}

static void run_all(void)
{
	unsigned int *order = bench_alloc(nr_cells, sizeof(*order)), i, round;

	fprintf(stderr, "lt_bench: %u measurements, %u rounds of %u ms each, about %.0f s\n",
		nr_cells, options.rounds, options.ms,
		nr_cells * (options.rounds + 1) *
			(options.ms * (options.realtime ? 8 : 2) + 0.5) / 1000);
	/* Fill the tables, touch the memory. */
	for (i = 0; i < nr_cells; i++)
		measure(&cells[i], cells[i].work == BENCH_PENDING ? 0 : options.ms);
	for (round = 0; round < options.rounds; round++) {
		shuffle(order);
		for (i = 0; i < nr_cells; i++)
			one(&cells[order[i]], round);
		if (isatty(2))
			fprintf(stderr, "\rlt_bench: round %u of %u ", round + 1,
				options.rounds);
	}
	if (isatty(2))
		fprintf(stderr, "\n");
	for (i = 0; i < nr_cells; i++)
		sum_up(&cells[i]);
	free(order);
}

static void end_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_tables; i++)
		tables[i].is->destroy(tables[i].table);
}

void bench_pair(void)
{
	unsigned int i;

	cells = bench_alloc(MAX_CELLS, sizeof(*cells));
	for (i = 0; i < COUNT(all); i++)
		if (!options.only || options.only == all[i] || !i)
			add_cell(add_table(all[i], size_for(options.events, 1)),
				 BENCH_PRIVATE, 1, 0);
	run_all();
	report_pair();
	report_json("pair");
	end_all();
}

/* A table of its own, so that each thread has as much memory as another time. */
static void add_threads(const struct bench_contestant *is, unsigned int threads)
{
	struct table *table = add_table(is, size_for(options.events * threads, threads));

	add_cell(table, BENCH_PRIVATE, threads, 0);
	if (is->loop[BENCH_SHARE])
		add_cell(table, BENCH_SHARE, threads, 0);
	if (is->loop[BENCH_HANDOVER])
		add_cell(table, BENCH_HANDOVER, threads, 0);
}

static void add_all_threads(const struct bench_contestant *is)
{
	unsigned int threads;

	for (threads = 1; threads < nr_cpus; threads *= 2)
		add_threads(is, threads);
	add_threads(is, nr_cpus);
}

void bench_scale(void)
{
	static const unsigned long pending[] = { 10, 1000, 100000, 1000000 };
	struct bench_size size;
	unsigned int i, j;

	cells = bench_alloc(MAX_CELLS, sizeof(*cells));
	for (i = 0; i < COUNT(main_ones); i++)
		add_all_threads(main_ones[i]);
	add_all_threads(&bench_tracker_each);
	for (j = 0; j < COUNT(pending); j++) {
		if (pending[j] > options.max_pending)
			break;
		/* Less than half of the events is in use: the pool isn't low. */
		size = size_for(2 * pending[j], 1);
		if (size.events < options.events)
			size = size_for(options.events, 1);
		size.slots = pending[j];
		for (i = 0; i < COUNT(main_ones); i++)
			add_cell(add_table(main_ones[i], size), BENCH_PENDING, 1, pending[j]);
	}
	run_all();
	report_scale();
	report_json("scale");
	end_all();
}
