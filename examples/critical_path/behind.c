// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is behind a sleep: the time of a request, of a soft interrupt, of a work item, or of
 * another task.
 */
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "examples/critical_path/walk.h"
#include "usecase/interrupt.h"

static const char nobody[TASK_COMM_LEN] = "-";

/* Of a task that slept, and was not waited for by name; or of what was queued. */
enum lt_path_cause path_cause_of_waker(const struct latency_tracker_wait *wait)
{
	switch (wait->context) {
	case OFFCPU_CONTEXT_TASK:
		return LT_PATH_TASK;
	case OFFCPU_CONTEXT_SOFTIRQ:
		if (wait->is_timer)
			return LT_PATH_TIMER;
		return wait->softirq == NET_RX_SOFTIRQ ? LT_PATH_PACKET : LT_PATH_SOFTIRQ;
	case OFFCPU_CONTEXT_HARDIRQ:
		return wait->is_timer ? LT_PATH_TIMER : LT_PATH_HARDIRQ;
	default:
		return LT_PATH_UNKNOWN;
	}
}

/* A time in the segment @number, which is to be explained by what @pid did then. */
static struct hop hop_below(const struct hop *hop, int number, u64 from, u64 to,
			    pid_t pid, const char *comm)
{
	struct hop below = {
		.path = hop->path,
		.from = from,
		.to = to,
		.next = from,
		.pid = pid,
		.hop = hop->hop + 1,
		.parent = number,
		.last = -1,
	};

	memcpy(below.comm, comm, TASK_COMM_LEN);
	return below;
}

static void go_on(struct hop *next)
{
	if (next->from >= next->to)
		return;
	if (next->hop == next->path->hops)
		path_add(next, next->to - next->from, LT_PATH_CUT);
	else
		path_walk_task(next);
}

/* What explains the segment @number: the time of @pid in it, until @to. */
static void follow(struct hop *hop, int number, u64 from, u64 to, pid_t pid,
		   const char *comm)
{
	struct hop next = hop_below(hop, number, from, to, pid, comm);

	if (pid > 0 && pid != hop->pid)
		go_on(&next);
}

/* The time of a request in @hop, which is that of no task. */
static void time_of_request(struct hop *hop, const struct latency_tracker_wait *done,
			    u64 end, enum lt_path_cause cause)
{
	struct lt_path_segment *segment;

	if (end <= hop->next)
		return;
	segment = path_add(hop, end - hop->next, cause);
	if (!segment)
		return;
	segment->pid = -1;
	strscpy_pad(segment->comm, "-", TASK_COMM_LEN);
	segment->dev = done->dev;
	segment->sector = done->where;
	if (done->cause)
		snprintf(segment->name, LT_PATH_NAME, "%.15s, %u requeues",
			 done->name, done->cause);
	else
		strscpy_pad(segment->name, done->name, LT_PATH_NAME);
}

/* The request of a disk behind the segment @number, and who has submitted it. */
static void follow_disk(struct hop *hop, int number,
			const struct latency_tracker_wait *done)
{
	const struct lt_path_segment *parent = &hop->path->segments[number];
	struct hop next = hop_below(hop, number, parent->start,
				    parent->start + parent->delay, done->pid, done->comm);
	u64 submitted = min(max(done->begin_ns, next.from), next.to);

	if (done->pid > 0 && done->pid != hop->pid) {
		follow(hop, number, next.from, submitted, done->pid, done->comm);
		next.next = submitted;
	}
	time_of_request(&next, done, submitted, LT_PATH_UNKNOWN);
	time_of_request(&next, done, min(done->ready_ns, next.to), LT_PATH_QUEUE);
	/* Not each has a request whose issue was seen. */
	time_of_request(&next, done, next.to,
			done->ready_ns ? LT_PATH_DEVICE : LT_PATH_UNKNOWN);
	path_add_rest(&next);
}

/*
 * A soft interrupt woke the task; it had waited until it ran. What kept it from that is what the
 * task did that had its CPU meanwhile, or why the thread did not run that was to run it.
 */
