// SPDX-License-Identifier: GPL-2.0-only
/*
 * Activations whose work has a mark, and sleeps before it is done.
 */
#include "inject.h"

#include <latency_tracker_user.h>

#define CYCLES	1000

static int ask[2], answer[2];
static u64 wait_ns;

/* On another CPU: what the work waits for. It is no timer that wakes the task. */
static void *answers(void *unused)
{
	char byte;

	(void)unused;
	pin(0, 0);
	while (read(ask[0], &byte, 1) == 1) {
		usleep(wait_ns / 1000);
		if (write(answer[1], &byte, 1) != 1)
			die("write");
	}
	return NULL;
}

static void wait_for_answer(void)
{
	char byte = 0;

	if (write(ask[1], &byte, 1) != 1 || read(answer[0], &byte, 1) != 1)
		die("answer");
}

static void sleep_until(u64 when)
{
	struct timespec until = { when / 1000000000, when % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

struct marked {
	u64 due, ran, end[2];
	int is_marked;
};

/* Each cycle: some work and, in each second one, a wait in its middle; then what is not its work. */
static void work(struct marked *of, int i, const char *how, int mark, int other)
{
	int by_id = !strcmp(how, "id");

	of->is_marked = strcmp(how, "skip") || i % 4 != 3;
	of->ran = now();
	if (of->is_marked && by_id)
		lt_mark_begin_id(mark, i);
	else if (of->is_marked)
		lt_mark_begin(mark, i);
	spin_until(of->ran + MS);
	if (i % 2 && strcmp(how, "linger"))
		wait_for_answer();
	of->end[0] = now();
	if (of->is_marked && by_id)
		lt_mark_end_id(mark, i);
	else if (of->is_marked)
		lt_mark_end(mark, i);
	of->end[1] = now();
	/* It has ended in an hour, it says. */
	if (!strcmp(how, "lie") && i % 4 == 3) {
		lt_mark_self_1.area->last_ns[mark] = of->end[1] + 3600000000000ULL;
		of->is_marked = 0;
	}
	lt_mark_begin(other, i);
	spin_until(of->end[1] + 2 * MS);
	lt_mark_end(other, i);
	if (!strcmp(how, "linger") && i % 2)
		spin_until(of->end[1] + wait_ns);
}

static void print(const struct marked *of)
{
	printf("cycle=%d due=%llu ran=%llu end=%llu ended=%llu marked=%d\n", own_pid(), of->due,
	       of->ran, of->end[0], of->end[1], of->is_marked);
}

/*
 * marked N PERIOD WAIT HOW: N activations of this task, on the last CPU, one each PERIOD ms. Each
 * has a mark "cycle" around 1 ms of work, and, in each second one, the wait for another thread,
 * which takes WAIT ms; then 2 ms of a mark "other". Each is a line: when it was due, when the task
 * ran, when it was about to end the mark, and had ended it; "marked": whether it has said so. HOW: "all"; "skip": each fourth one has
 * no mark; "lie": each fourth one claims that it ends in an hour; "id": ends by id; "linger": no
 * wait, but each second one does not sleep for WAIT ms behind it; "die": one more, in whose work the
 * thread ends.
 */
int cmd_marked(char **argv)
{
	static struct marked cycles[CYCLES];
	u64 period = atoi(argv[2]) * MS, next;
	int i, n = atoi(argv[1]), mark = -1, other = lt_mark_define("other");
	const char *how = argv[4];
	pthread_t thread;
	long times;

	if (n > CYCLES)
		return 2;
	wait_ns = atoi(argv[3]) * MS;
	prctl(PR_SET_NAME, "lt-marked");
	if (pipe(ask) || pipe(answer) || pthread_create(&thread, NULL, answers, NULL))
		die("thread");
	pin(0, sysconf(_SC_NPROCESSORS_ONLN) - 1);
	be_fifo(50);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall");
	if (!strcmp(how, "id"))
		mark = lt_mark_define("cycle");
	lt_mark_begin_id(other, 0);
	lt_mark_end_id(other, 0);
	/* The thread has its memory by then. */
	if (mark < 0)
		mark = lt_mark_define("cycle");
	next = now() + 100 * MS;
	for (i = 0; i < n; i++) {
		cycles[i].due = next;
		sleep_until(next);
		work(&cycles[i], i, how, mark, other);
		/* A machine that stood still makes it late, not the next ones early. */
		for (next += period; next < now() + period / 4; next += period)
			;
	}
	for (i = 0; i < n; i++)
		print(&cycles[i]);
	fflush(stdout);
	if (!strcmp(how, "die")) {
		/* A machine that stands still may be past the time before the thread sleeps. */
		do {
			times = slept();
			sleep_until(now() + period);
		} while (slept() == times);
		lt_mark_begin(mark, n);
		_exit(0);
	}
	return 0;
}
