// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library for marks with what comes in between: a reader of its frames as the kernel is one,
 * signals at any instruction, threads that come and go. And what its cells say of many operations.
 */
#include "mark_kernel.h"

#include <signal.h>

#include "ktap.h"

#define MARKS	3
#define THREADS	4

static void start(void)
{
	static const char * const names[MARKS] = { "a", "b", "c" };
	int i;

	mark_reset();
	for (i = 0; i < MARKS; i++)
		EXPECT_EQ(lt_mark_define(names[i]), i);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* --- cells ---------------------------------------------------------------------------- */

#define DELAYS	200000

static u64 delays[MARKS][DELAYS];
static unsigned int nr_delays[MARKS];

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Of a sorted list: how many are below @ns, and their sum. */
static unsigned int below(u32 mark, u64 ns, u64 *sum)
{
	unsigned int i;

	for (i = 0, *sum = 0; i < nr_delays[mark] && delays[mark][i] < ns; i++)
		*sum += delays[mark][i];
	return i;
}

static unsigned int check_cell(const struct lt_mark_cell *cell)
{
	u32 mark = cell->key >> 16;
	u64 least = lt_mark_key_least(cell->key), most = lt_mark_key_least(cell->key + 1);
	u64 before, until;
	unsigned int n;

	EXPECT(mark < MARKS, "mark %u", mark);
	EXPECT(most > least && (most - least == 1 || most - least <= least / 16),
	       "a cell from %llu to %llu", (unsigned long long)least, (unsigned long long)most);
	n = below(mark, most, &until) - below(mark, least, &before);
	EXPECT_EQ(cell->count, n);
	EXPECT_EQ(cell->sum_ns, until - before);
	return n;
}

/* It was told though it did not take long: all cells that its key may have are others'. */
static void check_no_room(const struct lt_mark_thread *area, u32 key)
{
	u32 i, at = lt_mark_cell_at(key);
	const struct lt_mark_cell *cell;

	for (i = 0; i < LT_MARK_PROBES; i++) {
		cell = &area->cell[(at + i) % LT_MARK_CELLS];
		EXPECT(cell->key && cell->key != key, "there was a cell for %x", key);
	}
}

/* Of @mark, one that takes so long. */
static void operate(u32 mark, u64 id, u64 delay)
{
	unsigned int told = fake.ends;

	lt_mark_begin((int)mark, id);
	fake.now_ns += delay;
	lt_mark_end((int)mark, id);
	if (fake.ends == told)
		delays[mark][nr_delays[mark]++] = delay;
	else if (delay < fake.head->least_ns)
		check_no_room(fake_area(0), lt_mark_key(mark, delay));
}

static void test_cells(void)
{
	const struct lt_mark_thread *area;
	unsigned int i, mark, n = 0;
	u64 delay;

	start();
	fake.head->least_ns = 512;
	host_thread_enter(-1);
	memset(nr_delays, 0, sizeof(nr_delays));
	for (i = 0; i < DELAYS; i++) {
		mark = host_random() % MARKS;
		/* As many of each size; the bounds of an octave; what is to be told. */
		delay = host_random() & ((1U << host_random() % 10) - 1);
		operate(mark, i, i % 50 ? delay : 1U << host_random() % 10);
	}
	host_thread_leave();
	for (mark = 0; mark < MARKS; mark++)
		qsort(delays[mark], nr_delays[mark], sizeof(delays[mark][0]), compare);
	area = fake_area(0);
	for (i = 0; i < LT_MARK_CELLS; i++)
		if (area->cell[i].key)
			n += check_cell(&area->cell[i]);
	EXPECT(fake.ends > 0 && fake.ends < DELAYS / 10, "%u were told", fake.ends);
	EXPECT_EQ(n, area->ended);
	EXPECT_EQ(n + fake.ends, DELAYS);
}

/* The bounds of a cell, whatever the time is: 1/16 wide, and side by side. */
static void test_keys(void)
{
	u32 key, last = 0;
	u64 least;
	int shift;

	for (shift = 0; shift < 64; shift++) {
		least = 1ULL << shift;
		key = lt_mark_key(5, least);
		EXPECT_EQ(lt_mark_key_least(key), least);
		EXPECT_EQ(lt_mark_key(5, least - 1), key - 1);
		EXPECT(lt_mark_key_least(key - 1) < least || !shift, "2^%d", shift);
		EXPECT(key > last && key >> 16 == 5, "2^%d has %x", shift, key);
		last = key;
	}
	EXPECT_EQ(lt_mark_key(5, ~0ULL) >> 16, 5);
	EXPECT(lt_mark_key(0, 0), "a key of 0");
}

/* --- a reader, as the kernel is one ---------------------------------------------------- */

static bool stop;
static unsigned long frames_read;

/* All fields of a frame say the same number. As read_frame() in examples/mark/operation.c. */
static void read_frame(const struct lt_mark_frame *frame)
{
	u32 seq = __atomic_load_n(&frame->seq, __ATOMIC_ACQUIRE), mark;
	u64 id, start_ns, run_ns;

	if (!(seq & 1))
		return;
	/* Acquires, as ThreadSanitizer does not know smp_rmb(). */
	mark = __atomic_load_n(&frame->mark, __ATOMIC_ACQUIRE);
	id = __atomic_load_n(&frame->id, __ATOMIC_ACQUIRE);
	start_ns = __atomic_load_n(&frame->start_ns, __ATOMIC_ACQUIRE);
	run_ns = __atomic_load_n(&frame->run_ns, __ATOMIC_ACQUIRE);
	if (__atomic_load_n(&frame->seq, __ATOMIC_RELAXED) != seq)
		return;
	frames_read++;
	EXPECT(start_ns == id && mark == id % MARKS && run_ns == id - 1,
	       "mark %u, id %llu, start %llu, CPU %llu", mark, (unsigned long long)id,
	       (unsigned long long)start_ns, (unsigned long long)run_ns);
}

static void *reader(void *arg)
{
	struct lt_mark_thread *area = arg;
	u32 ended, before = 0;
	int i;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < LT_MARK_DEPTH; i++)
			read_frame(&area->frame[i]);
		ended = __atomic_load_n(&area->ended, __ATOMIC_ACQUIRE);
		EXPECT((int)(ended - before) >= 0, "%u, %u", before, ended);
		before = ended;
	}
	return NULL;
}