static void follow_raised(struct hop *hop, int number,
			  const struct latency_tracker_wait *done)
{
	const struct lt_path_segment *parent = &hop->path->segments[number];
	struct hop next = hop_below(hop, number, parent->start,
				    parent->start + parent->delay, -1, nobody);
	struct lt_path_segment *segment;

	path_add_until(&next, done->begin_ns, LT_PATH_UNKNOWN);
	if (done->end_ns <= next.next)
		return;
	segment = path_add(&next, done->end_ns - next.next, LT_PATH_RAISED);
	if (segment) {
		strscpy_pad(segment->name, done->name, LT_PATH_NAME);
		path_name_by(segment, done->by_comm, done->by_pid);
		follow(&next, segment - hop->path->segments, segment->start,
		       segment->start + segment->delay, done->by_pid, done->by_comm);
	}
	path_add_until(&next, next.to, LT_PATH_SOFTIRQ);
	path_add_rest(&next);
}

void path_name_function(struct lt_path_segment *segment, u64 function)
{
	snprintf(segment->name, LT_PATH_NAME, "%ps", (void *)(unsigned long)function);
	/* Its module is told, too. */
	segment->name[strcspn(segment->name, " ")] = 0;
}

/*
 * The work item that a worker just did when it woke the task: before it was queued, what that
 * task did that queued it; then it waited for the worker, for what that did; and then what the
 * worker has done for it.
 */
static void follow_work(struct hop *hop, int number,
			const struct latency_tracker_wait *done)
{
	const struct lt_path_segment *parent = &hop->path->segments[number];
	u64 start = parent->start, end = start + parent->delay;
	u64 queued = clamp(done->begin_ns ?: done->end_ns, start, end);
	u64 begin = clamp(done->end_ns, queued, end);
	struct lt_path_segment *segment;
	struct hop next;

	/* Too short to be told. */
	if (queued - start <= hop->path->least_ns)
		queued = start;
	if (begin - queued <= hop->path->least_ns)
		begin = queued;
	follow(hop, number, start, queued, done->by_pid, done->by_comm);
	next = hop_below(hop, number, start, queued, -1, nobody);
	if (done->by_pid < 0)
		path_add_until(&next, queued, path_cause_of_waker(done));
	next = hop_below(hop, number, queued, begin, done->pid, done->comm);
	segment = path_add(&next, begin - queued, LT_PATH_WORK);
	if (segment) {
		path_name_function(segment, done->where);
		path_name_by(segment, done->by_comm, done->by_pid);
		next = hop_below(&next, segment - hop->path->segments, queued, begin,
				 done->pid, done->comm);
		go_on(&next);
	}
	next = hop_below(hop, number, begin, end, done->pid, done->comm);
	go_on(&next);
}

/**
 * path_explain() - what is behind a sleep
 * @hop: the time of the task
 * @number: segment that the sleep is
 * @wait: which one
 * @lock: that it was for, or NULL
 * @done: what was over when the task was woken, or NULL
 *
 * Context: Task.
 */
void path_explain(struct hop *hop, int number,
		  const struct latency_tracker_wait *wait,
		  const struct latency_tracker_wait *lock,
		  const struct latency_tracker_wait *done)
{
	const struct lt_path_segment *segment = &hop->path->segments[number];
	u64 end = segment->start + segment->delay;

	if (done && done->kind == LATENCY_TRACKER_WAIT_DISK)
		follow_disk(hop, number, done);
	else if (done && done->kind == LATENCY_TRACKER_WAIT_RAISED)
		follow_raised(hop, number, done);
	else if (done && done->kind == LATENCY_TRACKER_WAIT_WORK)
		follow_work(hop, number, done);
	else if (wait->context == OFFCPU_CONTEXT_TASK)
		follow(hop, number, segment->start, end, wait->by_pid, wait->by_comm);
	else if (lock)
		follow(hop, number, segment->start, end, lock->by_pid, lock->by_comm);
}
