// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains of tasks that wait for each other.
 */
#include "inject.h"

#include <sys/file.h>

#define LINKS	5
#define LOCKS	"/proc/latency_tracker_locks"

/* What a task has, and the one before it waits for. */
struct thing {
	char kind[16];
	int pipe[2];
	pthread_mutex_t *mutex;
	int file;
};

/* The chain; the last task does @end. */
static struct thing things[LINKS + 1];
static int nr;
static char end[16];
static long end_ms, work_ms;
static int ready[2], go[2];
static volatile char *swapped;

static u64 cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

static void work(long ms)
{
	u64 until = cpu_time() + ms * MS;
	volatile int n;

	/* In user space, but for few moments. */
	while (cpu_time() < until) {
		for (n = 0; n < 50000; n++)
			;
	}
}

/* It takes a lock of the kernel, and has it for @ms, asleep, or until it has done @how. */
static void hold_kernel(const char *kind, long ms, const char *how)
{
	char words[64];
	int fd = open(LOCKS, O_WRONLY);

	snprintf(words, sizeof(words), "%s %ld %s", kind, ms, how);
	if (fd < 0 || write(fd, words, strlen(words)) < 0)
		die(LOCKS);
	close(fd);
}

static int is_kernel(const char *kind)
{
	return !strcmp(kind, "mutex") || !strcmp(kind, "rwsem_write") || !strcmp(kind, "rt_mutex");
}

/* The last task begins with a lock of the kernel, without a word of the first one. */
static int end_has_lock(void)
{
	return is_kernel(end) || !strcmp(end, "retry");
}

static pthread_mutex_t *new_mutex(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t *mutex;
	char *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		die("mmap");
	/* Not at its begin: what is in front of the lock is not the lock's. */
	mutex = (pthread_mutex_t *)(room + 128);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attr);
	return mutex;
}

static int open_file(int number)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/lt-chain%d", number);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		die(path);
	return fd;
}

/* A task takes what it has; its own open file, as a flock belongs to that. */
static void take(struct thing *thing)
{
	if (!strcmp(thing->kind, "futex")) {
		pthread_mutex_lock(thing->mutex);
	} else if (!strcmp(thing->kind, "flock")) {
		thing->file = open_file(thing - things);
		if (flock(thing->file, LOCK_EX))
			die("flock");
	}
}

static void give(struct thing *thing)
{
	if (!strcmp(thing->kind, "futex"))
		pthread_mutex_unlock(thing->mutex);
	else if (!strcmp(thing->kind, "flock"))
		flock(thing->file, LOCK_UN);
	else if (!strcmp(thing->kind, "pipe") && write(thing->pipe[1], "x", 1) != 1)
		die("write");
}

static void wait_for(struct thing *thing, u64 *asked)
{
	int file = strcmp(thing->kind, "flock") ? -1 : open_file(thing - things);
	char byte;

	*asked = now();
	if (!strcmp(thing->kind, "futex"))
		pthread_mutex_lock(thing->mutex);
	else if (file >= 0)
		flock(file, LOCK_EX);
	else if (is_kernel(thing->kind))
		hold_kernel(thing->kind, 1, "");
	else if (read(thing->pipe[0], &byte, 1) != 1)
		die("read");
}

/*
 * A page that is in the swap space only. What has been written stays in memory as well: when it is
 * read there, it is clean, and goes at once the next time.
 */
static void swap_out(void)
{
	unsigned char is_there = 1;
	int tries;

	swapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (swapped == MAP_FAILED)
		die("mmap");
	*swapped = 1;
	for (tries = 0; is_there & 1; tries++) {
		(void)*swapped;
		if (tries == 2000 || madvise((void *)swapped, 4096, MADV_PAGEOUT))
			die("MADV_PAGEOUT");
		usleep(5000);
		if (mincore((void *)swapped, 4096, &is_there))
			die("mincore");
	}
}

