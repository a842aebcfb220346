/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_block.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_BLOCK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_BLOCK_H

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
};

/* How a stage ended. */
enum lt_block_end {
	LT_BLOCK_OPEN,		/* it has not */
	LT_BLOCK_ISSUED,
	LT_BLOCK_COMPLETED,
	LT_BLOCK_REQUEUED,
};

/**
 * struct lt_block_report - a request, as it was when the stage began
 * @sector: first one, units of 512 bytes
 * @first: when the first stage of the request began, ns
 * @dev: the whole disk
 * @bytes: of the request
 * @opf: operation and flags
 * @pid: of @comm
 * @requeues: how often it has been requeued
 * @comm: of the task that inserted or issued it
 * @disk: the name of the whole disk
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
};
#endif

/* enum lt_block_stage */
#define LT_VALUES_BLOCK_STAGE(FIRST, NEXT)				\
	FIRST(0, "queue") NEXT(1, "device") NEXT(2, "request")

/* enum lt_block_end */
#define LT_VALUES_BLOCK_END(FIRST, NEXT)				\
	FIRST(0, "-") NEXT(1, "issued") NEXT(2, "completed")		\
	NEXT(3, "requeued")

#define LT_PROTO_BLOCK_LATENCY						\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct lt_block_report *report, const char *rwbs,	\
		 u32 stage, int error)
#define LT_ARGS_BLOCK_LATENCY	TP_ARGS(verdict, report, rwbs, stage, error)
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
	F(TEXT, disk, DISK_NAME_LEN, report->disk)

TRACE_EVENT(block_latency,

	LT_PROTO_BLOCK_LATENCY, LT_ARGS_BLOCK_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_BLOCK_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_BLOCK_LATENCY(LT_ASSIGN)),

	TP_printk("dev=%d,%d, sector=%llu, nr_bytes=%u, rwbs=%s, stage=%s, error=%d, comm=%s, pid=%d, delay=%llu, flag=%s, start=%llu, end=%s, requeues=%u, disk=%s",
		  MAJOR(__entry->dev), MINOR(__entry->dev),
		  (unsigned long long)__entry->sector, __entry->nr_bytes,
		  __entry->rwbs,
		  LT_SHOW(BLOCK_STAGE, __entry->stage),
		  __entry->error, __entry->comm, __entry->pid, __entry->delay,
		  LT_SHOW(FLAG, __entry->flag), __entry->start,
		  LT_SHOW(BLOCK_END, __entry->end), __entry->requeues, __entry->disk)
);

#endif /* _LT_TRACE_BLOCK_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_block
#include <trace/define_trace.h>
