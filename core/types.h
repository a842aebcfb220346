/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types and constants of the API. Users include latency_tracker.h, which
 * says what is promised; the core includes this file.
 */
#ifndef _LT_CORE_TYPES_H
#define _LT_CORE_TYPES_H

#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/types.h>

struct latency_tracker;
struct latency_tracker_event;
struct latency_tracker_wait;
struct task_struct;

/* A threshold that no delay reaches. */
#define LATENCY_TRACKER_NEVER		(~0ULL)

/* Bounds of latency_tracker_config, checked by latency_tracker_create(). */
#define LATENCY_TRACKER_NAME_MAX	32
#define LATENCY_TRACKER_KEY_MAX		128
#define LATENCY_TRACKER_PRIV_MAX	1024
#define LATENCY_TRACKER_EVENTS_MAX	BIT(24)
#define LATENCY_TRACKER_PER_MINUTE_MAX	1000000U

/* Of groups: in how many ways operations are told apart; ids; names, with their 0. */
#define LATENCY_TRACKER_DIMENSIONS	2
#define LATENCY_TRACKER_GROUP_MAX	BIT_ULL(55)
#define LATENCY_TRACKER_GROUP_NAME	64

/* Events that a key may have, by LATENCY_TRACKER_DUPLICATE. */
#define LATENCY_TRACKER_DUPLICATES_MAX	64

/* Flags of latency_tracker_event_in(). Without one of the first two it replaces. */
#define LATENCY_TRACKER_DUPLICATE	BIT(0)	/* beside other events of this key */
#define LATENCY_TRACKER_KEEP		BIT(1)	/* -EEXIST if there is one */
#define LATENCY_TRACKER_THRESHOLD	BIT(2)	/* in->threshold_ns is set */
#define LATENCY_TRACKER_TIMEOUT		BIT(3)	/* in->timeout_ns is set */
#define LATENCY_TRACKER_START		BIT(4)	/* in->start_ns is set */

/**
 * enum latency_tracker_flag - why a callback runs
 * @LATENCY_TRACKER_ENDED: the operation ended and was late
 * @LATENCY_TRACKER_PENDING: the operation is still pending past its timeout, or it was asked
 *	what is pending
 * @LATENCY_TRACKER_COLLECTED: the operation did not end within the collection
 *	age; the tracker has given it up
 */
enum latency_tracker_flag {
	LATENCY_TRACKER_ENDED,
	LATENCY_TRACKER_PENDING,
	LATENCY_TRACKER_COLLECTED,
};

/**
 * struct latency_tracker_verdict - what a callback is told
 * @tracker: the tracker
 * @event: the event; valid until the callback returns, longer only with
 *	latency_tracker_hold_event()
 * @key: the key of the event
 * @priv: the private data of the event, @priv_size bytes of the configuration;
 *	bytes that the begin did not give are 0
 * @out_data: what the end passed along, NULL if @flag is not ENDED
 * @start_ns: begin, ns of ktime_get_mono_fast_ns()
 * @now_ns: end, or the moment of the timeout or collection, same clock
 * @delay_ns: @now_ns - @start_ns, 0 if the clock stepped back
 * @threshold_ns: the threshold that applied; to a latency_tracker_own_threshold(), the one
 *	that applies if the operation has none of its own
 * @key_len: length of @key in bytes
 * @out_id: which of several ends it was, as given by the end; 0 if @flag is
 *	not ENDED
 * @flag: why the callback runs; with PENDING there is no verdict yet
 * @timed_out: the timeout of this event has fired before
 * @asked: with PENDING, it is reported by latency_tracker_report_pending(), not for its timeout
 */
struct latency_tracker_verdict {
	struct latency_tracker *tracker;
	struct latency_tracker_event *event;
	const void *key;
	void *priv;
	void *out_data;
	u64 start_ns;
	u64 now_ns;
	u64 delay_ns;
	u64 threshold_ns;
	u32 key_len;
	u32 out_id;
	enum latency_tracker_flag flag;
	bool timed_out;
	bool asked;
};

/**
 * typedef latency_tracker_cb - called for a late, timed-out or collected event
 * @verdict: the facts; on the stack of the caller
 *
 * Context: that of the end, with preemption off, for ENDED; the thread of the
 * tracker, with preemption on, for PENDING and COLLECTED: it may sleep for some
 * milliseconds, during which it reports and frees nothing else.
 */
typedef void (*latency_tracker_cb)(const struct latency_tracker_verdict *verdict);

