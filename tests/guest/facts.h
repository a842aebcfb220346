/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What there is of our modules in the kernel, before and after something that is to leave nothing
 * behind; for fault.c.
 */
#ifndef TESTS_GUEST_FACTS_H
#define TESTS_GUEST_FACTS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common.h"

#define SETTLE_MS	5000
#define FACTS_SIZE	(1 << 18)
#define INJECT		"/sys/module/latency_tracker_fail/parameters/"
#define STATE		"/sys/kernel/latency_tracker/"

/* The facts, and how often something was wrong. */
static char before[FACTS_SIZE], after[FACTS_SIZE];
static int wrong;

/* --- files -------------------------------------------------------------------------- */

/* Returns what was read, or -1. */
static ssize_t slurp(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, sum = 0;

	if (fd < 0)
		return -1;
	while ((n = read(fd, to + sum, size - 1 - sum)) > 0)
		sum += n;
	close(fd);
	to[sum] = 0;
	return n < 0 ? -1 : sum;
}

/* In one write. Returns 0 or an errno. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

static void put_number(const char *path, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	errno = put(path, text);
	if (errno)
		die(path);
}

static long get_number(const char *path)
{
	char text[32];

	if (slurp(path, text, sizeof(text)) < 0)
		die(path);
	return atol(text);
}

/* --- what there is ------------------------------------------------------------------ */

static void add(char *facts, const char *name, const char *text)
{
	size_t len = strlen(facts);

	if ((size_t)snprintf(facts + len, FACTS_SIZE - len, "%s %s\n", name,
			     text) >= FACTS_SIZE - len) {
		errno = E2BIG;
		die("facts");
	}
}

/* The first @words of each line. */
static void add_lines(char *facts, const char *path, int words)
{
	static char text[FACTS_SIZE];
	char *line, *rest = text, *p;
	int n;

	if (slurp(path, text, sizeof(text)) < 0)
		return;
	while ((line = strsep(&rest, "\n"))) {
		for (n = 0, p = line; *p; p++) {
			if (*p != ' ' || p[1] == ' ')
				continue;
			if (++n == words)
				*p-- = 0;
		}
		if (*line)
			add(facts, path, line);
	}
}

static void add_dir(char *facts, const char *path, const char *prefix)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			add(facts, path, entry->d_name);
	if (dir)
		closedir(dir);
}

static pid_t find_thread(const char *prefix, char *facts)
{
	DIR *dir = opendir("/proc");
	char path[NAME_MAX + 16], comm[32];
	struct dirent *entry;
	pid_t pid = 0;

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (slurp(path, comm, sizeof(comm)) < 0 ||
		    strncmp(comm, prefix, strlen(prefix)))
			continue;
		pid = atoi(entry->d_name);
		if (facts)
			add(facts, "thread", comm);
	}
	closedir(dir);
	return pid;
}

/* Whatever a module of ours registers somewhere. */
static void look(char *facts)
{
	*facts = 0;
	add_lines(facts, "/proc/modules", 1);
	add_lines(facts, "/sys/kernel/debug/kprobes/list", 3);
	add_lines(facts, "/sys/devices/system/cpu/hotplug/states", 0);
	add_lines(facts, INJECT "probes", 0);
	add_dir(facts, "/sys/module", "latency_tracker");
	add_dir(facts, "/sys/kernel", "latency_tracker");
	add_dir(facts, STATE, "");
	add_dir(facts, "/sys/kernel/tracing/events", "latency_tracker");
	add_dir(facts, "/sys/kernel/tracing/events/latency_tracker", "");
	find_thread("lt_", facts);
}

/* Lines of @a that are not in @b. */
static void tell_difference(const char *sign, const char *a, const char *b)
{
	size_t len;

	for (; *a; a += len + 1) {
		len = strcspn(a, "\n");
		if (!memmem(b, strlen(b), a, len + 1))
			printf("# %s %.*s\n", sign, (int)len, a);
	}
}

/* Threads and processes take a moment to go. */
static void compare(const char *what, int n)
{
	int ms;

	for (ms = 0; ms < SETTLE_MS; ms += 100) {
		look(after);
		if (!strcmp(before, after))
			return;
		sleep_ms(100);
	}
	wrong++;
	printf("# %s %d: not as it was before:\n", what, n);
	tell_difference("-", before, after);
	tell_difference("+", after, before);
	/* So that it is told once. */
	strcpy(before, after);
}

#endif /* TESTS_GUEST_FACTS_H */
