// SPDX-License-Identifier: GPL-2.0-only
/*
 * Natively: what a begin with its end costs in the tracker and in others, in one
 * process and in turns, on pinned threads. See "scripts/bench --help".
 *
 * Google Benchmark chooses the number of iterations (bursts of pairs), starts the threads,
 * draws the order of the rounds and writes the figures. Its CPU time is that of the threads
 * at work; that of threads which bring memory back is "helpers". So other processes of the
 * machine do not count. With n threads all of it happens on n CPUs.
 */
#include <benchmark/benchmark.h>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

extern "C" {
#include "bench.h"
}

#define EVENTS		16384	/* per thread */
#define MAX_CPUS	512

namespace {

/* Work for a number of threads, with a table of their own. */
struct cell {
	const bench_contestant *is;
	bench_work work;
	bench_size size;
	unsigned long pending;
	std::vector<bench_ring> rings;
	std::once_flag once;
	void *table;
	uint64_t next;		/* of BENCH_PENDING: goes on where it was */
};

const char *const work_names[] = { "private keys", "shared keys", "hand-over", "pending" };

const bench_contestant *const pairs[] = {
	&bench_clocks, &bench_slot, &bench_tracker, &bench_tracker_duplicates,
	&bench_tracker_slots, &bench_tracker_priv,
	&bench_urcu, &bench_urcu_unique, &bench_spin,
};

/* Those of which curves are drawn. */
const bench_contestant *const curves[] = { &bench_slot, &bench_tracker, &bench_urcu, &bench_spin };

std::vector<int> cpus;
long count;	/* bursts, for a program that counts instructions; 0 to measure time */

/* ---- the CPUs, one of each core first ---- */

bool is_first_sibling(int cpu)
{
	std::string dir = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
	std::ifstream file(dir + "/topology/thread_siblings_list");
	int first;

	return !(file >> first) || first == cpu;
}

void find_cpus(unsigned long max)
{
	cpu_set_t all;

	sched_getaffinity(0, sizeof(all), &all);
	for (bool first : { true, false })
		for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < max; cpu++)
			if (CPU_ISSET(cpu, &all) && is_first_sibling(cpu) == first)
				cpus.push_back(cpu);
}

/* To @n CPUs from @first on: the calling thread, and those that it creates. */
void confine(unsigned int first, unsigned int n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int i = first; i < first + n; i++)
		CPU_SET(cpus[i], &set);
	sched_setaffinity(0, sizeof(set), &set);
}

bench_thread thread_of(cell *cell, unsigned int nr, unsigned int threads)
{
	unsigned int owner = cell->work == BENCH_SHARE ? MAX_CPUS : nr;
	bench_thread t = {};

	for (unsigned int i = 0; i < BENCH_KEYS; i++) {
		t.ops[i].key = bench_mix(owner * BENCH_KEYS + i + 1);
		t.ops[i].slot = cell->work == BENCH_SHARE ? i : nr;
	}
	t.nr = nr;
	t.table = cell->table;
	t.to = &cell->rings[nr];
	t.from = &cell->rings[(nr + threads - 1) % threads];
	t.pending = cell->pending;
	t.next = cell->next;
	if (cell->is->enter)
		cell->is->enter(&t);
	return t;
}

/* Offline before it returns, and so before it waits for other threads. */
extern "C" __attribute__((noinline)) void bench_counted(cell *cell, bench_thread *t,
							 uint64_t bursts)
{
	urcu_qsbr_register_thread();
	cell->is->work(t, cell->work, bursts);
	urcu_qsbr_unregister_thread();
}

void measure(benchmark::State &state, cell *cell)
{
	unsigned int nr = state.thread_index();
	double helpers_ns = 0;

	/* Its helpers use the CPUs of the threads, and no others. */
	confine(0, state.threads());
	std::call_once(cell->once, [cell] { cell->table = cell->is->create(&cell->size); });
	confine(nr, 1);
	bench_cpu(nr);
	bench_thread t = thread_of(cell, nr, state.threads());

	/* Get the caches warm: what another CPU has used last is slow to come. */
	urcu_qsbr_register_thread();
	cell->is->work(&t, cell->work, count ? 0 : state.max_iterations);
	urcu_qsbr_unregister_thread();
	while (state.KeepRunningBatch(state.max_iterations)) {
		helpers_ns -= bench_helpers_ns();
		bench_counted(cell, &t, state.max_iterations);
		helpers_ns += bench_helpers_ns();
	}
	bench_check(!t.lost, "ends found nothing: this is a bug");
	state.counters["waits"] = t.waits;
	if (nr)
		return;
	if (cell->pending)
		cell->next = t.next;
	state.counters["helpers"] = { helpers_ns, benchmark::Counter::kAvgIterations };
	state.counters["bytes"] = cell->size.bytes;
}

void add(const bench_contestant *is, bench_work work, unsigned int threads, unsigned long events,
	 unsigned long slots, unsigned long pending = 0)
{
	std::string name = std::string(is->name) + '/' + work_names[work];
	cell *c = new cell();

	if (pending)
		name += ':' + std::to_string(pending);
	/* Several operations of a key are pending there. */
	c->is = work == BENCH_SHARE && is == &bench_tracker ? &bench_tracker_duplicates : is;
	c->work = work;
	c->size = { threads, 1, slots, 0 };
	/* A power of two, for all to have as many buckets as events. */
	while (c->size.events < events)
		c->size.events *= 2;
	c->pending = pending;
	c->rings.resize(threads);
	auto *b = benchmark::RegisterBenchmark(name.c_str(), measure, c);
	b->Threads(threads)->UseRealTime();
	if (count)
		b->Iterations(count);
}

void add_threads(const bench_contestant *is)
{
	for (unsigned int n = 1, last = 0; n != last;
	     last = n, n = std::min<unsigned int>(2 * n, cpus.size()))
		for (bench_work work : { BENCH_PRIVATE, BENCH_SHARE, BENCH_HANDOVER })
			if (work == BENCH_PRIVATE || is != &bench_tracker_each)
				add(is, work, n, EVENTS * n, n * BENCH_RING);
}

void add_scale(long max_pending)
{
	for (const bench_contestant *is : curves)
		add_threads(is);
	add_threads(&bench_tracker_each);
	for (long pending : { 10, 1000, 100000, 1000000 }) {
		/* Less than half of the events is in use: the pool isn't low. */
		long events = std::max<long>(EVENTS, pending + (count ? count * BENCH_BURST : pending));
		for (const bench_contestant *is : curves)
			if (pending <= max_pending)
				add(is, BENCH_PENDING, 1, events, pending, pending);
	}
}

} /* namespace */

void bench_check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "lt_bench: %s\n", what);
	exit(1);
}

void *bench_alloc(size_t n, size_t size)
{
	void *p = nullptr;

	bench_check(!posix_memalign(&p, 128, n * size), "no memory: take a smaller --pending");
	memset(p, 0, n * size);
	return p;
}

int main(int argc, char **argv)
{
	benchmark::Initialize(&argc, argv);
	bench_check(argc >= 4, "Usage: lt_bench [OPTION of Google Benchmark...] pair|scale "
		    "MAX_THREADS MAX_PENDING [BURSTS TO COUNT]");
	find_cpus(std::min(atoi(argv[2]), MAX_CPUS));
	count = argc > 4 ? atol(argv[4]) : 0;
	bench_machine(cpus.size());
	if (argv[1] == std::string("pair"))
		for (const bench_contestant *is : pairs)
			add(is, BENCH_PRIVATE, 1, EVENTS, BENCH_KEYS);
	else
		add_scale(atol(argv[3]));
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
