/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of this program have in common.
 */
#ifndef TESTS_GUEST_INJECT_H
#define TESTS_GUEST_INJECT_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
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
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS	1000000ULL

typedef unsigned long long u64;

/* What the processes of a scenario tell each other. */
struct shared {
	u64 hog_start, hog_end, wake, woken, ran;
	int told;	/* still to be told to begin */
	pid_t thread;	/* of start_thread() */
};

/* What "inject NAME COMMAND ARG..." does, with so many ARGs. */
struct command {
	const char *name;
	int args;
	int (*run)(char **argv);
};

extern struct shared *shared;

/* tasks.c */
void die(const char *what) __attribute__((noreturn));
u64 now(void);
void sleep_ms(long ms);
void pin(pid_t pid, int cpu);
void be_fifo(int priority);
void spin_until(u64 end);
char state_of(pid_t pid);
void wait_asleep(pid_t pid);
pid_t start(const char *comm, void (*run)(int fd, u64 arg), int fd, u64 arg);
pid_t start_thread(const char *comm, void (*run)(int fd, u64 arg), int fd, u64 arg,
		   pid_t *thread);
pid_t own_pid(void);
int is_held(void);
void wait_until_told(void);
long slept(void);
long read_zeros(u64 us);
int run_command(const struct command *commands, unsigned int nr, char **argv);

/* The commands. */
int cmd_nanosleep(char **argv);
int cmd_call(char **argv);
int cmd_many(char **argv);
int cmd_busy(char **argv);
int cmd_self(char **argv);
int cmd_compat(char **argv);
int cmd_exec(char **argv);
int cmd_wake(char **argv);
int cmd_late(char **argv);
int cmd_spin(char **argv);
int cmd_pipe(char **argv);
int cmd_die(char **argv);
int cmd_reuse(char **argv);
int cmd_load(char **argv);
int cmd_umount(char **argv);
int cmd_linger(char **argv);
int cmd_taken(char **argv);
int cmd_computes(char **argv);
int cmd_exit(char **argv);
int cmd_stop(char **argv);
int cmd_kept(char **argv);
int cmd_chain(char **argv);
int cmd_marks(char **argv);
int cmd_fuzz(char **argv);
int cmd_probed(char **argv);
int cmd_activation(char **argv);
int cmd_cycle(char **argv);
int cmd_marked(char **argv);

#endif /* TESTS_GUEST_INJECT_H */
