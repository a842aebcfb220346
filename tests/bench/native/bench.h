/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The work of the contestants. A contestant remembers when an operation began, and finds it
 * by a key when it ends. All get the same keys, hash, clock and memory: as many events as
 * the tracker's pool has, in a free list that is theirs to design.
 */
#ifndef LT_BENCH_H
#define LT_BENCH_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define BENCH_LINE	64
#define bench_inline	inline __attribute__((__always_inline__))
#define BENCH_KEYS	16	/* that a thread uses in turns */
#define BENCH_BURST	64	/* pairs, and then a quiescent state */
#define BENCH_RING	256	/* operations on their way to another thread */
#define BENCH_NEVER	(~0ULL)

enum bench_work {
	BENCH_PRIVATE,	/* each thread has keys of its own */
	BENCH_SHARE,	/* all threads use the same keys */
	BENCH_HANDOVER,	/* what begins on one thread ends on the next */
	BENCH_PENDING,	/* so many others begin before an operation ends */
};

/* An operation. A slot needs no search: it is the place itself. */
struct bench_op {
	uint64_t key;
	uint64_t slot;
};

/* From one thread to the next; each end in a cache line of its own. */
struct bench_ring {
	unsigned long head __attribute__((__aligned__(BENCH_LINE)));
	unsigned long tail __attribute__((__aligned__(BENCH_LINE)));
	struct bench_op op[BENCH_RING] __attribute__((__aligned__(BENCH_LINE)));
};

struct bench_size {
	unsigned int threads;	/* at most so many */
	unsigned long events;	/* in use at once, retired ones included; and buckets */
	unsigned long slots;
	double bytes;		/* per event and its share of the table, set by create() */
};

/* A thread at work. */
struct bench_thread {
	void *table;
	void *self;		/* what the contestant has per thread */
	struct bench_op ops[BENCH_KEYS];
	struct bench_ring *to, *from;
	uint64_t pending;
	uint64_t next;		/* number of the next operation */
	uint64_t left;		/* bursts */
	uint64_t lost;		/* ends that found nothing */
	uint64_t waits;		/* begins that found no memory */
	uint64_t late;		/* none is */
	unsigned int nr;
} __attribute__((__aligned__(128)));

struct bench_contestant {
	const char *name;
	/* What it makes stays until the program ends. */
	void *(*create)(struct bench_size *size);
	void (*enter)(struct bench_thread *t);	/* may be NULL */
	void (*work)(struct bench_thread *t, enum bench_work work, uint64_t bursts);
};

extern const struct bench_contestant bench_clocks, bench_slot, bench_tracker,
	bench_tracker_duplicates, bench_tracker_slots, bench_tracker_priv, bench_tracker_each,
	bench_urcu, bench_urcu_unique, bench_spin;

void bench_check(bool ok, const char *what);
void *bench_alloc(size_t n, size_t size);

/* native.c: CPUs, and threads that work for a contestant */
void bench_machine(unsigned int cpus);
void bench_cpu(unsigned int nr);
void bench_helper(void);
double bench_helpers_ns(void);

/* ---- liburcu's, for all contestants: its headers collide with those of the kernel ---- */

void urcu_qsbr_register_thread(void);
void urcu_qsbr_unregister_thread(void);
void urcu_qsbr_quiescent_state(void);
void urcu_qsbr_synchronize_rcu(void);

static inline uint64_t bench_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* SplitMix64's finaliser (Steele, Lea & Flood, OOPSLA 2014). */
static inline uint64_t bench_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* As lt_key_hash() for a word: the top bits are the good ones. */
static inline uint64_t bench_hash(uint64_t key)
{
	return key * 0x61C8864680B583EBULL;
}

static inline struct bench_op bench_op_nr(const struct bench_thread *t, uint64_t nr)
{
	return (struct bench_op) { bench_mix(nr + 1), nr % t->pending };
}

/*
 * The loops, for begin and end functions that are inlined into them. begin
 * returns false if there was no memory, end if there was no such operation.
 */
typedef bool (*bench_half)(struct bench_thread *t, const struct bench_op *op);

