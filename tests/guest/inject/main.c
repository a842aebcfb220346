// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes latencies of a known size, for the tests of tests/guest, and prints what it did as
 * NAME=VALUE; times are ns of CLOCK_MONOTONIC, the clock of the trackers. The commands are
 * described where they are defined.
 */
#include "inject.h"

struct shared *shared;

static int run(int argc, char **argv);

static int cmd_now(char **argv)
{
	(void)argv;
	printf("%llu\n", now());
	return 0;
}

/* numbers: of system calls, which differ between architectures. */
static int cmd_numbers(char **argv)
{
	(void)argv;
	printf("nanosleep=%d exit=%d exit_group=%d\n", SYS_nanosleep, SYS_exit, SYS_exit_group);
	return 0;
}

static void *run_words(void *argv)
{
	int argc = 0;

	while (((char **)argv)[argc])
		argc++;
	exit(run(argc, argv));
}

/* thread COMMAND...: by a thread that is not the leader of its process. */
static int cmd_thread(char **argv)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_words, argv + 1))
		die("pthread_create");
	pthread_join(thread, NULL);
	return 1;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **argv);
} commands[] = {
	{ "thread", 1, cmd_thread },
	{ "now", 0, cmd_now },
	{ "numbers", 0, cmd_numbers },
	{ "nanosleep", 1, cmd_nanosleep },
	{ "call", 2, cmd_call },
	{ "many", 2, cmd_many },
	{ "busy", 1, cmd_busy },
	{ "self", 2, cmd_self },
	{ "compat", 1, cmd_compat },
	{ "exec", 0, cmd_exec },
	{ "wake", 1, cmd_wake },
	{ "late", 1, cmd_late },
	{ "spin", 1, cmd_spin },
	{ "pipe", 1, cmd_pipe },
	{ "die", 2, cmd_die },
	{ "reuse", 2, cmd_reuse },
	{ "load", 2, cmd_load },
	{ "umount", 1, cmd_umount },
	{ "linger", 1, cmd_linger },
	{ "taken", 1, cmd_taken },
	{ "computes", 2, cmd_computes },
	{ "exit", 1, cmd_exit },
	{ "stop", 1, cmd_stop },
	{ "kept", 2, cmd_kept },
	{ "chain", 2, cmd_chain },
	{ "marks", 1, cmd_marks },
	{ "fuzz", 2, cmd_fuzz },
	{ "probed", 1, cmd_probed },
	{ "activation", 2, cmd_activation },
	{ "cycle", 3, cmd_cycle },
	{ "marked", 4, cmd_marked },
};

static int run(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc > commands[i].args && !strcmp(argv[0], commands[i].name))
			return commands[i].run(argv);
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