static void do_end(u64 *asked)
{
	char *buffer;
	int fd;

	*asked = now();
	if (!strcmp(end, "sleep")) {
		sleep_ms(end_ms);
	} else if (!strcmp(end, "spin")) {
		work(end_ms);
	} else if (!strcmp(end, "nap") || !strcmp(end, "doze")) {
		work(20);
		while (now() < *asked + end_ms * MS)
			usleep(!strcmp(end, "nap") ? 300 : 1300);
	} else if (is_kernel(end)) {
		hold_kernel(end, end_ms, "");
	} else if (!strcmp(end, "retry")) {
		hold_kernel("mutex", 0, "disk");
	} else if (!strcmp(end, "swap")) {
		(void)*swapped;
	} else {
		fd = open("/dev/nullb0", O_RDONLY | O_DIRECT);
		buffer = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*asked = now();
		if (pread(fd, buffer, 4096, 4096 * (getpid() % 1000)) != 4096)
			die("/dev/nullb0");
	}
}

static void be_task(int step)
{
	struct thing *have = step ? &things[step - 1] : NULL;
	struct thing *want = step < nr ? &things[step] : NULL;
	u64 asked, got, gave, before = 0, used, worked;
	char byte;

	prctl(PR_SET_NAME, (char[]){ 'l', 't', '-', 'c', '0' + step, 0 });
	if (!want && !strcmp(end, "swap"))
		swap_out();
	if (have)
		take(have);
	if (write(ready[1], ".", 1) != 1)
		die("write");
	used = cpu_time();
	if (want) {
		wait_for(want, &asked);
	} else {
		if (!end_has_lock() && read(go[0], &byte, 1) != 1)
			die("read");
		before = cpu_time() - used;
		used = cpu_time();
		do_end(&asked);
	}
	got = now();
	used = cpu_time() - used;
	worked = cpu_time();
	work(work_ms);
	worked = cpu_time() - worked;
	gave = now();
	if (have)
		give(have);
	printf("task=%d pid=%d by=%s asked=%llu got=%llu gave=%llu before=%llu used=%llu worked=%llu\n",
	       step, getpid(), want ? want->kind : end, asked, got, gave, before, used, worked);
	exit(0);
}

/* LINK+...+END:MS. A lock of the kernel is a link, and what the last one holds. */
static void parse(char *words)
{
	char *word, *save;

	for (word = strtok_r(words, "+", &save); word; word = strtok_r(NULL, "+", &save)) {
		struct thing *thing = &things[nr];

		if (sscanf(word, "%15[^:]:%ld", end, &end_ms) == 2)
			break;
		if (nr++ == LINKS)
			die("too many links");
		strcpy(thing->kind, end);
		thing->mutex = new_mutex();
		if (pipe(thing->pipe))
			die("pipe");
	}
	if (end_has_lock())
		strcpy(things[nr++].kind, is_kernel(end) ? end : "mutex");
}

/*
 * chain LINK+...+END:MS WORK_MS: the first task waits for the second one by the first LINK, and so
 * on; the last one does what END says, for so long. Each that has got what it waits for works
 * for WORK_MS, and gives what it has to the one before it.
 *
 * LINKs: pipe, futex (a mutex of processes), flock. ENDs: sleep, spin, nap and doze (some work,
 * and then to sleep again and again, for less than 1 ms or for more), disk (a read from
 * /dev/nullb0), swap (it touches a page that is in the swap space), and mutex, rwsem_write, rt_mutex:
 * the last but one waits for a lock of the kernel that the last one holds, asleep; or retry: for a
 * mutex that the last one holds until it has read from /dev/sda.
 */
int cmd_chain(char **argv)
{
	pid_t pid;
	char byte;
	int step;

	parse(argv[1]);
	work_ms = atol(argv[2]);
	if (pipe(ready) || pipe(go))
		die("pipe");
	for (step = nr; step >= 0; step--) {
		pid = fork();
		if (!pid)
			be_task(step);
		if (pid < 0 || read(ready[0], &byte, 1) != 1)
			die("fork");
		/* D: for a lock of the kernel, or with one. Z: it has had that, on a slow machine. */
		while (!memchr("SDZ", state_of(pid), 3))
			usleep(2000);
	}
	if (!end_has_lock() && write(go[1], "x", 1) != 1)
		die("write");
	while (wait(NULL) > 0)
		;
	return 0;
}
