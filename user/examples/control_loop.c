// SPDX-License-Identifier: MIT
/*
 * A control loop with marks: 1000 times per second it reads, computes and writes. What is in time
 * costs it no system call, so it may stay marked in production.
 *
 *	cc -O2 -pthread control_loop.c -o control_loop
 *	latency-tracker start mark thresholds=cycle:500us
 *	./control_loop [SECONDS]
 *
 * The mark is the work of a cycle. That a cycle begins late is the kernel's: with
 *
 *	latency-tracker start chain done=cycle
 *
 * the whole is measured, from the moment for which the timer is set to the end of the mark.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <latency_tracker_user.h>

#define PERIOD_NS	1000000
#define SECOND_NS	1000000000

static double position, target = 1;

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * SECOND_NS + time->tv_nsec;
}

static void step_on(struct timespec *time)
{
	time->tv_nsec += PERIOD_NS;
	if (time->tv_nsec >= SECOND_NS) {
		time->tv_nsec -= SECOND_NS;
		time->tv_sec++;
	}
}

/* Some microseconds of work. */
static void control(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		position += (target - position) * 0.01;
}

int main(int argc, char **argv)
{
	uint64_t number, cycles = 1000 * (argc > 1 ? strtoull(argv[1], NULL, 0) : 10);
	struct timespec due, now;
	int64_t late, most = 0;
	int cycle;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		perror("mlockall");
	cycle = lt_mark_define("cycle");
	if (cycle < 0)
		fprintf(stderr, "no marks: %s\n", strerror(errno));
	/* The first one of a thread makes system calls: before the loop. */
	lt_mark_begin(cycle, 0);
	lt_mark_end(cycle, 0);
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (number = 1; number <= cycles; number++) {
		step_on(&due);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		lt_mark_begin(cycle, number);
		clock_gettime(CLOCK_MONOTONIC, &now);
		late = ns_of(&now) - ns_of(&due);
		most = late > most ? late : most;
		control();
		lt_mark_end(cycle, number);
	}
	printf("%llu cycles, the latest began %lld us late; at %g\n", (unsigned long long)cycles,
	       (long long)most / 1000, position);
	return 0;
}
