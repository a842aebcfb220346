// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes latencies of a known size, for the tests of this directory, and prints
 * what it did as NAME=VALUE; times are ns of CLOCK_MONOTONIC, the clock of the
 * trackers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common.h"

#define MS	1000000ULL
#define CROWD	12

typedef unsigned long long u64;

/* What the processes of a scenario tell each other. */
struct shared {
	u64 hog_start, hog_end, wake, woken, ran;
};

static struct shared *shared;

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		die("sched_setaffinity");
}

static void be_fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
}

static void spin_until(u64 end)
{
	while (now() < end)
		;
}

/* Nobody changes his state behind our back: as in /proc/PID/stat. */
static char state_of(pid_t pid)
{
	char path[64], line[512], *end;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = 0;
	end = strrchr(line, ')');
	return end ? end[2] : 0;
}

static void wait_asleep(pid_t pid)
{
	while (state_of(pid) != 'S')
		usleep(2000);
}

static pid_t start(const char *comm, void (*run)(int fd, u64 arg), int fd,
		   u64 arg)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_NAME, comm);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(fd, arg);
	_exit(0);
}

/* nanosleep MS: one system call. */
static int cmd_nanosleep(int argc, char **argv)
{
	struct timespec ts;
	u64 ms = atoi(argv[1]), begin;

	prctl(PR_SET_NAME, argc > 2 ? argv[2] : "lt-sleeper");
	ts.tv_sec = ms / 1000;
	ts.tv_nsec = ms % 1000 * MS;
	begin = now();
	syscall(SYS_nanosleep, &ts, NULL);
	printf("pid=%d nr=%d begin=%llu end=%llu\n", getpid(), SYS_nanosleep,
	       begin, now());
	return 0;
}

/* numbers: of system calls, which differ between architectures. */
static int cmd_numbers(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("nanosleep=%d exit=%d exit_group=%d\n", SYS_nanosleep, SYS_exit,
	       SYS_exit_group);
	return 0;
}

/* The wake-up happens between wake and woken. */
static void wake_through(int fd)
{
	shared->wake = now();
	if (write(fd, "x", 1) != 1)
		die("write");
	shared->woken = now();
}

/* The scenarios with a hog on CPU 1. */

static void hog(int fd, u64 ms)
{
	(void)fd;
	pin(0, 1);
	be_fifo(10);
	shared->hog_start = now();
	spin_until(shared->hog_start + ms * MS);
	shared->hog_end = now();
}

static void victim(int fd, u64 arg)
{
	char c;

	(void)arg;
	pin(0, 1);
	if (read(fd, &c, 1) != 1)
		die("read");
	shared->ran = now();
}

/* After the hog, before the victim. */
static void crowd(int fd, u64 ms)
{
	char c;

	pin(0, 1);
	be_fifo(5);
	if (read(fd, &c, 1) != 1)
		die("read");
	spin_until(now() + ms * MS);
}

static void start_crowd(pid_t *pids, int fd)
{
	int i;

	for (i = 0; i < CROWD; i++)
		pids[i] = start("lt-crowd", crowd, fd, 2);
	for (i = 0; i < CROWD; i++)
		wait_asleep(pids[i]);
}

/*
 * wake MS [HOW]: a victim sleeps in a pipe of CPU 1, a hog takes that CPU for
 * MS, then the victim is woken and waits for the CPU.
 * HOW: twice: woken a second time while it waits; migrate: it is sent to CPU 0
 * after half the time; kill: it is killed while it waits; crowd: when the hog ends,
 * CROWD others have the CPU for 2 ms each; idle: no hog at all.
 */
static int cmd_wake(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	u64 ms = atoi(argv[1]), moved = 0;
	pid_t v, h = 0, others[CROWD];
	int fds[2], many[2], crowded = !strcmp(how, "crowd"), i;

	if (pipe(fds) || pipe(many))
		die("pipe");
	prctl(PR_SET_NAME, "lt-waker");
	if (crowded)
		start_crowd(others, many[0]);
	v = start("lt-victim", victim, fds[0], 0);
	wait_asleep(v);
	pin(0, 0);
	if (strcmp(how, "idle")) {
		h = start("lt-hog", hog, -1, ms);
		while (!__atomic_load_n(&shared->hog_start, __ATOMIC_ACQUIRE))
			usleep(1000);
	} else {
		sleep_ms(50);
	}
	if (crowded && write(many[1], others, CROWD) != CROWD)
		die("write");
	wake_through(fds[1]);
	if (!strcmp(how, "twice")) {
		sleep_ms(ms / 4);
		if (write(fds[1], "x", 1) != 1)
			die("write");
	} else if (!strcmp(how, "migrate")) {
		sleep_ms(ms / 2);
		moved = now();
		pin(v, 0);
	} else if (!strcmp(how, "kill")) {
		sleep_ms(ms / 4);
		kill(v, SIGKILL);
	}
	waitpid(v, NULL, 0);
	if (h)
		waitpid(h, NULL, 0);
	for (i = 0; crowded && i < CROWD; i++)
		waitpid(others[i], NULL, 0);
	printf("victim=%d hog=%d waker=%d wake=%llu woken=%llu moved=%llu hog_end=%llu ran=%llu\n",
	       v, h, getpid(), shared->wake, shared->woken, moved,
	       shared->hog_end, shared->ran);
	return 0;
}

