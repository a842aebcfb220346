// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that a timer wakes, and what keeps them from their work.
 */
#include "inject.h"

#define RUN	"/sys/module/latency_tracker_chains/parameters/run"
#define CYCLES	10000

static void sleep_until(u64 when)
{
	struct timespec until = { when / 1000000000, when % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

/* It is ready. Returns when the task is due, which is set once all are. */
static u64 due_time(void)
{
	u64 due;

	__atomic_add_fetch(&shared->told, 1, __ATOMIC_RELEASE);
	while (!(due = __atomic_load_n(&shared->wake, __ATOMIC_ACQUIRE)))
		usleep(1000);
	return due;
}

/* Interrupts are off on CPU 1, by a system call. */
static void switch_off(int fd, u64 ms)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "off %llu", ms);

	fd = open(RUN, O_WRONLY);
	if (fd < 0)
		die(RUN);
	pin(0, 1);
	sleep_until(due_time() - ms * MS / 2);
	shared->hog_start = now();
	if (write(fd, text, len) != len)
		die("write");
	shared->hog_end = now();
}

/* CPU 1 has a task of a higher priority: before it is due, or in the middle of its work. */
static void hog(int is_later, u64 ms)
{
	u64 due;

	pin(0, 1);
	be_fifo(60);
	due = due_time();
	sleep_until(is_later ? due + ms * MS / 2 : due - ms * MS / 2);
	shared->hog_start = now();
	spin_until(shared->hog_start + ms * MS);
	shared->hog_end = now();
}

static void worker(int slack_ms, u64 ms)
{
	pin(0, 1);
	if (slack_ms)
		prctl(PR_SET_TIMERSLACK, slack_ms * MS);
	else
		be_fifo(50);
	sleep_until(due_time());
	shared->ran = now();
	spin_until(shared->ran + ms * MS);
	shared->woken = now();
	sleep_ms(50);
}

/*
 * activation HOW MS: a task of CPU 1 sleeps until a time that is due, does its work and sleeps
 * again. HOW: work: its work takes MS; off: from MS / 2 before that, interrupts are off on that CPU
 * for MS; hog: likewise a hog has the CPU; preempt: likewise, but from MS / 2 after it, and its
 * work takes MS; slack: it is no real-time task, and its timer may be late by MS.
 */
int cmd_activation(char **argv)
{
	u64 ms = atoi(argv[2]), due;
	int is_off = !strcmp(argv[1], "off"), is_hog = !strcmp(argv[1], "hog");
	int is_preempt = !strcmp(argv[1], "preempt"), is_slack = !strcmp(argv[1], "slack");
	int works = is_preempt || !strcmp(argv[1], "work");
	pid_t process, task, other = 0;

	prctl(PR_SET_NAME, "lt-main");
	pin(0, 0);
	process = start_thread("lt-active", worker, is_slack ? ms : 0, works ? ms : 0, &task);
	if (is_off)
		start_thread("lt-off", switch_off, 0, ms, &other);
	if (is_hog || is_preempt)
		start_thread("lt-hog", hog, is_preempt, ms, &other);
	while (__atomic_load_n(&shared->told, __ATOMIC_ACQUIRE) < (other ? 2 : 1))
		usleep(1000);
	due = now() + 300 * MS + ms * MS / 2;
	__atomic_store_n(&shared->wake, due, __ATOMIC_RELEASE);
	while (wait(NULL) > 0)
		;
	printf("active=%d tgid=%d other=%d due=%llu ran=%llu done=%llu", task, process, other, due,
	       shared->ran, shared->woken);
	printf(" hog_start=%llu hog_end=%llu\n", shared->hog_start, shared->hog_end);
	return 0;
}

/*
 * cycle N PERIOD WORK: N activations of this task, on the last CPU, one each PERIOD ms; each second
 * one works for WORK ms. Each is a line: when it was due, when the task ran, when its work was done.
 */
int cmd_cycle(char **argv)
{
	static struct { u64 due, ran, done; } cycles[CYCLES];
	u64 period = atoi(argv[2]) * MS, ms = atoi(argv[3]), next;
	int i, n = atoi(argv[1]);

	if (n > CYCLES)
		return 2;
	prctl(PR_SET_NAME, "lt-cycle");
	pin(0, sysconf(_SC_NPROCESSORS_ONLN) - 1);
	be_fifo(50);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall");
	next = now() + 100 * MS;
	for (i = 0; i < n; i++) {
		cycles[i].due = next;
		sleep_until(next);
		cycles[i].ran = now();
		if (i % 2)
			spin_until(cycles[i].ran + ms * MS);
		/* A machine that stood still makes it late, not the next ones early. */
		for (next += period; next < now() + period / 4; next += period)
			;
		cycles[i].done = now();
	}
	for (i = 0; i < n; i++)
		printf("cycle=%d due=%llu ran=%llu done=%llu\n", own_pid(), cycles[i].due,
		       cycles[i].ran, cycles[i].done);
	return 0;
}
