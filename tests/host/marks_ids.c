// SPDX-License-Identifier: GPL-2.0-only
/* The library for marks: operations that one thread begins and another one ends. */
#include "mark_kernel.h"

#include <sys/wait.h>

#include "ktap.h"

#define THREADS	4

static void start(void)
{
	mark_reset();
	EXPECT_EQ(lt_mark_define("a"), 0);
	EXPECT_EQ(lt_mark_define("b"), 1);
}

/* Where such an operation is; NULL: it is not pending. */
static struct lt_mark_frame *find(u32 mark, u64 id)
{
	unsigned int i;

	for (i = 0; i < LT_MARK_SLOTS; i++)
		if (fake_slot(i)->seq % 4 == 3 && fake_slot(i)->mark == mark &&
		    fake_slot(i)->id == id)
			return fake_slot(i);
	return NULL;
}

static unsigned int pending(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < LT_MARK_SLOTS; i++)
		n += fake_slot(i)->seq & 1;
	return n;
}

static unsigned long ended(void)
{
	unsigned long n = 0;
	unsigned int i;

	for (i = 0; i < fake.threads; i++)
		n += fake_area(i)->ended;
	return n;
}

static unsigned long dropped(void)
{
	unsigned long n = 0;
	unsigned int i;

	for (i = 0; i < fake.threads; i++)
		n += fake_area(i)->dropped;
	return n;
}

static void *end_one(void *arg)
{
	lt_mark_end_id(1, 7);
	return arg;
}

static void test_other_thread(void)
{
	const struct lt_mark_frame *slot;
	pthread_t thread;

	start();
	lt_mark_end_id(1, 7);
	EXPECT_EQ(fake.threads, 0);
	lt_mark_begin_id(1, 7);
	slot = find(1, 7);
	EXPECT(slot, "it is not pending");
	EXPECT_EQ(slot->start_ns, fake.now_ns);
	EXPECT_EQ(slot->run_ns, 0);
	fake.now_ns += 100;
	lt_mark_end_id(0, 7);
	lt_mark_end_id(1, 8);
	EXPECT_EQ(pending(), 1);
	BUG_ON(pthread_create(&thread, NULL, end_one, NULL));
	pthread_join(thread, NULL);
	EXPECT_EQ(pending(), 0);
	EXPECT_EQ(fake_area(0)->ended, 0);
	EXPECT_EQ(fake_area(1)->ended, 1);
	/* The thread that ends it is the one that has. */
	EXPECT_EQ(fake_area(0)->last_ns[1], 0);
	EXPECT_EQ(fake_area(1)->last_ns[1], fake.now_ns);
	lt_mark_end_id(1, 7);
	EXPECT_EQ(ended(), 1);
	EXPECT_EQ(slot->seq, 4);
	/* It is outside of the nested ones. */
	lt_mark_begin(0, 1);
	lt_mark_begin_id(1, 7);
	lt_mark_end(0, 1);
	EXPECT_EQ(pending(), 1);
	lt_mark_end_id(1, 7);
	EXPECT_EQ(pending(), 0);
	EXPECT_EQ(ended(), 3);
}

static void test_late(void)
{
	const struct lt_mark_end *told = &fake.told[0];
	unsigned int at;

	start();
	fake.head->least_ns = 1000;
	lt_mark_begin_id(1, 7);
	EXPECT(find(1, 7), "it is not pending");
	at = (unsigned int)(find(1, 7) - fake_slot(0));
	fake.now_ns += 1000;
	errno = ERANGE;
	lt_mark_end_id(1, 7);
	EXPECT_EQ(errno, ERANGE);
	EXPECT_EQ(fake.ends, 1);
	EXPECT_EQ(told->frame, LT_MARK_SLOT_FRAME(at));
	EXPECT_EQ(told->seq, 3);
	EXPECT_EQ(fake_slot(at)->seq, 4);
	EXPECT_EQ(told->mark, 1);
	EXPECT_EQ(told->id, 7);
	EXPECT_EQ(told->start_ns, fake.now_ns - 1000);
	EXPECT_EQ(told->end_ns, fake.now_ns);
	EXPECT(told->start_run_ns == LT_MARK_NO_TIME && told->end_run_ns == LT_MARK_NO_TIME,
	       "it has no CPU time");
	EXPECT_EQ(ended(), 0);
}