/* A step of the clock is the id of what begins then. */
static void begin_at(u64 ns)
{
	fake_thread_ns = ns;
	lt_mark_begin((int)(ns % MARKS), ns);
}

static void test_reader(void)
{
	double until = seconds() + ktap_seconds;
	struct lt_mark_thread *area;
	u64 now = 1000;
	pthread_t thread;
	int i, depth;

	start();
	begin_at(now);
	lt_mark_end((int)(now % MARKS), now);
	area = fake_area(0);
	memset(area, 0, sizeof(*area));
	area->in_ns = 1;
	stop = false;
	frames_read = 0;
	BUG_ON(pthread_create(&thread, NULL, reader, area));
	host_thread_enter(-1);
	do {
		for (i = 0; i < 1000; i++) {
			depth = 1 + (int)(host_random() % LT_MARK_DEPTH);
			while (depth--)
				begin_at(++now);
			/* The outermost one takes those with it that are inside. */
			depth = (int)(host_random() % LT_MARK_DEPTH);
			while (lt_mark_self_1.depth) {
				const struct lt_mark_frame *frame = &area->frame
					[depth-- > 0 ? lt_mark_self_1.depth - 1 : 0];

				lt_mark_end((int)frame->mark, frame->id);
			}
		}
	} while (seconds() < until);
	host_thread_leave();
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	fake_thread_ns = 0;
	EXPECT(frames_read > 100, "%lu frames were read", frames_read);
}

/* --- signals --------------------------------------------------------------------------- */

static unsigned int handled;

/* Nested as well. */
static void handler(int signal)
{
	int error = errno;

	lt_mark_begin(1, 7);
	lt_mark_begin(2, 8);
	lt_mark_end(2, 8);
	lt_mark_end(1, 7);
	handled++;
	errno = error;
}

struct target {
	pthread_t thread;
	double until;
};

static void *shooter(void *arg)
{
	const struct target *target = arg;

	while (seconds() < target->until) {
		pthread_kill(target->thread, SIGUSR2);
		usleep(10);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	return NULL;
}

static unsigned long sum_of_counts(const struct lt_mark_thread *area)
{
	unsigned long n = 0;
	int i;

	for (i = 0; i < LT_MARK_CELLS; i++)
		n += area->cell[i].count;
	return n;
}

/* Each operation is counted, told or left out, once. */
static void test_signals(void)
{
	struct target target = { pthread_self(), seconds() + ktap_seconds };
	const struct lt_mark_thread *area;
	unsigned long n = 0;
	pthread_t thread;
	int i;

	start();
	fake.now_ns = 0;
	fake.head->least_ns = 100;
	lt_mark_begin(0, 0);
	lt_mark_end(0, 0);
	area = fake_area(0);
	stop = false;
	handled = 0;
	signal(SIGUSR2, handler);
	BUG_ON(pthread_create(&thread, NULL, shooter, &target));
	for (n = 1; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); n++) {
		lt_mark_begin(0, n);
		lt_mark_end(0, n);
	}
	pthread_join(thread, NULL);
	signal(SIGUSR2, SIG_DFL);
	for (i = 0; i < LT_MARK_DEPTH; i++)
		EXPECT_EQ(area->frame[i].seq & 1, 0);
	EXPECT_EQ(lt_mark_self_1.depth, 0);
	EXPECT(handled > 100, "%u signals", handled);
	EXPECT(area->dropped > 0, "no signal came while the library was at work");
	EXPECT_EQ(sum_of_counts(area), area->ended);
	EXPECT_EQ(area->ended + fake.ends + area->dropped, n + 2 * handled);
}

/* --- threads that come and go ---------------------------------------------------------- */

#define TURNS	10

static void *begin_and_end(void *arg)
{
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		EXPECT_EQ(lt_mark_define("b"), 1);
		lt_mark_begin(1, i);
		lt_mark_begin(2, i);
		lt_mark_end(2, i);
		lt_mark_end(1, i);
	}
	return arg;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	int i, turn;

	start();
	for (turn = 0; turn < TURNS; turn++) {
		for (i = 0; i < THREADS; i++)
			BUG_ON(pthread_create(&threads[i], NULL, begin_and_end, NULL));
		for (i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	EXPECT_EQ(fake.threads, THREADS * TURNS);
	EXPECT_EQ(fake.unmaps, THREADS * TURNS);
	EXPECT_EQ(fake.opens, 1);
	for (i = 0; i < THREADS * TURNS; i++) {
		EXPECT_EQ(fake_area((unsigned int)i)->ended, 2000);
		EXPECT_EQ(sum_of_counts(fake_area((unsigned int)i)), 2000);
		EXPECT(!lt_mark_process_1.area[i], "thread %d has an area", i);
	}
}

static const struct ktap_test tests[] = {
	{ "cells", test_cells, 0, NULL },
	{ "keys", test_keys, 0, NULL },
	{ "threads", test_threads, 0, NULL },
	{ "reader", test_reader, 0.6, NULL },
	{ "signals", test_signals, 0.4,
	  HOST_TSAN ? "ThreadSanitizer holds signals back" : NULL },
};

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, tests, ARRAY_SIZE(tests));
}
