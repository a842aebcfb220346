/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small frame for tests of the public API in the kernel: cases, checks that
 * name their line, and a callback that writes down what it was told.
 */
#ifndef _LT_SELFTEST_H
#define _LT_SELFTEST_H

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/printk.h>

#include "latency_tracker.h"

#define ST_SEEN_MAX	64

struct st_priv {
	u64 a;
	u32 b;
};

/* A verdict as the callback saw it, the pointers followed. */
struct st_seen {
	struct latency_tracker_verdict v;
	struct st_priv priv;
	u64 key;
	bool atomic;
};

/* Filled by st_callback(), one record per call. */
struct st_log {
	atomic_t calls;
	atomic_t complete;	/* calls that have written their record */
	struct st_seen seen[ST_SEEN_MAX];
};

/* One line of the result. */
struct st_case {
	const char *name;
	/* Gets a tracker, which is destroyed and checked afterwards. */
	void (*run)(struct latency_tracker *t);
	/* Of the tracker. Name, callback, max_events and sizes that are 0 are of st_config(). */
	struct latency_tracker_config config;
	/* Calls that are refused because RCU does not watch. */
	u64 unwatched;
};

#define ST_SILENT	.config.threshold_ns = LATENCY_TRACKER_NEVER

extern const struct st_case st_api[], st_misuse[], st_timeout[], st_race[], st_context[];
extern struct st_log st_log;
/* Of the running case; NULL once that has destroyed it. */
extern struct latency_tracker *st_tracker;

/* Fails the running case, with the line and the values. */
void st_fail(const char *file, int line, const char *what, long long got,
	     long long want);
/* A figure for the line of the case. */
void st_note(const char *fmt, ...) __printf(1, 2);
/* The running case makes no sense here. */
void st_skip(const char *reason);

#define ST_EQ(got, want)						\
	do {								\
		long long st_got = (long long)(got);			\
		long long st_want = (long long)(want);			\
									\
		if (st_got != st_want)					\
			st_fail(__FILE__, __LINE__, #got, st_got,	\
				st_want);				\
	} while (0)
#define ST_TRUE(cond)	ST_EQ(!!(cond), 1)

void st_callback(const struct latency_tracker_verdict *verdict);

/* Another tracker of 64 events, 16-byte keys, that never reports by itself. */
struct latency_tracker_config st_config(void);
/* Checks the accounting, then destroys. */
void st_destroy(struct latency_tracker *tracker);
int st_calls(void);
struct latency_tracker_counts st_counts(struct latency_tracker *tracker);
int st_in(struct latency_tracker *tracker, u64 key, u32 flags,
	  const struct latency_tracker_in *in);
int st_out(struct latency_tracker *tracker, u64 key);
/* Waits up to 10 s for the log to have @calls complete records. */
bool st_wait_calls(int calls);
bool st_ignore_event(struct latency_tracker_event *event, void *arg);

/* One of several at work, or the sums of all. */
struct st_thread {
	struct latency_tracker *tracker;
	struct task_struct *task;
	struct completion done;
	int (*run)(struct st_thread *th, u64 i);	/* round i; returns how much was wrong */
	u32 number;
	int least;		/* rounds, before it may end */
	int rounds;
	int begun;		/* begins that got an event */
	int ended;		/* ends that found one */
	int skipped;		/* begins that got none */
	int wrong;
	unsigned long preempted;
};

/* @nr threads; with @endless they go on until they are joined. */
struct st_thread *st_start(struct latency_tracker *t, unsigned int nr,
			   int (*run)(struct st_thread *th, u64 i), int least,
			   bool endless);
/* The sums of all threads; they are gone then. */
struct st_thread st_join(struct st_thread *threads, unsigned int nr);

#endif /* _LT_SELFTEST_H */
