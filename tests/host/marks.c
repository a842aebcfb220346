// SPDX-License-Identifier: GPL-2.0-only
/* The library for marks, one call after the other. */
#include "mark_kernel.h"

#include <sys/wait.h>

#include "ktap.h"

static struct lt_mark_thread *area;

/* A new device, @nr marks, and the area of this thread. */
static void start(int nr)
{
	char name[] = "a";
	int i;

	mark_reset();
	for (i = 0; i < nr; i++, name[0]++)
		EXPECT_EQ(lt_mark_define(name), i);
	lt_mark_begin(0, 0);
	lt_mark_end(0, 0);
	EXPECT_EQ(fake.threads, 1);
	area = fake_area(0);
	memset(area, 0, sizeof(*area));
	fake.clocks = 0;
	fake.ends = 0;
}

/* How many frames are pending; they are the first ones. */
static unsigned int pending(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < LT_MARK_DEPTH; i++) {
		EXPECT(!(area->frame[i].seq & 1) || n == i, "frame %u", i);
		n += area->frame[i].seq & 1;
	}
	return n;
}

static unsigned int counted(u32 key)
{
	unsigned int i;

	for (i = 0; i < LT_MARK_CELLS; i++)
		if (area->cell[i].key == key)
			return area->cell[i].count;
	return 0;
}

static void expect_frame(unsigned int nr, u32 mark, u64 id, u64 start_ns)
{
	const struct lt_mark_frame *frame = &area->frame[nr];

	EXPECT_EQ(frame->seq & 1, 1);
	EXPECT_EQ(frame->mark, mark);
	EXPECT_EQ(frame->id, id);
	EXPECT_EQ(frame->start_ns, start_ns);
}

