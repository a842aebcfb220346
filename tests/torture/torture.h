/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_tracker_torture: everything against everything, watched by oracles.
 *
 * Callers begin and end events without a pause, in all contexts at once: tasks,
 * soft and hard interrupts, irq_work, a probe under the run-queue lock, NMIs.
 * Meanwhile settings change, events are cleared, the pool grows, and other
 * trackers come and go. Each event carries in its private bytes which caller began it
 * and as which one of his; a ledger knows what became of it.
 *
 * The first oracle that objects writes down why and stops all; nothing is
 * printed before all have stopped, since it may have been in an NMI.
 */
#ifndef _LT_TORTURE_H
#define _LT_TORTURE_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "latency_tracker.h"

enum tt_context {
	TT_TASK,
	TT_SOFTIRQ,
	TT_HARDIRQ,
	TT_IRQ_WORK,
	TT_PROBE,
	TT_NMI,
	TT_CONTEXTS,
};

enum tt_oracle {
	TT_SILENT,
	TT_VERDICT,	/* exactly one verdict per event */
	TT_CONTENT,	/* callbacks are told what was put in */
	TT_REMOVED,	/* nothing is found a grace period after its removal */
	TT_REUSED,	/* no event changes under a reader or holder */
	TT_OWNER,	/* a caller alone with a key finds its event, no other */
	TT_COUNTS,	/* the counters are those of the callers, and add up */
	TT_BALANCE,	/* at the end all events are in the pool */
	TT_DESTROY,	/* no callback after destroy(), which returns */
	TT_RETIRED,	/* an event is retired once; in the twin only */
	TT_HANG,	/* a caller does not come back */
	TT_ORACLES,
};

/* What may change while all runs. */
#define TT_CHANGE_TIMES		BIT(0)	/* threshold, timeout */
#define TT_CHANGE_TRACKING	BIT(1)	/* tracking_on, clear */
#define TT_CHANGE_COLLECT	BIT(2)	/* the collection age */

/* What an event carries. */
struct tt_priv {
	u64 serial;		/* caller and number */
	u64 key;
	u64 start_ns;		/* 0 if it was not given */
	u64 threshold_ns;	/* TT_DEFAULT if it was not given */
	u64 check;
};

#define TT_DEFAULT	(LATENCY_TRACKER_NEVER - 1)
#define TT_TIMES	3
extern const u64 tt_thresholds[TT_TIMES];

/* Callers in TT_TASK. */
#define TT_TASKS	4

/* Written by their caller alone, read while it pauses. All are u64. */
struct tt_counts {
	u64 pairs;
	u64 whole;	/* of them, those that began and ended in one call */
	u64 begun;
	u64 finished;
	u64 late;
	u64 skipped;
	u64 kept;
	u64 unmatched;
	u64 cancelled;
	u64 off;
	u64 looked_up;
	u64 ended;	/* of them, those that ended while they were looked at */
	u64 held;
	u64 outlived;	/* of them, those let go two grace periods after their end */
	u64 other_pairs;
};

/* 2^TT_LEDGER_BITS events back a caller's ledger knows what became of them. */
#define TT_LEDGER_BITS	15
#define TT_LEDGER	BIT(TT_LEDGER_BITS)

/* A kernel thread that ends by itself. */
struct tt_thread {
	struct task_struct *task;
	struct completion done;
	void (*run)(void *arg);
	void *arg;
};

/* Begins and ends events. */
struct tt_caller {
	enum tt_context context;
	u32 index;			/* in tt.callers */
	u64 number;			/* of its last event */
	u64 seed;			/* of its random numbers */
	u32 rounds;			/* until it lets go of @held */
	struct latency_tracker_event *held;
	struct tt_priv held_priv;	/* what @held has carried then */
	struct tt_counts count;
	atomic64_t *ledger;		/* of its events */
	struct tt_thread thread;	/* for TT_TASK */
};

