// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls that take a known time.
 */
#include "inject.h"

/* Without the C library, which may take another call. */
static void *nap(void *ms)
{
	struct timespec ts = { (long)ms / 1000, (long)ms % 1000 * MS };

	syscall(SYS_nanosleep, &ts, NULL);
	return NULL;
}

static void tell_pids(void)
{
	if (is_held())
		printf("pid=%d tgid=%d\n", own_pid(), getpid());
	wait_until_told();
}

/* nanosleep MS [COMM]: one system call. */
int cmd_nanosleep(char **argv)
{
	u64 begin;

	prctl(PR_SET_NAME, argv[2] ? argv[2] : "lt-sleeper");
	tell_pids();
	begin = now();
	nap((void *)atol(argv[1]));
	printf("pid=%d tgid=%d nr=%d begin=%llu end=%llu\n", own_pid(), getpid(),
	       SYS_nanosleep, begin, now());
	return 0;
}

/* call NR COMM: a system call without arguments. */
int cmd_call(char **argv)
{
	prctl(PR_SET_NAME, argv[2]);
	syscall(atol(argv[1]), 0, 0, 0, 0, 0, 0);
	return 0;
}

/* many N MS: N threads in one system call each, all at the same time. */
int cmd_many(char **argv)
{
	int i, n = atoi(argv[1]);
	pthread_t threads[n];

	prctl(PR_SET_NAME, "lt-many");
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, nap, (void *)atol(argv[2])))
			die("pthread_create");
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("threads=%d\n", n);
	return 0;
}

/* busy MS: one system call that does not sleep. */
int cmd_busy(char **argv)
{
	u64 begin;
	long ret;

	prctl(PR_SET_NAME, "lt-busy");
	pin(0, 1);
	be_fifo(10);
	begin = now();
	ret = read_zeros(atol(argv[1]) * 1000);
	printf("pid=%d nr=%d ret=%ld begin=%llu end=%llu\n", own_pid(), SYS_readv, ret, begin,
	       now());
	return 0;
}

/*
 * self N MS: N times woken while it is about to sleep, on its own CPU, by the timer that
 * ends the sleep at once, so that it need not sleep; each time it then runs for MS.
 */
int cmd_self(char **argv)
{
	struct timespec ts = { .tv_nsec = 1 };
	int awake = 0, tries = 0;
	long before;

	prctl(PR_SET_NAME, "lt-self");
	pin(0, 1);
	be_fifo(10);
	while (awake < atoi(argv[1]) && tries++ < 10000) {
		before = slept();
		syscall(SYS_nanosleep, &ts, NULL);
		if (slept() > before)
			continue;
		awake++;
		spin_until(now() + atoi(argv[2]) * MS);
	}
	printf("pid=%d awake=%d\n", own_pid(), awake);
	return 0;
}

static void no_compat(int sig)
{
	(void)sig;
	if (write(1, "none\n", 5) != 5)
		_exit(1);
	_exit(0);
}

/* compat MS: a system call of the 32-bit table, nanosleep; "none" if there are none. */
int cmd_compat(char **argv)
{
#ifdef __x86_64__
	int *ts = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int ms = atoi(argv[1]), ret, nr = 162;
	u64 begin;

	if (ts == MAP_FAILED)
		die("mmap");
	prctl(PR_SET_NAME, "lt-compat");
	signal(SIGSEGV, no_compat);
	ts[0] = ms / 1000;
	ts[1] = ms % 1000 * (int)MS;
	begin = now();
	__asm__ volatile ("int $0x80" : "=a" (ret) : "a" (nr), "b" (ts), "c" (0)
			  : "memory", "r8", "r9", "r10", "r11");
	printf("pid=%d nr=%d ret=%d begin=%llu end=%llu\n", own_pid(), nr, ret, begin, now());
	return 0;
#else
	(void)argv;
	no_compat(0);
	return 0;
#endif
}

/* exec: another program, maybe by a thread that gets the pid of its leader so. */
int cmd_exec(char **argv)
{
	(void)argv;
	tell_pids();
	execl("/bin/true", "true", NULL);
	return 1;
}
