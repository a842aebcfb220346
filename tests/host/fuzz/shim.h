/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzzers use of shim.c, which is the host.c of a program with one
 * thread where everything that happens is decided by the input.
 */
#ifndef LT_FUZZ_SHIM_H
#define LT_FUZZ_SHIM_H

#include "lt_host.h"

/* ---- the input ---- */

struct fuzz_input {
	const u8 *data;
	size_t left;
};

static inline u8 fuzz_byte(struct fuzz_input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

/* ---- the machine ---- */

#define FUZZ_CPUS	2

extern unsigned int fuzz_cpu;		/* on which everything runs */
/* Runs at the fuzz_nest_at-th point from now where a race window opens. */
extern unsigned int fuzz_nest_at;
extern void (*fuzz_nest)(void);

void fuzz_reset(void);
/* A reader on another CPU: grace periods that begin now do not end. */
void fuzz_reader_enter(void);
void fuzz_reader_leave(void);
bool fuzz_reader(void);
/* Ends the grace periods that can end; returns how many. */
unsigned int fuzz_grace_period(void);
bool fuzz_grace_period_waits(void);

/* Print what is done, with FUZZ_TRACE in the environment. */
extern bool fuzz_trace;
#define trace(...)	do { if (fuzz_trace) fprintf(stderr, __VA_ARGS__); } while (0)

/* A promise was broken. */
#define EXPECT(cond, ...) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: expected %s: ",			\
			__FILE__, __LINE__, #cond);			\
		fprintf(stderr, __VA_ARGS__);				\
		fputc('\n', stderr);					\
		abort();						\
	}								\
} while (0)

#endif /* LT_FUZZ_SHIM_H */