static void test_define(void)
{
	char name[LT_MARK_NAME + 1];

	mark_reset();
	EXPECT_EQ(lt_mark_define("a"), 0);
	EXPECT_EQ(lt_mark_define("b"), 1);
	EXPECT_EQ(lt_mark_define("a"), 0);
	EXPECT_EQ(fake.opens, 1);
	memset(name, 'n', sizeof(name));
	name[LT_MARK_NAME] = '\0';
	EXPECT_EQ(lt_mark_define(name), -1);
	EXPECT_EQ(errno, EINVAL);
	name[LT_MARK_NAME - 1] = '\0';
	EXPECT_EQ(lt_mark_define(name), 2);
	EXPECT_EQ(strcmp(fake.name[2], name), 0);
	EXPECT_EQ(lt_mark_define("no name"), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(lt_mark_process_1.names, 3);
	while (fake.marks < LT_MARK_MAX) {
		snprintf(name, sizeof(name), "m%u", fake.marks);
		EXPECT_EQ(lt_mark_define(name), (int)fake.marks - 1);
	}
	EXPECT_EQ(lt_mark_define("more"), -1);
	EXPECT_EQ(errno, ENOSPC);
	mark_reset();
	fake.head->version++;
	EXPECT_EQ(lt_mark_define("a"), -1);
	EXPECT_EQ(errno, EPROTONOSUPPORT);
	EXPECT_EQ(fake.closes, 1);
	EXPECT_EQ(fake.unmaps, 1);
	EXPECT_EQ(lt_mark_on(), 0);
}

/* Without the module nothing is asked for but by a define. */
static void test_no_device(void)
{
	int i;

	mark_reset();
	fake.open_error = ENOENT;
	EXPECT_EQ(lt_mark_define("a"), -1);
	EXPECT_EQ(errno, ENOENT);
	for (i = 0; i < 3; i++) {
		lt_mark_begin(-1, 1);
		lt_mark_end(-1, 1);
	}
	lt_mark_forget();
	EXPECT_EQ(lt_mark_on(), 0);
	EXPECT_EQ(fake.opens, 1);
	EXPECT_EQ(fake.threads + fake.maps + fake.clocks, 0);
	fake.open_error = 0;
	EXPECT_EQ(lt_mark_define("a"), 0);
	EXPECT_EQ(lt_mark_on(), 1);
}

static void test_nesting(void)
{
	start(3);
	lt_mark_begin(2, 7);
	fake.now_ns += 5;
	lt_mark_begin(1, 8);
	EXPECT_EQ(pending(), 2);
	expect_frame(0, 2, 7, fake.now_ns - 5);
	expect_frame(1, 1, 8, fake.now_ns);
	fake.now_ns += 100;
	lt_mark_end(1, 8);
	EXPECT_EQ(pending(), 1);
	EXPECT_EQ(counted(lt_mark_key(1, 100)), 1);
	lt_mark_begin(1, 8);
	fake.now_ns += 100;
	lt_mark_end(1, 8);
	EXPECT_EQ(counted(lt_mark_key(1, 100)), 2);
	lt_mark_end(2, 7);
	EXPECT_EQ(pending(), 0);
	EXPECT_EQ(counted(lt_mark_key(2, 205)), 1);
	EXPECT_EQ(area->ended, 3);
	EXPECT_EQ(area->dropped, 0);
	EXPECT_EQ(fake.ends, 0);
}

/* When an operation of a mark has ended last; what was left inside of it has not. */
static void test_last_end(void)
{
	u64 at;

	start(3);
	lt_mark_begin(2, 7);
	lt_mark_begin(1, 8);
	fake.now_ns += 5;
	lt_mark_end(1, 8);
	EXPECT_EQ(area->last_ns[1], fake.now_ns);
	EXPECT_EQ(area->last_ns[2], 0);
	at = fake.now_ns;
	fake.now_ns += 5;
	lt_mark_begin(1, 8);
	fake.head->least_ns = 1;
	fake.now_ns += 5;
	lt_mark_end(2, 7);
	EXPECT_EQ(fake.ends, 1);
	EXPECT_EQ(area->last_ns[2], fake.now_ns);
	EXPECT_EQ(area->last_ns[1], at);
	lt_mark_end(1, 8);
	EXPECT_EQ(area->last_ns[1], at);
	EXPECT_EQ(area->last_ns[0], 0);
}

/* The 9th and the 10th have no frame, and their ends take none. */
static void test_too_deep(void)
{
	int i;

	for (int same = 0; same < 2; same++) {
		start(10);
		for (i = 0; i < 10; i++)
			lt_mark_begin(same ? 3 : i, same ? 0 : i);
		EXPECT_EQ(pending(), 8);
		EXPECT_EQ(area->dropped, 2);
		for (i = 9; i >= 0; i--) {
			EXPECT_EQ(pending(), i < 8 ? i + 1 : 8);
			lt_mark_end(same ? 3 : i, same ? 0 : i);
		}
		EXPECT_EQ(pending(), 0);
		EXPECT_EQ(area->ended, 8);
	}
	/* Those that longjmp() has left do not stand in the way of others. */
	start(10);
	for (i = 0; i < 10; i++)
		lt_mark_begin(i, 0);
	lt_mark_end(6, 0);
	EXPECT_EQ(pending(), 6);
	lt_mark_begin(9, 0);
	lt_mark_end(9, 0);
	EXPECT_EQ(pending(), 6);
	EXPECT_EQ(area->ended, 2);
	lt_mark_forget();
	EXPECT_EQ(pending(), 0);
	EXPECT_EQ(area->ended, 2);
}

static void test_missing_end(void)
{
	start(3);
	lt_mark_begin(0, 1);
	lt_mark_begin(1, 1);
	lt_mark_begin(2, 1);
	lt_mark_end(0, 1);
	EXPECT_EQ(pending(), 0);
	EXPECT_EQ(area->ended, 1);
	lt_mark_end(1, 1);
	lt_mark_end(2, 1);
	EXPECT_EQ(area->ended, 1);
	lt_mark_begin(1, 2);
	expect_frame(0, 1, 2, fake.now_ns);
	lt_mark_end(1, 2);
	EXPECT_EQ(area->ended, 2);
}

static void test_no_begin(void)
{
	start(2);
	lt_mark_end(0, 1);
	lt_mark_begin(0, 1);
	lt_mark_end(0, 2);
	lt_mark_end(1, 1);
	lt_mark_end(-1, 1);
	lt_mark_end(LT_MARK_MAX, 1);
	EXPECT_EQ(pending(), 1);
	EXPECT_EQ(area->ended, 0);
	lt_mark_begin(-1, 1);
	lt_mark_begin(LT_MARK_MAX, 1);
	EXPECT_EQ(pending(), 1);
	EXPECT_EQ(area->dropped, 2);
	lt_mark_end(0, 1);
	EXPECT_EQ(pending(), 0);
	EXPECT_EQ(area->ended, 1);
}

static void test_off(void)
{
	start(3);
	lt_mark_begin(0, 1);
	fake.head->on = 0;
	fake.clocks = 0;
	lt_mark_begin(1, 2);
	EXPECT_EQ(pending(), 1);
	lt_mark_end(1, 2);
	EXPECT_EQ(fake.clocks, 0);
	EXPECT_EQ(pending(), 1);
	lt_mark_end(0, 1);
	EXPECT_EQ(pending(), 0);
	EXPECT_EQ(area->ended, 1);
	lt_mark_begin(0, 1);
	fake.head->on = 1;
	lt_mark_end(0, 1);
	EXPECT_EQ(area->ended, 1);
	EXPECT_EQ(area->dropped, 0);
}

static void test_late(void)
{
	const struct lt_mark_end *told = &fake.told[0];

	start(2);
	fake.head->least_ns = 1000;
	area->in_ns = fake.now_ns;
	area->run_ns = 50;
	fake.now_ns += 10;
	lt_mark_begin(0, 1);
	lt_mark_begin(1, 2);
	fake.now_ns += 1000;
	errno = ERANGE;
	fake.interrupted = 2;
	lt_mark_end(1, 2);
	EXPECT_EQ(errno, ERANGE);
	EXPECT_EQ(fake.interrupted, 0);
	EXPECT_EQ(fake.ends, 1);
	EXPECT_EQ(told->frame, 1);
	EXPECT_EQ(told->seq, 1);
	EXPECT_EQ(area->frame[1].seq, 2);
	EXPECT_EQ(told->mark, 1);
	EXPECT_EQ(told->id, 2);
	EXPECT_EQ(told->start_ns, fake.now_ns - 1000);
	EXPECT_EQ(told->end_ns, fake.now_ns);
	EXPECT_EQ(told->start_run_ns, 60);
	EXPECT_EQ(told->end_run_ns, 1060);
	EXPECT_EQ(told->reserved, 0);
	EXPECT_EQ(area->ended, 0);
	/* What the kernel wants to know changes meanwhile. */
	fake.head->least_ns = 2000;
	fake.now_ns += 999;
	lt_mark_end(0, 1);
	EXPECT_EQ(fake.ends, 1);
	EXPECT_EQ(area->ended, 1);
	EXPECT_EQ(counted(lt_mark_key(0, 1999)), 1);
	/* A clock that steps back is no delay of 585 years. */
	lt_mark_begin(0, 1);
	fake.now_ns -= 5;
	lt_mark_end(0, 1);
	EXPECT_EQ(counted(lt_mark_key(0, 0)), 1);
	EXPECT_EQ(fake.ends, 1);
}

/* The thread is switched away from and back while it looks at the clock. */
static int switches;

static void switch_task(void)
{
	if (!switches)
		return;
	switches--;
	area->run_seq += 2;
	area->run_ns += 1000;
	area->in_ns = fake.now_ns - 7;
}

static void test_cpu_time(void)
{
	start(1);
	lt_mark_begin(0, 1);
	EXPECT(area->frame[0].run_ns == LT_MARK_NO_TIME, "not known");
	lt_mark_end(0, 1);
	area->in_ns = fake.now_ns - 30;
	area->run_ns = 500;
	lt_mark_begin(0, 1);
	EXPECT_EQ(area->frame[0].run_ns, 530);
	lt_mark_end(0, 1);
	fake.at_clock = switch_task;
	switches = 1;
	lt_mark_begin(0, 1);
	EXPECT_EQ(area->frame[0].run_ns, 1507);
	lt_mark_end(0, 1);
	/* For ever: that cannot be, and is no reason to hang. */
	switches = 100;
	lt_mark_begin(0, 1);
	EXPECT(area->frame[0].run_ns == LT_MARK_NO_TIME, "not known");
	fake.at_clock = NULL;
	lt_mark_end(0, 1);
	area->run_seq |= 1;
	lt_mark_begin(0, 1);
	EXPECT(area->frame[0].run_ns == LT_MARK_NO_TIME, "half way");
	lt_mark_end(0, 1);
	/* The clocks of the two differ by a little. */
	area->run_seq++;
	area->run_ns = 500;
	area->in_ns = fake.now_ns + 3;
	lt_mark_begin(0, 1);
	EXPECT_EQ(area->frame[0].run_ns, 500);
	lt_mark_end(0, 1);
}

static void test_full(void)
{
	unsigned int i, ops = 0;

	start(1);
	fake.head->least_ns = ~0ULL;
	for (i = 0; i < 64 * 16; i++, ops++) {
		lt_mark_begin(0, i);
		fake.now_ns += i < 16 ? i : (16ULL + i % 16) << (i / 16 % 40);
		lt_mark_end(0, i);
	}
	EXPECT(fake.ends > 0, "the table is full");
	EXPECT_EQ(area->ended + fake.ends, ops);
}

static void *begin_some(void *arg)
{
	int i;

	for (i = 0; i < 3; i++) {
		lt_mark_begin(0, 1);
		lt_mark_end(0, 1);
	}
	return arg;
}

static void run_thread(void)
{
	pthread_t thread;

	BUG_ON(pthread_create(&thread, NULL, begin_some, NULL));
	pthread_join(thread, NULL);
}

static void test_threads(void)
{
	start(1);
	run_thread();
	EXPECT_EQ(fake.threads, 2);
	EXPECT_EQ(fake.maps, 3);
	EXPECT_EQ(fake.unmaps, 1);
	EXPECT_EQ(fake_area(1)->ended, 3);
	EXPECT_EQ(area->ended, 0);
	fake.thread_error = EDQUOT;
	run_thread();
	EXPECT_EQ(fake.threads, 3);
	EXPECT_EQ(fake.maps, 3);
	fake.thread_error = 0;
	run_thread();
	EXPECT_EQ(fake_area(3)->ended, 3);
}

/* Returns what @child did. */
static int in_child(void (*child)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	BUG_ON(pid < 0);
	if (!pid) {
		alarm(20);
		child();
		_exit(0);
	}
	BUG_ON(waitpid(pid, &status, 0) != pid);
	return status;
}

/* It has a device of its own, in which its marks have the same numbers. */
static void child(void)
{
	unsigned int ended = area->ended;

	EXPECT_EQ(fake.unmaps, 2);
	EXPECT_EQ(fake.closes, 1);
	fake_reset();
	lt_mark_end(2, 5);
	EXPECT_EQ(fake.opens, 0);
	lt_mark_begin(1, 6);
	lt_mark_end(1, 6);
	EXPECT_EQ(fake.opens, 1);
	EXPECT_EQ(fake.defines, 3);
	EXPECT_EQ(fake.threads, 1);
	EXPECT_EQ(fake_area(0)->ended, 1);
	EXPECT_EQ(strcmp(fake.name[1], "b"), 0);
	EXPECT_EQ(ended, 0);
	EXPECT_EQ(lt_mark_define("d"), 3);
	/* A child of the child. */
	BUG_ON(in_child(lt_mark_forget));
}

/* The device is gone for it, or its number is that of another file. */
static void poor_child(void)
{
	EXPECT_EQ(fake.closes, 0);
	fake.open_error = EACCES;
	fake.opens = 0;
	for (int i = 0; i < 3; i++) {
		lt_mark_begin(1, 6);
		lt_mark_end(1, 6);
	}
	EXPECT_EQ(fake.opens, 1);
	EXPECT_EQ(lt_mark_on(), 0);
}

static void test_fork(void)
{
	start(3);
	lt_mark_begin(2, 5);
	EXPECT_EQ(in_child(child), 0);
	EXPECT_EQ(pending(), 1);
	EXPECT_EQ(fake.closes, 0);
	fake.other_file = 1;
	EXPECT_EQ(in_child(poor_child), 0);
	lt_mark_end(2, 5);
	EXPECT_EQ(area->ended, 1);
	EXPECT_EQ(fake.opens, 1);
}

static const struct ktap_test tests[] = {
	{ "define", test_define, 0, NULL },
	{ "no_device", test_no_device, 0, NULL },
	{ "nesting", test_nesting, 0, NULL },
	{ "last_end", test_last_end, 0, NULL },
	{ "too_deep", test_too_deep, 0, NULL },
	{ "missing_end", test_missing_end, 0, NULL },
	{ "no_begin", test_no_begin, 0, NULL },
	{ "off", test_off, 0, NULL },
	{ "late", test_late, 0, NULL },
	{ "cpu_time", test_cpu_time, 0, NULL },
	{ "full", test_full, 0, NULL },
	{ "threads", test_threads, 0, NULL },
	{ "fork", test_fork, 0, NULL },
};

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, tests, ARRAY_SIZE(tests));
}
