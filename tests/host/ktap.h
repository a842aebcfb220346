/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests that print KTAP: each program has one array of them. A broken promise ends the program. */
#ifndef LT_KTAP_H
#define LT_KTAP_H

#include "lt_kernel.h"

struct ktap_test {
	const char *name;
	void (*run)(void);
	double share;		/* of the time, if it takes time */
	const char *skip;	/* why it cannot run, or NULL */
};

extern double ktap_seconds;	/* for the test that is running */

/* TIME=SECONDS and SEED=N in the environment; an argument: only the test of that name. */
int ktap_main(int argc, char **argv, const struct ktap_test *tests, unsigned int nr);

#define STRESS_WORKERS	4

/*
 * A stress test: workers, numbered from 0, call @step over and over until the time is over, then
 * @end if there is one; another thread calls @aside. With @nmi, each worker has a CPU of its own
 * and is interrupted.
 */
struct stress {
	void (*step)(unsigned int id);
	void (*end)(unsigned int id);
	void (*aside)(void);
	void (*nmi)(void);
};

void stress_run(const struct stress *stress, double seconds);

#endif /* LT_KTAP_H */
