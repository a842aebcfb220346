/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests that print KTAP.  A program has one array of tests and one main(). */
#ifndef LT_KTAP_H
#define LT_KTAP_H

#include <stdbool.h>

#include "lt_host.h"

struct ktap_test {
	const char *name;
	void (*run)(void);
};

/* Options, the same for all programs. */
extern double ktap_seconds;	/* --time: for all tests of the program */
extern unsigned int ktap_nr;	/* tests in the program */

/* May be called by any thread; the first failures are printed. */
__attribute__((format(printf, 3, 4)))
void ktap_fail(const char *file, int line, const char *fmt, ...);
bool ktap_failed(void);		/* in the test that is running */
/* What was injected and measured, printed with the result. */
__attribute__((format(printf, 1, 2)))
void ktap_note(const char *fmt, ...);
void ktap_skip(const char *why);

#define CHECK(cond, ...) ({						\
	bool ok_ = !!(cond);						\
	if (!ok_)							\
		ktap_fail(__FILE__, __LINE__, __VA_ARGS__);		\
	ok_; })
#define CHECK_EQ(a, b) ({						\
	long a_ = (long)(a), b_ = (long)(b);				\
	CHECK(a_ == b_, "%s is %ld, not %s = %ld", #a, a_, #b, b_); })

int ktap_main(int argc, char **argv, const struct ktap_test *tests,
	      unsigned int nr);

/*
 * Threads of a stress test: each calls its function over and over until the
 * time is over or a check has failed, all starting together.
 */
struct stress_thread {
	void (*step)(unsigned int id);
	void (*end)(unsigned int id);	/* once, at the end; may be NULL */
	int cpu;			/* -1: not bound to a CPU */
};

void stress_run(const struct stress_thread *threads, unsigned int nr,
		double seconds);

#endif /* LT_KTAP_H */
