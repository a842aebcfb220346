// SPDX-License-Identifier: GPL-2.0-only
/*
 * Natively: what a begin with its end costs in the tracker and in others, in one
 * process and in turns, on pinned threads. See "scripts/bench --help".
 *
 * What is counted is CPU time, that of threads which bring memory back included:
 * other processes of the machine do not count. With n threads all of it happens
 * on n CPUs.
 */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"

struct options options = {
	.rounds = 21, .ms = 20, .events = 16384, .keys = 16, .max_pending = 1000000,
};
cpu_set_t all_cpus;
static int cpus[BENCH_MAX_CPUS];
unsigned int nr_cpus;

static pthread_barrier_t barrier;
static bool stop;

void bench_check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "lt_bench: %s\n", what);
	exit(1);
}

void *bench_alloc(size_t n, size_t size)
{
	size_t bytes = n * size;
	void *p = NULL;

	bench_check(!posix_memalign(&p, 128, bytes),
		    "no memory: take a smaller --pending or --events");
	memset(p, 0, bytes);
	return p;
}

void bench_free(void *p)
{
	free(p);
}

void bench_wait(void)
{
	sched_yield();
}

/* Not the clock of the process, which learns of other CPUs at their next tick. */
double bench_cpu_ns(pthread_t thread)
{
	struct timespec ts;
	clockid_t clock;

	bench_check(!pthread_getcpuclockid(thread, &clock) && !clock_gettime(clock, &ts),
		    "the CPU time of a thread cannot be read");
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* ---- the CPUs, one of each core first ---- */

static int first_sibling(int cpu)
{
	char path[96];
	int first = cpu;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%d", &first) != 1)
			first = cpu;
		fclose(f);
	}
	return first;
}

static void find_cpus(void)
{
	int cpu, pass;

	sched_getaffinity(0, sizeof(all_cpus), &all_cpus);
	for (pass = 0; pass < 2; pass++)
		for (cpu = 0; cpu < CPU_SETSIZE && nr_cpus < BENCH_MAX_CPUS; cpu++)
			if (CPU_ISSET(cpu, &all_cpus) &&
			    (first_sibling(cpu) == cpu) == !pass)
				cpus[nr_cpus++] = cpu;
	bench_check(nr_cpus, "no CPU may be used");
}

static void pin(unsigned int nr)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus[nr], &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* The helpers use the CPUs of the threads, and no others. */
static void confine(unsigned int threads)
{
	cpu_set_t set;
	unsigned int i;

	CPU_ZERO(&set);
	for (i = 0; i < threads; i++)
		CPU_SET(cpus[i], &set);
	bench_confine(&set);
}

/* ---- one measurement ---- */

/* Not interrupted by other processes, which get their turn in between. */
static void realtime(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	bench_check(!options.realtime ||
		    !pthread_setschedparam(pthread_self(), SCHED_FIFO, &param),
		    "no right to --realtime: run it as root");
}

struct run {
	struct bench_thread t;
	const struct cell *cell;
	pthread_t thread;
};

static void *run_thread(void *arg)
{
	struct run *run = arg;
	struct bench_thread *t = &run->t;
	bench_loop loop = t->is->loop[run->cell->work];

	pin(t->nr);
	realtime(BENCH_PRIORITY);
	pthread_barrier_wait(&barrier);
	t->is->enter(t);
	pthread_barrier_wait(&barrier);
	loop(t);
	t->is->leave(t);
	pthread_barrier_wait(&barrier);
	if (t->from) {
		/* What is on its way when all have stopped. */
		t->is->enter(t);
		t->budget = 0;
		loop(t);
		t->is->leave(t);
	}
	return NULL;
}

static void set_up(struct run *run, const struct cell *cell, unsigned int nr,
		   struct bench_ring *rings)
{
	struct bench_thread *t = &run->t;

	memset(run, 0, sizeof(*run));
	run->cell = cell;
	t->is = cell->table->is;
	t->table = cell->table->table;
	t->stop = &stop;
	t->nr = nr;
	t->budget = UINT64_MAX;
	t->pending = cell->pending;
	t->next = nr ? 0 : cell->table->next;
	if (cell->work == BENCH_SHARE) {
		t->ops = shared_ops;
		t->mask = BENCH_SHARED - 1;
	} else {
		t->ops = private_ops + nr * options.keys;
		t->mask = options.keys - 1;
	}
	if (cell->work == BENCH_HANDOVER) {
		t->to = &rings[nr];
		t->from = &rings[(nr + cell->threads - 1) % cell->threads];
	}
}

/* Add @sign times what has been done up to now. */
static void look(const struct run *runs, unsigned int threads, int sign, struct result *r)
{
	const struct bench_thread *t;
	unsigned int i;

	r->wall_ns += sign * (double)bench_clock();
	for (i = 0; i < threads; i++) {
		t = &runs[i].t;
		r->own_ns += sign * bench_cpu_ns(runs[i].thread);
		r->pairs += sign * __atomic_load_n(&t->pairs, __ATOMIC_RELAXED);
		r->waits += sign * __atomic_load_n(&t->waits, __ATOMIC_RELAXED);
	}
	r->helpers_ns += sign * bench_helpers_ns();
}

