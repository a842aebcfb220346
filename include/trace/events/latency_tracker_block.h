/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_block.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_BLOCK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_BLOCK_H

#include <linux/atomic.h>
#include <linux/kdev_t.h>
#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#include "wrapper/block.h"

#ifndef _LT_BLOCK_REPORT
#define _LT_BLOCK_REPORT
enum lt_block_stage {
	LT_BLOCK_QUEUE,		/* insert to issue */
	LT_BLOCK_DEVICE,	/* issue to completion or requeue */
	LT_BLOCK_REQUEST,	/* of a requeued one: first begin to completion */
	LT_BLOCK_BIO,		/* submission to end */
};

/* How a stage ended. */
enum lt_block_end {
	LT_BLOCK_OPEN,		/* it has not */
	LT_BLOCK_ISSUED,
	LT_BLOCK_COMPLETED,
	LT_BLOCK_REQUEUED,
};

/* Where most of the time of a bio went. */
enum lt_block_cause {
	LT_BLOCK_NONE,		/* it is a request */
	LT_BLOCK_THROTTLED,	/* held back by a limit of its cgroup */
	LT_BLOCK_GETRQ,		/* waited for a request: tags, write-back throttling */
	LT_BLOCK_IN_QUEUE,
	LT_BLOCK_IN_DEVICE,
	LT_BLOCK_FLUSH,		/* of the cache of the device, before or after it */
	LT_BLOCK_LOWER,		/* the device passes bios on, to one below */
	LT_BLOCK_UNKNOWN,
};

/* struct lt_block_times - where the time of a bio went, ns */
struct lt_block_times {
	u64 throttled;
	u64 getrq;
	u64 queue;
	u64 device;
	u64 flush;
	u32 cause;
};

/**
 * struct lt_block_stamps - what is known of the way of a bio
 * @admitted: when it was let in, ns, 0 if it has not been, like the next four
 * @got: when it got a request, or was merged into one
 * @first: when that request began; if it was requeued, for the first time
 * @issued: when that was issued; if it was requeued, as @first
 * @completed: when the part of it that completed last did
 * @ended: its last end that was seen
 * @parent: the bio that waits for its end, if any; only to compare
 * @submitter: the task that submitted it, then the one that admitted it; only to
 *	compare
 * @run_delay: how long that had waited for a CPU when it admitted it, units of 1024 ns
 * @delayed: how long it has from then to @got
 * @switches: how often it had gone to sleep when it was submitted, then admitted
 * @error: negative errno at @ended
 * @was_held: another task admitted it
 * @slept: its task slept between @admitted and @got
 * @has_requests: the disk has requests
 */
struct lt_block_stamps {
	u64 admitted;
	u64 got;
	u64 first;
	u64 issued;
	u64 completed;
	u64 ended;
	const struct bio *parent;
	const struct task_struct *submitter;
	u32 run_delay;
	u32 delayed;
	u16 switches;
	s16 error;
	bool was_held : 1;
	bool slept : 1;
	bool has_requests : 1;
};

/**
 * struct lt_block_report - a request or bio, as it was when the stage began
 * @sector: first one, units of 512 bytes
 * @first: when the first stage of the request began, ns
 * @dev: the whole disk
 * @bytes: of the request
 * @opf: operation and flags
 * @pid: of @comm
 * @cgroup_id: of @comm
 * @requeues: how often it has been requeued
 * @comm: of the task that inserted or issued it
 * @disk: the name of the whole disk
 * @cgroup_ns: threshold of the control group of that task, see lt_threshold_of_task()
 * @ends: of a bio: how many were seen, and how many there are; see bio_ends.c
 * @bio: of a bio
 */
struct lt_block_report {
	sector_t sector;
	u64 first;
	dev_t dev;
	u32 bytes;
	lt_opf_t opf;
	pid_t pid;
	u32 requeues;
	char comm[TASK_COMM_LEN];
	char disk[DISK_NAME_LEN];
	u64 cgroup_id;
	u64 cgroup_ns;
	atomic_t ends;
	struct lt_block_stamps bio;
};
#endif

