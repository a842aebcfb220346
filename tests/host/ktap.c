// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"

double ktap_seconds;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int ktap_main(int argc, char **argv, const struct ktap_test *tests, unsigned int nr)
{
	const char *only = argc > 1 ? argv[1] : NULL, *seed = getenv("SEED");
	double seconds = atof(getenv("TIME") ?: "5");
	unsigned int i, n = 0;

	host_seed = seed && *seed ? strtoull(seed, NULL, 0) : (u64)(now() * 1e6);
	for (i = 0; i < nr; i++)
		n += !only || !strcmp(only, tests[i].name);
	EXPECT(n && argc <= 2, "there is no test %s", only);
	host_init(8, 2);
	printf("KTAP version 1\n1..%u\n# seed %llu\n", n, (unsigned long long)host_seed);
	for (i = 0, n = 0; i < nr; i++) {
		if (only && strcmp(only, tests[i].name))
			continue;
		ktap_seconds = only ? seconds : seconds * tests[i].share;
		if (!tests[i].skip)
			tests[i].run();
		printf("ok %u %s%s%s\n", ++n, tests[i].name, tests[i].skip ? " # SKIP " : "",
		       tests[i].skip ?: "");
		fflush(stdout);
	}
	return 0;
}

static const struct stress *running;
static pthread_barrier_t start;
static bool stop;

static void *worker_main(void *arg)
{
	unsigned int id = (unsigned int)(uintptr_t)arg;

	host_thread_enter(running->nmi ? (int)id : -1);
	pthread_barrier_wait(&start);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		running->step(id);
	if (running->end)
		running->end(id);
	host_thread_leave();
	return NULL;
}

static void *aside_main(void *arg)
{
	host_thread_enter(-1);
	pthread_barrier_wait(&start);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		running->aside();
	host_thread_leave();
	return arg;
}

void stress_run(const struct stress *stress, double seconds)
{
	pthread_t ids[STRESS_WORKERS + 1];
	unsigned int i;
	double until;

	if (stress->nmi)
		host_set_nmi(stress->nmi);
	running = stress;
	stop = false;
	pthread_barrier_init(&start, NULL, STRESS_WORKERS + 2);
	for (i = 0; i < STRESS_WORKERS; i++)
		BUG_ON(pthread_create(&ids[i], NULL, worker_main, (void *)(uintptr_t)i));
	BUG_ON(pthread_create(&ids[i], NULL, aside_main, NULL));
	pthread_barrier_wait(&start);
	for (i = 0, until = now() + seconds; now() < until; i++) {
		usleep(50);
		if (stress->nmi)
			pthread_kill(ids[i % STRESS_WORKERS], HOST_NMI);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i <= STRESS_WORKERS; i++)
		pthread_join(ids[i], NULL);
	pthread_barrier_destroy(&start);
}
