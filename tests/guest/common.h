/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs of this directory have in common.
 */
#ifndef TESTS_GUEST_COMMON_H
#define TESTS_GUEST_COMMON_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static inline void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

#endif /* TESTS_GUEST_COMMON_H */
