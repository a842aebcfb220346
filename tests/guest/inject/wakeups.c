// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that are woken, and wait for a CPU or for the wake-up.
 */
#include "inject.h"

#define CROWD	48

/* The wake-up happens between wake and woken. */
static void wake_through(int fd)
{
	shared->wake = now();
	if (write(fd, "x", 1) != 1)
		die("write");
	shared->woken = now();
}

/* Takes CPU 1, maybe in system calls. */
static void hog(int in_kernel, u64 ms)
{
	u64 end;

	pin(0, 1);
	be_fifo(10);
	shared->hog_start = now();
	end = shared->hog_start + ms * MS;
	while (now() < end)
		if (in_kernel)
			read_zeros((end - now()) / 1000 + 1);
	shared->hog_end = now();
}

/* CPU 1 is in a hard interrupt for so long; this process is not. */
static void stick(int fd, u64 ms)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "irq 1 %llu 0", ms);

	(void)fd;
	pin(0, 0);
	fd = open("/sys/module/latency_tracker_inject/parameters/run", O_WRONLY);
	if (fd < 0)
		die("latency_tracker_inject");
	shared->hog_start = now();
	if (write(fd, text, len) != len)
		die("write");
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

/* What becomes of the victim while it waits. Returns when it was sent to CPU 0, or 0. */
static u64 disturb(const char *how, int fd, pid_t v, pid_t process, u64 ms)
{
	u64 moved;

	if (!strcmp(how, "migrate")) {
		sleep_ms(ms / 2);
		moved = now();
		pin(v, 0);
		return moved;
	}
	if (!strcmp(how, "twice")) {
		sleep_ms(ms / 4);
		if (write(fd, "x", 1) != 1)
			die("write");
	} else if (!strcmp(how, "kill")) {
		sleep_ms(ms / 4);
		kill(process, SIGKILL);
	}
	return 0;
}

/*
 * wake MS [HOW]: a victim sleeps in a pipe of CPU 1, a hog takes that CPU for
 * MS, then the victim is woken and waits for the CPU.
 * HOW: twice: woken a second time while it waits; migrate: it is sent to CPU 0
 * after half the time; kill: it is killed while it waits; crowd: when the hog ends,
 * CROWD others have the CPU for 2 ms each; kernel: the hog is in a system call; idle: no
 * hog at all; stuck: the hog is a hard interrupt of latency_tracker_inject. Until that is
 * over, nothing here may need an answer of CPU 1, as a fork does.
 */
int cmd_wake(char **argv)
{
	const char *how = argv[2] ? argv[2] : "";
	u64 ms = atoi(argv[1]), moved;
	pid_t v, h = 0, victim_process, hog_process = 0, others[CROWD];
	int fds[2], many[2], crowded = !strcmp(how, "crowd");

	if (pipe(fds) || pipe(many))
		die("pipe");
	prctl(PR_SET_NAME, "lt-waker");
	if (crowded)
		start_crowd(others, many[0]);
	victim_process = start_thread("lt-victim", victim, fds[0], 0, &v);
	wait_asleep(v);
	pin(0, 0);
	if (is_held())
		printf("victim=%d victim_tgid=%d\n", v, victim_process);
	wait_until_told();
	if (!strcmp(how, "stuck")) {
		start("lt-stick", stick, 0, ms);
		sleep_ms(100);
	} else if (strcmp(how, "idle")) {
		hog_process = start_thread("lt-hog", hog, !strcmp(how, "kernel"), ms, &h);
		while (!__atomic_load_n(&shared->hog_start, __ATOMIC_ACQUIRE))
			usleep(1000);
	} else {
		sleep_ms(50);
	}
	/* What it held before the wake-up does not count. */
	if (crowded)
		sleep_ms(ms / 4);
	if (crowded && write(many[1], others, CROWD) != CROWD)
		die("write");
	wake_through(fds[1]);
	moved = disturb(how, fds[1], v, victim_process, ms);
	while (wait(NULL) > 0)
		;
	printf("victim=%d victim_tgid=%d hog=%d hog_tgid=%d waker=%d", v,
	       victim_process, h, hog_process, getpid());
	printf(" wake=%llu woken=%llu moved=%llu hog_end=%llu ran=%llu\n",
	       shared->wake, shared->woken, moved, shared->hog_end, shared->ran);
	return 0;
}

/*
 * late MS [EACH]: sleeps for 5 or EACH ms, again and again, and looks how much later it runs: a line
 * if that is 5 ms or more, with when it should have run. Nothing else is needed to know how long it
 * was kept. If it is preempted before it can look, a part of that is no wait of a task that was woken: the
 * test takes a time that its report covers.
 */
int cmd_late(char **argv)
{
	u64 end = now() + atoi(argv[1]) * MS, each = argv[2] ? atoi(argv[2]) : 5, due, late;

	prctl(PR_SET_NAME, "lt-late");
	while (now() < end) {
		struct timespec until;

		due = now() + each * MS;
		until.tv_sec = due / 1000000000;
		until.tv_nsec = due % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		late = now() - due;
		if (late >= 5 * MS)
			printf("late=%d kept=%llu due=%llu\n", getpid(), late, due);
	}
	return 0;
}

/* spin MS: takes CPU time. */
int cmd_spin(char **argv)
{
	prctl(PR_SET_NAME, "lt-spin");
	spin_until(now() + atoi(argv[1]) * MS);
	printf("spin=%d\n", getpid());
	return 0;
}

static void reader(int fd, u64 arg)
{
	char c;

	(void)arg;
	while (__atomic_load_n(&shared->told, __ATOMIC_ACQUIRE))
		usleep(1000);
	shared->hog_start = now();
	if (read(fd, &c, 1) != 1)
		die("read");
	shared->ran = now();
}

/* pipe MS: a reader blocks in a pipe for MS, then the writer writes. */
int cmd_pipe(char **argv)
{
	pid_t r, process;
	int fds[2];

	if (pipe(fds))
		die("pipe");
	prctl(PR_SET_NAME, "lt-writer");
	shared->told = is_held();
	process = start_thread("lt-reader", reader, fds[0], 0, &r);
	if (is_held())
		printf("reader=%d reader_tgid=%d\n", r, process);
	wait_until_told();
	__atomic_store_n(&shared->told, 0, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&shared->hog_start, __ATOMIC_ACQUIRE))
		usleep(1000);
	wait_asleep(r);
	sleep_ms(atoi(argv[1]));
	wake_through(fds[1]);
	waitpid(process, NULL, 0);
	printf("reader=%d reader_tgid=%d writer=%d block=%llu write=%llu written=%llu ran=%llu\n",
	       r, process, getpid(), shared->hog_start, shared->wake,
	       shared->woken, shared->ran);
	return 0;
}
