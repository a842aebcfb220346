// SPDX-License-Identifier: MIT
/*
 * A server with marks: each request has a query in it, which writes to the disk.
 *
 *	cc -O2 -pthread server.c -o server
 *	./server [FILE [REQUESTS]]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <latency_tracker_user.h>

static int request_mark, query_mark;

static int query(int fd, uint64_t number)
{
	char line[64];
	int len, ok;

	lt_mark_begin(query_mark, number);
	len = snprintf(line, sizeof(line), "request %llu\n", (unsigned long long)number);
	ok = write(fd, line, (size_t)len) == len && fsync(fd) == 0;
	lt_mark_end(query_mark, number);
	return ok;
}

/* The id is what the log has, too: so a line of the log leads to a report. */
static int request(int fd, uint64_t number)
{
	int ok;

	lt_mark_begin(request_mark, number);
	ok = query(fd, number);
	usleep(1000);
	lt_mark_end(request_mark, number);
	return ok;
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[1] : "/tmp/server.log";
	uint64_t number, requests = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0) {
		perror(file);
		return 1;
	}
	request_mark = lt_mark_define("request");
	if (request_mark < 0)
		fprintf(stderr, "no marks: %s\n", strerror(errno));
	query_mark = lt_mark_define("query");
	for (number = 1; number <= requests; number++) {
		if (!request(fd, number)) {
			perror(file);
			return 1;
		}
	}
	return 0;
}