/* What an end hands to the callback. */
struct tt_out {
	u64 magic;
	u32 id;
	u32 calls;
	struct tt_caller *caller;
};

#define TT_OUT_MAGIC	0x746f727475726564ULL

/* A tracker; the data of the configuration points here. */
struct tt_life {
	struct latency_tracker *tracker;
	bool alive;
	bool other;	/* not the main one */
};

/* The run. */
struct tt {
	struct tt_life main;		/* is tortured all the time */
	struct tt_life *other;		/* is there for some milliseconds, or NULL */
	struct tt_caller *callers;	/* tasks first, then those of the CPUs */
	unsigned int nr_callers;
	unsigned long gp;		/* grace periods so far */
	unsigned long clears;		/* odd while events may be cleared */
	bool stop;			/* the end */
	bool stuck;			/* something that was to end has not */
	bool paused;			/* callers do nothing */
	atomic_t parked;		/* tasks that wait for the end of the pause */
	wait_queue_head_t resume;	/* where */
	atomic64_t timeouts;		/* callbacks for what is pending */
	atomic64_t collected;		/* callbacks for what was given up */
	unsigned long lives;		/* other trackers that came and went */
	unsigned long pauses;		/* at which the counters were checked */
	atomic64_t nmis;
	u64 began_ns;
	u64 failed_ns;			/* when the first oracle objected */
	atomic_t failed;		/* which one */
	const char *why;		/* what it says, with @args */
	u64 args[2];
};

extern struct tt tt;

/* Parameters. */
extern unsigned int tt_keys, tt_duplicates, tt_pool, tt_grow, tt_buckets, tt_change;
extern unsigned long tt_seed;
extern bool tt_others, tt_slots, tt_groups;

/* oracle.c */
void tt_fail(enum tt_oracle oracle, const char *why, u64 a, u64 b);
void tt_ledger_begin(struct tt_caller *c, struct tt_priv *priv);
void tt_ledger_void(struct tt_caller *c, const struct tt_priv *priv);
void tt_ledger_end(const struct tt_priv *priv, bool late);
void tt_callback(const struct latency_tracker_verdict *verdict);
void tt_seal(struct tt_priv *priv);
bool tt_priv_is_good(const struct tt_priv *priv, u64 key);
void tt_check_age(struct tt_caller *c, const struct tt_priv *priv);
int tt_age(const struct tt_priv *priv);

/* callers.c */
u64 tt_key(u64 number);
u32 tt_random(struct tt_caller *c);
void tt_round(struct tt_caller *c);
void tt_let_go(struct tt_caller *c);

/* contexts.c */
int tt_start_callers(void);
void tt_stop_callers(void);
int tt_make_callers(void);
void tt_free_callers(void);
struct tt_counts tt_sum(enum tt_context context);
int tt_run(struct tt_thread *thread, void (*run)(void *arg), void *arg,
	   const char *name);
/* If it does not end, @oracle objects, and tt.stuck. */
void tt_join(struct tt_thread *thread, enum tt_oracle oracle, const char *why);

/* control.c */
int tt_start_control(void);
void tt_stop_control(void);
void tt_change_something(struct tt_caller *c);
int tt_begin_other(struct latency_tracker *tracker, u64 serial, u64 key,
		   u64 timeout_ns);
void tt_pause(void);
void tt_go_on(void);
bool tt_check_counts(struct latency_tracker *tracker, bool all);
struct latency_tracker_config tt_config(struct tt_life *life);
void tt_destroy(struct tt_life *life);
s64 tt_spare(u32 size);
void tt_check_balance(s64 spare);

/* twin.c */
#ifdef TT_TWIN
int tt_twin_init(void);
void tt_twin_settle(void);
void tt_twin_exit(void);
#else
static inline int tt_twin_init(void) { return 0; }
/* Until nothing runs that should have ended long ago. */
static inline void tt_twin_settle(void) { }
static inline void tt_twin_exit(void) { }
#endif

#endif /* _LT_TORTURE_H */
