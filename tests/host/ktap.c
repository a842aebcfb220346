// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"

#define MAX_PRINTED	5

double ktap_seconds = 5;
unsigned int ktap_nr;

static bool fail_fast;
static unsigned int failures;
static char note[256];
static const char *skip;

void ktap_fail(const char *file, int line, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) >= MAX_PRINTED)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("# %s:%d: %s\n", file, line, text);
	/* What the other threads do after a broken promise may well crash. */
	fflush(stdout);
	if (fail_fast)
		_exit(1);
}

bool ktap_failed(void)
{
	return __atomic_load_n(&failures, __ATOMIC_RELAXED);
}

void ktap_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(note, sizeof(note), fmt, ap);
	va_end(ap);
}

void ktap_skip(const char *why)
{
	skip = why;
}

static void print_usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [--time SECONDS] [--seed N] [--only TEST] [--fail-fast]\n",
		name);
	exit(2);
}

int ktap_main(int argc, char **argv, const struct ktap_test *tests,
	      unsigned int nr)
{
	static const struct option options[] = {
		{ "time", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "only", required_argument, NULL, 'o' },
		{ "fail-fast", no_argument, NULL, 'f' },
		{ }
	};
	const char *only = NULL;
	unsigned int i, n = 0, bad = 0;
	struct timespec ts;
	int opt;

	clock_gettime(CLOCK_REALTIME, &ts);
	host_seed = (u64)ts.tv_nsec / 1000 + (u64)ts.tv_sec;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 't':
			ktap_seconds = atof(optarg);
			break;
		case 's':
			host_seed = strtoull(optarg, NULL, 0);
			break;
		case 'o':
			only = optarg;
			break;
		case 'f':
			fail_fast = true;
			break;
		default:
			print_usage(argv[0]);
		}
	}
	if (optind != argc || ktap_seconds <= 0)
		print_usage(argv[0]);
	for (i = 0; i < nr; i++)
		n += !only || !strcmp(only, tests[i].name);
	if (!n)
		print_usage(argv[0]);
	ktap_nr = n;
	host_init(8, 2);
	printf("KTAP version 1\n1..%u\n# seed %llu\n", n,
	       (unsigned long long)host_seed);
	for (i = 0, n = 0; i < nr; i++) {
		if (only && strcmp(only, tests[i].name))
			continue;
		failures = 0;
		note[0] = 0;
		skip = NULL;
		tests[i].run();
		bad += ktap_failed();
		printf("%s %u %s%s%s\n", ktap_failed() ? "not ok" : "ok", ++n,
		       tests[i].name, skip ? " # SKIP " : "", skip ?: "");
		if (note[0])
			printf("# %s: %s\n", tests[i].name, note);
		fflush(stdout);
	}
	return bad ? 1 : 0;
}

/* ---- threads ---- */

static pthread_barrier_t start;
static bool stop;

struct stress_arg {
	const struct stress_thread *thread;
	unsigned int id;
};

static void *stress_main(void *data)
{
	struct stress_arg *arg = data;
	const struct stress_thread *t = arg->thread;

	host_thread_enter(t->cpu);
	pthread_barrier_wait(&start);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && !ktap_failed())
		t->step(arg->id);
	if (t->end)
		t->end(arg->id);
	host_thread_leave();
	return NULL;
}

void stress_run(const struct stress_thread *threads, unsigned int nr,
		double seconds)
{
	struct stress_arg args[HOST_MAX_THREADS];
	pthread_t ids[HOST_MAX_THREADS];
	struct timespec ts = { .tv_nsec = 10000000 };
	unsigned int i;

	BUG_ON(nr >= HOST_MAX_THREADS - 2);
	stop = false;
	pthread_barrier_init(&start, NULL, nr + 1);
	for (i = 0; i < nr; i++) {
		args[i].thread = &threads[i];
		args[i].id = i;
		BUG_ON(pthread_create(&ids[i], NULL, stress_main, &args[i]));
	}
	pthread_barrier_wait(&start);
	for (; seconds > 0 && !ktap_failed(); seconds -= 0.01)
		nanosleep(&ts, NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < nr; i++)
		pthread_join(ids[i], NULL);
	pthread_barrier_destroy(&start);
}
