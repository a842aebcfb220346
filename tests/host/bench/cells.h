/* SPDX-License-Identifier: GPL-2.0-only */
/* A benchmark is a list of cells, each measured once per round. */
#ifndef LT_BENCH_CELLS_H
#define LT_BENCH_CELLS_H

#include <pthread.h>
#include <sched.h>

#include "bench.h"

#define BENCH_MAX_CPUS	512
#define BENCH_PRIORITY	1	/* with --realtime; helpers go before */

struct options {
	unsigned int rounds;
	unsigned int ms;		/* per measurement */
	unsigned long events;		/* per thread */
	unsigned long keys;		/* per thread */
	unsigned long max_pending;
	unsigned int threads;		/* 0: as many as there are CPUs */
	bool realtime;
	const char *json;
	const struct bench_contestant *only;	/* of "pair", for a profiler */
};

/* An instance of a contestant. */
struct table {
	const struct bench_contestant *is;
	struct bench_size size;
	void *table;
	uint64_t next;		/* of BENCH_PENDING: goes on where it was */
};

struct cell {
	struct table *table;
	enum bench_work work;
	unsigned int threads;
	unsigned long pending;
	double *ns;		/* per pair and CPU, one per round */
	double *wall_ns;
	double *own_ns;		/* without the helpers */
	double median, spread, wall_median, own_median;
	uint64_t pairs, lost, waits;
};

struct result {
	double own_ns;		/* CPU time of the threads at work */
	double helpers_ns;	/* of those that bring memory back */
	double wall_ns;
	uint64_t pairs, lost, waits;
};

extern struct options options;
extern unsigned int nr_cpus;
extern struct bench_op *private_ops, *shared_ops;

/* ---- main.c ---- */

double bench_cpu_ns(pthread_t thread);
struct result measure(const struct cell *cell, unsigned int ms);

/* ---- cells.c ---- */

extern struct cell *cells;
extern unsigned int nr_cells;

const struct bench_contestant *contestant(const char *name);
struct bench_size size_for(unsigned long events, unsigned int threads);
void make_ops(void);
void bench_pair(void);
void bench_scale(void);

/* ---- report.c ---- */

void report_pair(void);
void report_scale(void);
void report_json(const char *what);

/* ---- native.c ---- */

void bench_machine(unsigned int threads);
void bench_confine(const cpu_set_t *cpus);
double bench_helpers_ns(void);
bool bench_realtime(void);

#endif /* LT_BENCH_CELLS_H */
