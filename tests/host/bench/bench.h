/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the contestants have in common: the work, and the loops that do it.
 *
 * A contestant remembers when an operation began, and finds it by a key when it
 * ends. All get the same keys, hash, clock and memory: as many events as the
 * tracker's pool has, in a free list that is theirs to design.
 */
#ifndef LT_BENCH_H
#define LT_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define BENCH_LINE	64
#define BENCH_BURST	64	/* pairs between two looks at the world */
#define BENCH_SHARED	16	/* keys that all threads use */
#define BENCH_RING	256	/* operations on their way to another thread */
#define BENCH_NEVER	(~0ULL)

enum bench_work {
	BENCH_PRIVATE,	/* each thread has keys of its own */
	BENCH_SHARE,	/* all threads use the same keys */
	BENCH_HANDOVER,	/* what begins on one thread ends on the next */
	BENCH_PENDING,	/* so many others begin before an operation ends */
	BENCH_WORKS,
};

/* An operation. A slot is for who needs no search: it is the place itself. */
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
	unsigned long events;	/* in use at once, retired ones included */
	unsigned long buckets;
	unsigned long slots;
};

struct bench_contestant;

/* A thread at work. */
struct bench_thread {
	const struct bench_contestant *is;
	void *table;
	void *self;		/* what the contestant has per thread */
	const bool *stop;
	const struct bench_op *ops;	/* power of two of them */
	unsigned long mask;
	struct bench_ring *to, *from;
	uint64_t pending;
	uint64_t next;		/* number of the next operation */
	uint64_t budget;	/* pairs after which to stop */
	uint64_t pairs;
	uint64_t lost;		/* ends that found nothing */
	uint64_t waits;		/* begins that found no memory */
	uint64_t late;		/* none is */
	unsigned int nr;
} __attribute__((__aligned__(128)));

typedef void (*bench_loop)(struct bench_thread *t);

struct bench_contestant {
	const char *name;
	void *(*create)(const struct bench_size *size);
	void (*destroy)(void *table);
	void (*enter)(struct bench_thread *t);
	void (*leave)(struct bench_thread *t);
	/* Bytes per event and its share of the table. */
	double (*bytes)(const struct bench_size *size);
	bench_loop loop[BENCH_WORKS];
	bool control;		/* shares nothing */
};

extern const struct bench_contestant bench_clocks, bench_slot, bench_tracker,
	bench_tracker_unique, bench_tracker_priv, bench_tracker_each,
	bench_spin;
#ifdef LIBURCU
extern const struct bench_contestant bench_urcu, bench_urcu_unique;
#endif

/* ---- main.c ---- */

void bench_check(bool ok, const char *what);
void *bench_alloc(size_t n, size_t size);
void bench_free(void *p);
void bench_wait(void);

/* ---- native.c: for a thread that works for a contestant ---- */

void bench_helper(void);
void bench_helper_ends(void);

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
	struct bench_op op = {
		.key = bench_mix(nr + 1), .slot = nr % t->pending,
	};

	return op;
}

static inline bool bench_stopped(const struct bench_thread *t)
{
	return __atomic_load_n(t->stop, __ATOMIC_RELAXED) ||
	       t->pairs >= t->budget;
}

/*
 * The loops, for begin and end functions that are inlined into them. begin
 * returns false if there was no memory, end if there was no such operation;
 * quiescent says that nothing of before is used any more.
 */
typedef bool (*bench_begin)(struct bench_thread *t, const struct bench_op *op);
typedef bool (*bench_end)(struct bench_thread *t, const struct bench_op *op);
typedef void (*bench_quiescent)(struct bench_thread *t);

#define bench_inline	inline __attribute__((__always_inline__))

static bench_inline void bench_do_begin(struct bench_thread *t,
					const struct bench_op *op,
					bench_begin begin,
					bench_quiescent quiescent)
{
	while (__builtin_expect(!begin(t, op), 0)) {
		t->waits++;
		quiescent(t);
		bench_wait();
	}
}