/* Neighbours in the table: they differ by the id, or by the mark. */
static void test_neighbours(void)
{
	const u64 other = 7 ^ 1ULL << 32 ^ 1;
	char name[] = "c";

	start();
	for (; name[0] <= 'r'; name[0]++)
		EXPECT_EQ(lt_mark_define(name), name[0] - 'a');
	EXPECT_EQ(lt_mark_slot_at(1, other), lt_mark_slot_at(1, 7));
	lt_mark_begin_id(1, 7);
	lt_mark_begin_id(1, other);
	lt_mark_end_id(1, other);
	EXPECT(find(1, 7) && pending() == 1, "the wrong one of two");
	EXPECT_EQ((lt_mark_slot_at(17, 7) - lt_mark_slot_at(0, 7)) % LT_MARK_SLOTS, 4);
	lt_mark_begin_id(17, 7);
	lt_mark_end_id(0, 7);
	EXPECT(find(17, 7), "that of another mark");
}

static void test_full(void)
{
	unsigned int before, is_there;
	u64 id, n = 2 * LT_MARK_SLOTS;

	start();
	for (id = 0; id < n; id++)
		lt_mark_begin_id(0, id);
	EXPECT(pending() > LT_MARK_SLOTS * 3 / 4, "%u of %u slots are in use", pending(),
	       LT_MARK_SLOTS);
	EXPECT_EQ(pending() + dropped(), n);
	n = pending();
	/* Each end takes its own, or nothing. */
	for (id = 0; id < 2 * LT_MARK_SLOTS; id++) {
		before = pending();
		is_there = find(0, id) ? 1 : 0;
		lt_mark_end_id(1, id);
		EXPECT_EQ(pending(), before);
		lt_mark_end_id(0, id);
		EXPECT_EQ(pending(), before - is_there);
		EXPECT(!find(0, id), "%llu is still pending", (unsigned long long)id);
	}
	EXPECT_EQ(pending(), 0);
	EXPECT_EQ(ended(), n);
}

static void test_off(void)
{
	start();
	lt_mark_begin_id(0, 1);
	fake.head->on = 0;
	lt_mark_begin_id(0, 2);
	EXPECT_EQ(pending(), 1);
	lt_mark_end_id(0, 2);
	lt_mark_end_id(0, 1);
	EXPECT_EQ(pending(), 0);
	EXPECT_EQ(ended(), 1);
}

static void test_fork(void)
{
	int status;
	pid_t pid;

	start();
	lt_mark_begin_id(0, 1);
	fflush(stdout);
	pid = fork();
	BUG_ON(pid < 0);
	if (!pid) {
		alarm(20);
		/* The head, the slots and the area. */
		EXPECT_EQ(fake.unmaps, 3);
		lt_mark_end_id(0, 1);
		EXPECT_EQ(pending(), 1);
		fake_reset();
		lt_mark_begin_id(1, 5);
		EXPECT(find(1, 5), "the child has none");
		_exit(0);
	}
	BUG_ON(waitpid(pid, &status, 0) != pid);
	EXPECT_EQ(status, 0);
	lt_mark_end_id(0, 1);
	EXPECT_EQ(ended(), 1);
}

/*
 * All threads begin, and end what any of them has begun: each operation ends once. Their ids have
 * the same 16 slots.
 */
static u64 id_of(u64 n)
{
	return n << 32 | n;
}

static bool stop;
static unsigned long begun;
static u64 next;