/* pipe MS: a reader blocks in a pipe for MS, then the writer writes. */
static void reader(int fd, u64 arg)
{
	char c;

	(void)arg;
	shared->hog_start = now();
	if (read(fd, &c, 1) != 1)
		die("read");
	shared->ran = now();
}

static int cmd_pipe(int argc, char **argv)
{
	u64 ms = atoi(argv[1]);
	int fds[2];
	pid_t r;

	(void)argc;
	if (pipe(fds))
		die("pipe");
	prctl(PR_SET_NAME, "lt-writer");
	r = start("lt-reader", reader, fds[0], 0);
	wait_asleep(r);
	sleep_ms(ms);
	wake_through(fds[1]);
	waitpid(r, NULL, 0);
	printf("reader=%d writer=%d block=%llu write=%llu written=%llu ran=%llu\n",
	       r, getpid(), shared->hog_start, shared->wake, shared->woken,
	       shared->ran);
	return 0;
}

static void *pause_thread(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void four_threads(int fd, u64 exits)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, pause_thread, NULL))
			die("pthread_create");
	sleep_ms(5);
	if (write(fd, "x", 1) != 1)
		die("write");
	if (exits)
		_exit(0);
	pause();
}

/*
 * die HOW N: N processes of 4 threads, one after the other, end while 3 of
 * their threads (exit: exit_group by the fourth) or all of them (kill: SIGKILL)
 * are in a system call.
 */
static int cmd_die(int argc, char **argv)
{
	int i, fds[2], exits = !strcmp(argv[1], "exit");
	char c;

	(void)argc;
	if (pipe(fds))
		die("pipe");
	for (i = 0; i < atoi(argv[2]); i++) {
		pid_t pid = start("lt-dying", four_threads, fds[1], exits);

		if (read(fds[0], &c, 1) != 1)
			die("read");
		if (!exits) {
			wait_asleep(pid);
			kill(pid, SIGKILL);
		}
		waitpid(pid, NULL, 0);
	}
	printf("threads=%d\n", 4 * i);
	return 0;
}

/* Loads: threads until the time is over. */

static u64 load_end;

static void *sleeper_thread(void *arg)
{
	unsigned int seed = (long)arg;

	while (now() < load_end)
		sleep_ms(rand_r(&seed) % 8 ? 1 : 150 + rand_r(&seed) % 50);
	return NULL;
}

/* Calls of 100 ms. */
static void *beat_thread(void *arg)
{
	(void)arg;
	while (now() < load_end)
		sleep_ms(100);
	return NULL;
}

static void *waiter_thread(void *arg)
{
	(void)arg;
	pin(0, 1);
	while (now() < load_end)
		sleep_ms(3);
	return NULL;
}

static void *rouser_thread(void *arg)
{
	int fd = (long)arg;

	pin(0, 0);
	while (now() < load_end && write(fd, "x", 1) == 1)
		sleep_ms(3);
	close(fd);
	return NULL;
}

/*
 * On the hog's CPU, but woken from the other one: with PREEMPT_RT the timer of
 * a waiter is in a thread of its CPU, which waits for the hog, too.
 */
static void *woken_thread(void *arg)
{
	pthread_t rouser;
	int fds[2];
	char c;

	(void)arg;
	if (pipe(fds) || pthread_create(&rouser, NULL, rouser_thread,
					(void *)(long)fds[1]))
		die("woken");
	pin(0, 1);
	while (read(fds[0], &c, 1) == 1)
		;
	pthread_join(rouser, NULL);
	close(fds[0]);
	return NULL;
}

/* Never sleeps: what wakes it finds it running. */
static void *runner_thread(void *arg)
{
	(void)arg;
	while (now() < load_end)
		if (sched_yield())
			die("sched_yield");
	return NULL;
}

static void *hog_thread(void *arg)
{
	(void)arg;
	pin(0, 1);
	be_fifo(10);
	while (now() < load_end) {
		spin_until(now() + 200 * MS);
		sleep_ms(150);
	}
	return NULL;
}