/*
 * For so long, after as long to get the caches warm: what another CPU has used last
 * is slow to come. If it is 0, no longer than it takes to fill the table.
 */
struct result measure(const struct cell *cell, unsigned int ms)
{
	struct bench_ring *rings = bench_alloc(cell->threads, sizeof(*rings));
	struct run *runs = bench_alloc(cell->threads, sizeof(*runs));
	struct result r = { 0 };
	unsigned int i;

	if (options.realtime)
		usleep(6000 * ms);
	confine(cell->threads);
	stop = !ms;
	pthread_barrier_init(&barrier, NULL, cell->threads + 1);
	for (i = 0; i < cell->threads; i++) {
		set_up(&runs[i], cell, i, rings);
		bench_check(!pthread_create(&runs[i].thread, NULL, run_thread, &runs[i]),
			    "a thread cannot be made");
	}
	/* The first: all are on their CPUs. */
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	if (ms) {
		usleep(1000 * ms);
		look(runs, cell->threads, -1, &r);
		usleep(1000 * ms);
		look(runs, cell->threads, 1, &r);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < cell->threads; i++) {
		pthread_join(runs[i].thread, NULL);
		r.lost += runs[i].t.lost;
	}
	if (cell->work == BENCH_PENDING)
		cell->table->next = runs[0].t.next;
	pthread_barrier_destroy(&barrier);
	free(runs);
	free(rings);
	return r;
}

/*
 * For a program that counts instructions: so many pairs in a function of their
 * own, in one thread, with so much memory that none has to come back.
 */
__attribute__((__noinline__)) void bench_counted(struct run *run)
{
	run->t.is->loop[run->cell->work](&run->t);
}

static void count(const char *name, unsigned long pairs)
{
	const struct bench_contestant *is = contestant(name);
	struct bench_size size = size_for(options.max_pending + pairs, 1);
	struct table table = { .is = is };
	struct cell cell = {
		.table = &table, .work = BENCH_PENDING, .threads = 1,
		.pending = options.max_pending,
	};
	struct run run;

	size.slots = options.max_pending;
	table.table = is->create(&size);
	set_up(&run, &cell, 0, NULL);
	is->enter(&run.t);
	stop = true;
	run.t.is->loop[BENCH_PENDING](&run.t);
	stop = false;
	run.t.budget = pairs;
	bench_counted(&run);
	bench_check(!run.t.lost && !run.t.waits, "pairs were lost");
	printf("%lu\n", (unsigned long)run.t.pairs);
	/* Not torn down: that would take longer than what is counted. */
	fflush(NULL);
	_exit(0);
}

/* ---- the command line ---- */

static unsigned long number(const char *option, const char *text, unsigned long min,
			    unsigned long max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < min || n > max) {
		fprintf(stderr, "lt_bench: %s takes a number from %lu to %lu\n", option,
			min, max);
		exit(1);
	}
	return n;
}

static void parse(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "rounds", 1, NULL, 'r' }, { "ms", 1, NULL, 'm' },
		{ "events", 1, NULL, 'e' }, { "keys", 1, NULL, 'k' },
		{ "pending", 1, NULL, 'p' }, { "threads", 1, NULL, 't' },
		{ "realtime", 0, NULL, 'R' }, { "json", 1, NULL, 'j' }, { "only", 1, NULL, 'o' }, { NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (c) {
		case 'r': options.rounds = number("--rounds", optarg, 1, 10000); break;
		case 'm': options.ms = number("--ms", optarg, 1, 10000); break;
		case 'e': options.events = number("--events", optarg, 1024, 1 << 20); break;
		case 'k': options.keys = number("--keys", optarg, 1, 1 << 16); break;
		case 'p': options.max_pending = number("--pending", optarg, 1, 1 << 22); break;
		case 't': options.threads = number("--threads", optarg, 1, BENCH_MAX_CPUS); break;
		case 'R': options.realtime = true; break;
		case 'o': options.only = contestant(optarg); break;
		case 'j': options.json = optarg; break;
		default: exit(1);
		}
	}
	bench_check(!(options.keys & (options.keys - 1)), "--keys takes a power of two");
}

int main(int argc, char **argv)
{
	const char *what;

	parse(argc, argv);
	what = argv[optind] ?: "";
	find_cpus();
	if (options.threads && options.threads < nr_cpus)
		nr_cpus = options.threads;
	bench_machine(nr_cpus);
	make_ops();
	realtime(BENCH_PRIORITY + 2);
	if (!strcmp(what, "pair")) {
		bench_pair();
	} else if (!strcmp(what, "scale")) {
		bench_scale();
	} else if (!strcmp(what, "count") && argc == optind + 3) {
		count(argv[optind + 1], number("count", argv[optind + 2], 64, 1 << 22));
	} else {
		fprintf(stderr, "Usage: lt_bench [OPTION...] pair | scale | count NAME PAIRS\n");
		return 1;
	}
	return 0;
}
