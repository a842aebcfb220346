// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that is kept from running, in a known way, and measures that itself.
 */
#include <sys/ptrace.h>

#include "inject.h"

/* Shorter gaps may be pauses of the machine. */
#define GAP_NS		(50 * MS)
#define TIMES		3

static void sleep_ms_vforked(long ms)
{
	pid_t pid = vfork();

	if (!pid) {
		sleep_ms(ms);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

struct how {
	const char *name;
	int fifo;			/* of the victim, and of who keeps it */
	void (*by_itself)(long ms);	/* TIMES */
	void (*step)(void);		/* all the time */
	void (*keep)(pid_t victim, long ms);
};

static void yield(void)
{
	sched_yield();
}

static void hog(pid_t victim, long ms)
{
	int i;

	(void)victim;
	pin(0, 1);
	be_fifo(10);
	for (i = 0; i < TIMES; i++) {
		spin_until(now() + ms * MS);
		sleep_ms(50);
	}
}

/* Of the same priority: the victim has the CPU in between, as it has called sched_yield(). */
static void take_turns(pid_t victim, long ms)
{
	int i;

	(void)victim;
	/* In this order: an ordinary task of CPU 1 waits for the share that the kernel gives it. */
	be_fifo(1);
	pin(0, 1);
	for (i = 0; i < TIMES; i++) {
		spin_until(now() + ms * MS);
		sched_yield();
	}
}

static void stop(pid_t victim, long ms)
{
	int i;

	for (i = 0; i < TIMES; i++) {
		kill(victim, SIGSTOP);
		sleep_ms(ms);
		kill(victim, SIGCONT);
		sleep_ms(50);
	}
}

static void trace(pid_t victim, long ms)
{
	int i, status;

	if (ptrace(PTRACE_SEIZE, victim, NULL, NULL))
		die("PTRACE_SEIZE");
	for (i = 0; i < TIMES; i++) {
		if (ptrace(PTRACE_INTERRUPT, victim, NULL, NULL) ||
		    waitpid(victim, &status, 0) != victim)
			die("PTRACE_INTERRUPT");
		sleep_ms(ms);
		if (ptrace(PTRACE_CONT, victim, NULL, NULL))
			die("PTRACE_CONT");
		sleep_ms(50);
	}
	ptrace(PTRACE_DETACH, victim, NULL, NULL);
}

/* The test does, which is told the pid, and then tells the end. */
static void wait_for_test(pid_t victim, long ms)
{
	char c;

	(void)ms;
	printf("pid=%d\n", victim);
	while (read(0, &c, 1) > 0)
		;
}

static const struct how hows[] = {
	{ .name = "preempted", .keep = hog },
	{ .name = "yielded", .fifo = 1, .step = yield, .keep = take_turns },
	{ .name = "stopped", .keep = stop },
	{ .name = "traced", .keep = trace },
	{ .name = "sleeping", .by_itself = sleep_ms },
	{ .name = "blocked", .by_itself = sleep_ms_vforked },
	{ .name = "outside", .keep = wait_for_test },
	{ 0 },
};

static long kept_ms;

/* A pause of the machine in which the task has the CPU counts as time on the CPU. */
static u64 cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Leaves in shared->ran how long it was kept, and in shared->told how often. */
static void be_kept(int which, u64 unused)
{
	const struct how *how = &hows[which];
	u64 before, t = now(), last = t - cpu_ns();
	int times = TIMES;

	(void)unused;
	pin(0, 1);
	if (how->fifo)
		be_fifo(how->fifo);
	__atomic_store_n(&shared->woken, t, __ATOMIC_RELEASE);
	while (how->by_itself ? times-- : !__atomic_load_n(&shared->hog_end, __ATOMIC_ACQUIRE)) {
		before = t;
		if (how->step)
			how->step();
		if (how->by_itself)
			how->by_itself(kept_ms);
		t = now();
		if (t - before >= GAP_NS) {
			shared->ran += t - cpu_ns() - last;
			shared->told++;
			last = t - cpu_ns();
		}
	}
}

/* kept HOW MS: a task is kept TIMES for MS each, as HOW says. */
int cmd_kept(char **argv)
{
	const struct how *how = hows;
	pid_t victim;

	while (how->name && strcmp(how->name, argv[1]))
		how++;
	if (!how->name)
		die(argv[1]);
	pin(0, 0);
	kept_ms = atol(argv[2]);
	victim = start("lt-kept", be_kept, how - hows, 0);
	while (!__atomic_load_n(&shared->woken, __ATOMIC_ACQUIRE))
		usleep(1000);
	sleep_ms(20);
	if (how->keep)
		how->keep(victim, kept_ms);
	__atomic_store_n(&shared->hog_end, now(), __ATOMIC_RELEASE);
	waitpid(victim, NULL, 0);
	printf("pid=%d kept=%llu times=%d\n", victim, shared->ran, shared->told);
	return 0;
}
