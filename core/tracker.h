/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of a tracker. The functions that work on it are in the other files.
 */
#ifndef _LT_CORE_TRACKER_H
#define _LT_CORE_TRACKER_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/kobject.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "core/clock.h"
#include "core/counters.h"
#include "core/event.h"
#include "core/groups.h"
#include "core/pool.h"
#include "core/profile.h"
#include "core/reclaim.h"
#include "core/types.h"
#include "rculfhash/rculfhash.h"

struct kernfs_node;
struct lt_records;
struct lt_weights;

/**
 * struct lt_crossings - what the pollers of the file "crossings" were told
 * @file: the file; NULL before it is there
 * @interval_ns: its pollers are not woken more often than this
 * @told_ns: when they were woken last; the worker's
 * @told: crossings of which they were told; the worker's
 * @suppressed: of @told, those without a wake-up of their own; written by the
 *	worker
 * @armed: the next crossing has to kick the worker
 */
struct lt_crossings {
	struct kernfs_node *file;
	u64 interval_ns;
	u64 told_ns;
	unsigned long told;
	unsigned long suppressed;
	bool armed;
};

/**
 * struct lt_per_minute - a threshold that finds itself, see per_minute.h
 * @wanted: late operations per minute; 0: the threshold stays. Written under the lock of
 *	the profile; read in any context
 * @least_ns: the threshold that the user has set, the least
 * @may_be_late: so many more, until the next look
 * @most_late: what that was at the last one
 * @weights: what it goes by; NULL as long as it was never on
 * @bytes: memory of @weights
 */
struct lt_per_minute {
	u32 wanted;
	u64 least_ns;
	atomic_t may_be_late;
	int most_late;
	struct lt_weights *weights;
	size_t bytes;
};

/**
 * struct lt_scan - a look at the deadlines of all pending events; the worker's
 * @cursor: where it goes on
 * @next_ns: earliest deadline seen so far
 * @rest_ns: the worker does not go on before this moment
 * @is_under_way: it has begun, and is not done
 * @halved: so often the collection age is halved, for want of free events
 */
struct lt_scan {
	unsigned long cursor;
	u64 next_ns;
	u64 rest_ns;
	bool is_under_way;
	unsigned int halved;
};

/* Operations of one request. */
#define LT_ASK_MAX	32U

/**
 * struct lt_ask - what was asked about
 * @lock: of the caller that asks
 * @done: the worker has reported all
 * @nr: events; written by the caller, 0 again by the worker
 * @taken: of these, those that the worker has looked at
 * @told: and those that it has reported; read by the caller behind @done
 * @event: the events, with a reference on each
 */
struct lt_ask {
	struct mutex lock; /* one request at a time */
	struct completion done;
	unsigned int nr;
	unsigned int taken;
	unsigned int told;
	struct latency_tracker_event *event[LT_ASK_MAX];
};

