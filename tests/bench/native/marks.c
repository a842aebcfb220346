// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a mark costs a program: a begin with its end, with ordinary memory in place of what the
 * kernel shares. Beside it, the two looks at the clock that are in it, and a pair of tracepoints
 * of LTTng-UST, if there are some; marks.sh records them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "user/latency_tracker_user.h"

#ifdef HAVE_LTTNG_UST
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "marks_lttng.h"
#endif

#define PAIRS	100000

static struct lt_mark_head head = { .version = LT_MARK_VERSION, .least_ns = ~0ULL };
static struct lt_mark_thread area __attribute__((__aligned__(4096)));
static volatile uint64_t seen;

static void clocks(uint64_t id)
{
	seen = bench_clock();
	seen = bench_clock();
}

static void mark(uint64_t id)
{
	lt_mark_begin(1, id);
	lt_mark_end(1, id);
}

static void nested(uint64_t id)
{
	lt_mark_begin(2, id);
	mark(id);
	mark(id);
	mark(id);
	lt_mark_end(2, id);
}

static void tracepoints(uint64_t id)
{
#ifdef HAVE_LTTNG_UST
	lttng_ust_tracepoint(lt_bench, begin, 1, id);
	lttng_ust_tracepoint(lt_bench, end, 1, id);
#endif
}

static const struct row {
	const char *name;
	void (*pair)(uint64_t id);
	unsigned int pairs;
	uint32_t on;
	uint64_t in_ns;
} rows[] = {
	{ "two clock reads", clocks, 1, 0, 0 },
	{ "mark", mark, 1, 1, 0 },
	{ "mark, with CPU time", mark, 1, 1, 1 },
	{ "mark, three in one", nested, 4, 1, 1 },
	{ "mark, off", mark, 1, 0, 0 },
#ifdef HAVE_LTTNG_UST
	{ "LTTng-UST, two tracepoints", tracepoints, 1, 0, 0 },
#endif
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))

/* ns of this thread's CPU time per pair. */
static double measure(const struct row *row)
{
	struct timespec from, to;
	uint64_t i;

	head.on = row->on;
	area.in_ns = row->in_ns;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (i = 0; i < PAIRS; i++)
		row->pair(i);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
	       PAIRS / row->pairs;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const struct row *row, double *ns, unsigned int rounds)
{
	qsort(ns, rounds, sizeof(*ns), compare);
	printf("%-28s %7.1f %8.1f%%\n", row->name, ns[rounds / 2],
	       100 * (ns[rounds * 3 / 4] - ns[rounds / 4]) / ns[rounds / 2]);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 21, i, round;
	double *ns = calloc(ROWS * (rounds ? rounds : 1), sizeof(*ns));

	if (!rounds || !ns)
		return 1;
	lt_mark_head_1 = &head;
	lt_mark_self_1.area = &area;
	/* In turns; the first round warms the caches. */
	for (round = 0; round <= rounds; round++)
		for (i = 0; i < ROWS; i++)
			ns[i * rounds + (round ? round - 1 : 0)] = measure(&rows[i]);
	printf("%-28s %7s %9s\n", "a begin with its end", "ns", "spread");
	for (i = 0; i < ROWS; i++)
		print(&rows[i], &ns[i * rounds], rounds);
	if (!area.ended || area.dropped) {
		fprintf(stderr, "%u were counted, %u were dropped\n", area.ended, area.dropped);
		return 1;
	}
	return 0;
}
