/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tracker module is made of: one struct lt_usecase, which the module
 * defines, and which the files beside this one work on. No code.
 *
 * The filters that a probe reads are fields of a variable of the module itself:
 * their addresses are constants in the probe.
 */
#ifndef _LT_USECASE_DATA_H
#define _LT_USECASE_DATA_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/types.h>

#include "latency_tracker.h"

struct cgroup;
struct lt_belongs;
struct lt_entry;
struct lt_threshold;
struct lt_threshold_table;
struct module;
struct tracepoint;

/**
 * struct lt_probe - a probe of one of the kernel's own tracepoints
 * @name: name of the tracepoint
 * @func: the probe; its first argument is the tracker. See LT_PROBE().
 * @first: it runs before those of others
 * @tp: the tracepoint, set by lt_probe_find()
 * @iterator_size: likewise; bytes of the function that calls several probes of
 *	@tp
 */
struct lt_probe {
	const char *name;
	void *func;
	bool first;
	struct tracepoint *tp;
	unsigned long iterator_size;
};

/**
 * struct lt_keep - a probe of an event of the tracker, see keep.h
 * @probe: which keeps a record of it
 * @size: bytes of its values
 */
struct lt_keep {
	struct lt_probe probe;
	u16 size;
};

/**
 * struct lt_task_filter - which tasks to track
 * @pid: only this thread; 0 is all
 * @tgid: only the threads of this process; 0 is all
 * @by_id: one of the two is set
 * @on: one of the three is set
 * @cgroup: only the tasks of this group and of those below it, when their
 *	operation begins; NULL is all
 *
 * Ids of the initial pid namespace.
 */
struct lt_task_filter {
	pid_t pid;
	pid_t tgid;
	bool by_id;
	bool on;
	struct cgroup *cgroup;
};

/**
 * struct lt_action - what to do on a crossing, besides the report
 * @armed: which action, and how often yet; see action.c. 0 is none.
 * @taken: how often the action was taken
 * @snapshot: takes a snapshot from a hard interrupt
 */
struct lt_action {
	atomic_t armed;
	atomic_t taken;
	struct irq_work snapshot;
};

/**
 * struct lt_stage - a stage of a tracker with probes of its own
 * @usecase: the tracker
 * @name: for messages, and that of the parameter
 * @probes: tracepoints in the course of an operation
 * @nr_probes: number of @probes
 * @entries: functions where operations begin and end; those that end them first
 * @nr_entries: number of @entries
 * @begin: called once all of these are registered; returns 0 or an error. May be NULL.
 * @quiesce: called once none of these runs any more, before what has begun is
 *	cleared. May be NULL.
 * @only_tells: its probes neither begin nor end an operation
 * @on: the parameter. With @is_started, the probes are registered.
 * @is_started: between lt_stage_start() and lt_stage_stop()
 */
struct lt_stage {
	struct lt_usecase *usecase;
	const char *name;
	struct lt_probe *probes;
	unsigned int nr_probes;
	struct lt_entry *entries;
	unsigned int nr_entries;
	int (*begin)(void);
	void (*quiesce)(void);
	bool only_tells;
	bool on;
	bool is_started;
};

/**
 * struct lt_usecase - a tracker module
 * @tracker: set by lt_usecase_start(), NULL while there is none. Changed under
 *	kernel_param_lock(@owner). A probe of @probes gets it as its argument.
 * @task: filter; see task.h
 * @name: directory under /sys/kernel/latency_tracker
 * @owner: THIS_MODULE; messages begin with its name
 * @probes: the tracepoints, in the order in which they are registered: those
 *	that end an operation first. May be NULL.
 * @nr_probes: number of @probes
 * @keeps: the events of which records are kept, NULL: none
 * @nr_keeps: number of @keeps
 * @stage: that can be switched on and off, or NULL
 * @report: called for each verdict that has a callback, in the context of the
 *	callback; see latency_tracker_cb
 * @is_wanted: filter of what is only known at the report, before it is counted;
 *	see latency_tracker_wanted. May be NULL.
 * @is_false_alarm: true for a verdict that may be no latency: it is counted in
 *	@false_alarms, not reported. May be NULL.
 * @usec_threshold: threshold, microseconds. While there is a tracker it is the
 *	tracker's threshold that counts.
 * @usec_timeout: likewise the timeout; 0 is none
 * @collect_ns: see struct latency_tracker_config, like the next five
 * @collect_least_ns: how early it may be given up for want of others
 * @max_events: size of the pool
 * @grow_limit: limit of its growth
 * @key_size: longest key in bytes
 * @priv_size: private bytes of an event
 * @slots: see struct latency_tracker_config
 * @profile_is_off: delays are not counted in a profile; while there is a tracker,
 *	it is the tracker that says
 * @per_minute: so many operations per minute are to be late, 0: the threshold stays; while
 *	there is a tracker, it is the tracker that says
 * @grouping: to which groups operations belong, see LT_GROUPING(); or NULL
 * @group_name: fills in the name of a group of the first dimension, of
 *	LATENCY_TRACKER_GROUP_NAME bytes; returns 0, or -ENOENT if there is none with that id
 *	any more. May sleep.
 * @threshold_names: which names the parameter thresholds takes, for a message
 * @threshold_find: fills in id, mask and name of the groups of a name in that parameter, up to
 *	LT_THRESHOLD_FOUND of them; returns how many, or -EINVAL. May sleep.
 * @waited: publishes a wait of a task, see core/waits.h; or NULL
 * @waiting: tells of one that is not over; or NULL
 * @is_of_task: its late operations are of the task that @belongs tells, and have a critical
 *	path; then @group_name does not sleep
 * @belongs: fills in to which groups an operation belongs, as far as that is known; called in
 *	any context, in an RCU read-side section
 * @thresholds: those of groups, NULL: there are none; written under kernel_param_lock(@owner),
 *	read in RCU read-side sections
 * @groups: each group has a profile; while there is a tracker, it is the tracker that says
 * @false_alarms: counter
 * @action: what else to do
 *
 * The first fields up to @probes, those from @report to @slots, and from @grouping to @is_of_task
 * are the module's to set; a field that is not set is 0.
 */
struct lt_usecase {
	struct latency_tracker *tracker;
	struct lt_task_filter task;
	const char *name;
	struct module *owner;
	struct lt_probe *probes;
	unsigned int nr_probes;
	struct lt_keep *keeps;
	unsigned int nr_keeps;
	struct lt_stage *stage;
	latency_tracker_cb report;
	latency_tracker_wanted is_wanted;
	bool (*is_false_alarm)(const struct latency_tracker_verdict *verdict);
	u64 usec_threshold;
	u64 usec_timeout;
	u64 collect_ns;
	u64 collect_least_ns;
	unsigned int max_events;
	unsigned int grow_limit;
	u16 key_size;
	u16 priv_size;
	bool slots;
	bool profile_is_off;
	u32 per_minute;
	const struct latency_tracker_grouping *grouping;
	int (*group_name)(u64 id, char *name);
	const char *threshold_names;
	int (*threshold_find)(const char *text, struct lt_threshold *found);
	void (*belongs)(const struct latency_tracker_verdict *verdict,
			struct lt_belongs *to);
	latency_tracker_waited waited;
	latency_tracker_waiting waiting;
	bool is_of_task;
	struct lt_threshold_table *thresholds;
	bool groups;
	atomic_t false_alarms;
	struct lt_action action;
};

#endif /* _LT_USECASE_DATA_H */
