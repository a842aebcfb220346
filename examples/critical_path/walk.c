// SPDX-License-Identifier: GPL-2.0-only
/*
 * The path of a late operation: its time in segments, and what was behind each of them.
 *
 * The time of a task consists of its long waits, and of what is between two of them. A wait tells
 * how long the task has had a CPU since the one before; so that is running and short waits. What
 * of the two a part of it was, is known within bounds only, if at all: the rest is unknown.
 *
 * A wait is that for what ended it, until the task was woken, and that for a CPU behind it. If a
 * task ended it, or if a task has the lock, the same is asked of that task, and so on.
 */
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "examples/critical_path/walk.h"
#include "usecase/interrupt.h"
#include "usecase/off_cpu.h"

/* One thread walks at a time. */
static struct path_history *histories;

static enum lt_path_cause cause_of(const struct latency_tracker_wait *wait,
				   const struct latency_tracker_wait *lock,
				   const struct latency_tracker_wait *done)
{
	if (lock)
		return LT_PATH_LOCK;
	switch (wait->cause) {
	case OFFCPU_STOPPED:
		return LT_PATH_STOPPED;
	case OFFCPU_TRACED:
		return LT_PATH_TRACED;
	case OFFCPU_FROZEN:
		return LT_PATH_FROZEN;
	}
	if (wait->more == OFFCPU_STALL_MEMORY || wait->more == OFFCPU_STALL_MEMORY_IO)
		return LT_PATH_MEMORY;
	if (done && done->kind == LATENCY_TRACKER_WAIT_DISK)
		return LT_PATH_DISK;
	return path_cause_of_waker(wait);
}

static void name_interrupt(struct lt_path_segment *segment,
			   const struct latency_tracker_wait *wait)
{
	if (wait->is_timer)
		return;
	if (wait->softirq != OFFCPU_NO_SOFTIRQ)
		strscpy_pad(segment->name, lt_softirq_name(wait->softirq), LT_PATH_NAME);
	else if (wait->line >= 0)
		snprintf(segment->name, LT_PATH_NAME, "irq %d", wait->line);
}

/* The next of the time, until @end, the task has slept. */
static void asleep(struct hop *hop, u64 end, const struct latency_tracker_wait *wait)
{
	const struct latency_tracker_wait *lock = NULL, *done = NULL;
	struct latency_tracker_wait ended_by;
	struct lt_path_segment *segment;
	u64 before;

	end = min(end, hop->to);
	if (end <= hop->next)
		return;
	/* A task that sleeps for a lock does so from the begin to the end of its sleep. */
	lock = path_longest(hop->history, LATENCY_TRACKER_WAIT_LOCK, hop->next, end);
	if (lock && (lock->begin_ns > hop->next || lock->end_ns < end))
		lock = NULL;
	if (!latency_tracker_wait_read(wait->ended_by, &ended_by, &before))
		done = &ended_by;
	segment = path_add(hop, end - hop->next, cause_of(wait, lock, done));
	if (!segment)
		return;
	segment->stack = wait->dev;
	path_name_by(segment, wait->by_comm, wait->by_pid);
	name_interrupt(segment, wait);
	if (lock) {
		segment->lock = (const void *)(unsigned long)lock->where;
		strscpy_pad(segment->name, lock->name, LT_PATH_NAME);
		path_name_by(segment, lock->by_comm, lock->by_pid);
	} else if (done && done->kind == LATENCY_TRACKER_WAIT_DISK) {
		segment->dev = done->dev;
		segment->sector = done->where;
		strscpy_pad(segment->name, done->name, LT_PATH_NAME);
	} else if (done && done->kind == LATENCY_TRACKER_WAIT_WORK) {
		path_name_function(segment, done->where);
	}
	path_explain(hop, segment - hop->path->segments, wait, lock, done);
}

/* It was off the CPU. */
static void add_wait(struct hop *hop, const struct latency_tracker_wait *wait)
{
	u64 ready = wait->ready_ns ?: wait->end_ns;

	asleep(hop, min(ready, wait->end_ns), wait);
	path_without_cpu(hop, wait->end_ns, wait->cause);
}

/* A time of which there is no wait: why? */
static enum lt_path_cause missing(const struct path_history *history)
{
	if (history->is_cut)
		return LT_PATH_CUT;
	return history->is_lost ? LT_PATH_LOST : LT_PATH_UNKNOWN;
}

/* The time since the wait before it. */
static void before_wait(struct hop *hop, const struct latency_tracker_wait *wait)
{
	const struct between between = {
		.begin = wait->where,
		.end = wait->begin_ns,
		.ran = wait->part_ns,
		.first = wait->first_ns,
		.last = wait->last_ns,
	};

	path_count_ticks(hop, wait->user, wait->system);
	path_between(hop, &between);
}

