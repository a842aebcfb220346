/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracker itself, and what the rooms of the core offer each other.
 */
#ifndef _LT_CORE_TRACKER_H
#define _LT_CORE_TRACKER_H

#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/sched.h>

#include "core/counters.h"
#include "core/crossings.h"
#include "core/event.h"
#include "core/pool.h"
#include "core/reclaim.h"
#include "latency_tracker.h"

/**
 * struct latency_tracker - a tracker
 * @ht: pending events
 * @counters: per CPU
 * @callback: default callback
 * @threshold_ns: default threshold; changes at any time
 * @timeout_ns: default timeout; changes at any time, also for what is pending
 * @collect_ns: collection age; changes at any time, also for what is pending
 * @next_scan: when the worker will look at the deadlines next; an event whose
 *	deadline is earlier, and not a default one, asks for a scan
 * @tracking_on: begins are accepted; read inside the RCU section of the begin
 * @rescan: a scan was asked for
 * @low_armed: the worker wants to be told when the pool runs low
 * @key_size: longest key
 * @priv_size: private bytes per event, in whole words
 * @priv_off: where they are in the data of an event
 * @pool: free events
 * @reclaim: events on their way back
 * @data: the caller's
 * @scan_rest_ns: no scan before this moment; the worker's
 * @drain_ns: bring retired events home then, wanted or not; the worker's
 * @crossings: who waits for a report, and what he was told
 * @kicked: the worker has work; set before it is woken
 * @kick: wakes the worker from any context
 * @worker: the thread; reclaim, growth, timeouts, collection
 * @grow_limit: capacity up to which the pool may grow
 * @lock: serialises control operations (tracking, clear)
 * @kobj: the directory in sysfs
 * @released: the last reference to @kobj is gone
 * @name: of the directory and the thread
 *
 * What a probe reads comes first and is hardly ever written.
 */
struct latency_tracker {
	struct lfht *ht;
	struct lt_counters __percpu *counters;
	latency_tracker_cb callback;
	u64 threshold_ns;
	u64 timeout_ns;
	u64 collect_ns;
	u64 next_scan;
	bool tracking_on;
	bool rescan;
	bool low_armed;
	u16 key_size;
	u16 priv_size;
	u8 priv_off;
	struct lt_pool pool;
	struct lt_reclaim reclaim;

	void *data;
	u64 scan_rest_ns;
	u64 drain_ns;
	struct lt_crossings crossings;
	bool kicked;
	struct irq_work kick;
	struct task_struct *worker;
	u32 grow_limit;
	struct mutex lock; /* tracking_on, clear */
	struct kobject kobj;
	struct completion released;
	char name[LATENCY_TRACKER_NAME_MAX];
};

/* A moment that is too far away to be told is one that never comes. */
static inline u64 lt_add_ns(u64 a, u64 b)
{
	u64 sum;

	return check_add_overflow(a, b, &sum) ? U64_MAX : sum;
}

static inline struct lt_event_own *
lt_event_own(const struct latency_tracker *tracker,
	     struct latency_tracker_event *event)
{
	return lt_event_priv(event) + tracker->priv_size;
}

/* core/crossings.c */
void lt_crossings_init(struct latency_tracker *tracker);
unsigned long lt_crossings_sum(const struct latency_tracker *tracker);
void lt_crossings_kick(struct latency_tracker *tracker);
u64 lt_crossings_tell(struct latency_tracker *tracker);
int lt_crossings_set_interval(struct latency_tracker *tracker, u64 interval_ns);
void lt_crossings_show(struct latency_tracker *tracker);
void lt_crossings_hide(struct latency_tracker *tracker);
void lt_crossings_destroy(struct latency_tracker *tracker);

/* core/lifecycle.c */
u64 lt_memory(const struct latency_tracker *tracker);

/* core/timeout.c */
u64 lt_scan(struct latency_tracker *tracker);
void lt_clear(struct latency_tracker *tracker);
u64 lt_count_pending(struct latency_tracker *tracker);

/* core/worker.c */
int lt_worker_start(struct latency_tracker *tracker);
void lt_worker_stop(struct latency_tracker *tracker);
void lt_worker_free(struct latency_tracker *tracker);
void lt_worker_kick(struct latency_tracker *tracker);
void lt_worker_kick_any(struct latency_tracker *tracker);
void lt_worker_rescan(struct latency_tracker *tracker);
void lt_worker_pool_low(struct lt_pool *pool);
void lt_worker_reclaim_done(struct lt_reclaim *reclaim);

/* core/control.c */
int lt_control_init(void);
void lt_control_exit(void);
int lt_control_add(struct latency_tracker *tracker);
void lt_control_del(struct latency_tracker *tracker);

#endif /* _LT_CORE_TRACKER_H */