static bench_inline void bench_pairs(struct bench_thread *t, bench_begin begin,
				     bench_end end, bench_quiescent quiescent)
{
	const struct bench_op *op;
	unsigned int i;

	for (; !bench_stopped(t); t->pairs += BENCH_BURST) {
		for (i = 0; i < BENCH_BURST; i++) {
			op = &t->ops[t->next++ & t->mask];
			bench_do_begin(t, op, begin, quiescent);
			t->lost += !end(t, op);
		}
		quiescent(t);
	}
}

static bench_inline void bench_pending(struct bench_thread *t, bench_begin begin,
				       bench_end end, bench_quiescent quiescent)
{
	struct bench_op op;
	unsigned int i;

	for (; t->next < t->pending; t->next++) {
		op = bench_op_nr(t, t->next);
		bench_do_begin(t, &op, begin, quiescent);
		if (t->next % BENCH_BURST == 0)
			quiescent(t);
	}
	for (; !bench_stopped(t); t->pairs += BENCH_BURST) {
		for (i = 0; i < BENCH_BURST; i++) {
			/* A slot is free again when the next one begins. */
			op = bench_op_nr(t, t->next - t->pending);
			t->lost += !end(t, &op);
			op = bench_op_nr(t, t->next++);
			bench_do_begin(t, &op, begin, quiescent);
		}
		quiescent(t);
	}
}

static bench_inline bool bench_take(struct bench_thread *t, bench_end end)
{
	unsigned long tail = t->from->tail;

	if (tail == __atomic_load_n(&t->from->head, __ATOMIC_ACQUIRE))
		return false;
	t->lost += !end(t, &t->from->op[tail % BENCH_RING]);
	/* Pairs with the acquire of bench_handover(). */
	__atomic_store_n(&t->from->tail, tail + 1, __ATOMIC_RELEASE);
	t->pairs++;
	return true;
}

static bench_inline void bench_handover(struct bench_thread *t, bench_begin begin,
					bench_end end, bench_quiescent quiescent)
{
	unsigned long head, tail;
	struct bench_op *op;
	unsigned int i;

	while (!bench_stopped(t)) {
		for (i = 0; i < BENCH_BURST; i++) {
			head = t->to->head;
			tail = __atomic_load_n(&t->to->tail, __ATOMIC_ACQUIRE);
			if (head == tail + BENCH_RING)
				break;
			op = &t->to->op[head % BENCH_RING];
			op->key = t->ops[t->next++ & t->mask].key;
			op->slot = t->nr * BENCH_RING + head % BENCH_RING;
			bench_do_begin(t, op, begin, quiescent);
			/* Pairs with the acquire of bench_take(). */
			__atomic_store_n(&t->to->head, head + 1, __ATOMIC_RELEASE);
		}
		for (i = 0; i < BENCH_BURST && bench_take(t, end); i++)
			;
		quiescent(t);
	}
}

/* What is on its way when all have stopped. */
static bench_inline void bench_drain(struct bench_thread *t, bench_end end)
{
	uint64_t pairs = t->pairs;

	if (t->from)
		while (bench_take(t, end))
			;
	t->pairs = pairs;
}

#define BENCH_LOOPS(name, begin, end, quiescent)			\
static void name##_pairs(struct bench_thread *t)			\
{									\
	bench_pairs(t, begin, end, quiescent);				\
}									\
static void name##_pending(struct bench_thread *t)			\
{									\
	bench_pending(t, begin, end, quiescent);			\
}									\
static void name##_handover(struct bench_thread *t)			\
{									\
	if (t->budget)							\
		bench_handover(t, begin, end, quiescent);		\
	else								\
		bench_drain(t, end);					\
}

#define BENCH_LOOPS_OF(name) {						\
	[BENCH_PRIVATE] = name##_pairs,					\
	[BENCH_SHARE] = name##_pairs,					\
	[BENCH_HANDOVER] = name##_handover,				\
	[BENCH_PENDING] = name##_pending,				\
}

#endif /* LT_BENCH_H */