/* Until it was switched away from, or now. */
static void since_last_wait(struct hop *hop, const struct path_now *now)
{
	u64 end = now->out_ns ?: latency_tracker_clock();
	const struct between between = {
		.begin = now->since_ns,
		.end = end,
		.ran = now->exec_ns,
		.first = (now->first_out_ns ?: end) - now->since_ns,
		.last = end - max(now->in_ns, now->since_ns),
	};

	path_count_ticks(hop, now->user, now->system);
	path_between(hop, &between);
}

/* What it sleeps for now: where, and for which lock, if a tracker knows of one. */
static void look_asleep(struct hop *hop, struct latency_tracker_wait *wait)
{
	struct path_history *history = hop->history;
	struct latency_tracker_wait lock;
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns(hop->pid, &init_pid_ns), PIDTYPE_PID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (!task)
		return;
	wait->dev = path_stack_asleep(task);
	if (latency_tracker_wait_pending(task, &lock) &&
	    history->nr < ARRAY_SIZE(history->waits))
		history->waits[history->nr++] = lock;
	put_task_struct(task);
}

/* What came behind its last wait that is over. */
static void until_now(struct hop *hop)
{
	struct latency_tracker_wait wait = {
		.by_pid = -1,
		.by_comm = "-",
		.softirq = OFFCPU_NO_SOFTIRQ,
		.line = -1,
		.end_ns = hop->to,
	};
	struct path_now now;

	if (hop->next >= hop->to)
		return;
	if (!path_task_now(hop->pid, &now) || now.since_ns > hop->to) {
		path_add_until(hop, hop->to, missing(hop->history));
		return;
	}
	path_add_until(hop, now.since_ns, missing(hop->history));
	since_last_wait(hop, &now);
	if (!now.out_ns || now.out_ns >= hop->to)
		return;
	wait.begin_ns = now.out_ns;
	wait.cause = now.state;
	wait.ready_ns = now.woken_ns;
	if (lt_offcpu_could_run(now.state))
		wait.ready_ns = now.out_ns;
	else if (!now.woken_ns)
		look_asleep(hop, &wait);
	add_wait(hop, &wait);
}

/* The segments of the time of a task. */
void path_walk_task(struct hop *hop)
{
	struct path_history *history = &histories[hop->hop];
	u32 first = hop->path->nr;
	unsigned int i;

	/* A path is of up to 64 tasks, and not all kernels preempt a work item. */
	cond_resched();
	hop->history = history;
	path_history_read(history, hop->pid, hop->from, hop->to);
	for (i = history->nr; i-- > 0;) {
		const struct latency_tracker_wait *wait = &history->waits[i];

		if (wait->kind != LATENCY_TRACKER_WAIT_OFFCPU)
			continue;
		/* @where is the end of the wait before it. */
		path_add_until(hop, min(wait->where, hop->to), missing(history));
		before_wait(hop, wait);
		add_wait(hop, wait);
	}
	until_now(hop);
	path_add_rest(hop);
	path_name_running(hop, first);
}

/* Segments that are longer than a part of the operation, and of how many hops. */
struct detail {
	u32 parts;
	u32 hops;
};

static void walk_from(struct path_told *path, const struct latency_tracker_late *late,
		      const struct detail *detail)
{
	struct hop hop = {
		.path = path,
		.from = late->start_ns,
		.to = late->now_ns,
		.next = late->start_ns,
		.pid = late->pid,
		.parent = -1,
		.last = -1,
	};

	path->nr = 0;
	path->is_cut = false;
	path->least_ns = path->of.total / detail->parts;
	path->hops = detail->hops;
	memcpy(hop.comm, late->comm, TASK_COMM_LEN);
	path_walk_task(&hop);
}

/**
 * path_walk() - what a late operation consisted of
 * @path: result
 * @late: the operation
 *
 * Context: Task; one at a time.
 */
void path_walk(struct path_told *path, const struct latency_tracker_late *late)
{
	static const struct detail details[] = {
		{ PATH_PARTS, PATH_HOPS }, { 200, PATH_HOPS }, { 50, PATH_HOPS },
		{ 20, PATH_HOPS }, { 20, 3 }, { 20, 1 },
	};
	unsigned int i;

	path->of.total = late->now_ns - late->start_ns;
	path->of.flag = late->flag;
	strscpy_pad(path->of.tracker, late->tracker, sizeof(path->of.tracker));
	strscpy_pad(path->of.operation, late->operation, sizeof(path->of.operation));
	/* The more there is, the less of it is told apart. */
	for (i = 0; i < ARRAY_SIZE(details); i++) {
		walk_from(path, late, &details[i]);
		if (!path->is_cut)
			break;
	}
	path->of.nr = path->nr;
}

int path_walk_start(void)
{
	histories = vzalloc(PATH_HOPS * sizeof(*histories));
	return histories ? 0 : -ENOMEM;
}

void path_walk_stop(void)
{
	vfree(histories);
	histories = NULL;
}