static void *exec_thread(void *arg)
{
	(void)arg;
	while (now() < load_end) {
		pid_t pid = vfork();

		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	return NULL;
}

/* Now and then one is born and dies. */
static void *mortal_thread(void *arg)
{
	(void)arg;
	while (now() < load_end) {
		pid_t pid = vfork();

		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		sleep_ms(20);
	}
	return NULL;
}

/* Two threads that wake each other as fast as they can. */
static void *pong_thread(void *arg)
{
	int *fds = arg;
	char c;

	while (read(fds[0], &c, 1) == 1 && write(fds[3], &c, 1) == 1)
		;
	close(fds[3]);
	return NULL;
}

static void *ping_thread(void *arg)
{
	int fds[4];
	pthread_t t;
	char c = 0;

	(void)arg;
	if (pipe(fds) || pipe(fds + 2) ||
	    pthread_create(&t, NULL, pong_thread, fds))
		die("ping");
	while (now() < load_end)
		if (write(fds[1], &c, 1) != 1 || read(fds[2], &c, 1) != 1)
			die("ping");
	close(fds[1]);
	pthread_join(t, NULL);
	close(fds[0]);
	close(fds[2]);
	return NULL;
}

/*
 * A reader is woken just when it is about to sleep in a pipe, often before it
 * sleeps; when it then sleeps for long, it is not late after that. The waker
 * waits a little less whenever the reader was asleep already, and a little more
 * whenever it was not, and so stays close to the moment in question.
 */
struct edge {
	int fd;
	int ready;	/* the reader goes to sleep now */
	int end;
	int delay_ns;
};

static void *edge_waker(void *arg)
{
	struct edge *edge = arg;

	pin(0, 1);
	while (!__atomic_load_n(&edge->end, __ATOMIC_ACQUIRE)) {
		if (!__atomic_exchange_n(&edge->ready, 0, __ATOMIC_ACQ_REL))
			continue;
		spin_until(now() + edge->delay_ns);
		if (write(edge->fd, "x", 1) != 1)
			die("edge");
	}
	return NULL;
}

static long slept(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void *edge_thread(void *arg)
{
	struct edge edge = { .delay_ns = 20000 };
	unsigned int i, seed = 1;
	pthread_t waker;
	int fds[2];
	long before;
	char c;

	(void)arg;
	pin(0, 0);
	if (pipe(fds))
		die("edge");
	edge.fd = fds[1];
	if (pthread_create(&waker, NULL, edge_waker, &edge))
		die("edge");
	for (i = 0; now() < load_end; i++) {
		before = slept();
		__atomic_store_n(&edge.ready, 1, __ATOMIC_RELEASE);
		if (read(fds[0], &c, 1) != 1)
			die("edge");
		edge.delay_ns += (slept() > before ? -1 : 1) *
				 (rand_r(&seed) % 2000);
		if (edge.delay_ns < 0)
			edge.delay_ns = 0;
		if (i % 4 == 0)
			sleep_ms(60);
	}
	__atomic_store_n(&edge.end, 1, __ATOMIC_RELEASE);
	pthread_join(waker, NULL);
	close(fds[0]);
	close(fds[1]);
	return NULL;
}

/* SIGTERM ends a load at once. */
static void end_load(int sig)
{
	(void)sig;
	load_end = 0;
}

static const struct {
	const char *name;
	void *(*run)(void *arg);
} loads[] = {
	{ "sleeper", sleeper_thread },
	{ "beat", beat_thread },
	{ "waiter", waiter_thread },
	{ "woken", woken_thread },
	{ "runner", runner_thread },
	{ "hog", hog_thread },
	{ "exec", exec_thread },
	{ "mortal", mortal_thread },
	{ "ping", ping_thread },
	{ "edge", edge_thread },
};

/* load MS NAME...: one thread per NAME. */
static int cmd_load(int argc, char **argv)
{
	pthread_t threads[argc];
	unsigned int j;
	int i;

	signal(SIGTERM, end_load);
	load_end = now() + atoi(argv[1]) * MS;
	for (i = 2; i < argc; i++) {
		for (j = 0; j < sizeof(loads) / sizeof(loads[0]); j++)
			if (!strcmp(argv[i], loads[j].name))
				break;
		if (j == sizeof(loads) / sizeof(loads[0]) ||
		    pthread_create(&threads[i], NULL, loads[j].run,
				   (void *)(long)i))
			die(argv[i]);
	}
	for (i = 2; i < argc; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int cmd_now(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("%llu\n", now());
	return 0;
}

static int run(int argc, char **argv);

/* told COMMAND...: once standard input has ended, so that a filter can be set before. */
static int cmd_told(int argc, char **argv)
{
	char c;

	while (read(0, &c, 1) > 0)
		;
	return run(argc - 1, argv + 1);
}

static const struct {
	const char *name;
	int args;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "told", 1, cmd_told },
	{ "now", 0, cmd_now },
	{ "numbers", 0, cmd_numbers },
	{ "nanosleep", 1, cmd_nanosleep },
	{ "wake", 1, cmd_wake },
	{ "pipe", 1, cmd_pipe },
	{ "die", 2, cmd_die },
	{ "load", 2, cmd_load },
};

static int run(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc > commands[i].args &&
		    !strcmp(argv[0], commands[i].name))
			return commands[i].run(argc, argv);
	fprintf(stderr, "Usage: inject COMMAND ARG...; see the source\n");
	return 2;
}

int main(int argc, char **argv)
{
	setlinebuf(stdout);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	return run(argc - 1, argv + 1);
}
