// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that die while they are tracked.
 */
#include "inject.h"

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
int cmd_die(char **argv)
{
	int i, fds[2], exits = !strcmp(argv[1], "exit");
	char c;

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

static void be_first(int fd, u64 exits)
{
	(void)fd;
	if (!exits)
		pause_thread(NULL);
}

/* Like fork(), but the child's pid is @pid. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (unsigned long)&pid,
		.set_tid_size = 1,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

/* Is in calls, off the CPU, and woken, but never for long. */
static void be_second(void)
{
	int i;

	prctl(PR_SET_NAME, "lt-second");
	for (i = 0; i < 5; i++)
		sleep_ms(2);
	_exit(0);
}

/*
 * reuse N MS: N times a process dies, killed in a sleep of MS or by itself, and MS later
 * another gets its pid.
 */
int cmd_reuse(char **argv)
{
	int i, reused = 0;
	pid_t pid, next;

	for (i = 0; i < atoi(argv[1]); i++) {
		pid = start("lt-first", be_first, -1, i % 2);
		sleep_ms(atoi(argv[2]));
		kill(pid, SIGKILL);
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid");
		sleep_ms(atoi(argv[2]));
		next = fork_as(pid);
		if (next < 0)
			die("clone3");
		if (!next)
			be_second();
		reused += next == pid;
		printf("pid=%d\n", pid);
		if (waitpid(next, NULL, 0) != next)
			die("waitpid");
	}
	printf("reused=%d\n", reused);
	return 0;
}
