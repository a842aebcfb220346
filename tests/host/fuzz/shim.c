// SPDX-License-Identifier: GPL-2.0-only
/*
 * RCU, CPUs, memory and interruptions for the fuzzers: one thread, nothing left
 * to chance. See host.c for the ones of the stress tests.
 */
#include <stdio.h>

#include "shim.h"

unsigned int host_nr_cpus = FUZZ_CPUS;
unsigned int host_nr_nodes = 2;
u64 host_seed;
long host_alloc_left = -1;
long host_allocated;
unsigned int fuzz_cpu;
unsigned int fuzz_nest_at;
void (*fuzz_nest)(void);
bool fuzz_trace;

static int depth;
static bool reader;
static struct rcu_head *cb_first;
static struct rcu_head **cb_tail = &cb_first;
static unsigned int cb_ripe;	/* so many were queued before the reader came */
static unsigned int cb_queued;
static u32 random_state;

void fuzz_reset(void)
{
	fuzz_trace = getenv("FUZZ_TRACE");
	fuzz_cpu = 0;
	fuzz_nest_at = 0;
	host_alloc_left = -1;
	random_state = 1;
	EXPECT(!depth && !reader && !cb_first, "an input left something behind");
}

void host_bug(const char *file, int line, const char *what)
{
	fprintf(stderr, "BUG at %s:%d: %s\n", file, line, what);
	abort();
}

u32 host_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

bool need_resched(void)
{
	return !(host_random() % 32);
}

/* Like an NMI: to its end, within whatever is being done. */
void host_perturb(u32 weight)
{
	if (fuzz_nest_at && !--fuzz_nest_at)
		fuzz_nest();
}

/* ---- memory ---- */

void *host_alloc(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	if (host_alloc_left >= 0 && host_alloc_left-- == 0) {
		host_alloc_left = 0;
		return NULL;
	}
	if (posix_memalign(&p, SMP_CACHE_BYTES, bytes))
		return NULL;
	memset(p, 0, bytes);
	host_allocated++;
	return p;
}

void host_free(const void *p)
{
	if (p)
		host_allocated--;
	free((void *)p);
}

/* ---- CPUs and sections ---- */

void host_preempt_disable(void)
{
	depth++;
}

void host_preempt_enable(void)
{
	BUG_ON(--depth < 0);
}

bool host_preempt_off(void)
{
	return depth;
}

unsigned int host_cpu(void)
{
	BUG_ON(!depth);
	return fuzz_cpu;
}

/* ---- RCU ---- */

void fuzz_reader_enter(void)
{
	reader = true;
	cb_ripe = cb_queued;
}

void fuzz_reader_leave(void)
{
	reader = false;
}

bool fuzz_reader(void)
{
	return reader;
}

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	head->next = NULL;
	head->func = func;
	*cb_tail = head;
	cb_tail = &head->next;
	cb_queued++;
}

bool fuzz_grace_period_waits(void)
{
	return cb_first;
}

unsigned int fuzz_grace_period(void)
{
	unsigned int nr = reader ? cb_ripe : cb_queued, i;
	struct rcu_head *head;

	might_sleep();
	for (i = 0; i < nr; i++) {
		head = cb_first;
		cb_first = head->next;
		if (!cb_first)
			cb_tail = &cb_first;
		cb_queued--;
		if (cb_ripe)
			cb_ripe--;
		head->func(head);
	}
	return nr;
}

void synchronize_rcu(void)
{
	BUG_ON(reader);
	fuzz_grace_period();
}

void rcu_barrier(void)
{
	BUG_ON(reader);
	fuzz_grace_period();
}
