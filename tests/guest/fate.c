// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that meet their fate while they are tracked, for the tests of this
 * directory; prints what it did as NAME=VALUE.
 *
 *	fate reuse N MS		N times: a process dies, killed in a sleep of MS
 *				or by itself, and MS later another gets its pid
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

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

static void be_first(int exits)
{
	prctl(PR_SET_NAME, "lt-first");
	if (exits)
		_exit(0);
	for (;;)
		sleep_ms(60000);
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

static int reuse(int n, long ms)
{
	int i, reused = 0;

	for (i = 0; i < n; i++) {
		pid_t pid = fork(), next;

		if (pid < 0)
			die("fork");
		if (!pid)
			be_first(i % 2);
		sleep_ms(ms);
		kill(pid, SIGKILL);
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid");
		sleep_ms(ms);
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

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "reuse"))
		return reuse(atoi(argv[2]), atol(argv[3]));
	fprintf(stderr, "Usage: fate reuse N MS\n");
	return 2;
}
