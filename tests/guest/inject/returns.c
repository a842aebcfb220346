// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls whose work is done on the way back to user space, or never comes back.
 */
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "inject.h"

static void tell_call(pid_t pid, long nr, u64 begin)
{
	printf("pid=%d nr=%ld begin=%llu end=%llu\n", pid, nr, begin, now());
}

/* umount DIRECTORY: one system call. */
int cmd_umount(char **argv)
{
	u64 begin;

	prctl(PR_SET_NAME, "lt-umount");
	begin = now();
	if (syscall(SYS_umount2, argv[1], 0))
		die("umount");
	tell_call(own_pid(), SYS_umount2, begin);
	return 0;
}

/* A connection whose other end does not read. */
static int stuck_socket(int *peer)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), server = socket(AF_INET, SOCK_STREAM, 0);
	static char zeros[65536];
	socklen_t len = sizeof(addr);

	if (bind(server, (void *)&addr, len) || listen(server, 1) ||
	    getsockname(server, (void *)&addr, &len) || connect(fd, (void *)&addr, len))
		die("a connection");
	*peer = accept(server, NULL, NULL);
	while (send(fd, zeros, sizeof(zeros), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* linger S: a close() that waits so long for what is not sent yet. */
int cmd_linger(char **argv)
{
	struct linger linger = { .l_onoff = 1, .l_linger = atoi(argv[1]) };
	int peer, fd = stuck_socket(&peer);
	u64 begin;

	prctl(PR_SET_NAME, "lt-linger");
	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)))
		die("SO_LINGER");
	begin = now();
	syscall(SYS_close, fd);
	tell_call(own_pid(), SYS_close, begin);
	close(peer);
	return 0;
}

static void exiter(int fd, u64 mb)
{
	char *memory = mmap(NULL, mb << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)fd;
	if (memory == MAP_FAILED)
		die("memory");
	madvise(memory, mb << 20, MADV_NOHUGEPAGE);
	memset(memory, 1, mb << 20);
	/* Behind a sleep, which is told apart, no short wait may be one of those before. */
	sleep_ms(20);
	shared->wake = now();
	syscall(SYS_exit_group, 0);
}

/* exit MB: a process that ends has so much memory to give back. */
int cmd_exit(char **argv)
{
	pid_t pid = start("lt-exiter", exiter, -1, atol(argv[1]));

	waitpid(pid, NULL, 0);
	tell_call(pid, SYS_exit_group, shared->wake);
	return 0;
}

/* stop MS: a call is interrupted by SIGSTOP, and goes on after so long. */
int cmd_stop(char **argv)
{
	pid_t child, pid = own_pid();
	struct timespec ts = { .tv_nsec = 20 * MS };
	u64 begin;

	prctl(PR_SET_NAME, "lt-stopped");
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "lt-stopper");
		wait_asleep(pid);
		kill(pid, SIGSTOP);
		sleep_ms(atol(argv[1]));
		kill(pid, SIGCONT);
		_exit(0);
	}
	ts.tv_sec = 5;
	begin = now();
	syscall(SYS_rt_sigtimedwait, &(sigset_t){ 0 }, NULL, &ts, 8);
	tell_call(pid, SYS_rt_sigtimedwait, begin);
	waitpid(child, NULL, 0);
	return 0;
}

static void taker(int fd, u64 ms)
{
	sigset_t set;
	int sig;

	(void)fd;
	be_fifo(50);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwait(&set, &sig);
	spin_until(now() + ms * MS);
}

/* taken MS: a call that wakes a real-time task, which takes its CPU for so long. */
int cmd_taken(char **argv)
{
	sigset_t set;
	pid_t child;
	u64 begin;

	prctl(PR_SET_NAME, "lt-taken");
	pin(0, 1);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	child = start("lt-taker", taker, -1, atol(argv[1]));
	wait_asleep(child);
	begin = now();
	syscall(SYS_kill, child, SIGUSR1);
	tell_call(own_pid(), SYS_kill, begin);
	waitpid(child, NULL, 0);
	return 0;
}

static void late_taker(int fd, u64 ms)
{
	(void)fd;
	be_fifo(50);
	sleep_ms(ms);
	spin_until(now() + ms * MS);
}

static void reschedule(const char *file)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || pwrite(fd, "resched", 7, 0) != 7)
		die(file);
}

/*
 * computes FILE MS: twice, a call that is to give way at its end, with nothing that wants the CPU,
 * and user space for long: a real-time task takes the CPU then; and another call comes.
 */
int cmd_computes(char **argv)
{
	long ms = atol(argv[2]);
	pid_t child;

	prctl(PR_SET_NAME, "lt-computes");
	pin(0, 1);
	child = start("lt-taker", late_taker, -1, ms);
	wait_asleep(child);
	reschedule(argv[1]);
	spin_until(now() + 3 * ms * MS);
	waitpid(child, NULL, 0);
	reschedule(argv[1]);
	spin_until(now() + ms * MS);
	printf("pid=%d\n", own_pid());
	return 0;
}