/* enum lt_block_stage */
#define LT_VALUES_BLOCK_STAGE(FIRST, NEXT)				\
	FIRST(0, "queue") NEXT(1, "device") NEXT(2, "request")		\
	NEXT(3, "bio")

/* enum lt_block_end */
#define LT_VALUES_BLOCK_END(FIRST, NEXT)				\
	FIRST(0, "-") NEXT(1, "issued") NEXT(2, "completed")		\
	NEXT(3, "requeued")

/* enum lt_block_cause */
#define LT_VALUES_BLOCK_CAUSE(FIRST, NEXT)				\
	FIRST(0, "-") NEXT(1, "throttled") NEXT(2, "getrq")		\
	NEXT(3, "queue") NEXT(4, "device") NEXT(5, "flush")		\
	NEXT(6, "lower") NEXT(7, "unknown")

#define LT_PROTO_BLOCK_LATENCY						\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct lt_block_report *report, const char *rwbs,	\
		 u32 stage, int error, const struct lt_block_times *times)
#define LT_ARGS_BLOCK_LATENCY						\
	TP_ARGS(verdict, report, rwbs, stage, error, times)
#define LT_FIELDS_BLOCK_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(INT, sector_t, sector, report->sector)			\
	F(INT, dev_t, dev, report->dev)					\
	F(INT, u32, nr_bytes, report->bytes)				\
	F(ENUM, u32, stage, BLOCK_STAGE, stage)				\
	F(INT, int, error, error)					\
	F(INT, pid_t, pid, report->pid)					\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(ENUM, u32, end, BLOCK_END, verdict->out_id)			\
	F(INT, u32, requeues, READ_ONCE(report->requeues))		\
	F(TEXT, comm, TASK_COMM_LEN, report->comm)			\
	F(TEXT, rwbs, RWBS_LEN, rwbs)					\
	F(TEXT, disk, DISK_NAME_LEN, report->disk)			\
	F(ENUM, u32, cause, BLOCK_CAUSE, times->cause)			\
	F(INT, u64, throttled, times->throttled)			\
	F(INT, u64, getrq, times->getrq)				\
	F(INT, u64, queue, times->queue)				\
	F(INT, u64, device, times->device)				\
	F(INT, u64, flush, times->flush)				\
	F(INT, u64, cgroup_id, report->cgroup_id)

TRACE_EVENT(block_latency,

	LT_PROTO_BLOCK_LATENCY, LT_ARGS_BLOCK_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_BLOCK_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_BLOCK_LATENCY(LT_ASSIGN)),

	TP_printk("dev=%d,%d, sector=%llu, nr_bytes=%u, rwbs=%s, stage=%s, error=%d, comm=%s, pid=%d, delay=%llu, flag=%s, start=%llu, end=%s, requeues=%u, disk=%s, cause=%s, throttled=%llu, getrq=%llu, queue=%llu, device=%llu, flush=%llu, cgroup_id=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev),
		  (unsigned long long)__entry->sector, __entry->nr_bytes,
		  __entry->rwbs,
		  LT_SHOW(BLOCK_STAGE, __entry->stage),
		  __entry->error, __entry->comm, __entry->pid, __entry->delay,
		  LT_SHOW(FLAG, __entry->flag), __entry->start,
		  LT_SHOW(BLOCK_END, __entry->end), __entry->requeues, __entry->disk,
		  LT_SHOW(BLOCK_CAUSE, __entry->cause), __entry->throttled,
		  __entry->getrq, __entry->queue, __entry->device, __entry->flush,
		  __entry->cgroup_id)
);

#endif /* _LT_TRACE_BLOCK_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_block
#include <trace/define_trace.h>