static void *hand_over(void *arg)
{
	unsigned long n = 0;
	u64 nr;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		nr = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
		lt_mark_begin_id(0, id_of(nr));
		n++;
		/* Of others, which may end it, too, or have not begun it. */
		lt_mark_end_id(0, id_of(nr - 1));
		lt_mark_end_id(0, id_of(nr - 2));
		lt_mark_end_id(0, id_of(nr));
	}
	__atomic_fetch_add(&begun, n, __ATOMIC_RELAXED);
	return arg;
}

static void test_hand_over(void)
{
	pthread_t threads[THREADS];
	u64 nr;
	int i;

	start();
	fake.now_ns = 0;
	fake.head->least_ns = ~0ULL;
	stop = false;
	begun = 0;
	next = 10;
	for (i = 0; i < THREADS; i++)
		BUG_ON(pthread_create(&threads[i], NULL, hand_over, NULL));
	usleep((useconds_t)(ktap_seconds * 1e6));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (nr = 0; nr < next && pending(); nr++)
		lt_mark_end_id(0, id_of(nr));
	EXPECT_EQ(pending(), 0);
	EXPECT(begun > 1000, "%lu operations", begun);
	EXPECT_EQ(ended() + fake.ends + dropped(), begun);
	for (i = 0; i < LT_MARK_SLOTS; i++)
		EXPECT_EQ(fake_slot((unsigned int)i)->seq % 4, 0);
}

/* The child of a fork() has a device of its own, and opens it at its end. */
static void end_in_child(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	BUG_ON(pid < 0);
	if (!pid) {
		alarm(20);
		EXPECT_EQ(fake.closes, 1);
		fake_reset();
		lt_mark_end_shared(1, 7);
		EXPECT_EQ(fake.opens, 1);
		EXPECT_EQ(fake.defines, 2);
		EXPECT_EQ(fake.threads, 0);
		EXPECT_EQ(fake.shared_ended, 1);
		EXPECT_EQ(fake.shared.mark, 1);
		EXPECT_EQ(fake.shared.id, 7);
		_exit(0);
	}
	BUG_ON(waitpid(pid, &status, 0) != pid);
	EXPECT_EQ(status, 0);
}

static void test_shared(void)
{
	mark_reset();
	lt_mark_begin_shared(0, 1);
	lt_mark_end_shared(0, 1);
	EXPECT_EQ(fake.opens, 0);
	start();
	errno = ERANGE;
	fake.interrupted = 1;
	lt_mark_begin_shared(1, 1ULL << 40 | 7);
	EXPECT_EQ(errno, ERANGE);
	EXPECT_EQ(fake.shared_begun, 1);
	EXPECT_EQ(fake.interrupted, 0);
	EXPECT_EQ(fake.shared.mark, 1);
	EXPECT_EQ(fake.shared.id, 1ULL << 40 | 7);
	EXPECT_EQ(fake.shared.reserved, 0);
	lt_mark_end_shared(1, 7);
	EXPECT_EQ(fake.shared_ended, 1);
	/* Of no mark. */
	lt_mark_begin_shared(-1, 1);
	lt_mark_end_shared(LT_MARK_MAX, 1);
	fake.head->on = 0;
	lt_mark_begin_shared(1, 7);
	EXPECT_EQ(fake.shared_begun, 1);
	/* It may have begun before. */
	lt_mark_end_shared(1, 7);
	EXPECT_EQ(fake.shared_ended, 2);
	EXPECT_EQ(fake.threads, 0);
	fake.head->on = 1;
	end_in_child();
}

static const struct ktap_test tests[] = {
	{ "other_thread", test_other_thread, 0, NULL },
	{ "late", test_late, 0, NULL },
	{ "neighbours", test_neighbours, 0, NULL },
	{ "full", test_full, 0, NULL },
	{ "off", test_off, 0, NULL },
	{ "fork", test_fork, 0, NULL },
	{ "shared", test_shared, 0, NULL },
	{ "hand_over", test_hand_over, 1, NULL },
};

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, tests, ARRAY_SIZE(tests));
}