/**
 * struct latency_tracker - a tracker
 * @ht: pending events
 * @front: with slots, where they may be by the hash of their key; see slot.h
 * @counters: per CPU
 * @threshold_ns: what takes less is in time, and not published: the lesser of the next one and
 *	@default_ns; these three change at any time, see lt_publish_threshold()
 * @least_ns: the same for what has a threshold of its own: the lesser of @own_least_ns and
 *	@waits_least_ns
 * @timeout_ns: default timeout; changes at any time, also for pending events
 * @collect_ns: collection age; changes at any time, also for pending events
 * @front_shift: of the hash
 * @tracking_on: begins are accepted; read inside the RCU section of the begin
 * @callback: default callback
 * @profile: the distribution of all delays
 * @groups: those of groups of operations
 * @per_minute: the threshold that finds itself by it
 * @records: of the last reports and the slowest operations; NULL as long as there are none
 * @slots: an event stays with its key; see slot.h
 * @words: it does not, and a key may have 8 bytes
 * @key_size: longest key
 * @priv_size: private bytes per event, in whole words
 * @priv_off: where they are in the data of an event
 * @pool: free events
 * @reclaim: events on their way back
 * @next_scan: when the worker will look at the deadlines next; an event whose
 *	deadline is earlier, and not a default one, asks for a scan
 * @rescan: a scan was asked for
 * @low_armed: a pool that runs low has to kick the worker
 * @default_ns: the threshold of what has none of its own
 * @own_least_ns: of the thresholds that @own_threshold may return; NEVER: there are none
 * @own_threshold: of an operation; NULL: none has one
 * @wanted: filter before the count of what has a callback, or NULL
 * @waited: publishes waits, or NULL; see waits.h
 * @waiting: tells of waits that are not over, or NULL
 * @waits_least_ns: what takes so long is published; NEVER: nothing is
 * @publisher: in the list of trackers with @waited
 * @data: the caller's
 * @scan: see struct lt_scan
 * @collect_least_ns: see struct latency_tracker_config, like the next one
 * @record_size: bytes of the values of a record, at most
 * @record_bytes: memory of @records
 * @front_bytes: and of @front
 * @drain_ns: when retired events come home even if the pool is not low; the
 *	worker's
 * @crossings: the pollers that wait for a report
 * @ask: what is to be reported on request
 * @kicked: the worker has work; set before it is woken
 * @kick: wakes the worker from any context
 * @worker: the thread; reclaim, timeouts, collection
 * @grow: makes more events; queued by the worker
 * @is_growing: @grow was queued and has not done it yet
 * @grow_limit: capacity up to which the pool may grow
 * @lock: serialises control operations (tracking, clear)
 * @kobj: the directory in sysfs
 * @released: the last reference to @kobj is gone
 * @name: of the directory and the thread
 *
 * The fields that each operation reads come first; they are hardly ever written. From
 * @next_scan on are those that are, on lines of their own.
 */
struct latency_tracker {
	struct lfht *ht;
	struct latency_tracker_event **front;
	struct lt_counters __percpu *counters;
	u64 threshold_ns;
	u64 least_ns;
	u64 timeout_ns;
	u64 collect_ns;
	u8 front_shift;
	bool tracking_on;
	bool slots;
	bool words;
	u16 key_size;
	u16 priv_size;
	u8 priv_off;
	latency_tracker_cb callback;
	struct lt_profile profile;
	struct lt_groups groups;
	struct lt_records *records;
	struct lt_per_minute per_minute;
	struct lt_pool pool;
	struct lt_reclaim reclaim;

	u64 next_scan ____cacheline_aligned_in_smp;
	bool rescan;
	bool low_armed;
	u64 default_ns;
	u64 own_least_ns;
	latency_tracker_own_threshold own_threshold;
	latency_tracker_wanted wanted;
	latency_tracker_waited waited;
	latency_tracker_waiting waiting;
	u64 waits_least_ns;
	struct list_head publisher;
	void *data;
	struct lt_scan scan;
	u64 collect_least_ns;
	u16 record_size;
	size_t record_bytes;
	size_t front_bytes;
	u64 drain_ns;
	struct lt_crossings crossings;
	struct lt_ask ask;
	bool kicked;
	struct irq_work kick;
	struct task_struct *worker;
	struct work_struct grow;
	bool is_growing;
	u32 grow_limit;
	struct mutex lock; /* tracking_on, clear */
	struct kobject kobj;
	struct completion released;
	char name[LATENCY_TRACKER_NAME_MAX];
};

/* A delay that is negative is above all of them. */
static inline u64 lt_threshold_in_time(u64 threshold_ns)
{
	return min_t(u64, threshold_ns, S64_MAX);
}

static inline struct lt_event_own *
lt_event_own(const struct latency_tracker *tracker,
	     struct latency_tracker_event *event)
{
	return lt_event_priv(event) + tracker->priv_size;
}

/* Bytes of events, buckets, the front, the profiles, records, and what per_minute goes by. */
static inline u64 lt_memory(const struct latency_tracker *tracker)
{
	return READ_ONCE(tracker->pool.alloc.bytes) + tracker->front_bytes +
	       lfht_size(tracker->ht) * sizeof(struct lfht_node) +
	       READ_ONCE(tracker->profile.bytes) +
	       READ_ONCE(tracker->groups.bytes) +
	       READ_ONCE(tracker->groups.cells.bytes) +
	       READ_ONCE(tracker->record_bytes) +
	       READ_ONCE(tracker->per_minute.bytes);
}

#endif /* _LT_CORE_TRACKER_H */