static bench_inline void bench_do(struct bench_thread *t, const struct bench_op *op,
				  bench_half begin)
{
	while (__builtin_expect(!begin(t, op), 0)) {
		t->waits++;
		urcu_qsbr_quiescent_state();
		sched_yield();
	}
}

static bench_inline void bench_pairs(struct bench_thread *t, uint64_t bursts, bench_half begin,
				     bench_half end)
{
	const struct bench_op *op;
	unsigned int i;

	for (t->left = bursts; t->left; t->left--) {
		for (i = 0; i < BENCH_BURST; i++) {
			op = &t->ops[t->next++ % BENCH_KEYS];
			bench_do(t, op, begin);
			t->lost += !end(t, op);
		}
		urcu_qsbr_quiescent_state();
	}
}

static bench_inline void bench_pending(struct bench_thread *t, uint64_t bursts,
				       bench_half begin, bench_half end)
{
	struct bench_op op;
	unsigned int i;

	for (; t->next < t->pending; t->next++) {
		op = bench_op_nr(t, t->next);
		bench_do(t, &op, begin);
		if (t->next % BENCH_BURST == 0)
			urcu_qsbr_quiescent_state();
	}
	for (t->left = bursts; t->left; t->left--) {
		for (i = 0; i < BENCH_BURST; i++) {
			/* A slot is free again when the next one begins. */
			op = bench_op_nr(t, t->next - t->pending);
			t->lost += !end(t, &op);
			op = bench_op_nr(t, t->next++);
			bench_do(t, &op, begin);
		}
		urcu_qsbr_quiescent_state();
	}
}

static bench_inline bool bench_give(struct bench_thread *t, bench_half begin)
{
	unsigned long head = t->to->head;
	struct bench_op *op = &t->to->op[head % BENCH_RING];

	if (head == __atomic_load_n(&t->to->tail, __ATOMIC_ACQUIRE) + BENCH_RING)
		return false;
	/* Of all that are on their way, each has a key of its own. */
	op->slot = t->nr * BENCH_RING + head % BENCH_RING;
	op->key = bench_mix(op->slot + 1);
	bench_do(t, op, begin);
	/* Pairs with the acquire of bench_take(). */
	__atomic_store_n(&t->to->head, head + 1, __ATOMIC_RELEASE);
	return true;
}

static bench_inline bool bench_take(struct bench_thread *t, bench_half end)
{
	unsigned long tail = t->from->tail;

	if (tail == __atomic_load_n(&t->from->head, __ATOMIC_ACQUIRE))
		return false;
	t->lost += !end(t, &t->from->op[tail % BENCH_RING]);
	/* Pairs with the acquire of bench_give(). */
	__atomic_store_n(&t->from->tail, tail + 1, __ATOMIC_RELEASE);
	return true;
}

/* Each thread begins and ends as many, so the rings are empty when all have returned. */
static bench_inline void bench_handover(struct bench_thread *t, uint64_t bursts,
					bench_half begin, bench_half end)
{
	uint64_t pairs = bursts * BENCH_BURST, begun = 0, ended = 0;
	unsigned int i;

	while (begun < pairs || ended < pairs) {
		for (i = 0; i < BENCH_BURST && begun < pairs && bench_give(t, begin); i++)
			begun++;
		for (i = 0; i < BENCH_BURST && ended < pairs && bench_take(t, end); i++)
			ended++;
		urcu_qsbr_quiescent_state();
	}
}

static bench_inline void bench_do_work(struct bench_thread *t, enum bench_work work,
				       uint64_t bursts, bench_half begin, bench_half end)
{
	if (work == BENCH_PENDING)
		bench_pending(t, bursts, begin, end);
	else if (work == BENCH_HANDOVER)
		bench_handover(t, bursts, begin, end);
	else
		bench_pairs(t, bursts, begin, end);
}

/* What follows are its other functions. */
#define BENCH_CONTESTANT(var, title, begin, end, ...)				\
static void var##_work(struct bench_thread *t, enum bench_work work, uint64_t bursts) \
{										\
	bench_do_work(t, work, bursts, begin, end);				\
}										\
const struct bench_contestant var = {						\
	.name = title, .work = var##_work, __VA_ARGS__				\
}

#endif /* LT_BENCH_H */
