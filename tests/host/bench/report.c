// SPDX-License-Identifier: GPL-2.0-only
/* Tables for people, JSON for programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cells.h"

static const char *const work_names[] = {
	[BENCH_PRIVATE] = "private keys",
	[BENCH_SHARE] = "shared keys",
	[BENCH_HANDOVER] = "hand-over",
	[BENCH_PENDING] = "pending",
};

static const char *cpu_model(void)
{
	static char line[256];
	FILE *f = fopen("/proc/cpuinfo", "r");
	char *p = NULL;

	while (f && !p && fgets(line, sizeof(line), f))
		if (!strncmp(line, "model name", 10))
			p = strchr(line, ':');
	if (f)
		fclose(f);
	if (!p)
		return "unknown CPU";
	p[strcspn(p, "\n")] = 0;
	return p + 2;
}

static const char *liburcu(void)
{
#ifdef LIBURCU
	return LIBURCU;
#else
	return "";
#endif
}

static double load(void)
{
	double avg = 0;

	return getloadavg(&avg, 1) == 1 ? avg : 0;
}

static void head(void)
{
	struct utsname u;

	uname(&u);
	printf("%s, %u CPUs used, Linux %s, load %.1f\n", cpu_model(), nr_cpus, u.release,
	       load());
	if (*liburcu())
		printf("cds_lfht of liburcu %s, QSBR\n", liburcu());
	else
		printf("Built without liburcu: nothing of cds_lfht is shown; install liburcu-dev.\n");
	if (!bench_realtime())
		printf("No right to real-time priority: threads that bring memory back may come late.\n");
}

static const struct cell *find(const struct bench_contestant *is, enum bench_work work,
			       unsigned int threads, unsigned long pending)
{
	unsigned int i;

	for (i = 0; i < nr_cells; i++)
		if (cells[i].table->is == is && cells[i].work == work &&
		    cells[i].threads == threads && cells[i].pending == pending)
			return &cells[i];
	return NULL;
}

void report_pair(void)
{
	const struct cell *clocks = find(&bench_clocks, BENCH_PRIVATE, 1, 0);
	unsigned int i;

	head();
	printf("\n%-26s %7s %8s %14s %8s %12s\n", "a begin with its end", "ns", "spread",
	       "without clocks", "helpers", "bytes/event");
	for (i = 0; i < nr_cells; i++)
		printf("%-26s %7.1f %7.1f%% %14.1f %8.1f %12.0f\n", cells[i].table->is->name,
		       cells[i].median, cells[i].spread * 100,
		       cells[i].median - clocks->median,
		       cells[i].median - cells[i].own_median,
		       cells[i].table->is->bytes(&cells[i].table->size));
}

/* One row per number of threads. */
static void threads_table(enum bench_work work)
{
	const struct cell *cell, *base;
	unsigned int i, j, threads;
	double control;

	printf("\n%s: million pairs per second (speed-up over one thread, of the control's)\n",
	       work_names[work]);
	printf("%-8s", "threads");
	for (i = 0; i < nr_cells; i++)
		if (cells[i].work == work && cells[i].threads == 1)
			printf(" %24s", cells[i].table->is->name);
	printf("\n");
	for (i = 0; i < nr_cells; i++) {
		if (!cells[i].table->is->control || cells[i].work != work)
			continue;
		threads = cells[i].threads;
		control = 1;
		printf("%-8u", threads);
		for (j = 0; j < nr_cells; j++) {
			cell = &cells[j];
			if (cell->work != work || cell->threads != threads)
				continue;
			base = find(cell->table->is, work, 1, 0);
			if (cell->table->is->control)
				control = threads * base->median / cell->median;
			printf(" %9.1f (%5.2f, %5.2f)", threads * 1e3 / cell->median,
			       threads * base->median / cell->median,
			       threads * base->median / cell->median / control);
		}
		printf("\n");
	}
}

static void pending_table(void)
{
	unsigned int i, j;

	printf("\npending events: ns per pair (spread)\n");
	for (i = 0; i < nr_cells; i++) {
		if (cells[i].work != BENCH_PENDING || !cells[i].table->is->control)
			continue;
		if (cells[i].pending == 10) {
			printf("%-8s", "pending");
			for (j = i; j < nr_cells && cells[j].pending == 10; j++)
				printf(" %18s", cells[j].table->is->name);
			printf("\n");
		}
		printf("%-8lu", cells[i].pending);
		for (j = i; j < nr_cells && cells[j].pending == cells[i].pending; j++)
			printf(" %9.1f (%5.1f%%)", cells[j].median, cells[j].spread * 100);
		printf("\n");
	}
}

static void memory_table(void)
{
	unsigned int i;

	printf("\nbytes per event, its share of the table included (%lu events, %lu buckets):",
	       cells[0].table->size.events, cells[0].table->size.buckets);
	for (i = 0; i < nr_cells; i++)
		if (cells[i].work == BENCH_PRIVATE && cells[i].threads == 1)
			printf("\n  %-20s %4.0f", cells[i].table->is->name,
			       cells[i].table->is->bytes(&cells[i].table->size));
	printf("\nThe tracker's hold a key of up to 16 bytes, the others' one of 8.\n");
}

void report_scale(void)
{
	uint64_t waits = 0;
	unsigned int i;

	head();
	threads_table(BENCH_PRIVATE);
	threads_table(BENCH_SHARE);
	threads_table(BENCH_HANDOVER);
	pending_table();
	memory_table();
	for (i = 0; i < nr_cells; i++)
		waits += cells[i].waits;
	if (waits)
		printf("%lu times a thread had to wait for memory.\n", (unsigned long)waits);
	printf("rhashtable is the kernel's and cannot run here: \"scripts/bench pair\" measures in the kernel.\n");
}

void report_json(const char *what)
{
	const struct cell *c;
	struct utsname u;
	unsigned int i;
	FILE *f;

	if (!options.json)
		return;
	f = fopen(options.json, "w");
	bench_check(f, "the file of --json cannot be written");
	uname(&u);
	fprintf(f, "{\n  \"benchmark\": \"native-%s\",\n  \"cpu\": \"%s\",\n", what, cpu_model());
	fprintf(f, "  \"cpus\": %u,\n  \"kernel\": \"%s\",\n  \"liburcu\": \"%s\",\n", nr_cpus,
		u.release, liburcu());
	fprintf(f, "  \"load\": %.2f,\n  \"rounds\": %u,\n  \"ms\": %u,\n", load(),
		options.rounds, options.ms);
	fprintf(f, "  \"keys_per_thread\": %lu,\n  \"cells\": [\n", options.keys);
	for (i = 0; i < nr_cells; i++) {
		c = &cells[i];
		fprintf(f, "    {\"name\": \"%s\", \"work\": \"%s\", \"threads\": %u, \"pending\": %lu, ",
			c->table->is->name, work_names[c->work], c->threads, c->pending);
		fprintf(f, "\"events\": %lu, \"ns\": %.2f, \"spread\": %.4f, \"wall_ns\": %.2f, \"own_ns\": %.2f, ",
			c->table->size.events, c->median, c->spread, c->wall_median,
			c->own_median);
		fprintf(f, "\"bytes\": %.0f, \"pairs\": %lu, \"waits\": %lu}%s\n",
			c->table->is->bytes(&c->table->size), (unsigned long)c->pairs,
			(unsigned long)c->waits, i + 1 < nr_cells ? "," : "");
	}
	fprintf(f, "  ]\n}\n");
	fclose(f);
}