/**
 * typedef latency_tracker_wanted - asked before a callback is called
 * @verdict: what the callback would be told
 *
 * A filter for what is only known when an operation turns out to be slow. What it
 * refuses is counted as an operation in time is: neither late nor timed out, no
 * crossing, no callback.
 *
 * Context: that of the callback.
 * Return: true to count it and to call the callback.
 */
typedef bool (*latency_tracker_wanted)(const struct latency_tracker_verdict *verdict);

/**
 * typedef latency_tracker_own_threshold - what is the threshold of this operation?
 * @verdict: what the callback would be told, so far
 *
 * Asked of an operation that took as long as the least of all thresholds, or as a reader of waits
 * wants, see latency_tracker_set_own_least(), and before a callback is told of it otherwise.
 *
 * Context: that of the callback, or of latency_tracker_is_late().
 * Return: ns; verdict->threshold_ns if it has none of its own.
 */
typedef u64 (*latency_tracker_own_threshold)(const struct latency_tracker_verdict *verdict);

/**
 * typedef latency_tracker_waited - publish what is known of a wait
 * @verdict: what the callback would be told, so far
 *
 * Asked of an operation that ended, in time or not, and took as long as a reader of waits wants:
 * see latency_tracker_wait_publish().
 *
 * Context: that of the end, with preemption off.
 */
typedef void (*latency_tracker_waited)(const struct latency_tracker_verdict *verdict);

/**
 * typedef latency_tracker_waiting - what is a task waiting for now?
 * @tracker: the tracker
 * @task: the task
 * @wait: result, as it would be published if the wait were over now
 *
 * Context: Task.
 * Return: false if the tracker knows of no wait of that task.
 */
typedef bool (*latency_tracker_waiting)(struct latency_tracker *tracker,
					struct task_struct *task,
					struct latency_tracker_wait *wait);

/**
 * struct latency_tracker_grouping - to which groups operations belong
 * @dimension: what they are told apart by, such as "call" and "cgroup": each operation
 *	belongs to one group of each dimension; NULL: there are fewer
 * @ids: fills in the ids of the groups of an operation that ends, which are below
 *	LATENCY_TRACKER_GROUP_MAX; called in any context, with preemption off. @key is that
 *	of the operation, @priv its private bytes, @out_data what the end passes along;
 *	@key is NULL if latency_tracker_whole_in_time() ends it. In a tracker
 *	with slots, what is pending may end meanwhile: what was read of @priv is not used then.
 * @open: called once for each group that something has ended in, from a work item: fills in
 *	@name, of LATENCY_TRACKER_GROUP_NAME bytes. Returns a handle for the two
 *	below, which may be NULL; ERR_PTR() if there is no such group any more: then
 *	what ended is counted in the group "other" of the dimension.
 * @is_gone: asked every now and then whether the group can have no operations any more, or
 *	its id means another one by now, with another name; what it has had is added to
 *	"other" then
 * @close: called for a group that is forgotten
 *
 * All but @ids may sleep. @data is that of the configuration.
 */
struct latency_tracker_grouping {
	const char *dimension[LATENCY_TRACKER_DIMENSIONS];
	void (*ids)(const void *key, const void *priv, const void *out_data,
		    u64 *id);
	void *(*open)(void *data, unsigned int dimension, u64 id, char *name);
	bool (*is_gone)(void *data, unsigned int dimension, u64 id,
			const char *name, void *handle);
	void (*close)(void *data, unsigned int dimension, void *handle);
};

