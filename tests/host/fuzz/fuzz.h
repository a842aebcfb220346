/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel of the fuzzers: one thread, where everything that happens is decided by
 * the input. The thread of a tracker is a function that is called when it is to run.
 */
#ifndef LT_FUZZ_H
#define LT_FUZZ_H

#include "lt_kernel.h"

/* ---- for lt_kernel.h ---- */

extern bool fuzz_rcu_is_watching;
#define rcu_is_watching()	fuzz_rcu_is_watching

extern u64 fuzz_clock;
/* For how long the next cond_resched() gives the CPU to another thread. */
extern u64 fuzz_starve_ns;
#define ktime_get_mono_fast_ns()	fuzz_clock
/* Sometimes it takes a call. */
#define LT_CLOCK_TRY(now_ns)		((*(now_ns) = fuzz_clock) & 3)

struct task_struct {
	int (*fn)(void *data);
	void *data;
	bool runs;		/* at the next opportunity */
	bool asleep;
	bool stop;
	u64 wake_ns;
};

extern struct task_struct fuzz_task;
#define current			(&fuzz_task)
#define set_current_state(s)	((void)(s))
#define sched_set_fifo_low(t)	((void)(t))
#define put_task_struct(t)	((void)(t))

/* Let the thread run until it sleeps. */
void fuzz_worker_run(void);

/* Run a delayed work item, whatever its delay; false if it is not queued. */
bool fuzz_delayed_run(struct delayed_work *work);

/* ---- the input ---- */

/* The next byte, 0 behind the end. */
u8 fuzz_byte(void);

/* Each fuzzer has these: an input is a begin, operations until it is used up, and an end. */
bool fuzz_begin(void);		/* false: that was all */
void fuzz_op(void);
void fuzz_end(void);

/* ---- the machine ---- */

#define FUZZ_CPUS	2

extern unsigned int fuzz_cpu;		/* on which everything runs */
/* Runs at the fuzz_nest_at-th point from now where a race window opens. */
extern unsigned int fuzz_nest_at;
extern void (*fuzz_nest)(void);

/* An operation: the rest is done by the next CPU. */
void fuzz_next_cpu(u8 arg);
/* A reader on another CPU: grace periods that begin now do not end. */
extern bool fuzz_reader;
void fuzz_reader_enter(void);
/* Ends the grace period, if there is one that can end. */
bool fuzz_grace_period(void);
bool fuzz_grace_period_waits(void);

/* Print what is done, with FUZZ_TRACE in the environment. */
extern bool fuzz_trace;
#define trace(...)	do { if (fuzz_trace) fprintf(stderr, __VA_ARGS__); } while (0)

#endif /* LT_FUZZ_H */