/**
 * struct latency_tracker_config - what latency_tracker_create() builds
 * @name: directory under /sys/kernel/latency_tracker; not empty, no '/', no
 *	'.' at the begin, at most LATENCY_TRACKER_NAME_MAX - 1 characters
 * @callback: default callback of the events
 * @wanted: filter of what has a callback; NULL lets all pass
 * @own_threshold: for operations that have a threshold of their own; NULL: none has, but by
 *	LATENCY_TRACKER_THRESHOLD
 * @waited: publishes the waits of tasks, see core/waits.h; NULL: none are
 * @waiting: tells of a wait that is not over, with @waited; may be NULL
 * @data: for the caller, see latency_tracker_data()
 * @threshold_ns: default threshold in ns; 0 makes every event late
 * @timeout_ns: default timeout in ns; 0 is none
 * @collect_ns: age in ns at which an event that did not end is given up; 0 is
 *	never
 * @collect_least_ns: while the pool is at @grow_limit and low, events are given up
 *	before they are that old: the oldest first, and none that is younger than
 *	this; 0: none
 * @max_events: events that can be in use at once, whichever CPUs they begin
 *	on; at least 1. In use are the pending events, and those that ended
 *	within the last grace period or two, some 10 ms each: at a high rate
 *	these are more.
 * @grow_limit: up to how many events the pool may grow, out of context, when
 *	it runs low; 0, or not above @max_events, is no growth
 * @key_size: longest key in bytes, 1 to LATENCY_TRACKER_KEY_MAX
 * @priv_size: private bytes per event, up to LATENCY_TRACKER_PRIV_MAX; rounded
 *	up to 8
 * @slots: the event of a key is its slot, and stays with it from operation to operation,
 *	until latency_tracker_slot_free(). For keys of 8 bytes of which at most one
 *	operation is pending, and which come back, such as tasks and CPUs.
 *	latency_tracker_slot_begin() and latency_tracker_slot_end() cost about half, and a
 *	key that has a slot never finds the pool dry, but while others hold its event.
 *	@max_events and @grow_limit have to do for all keys that there are.
 *	While a begin replaces what is pending, a look-up may find nothing for a moment.
 * @profile: the distribution of all delays is counted from the begin on
 * @per_minute: see latency_tracker_set_per_minute()
 * @grouping: groups of operations that can have a profile each; NULL: there are none. It
 *	stays until the tracker is destroyed.
 * @groups: they have one from the begin on
 * @record_size: bytes of the values of a record, up to LATENCY_TRACKER_RECORD_MAX; 0: no
 *	records are kept; see latency_tracker_record_begin()
 */
struct latency_tracker_config {
	const char *name;
	latency_tracker_cb callback;
	latency_tracker_wanted wanted;
	latency_tracker_own_threshold own_threshold;
	latency_tracker_waited waited;
	latency_tracker_waiting waiting;
	void *data;
	u64 threshold_ns;
	u64 timeout_ns;
	u64 collect_ns;
	u64 collect_least_ns;
	u32 max_events;
	u32 grow_limit;
	u16 key_size;
	u16 priv_size;
	bool slots;
	bool profile;
	u32 per_minute;
	const struct latency_tracker_grouping *grouping;
	bool groups;
	u16 record_size;
};

/**
 * struct latency_tracker_in - optional arguments of a begin
 * @priv: private data to copy into the event, may be NULL
 * @callback: callback of this event instead of the default, or NULL
 * @start_ns: begin of the operation, with LATENCY_TRACKER_START
 * @threshold_ns: threshold of this event, with LATENCY_TRACKER_THRESHOLD
 * @timeout_ns: timeout of this event, 0 for none, with LATENCY_TRACKER_TIMEOUT
 * @priv_len: bytes at @priv, at most the priv_size of the configuration
 */
struct latency_tracker_in {
	const void *priv;
	latency_tracker_cb callback;
	u64 start_ns;
	u64 threshold_ns;
	u64 timeout_ns;
	u32 priv_len;
};

/**
 * struct latency_tracker_counts - a snapshot of the counters
 * @started: begins that got an event, or came with their end
 * @finished: ends that found their event, or came with their begin
 * @late: of @finished, those that reached their threshold
 * @timeouts: events that were reported while pending
 * @asked: reports by latency_tracker_report_pending()
 * @collected: events given up by the collector
 * @cleared: events removed without a verdict: cancelled, replaced, cleared,
 *	tracking switched off
 * @replaced: of @cleared, those that a begin of their key replaced, or removed when
 *	it was skipped
 * @pending: operations that have begun and not ended, counted by walking the table
 * @skipped: begins that found no free event
 * @kept: begins refused because LATENCY_TRACKER_KEEP found one, or
 *	LATENCY_TRACKER_DUPLICATE too many
 * @unmatched: ends that found no event
 * @clock_back: delays set to 0 because the clock was before the begin
 * @unwatched: calls refused because RCU was not watching
 * @capacity: events that can be pending at once
 * @memory: bytes allocated for events and table
 */
struct latency_tracker_counts {
	u64 started;
	u64 finished;
	u64 late;
	u64 timeouts;
	u64 asked;
	u64 collected;
	u64 cleared;
	u64 replaced;
	u64 pending;
	u64 skipped;
	u64 kept;
	u64 unmatched;
	u64 clock_back;
	u64 unwatched;
	u64 capacity;
	u64 memory;
};

/**
 * typedef latency_tracker_visit - called for each event of a key
 * @event: valid until the visitor returns, longer only if it holds it; may be
 *	ended by the visitor
 * @arg: as given to latency_tracker_for_each_event()
 *
 * Context: that of the caller, with preemption off.
 * Return: true to go on to the next one.
 */
typedef bool (*latency_tracker_visit)(struct latency_tracker_event *event,
				      void *arg);

#endif /* _LT_CORE_TYPES_H */
