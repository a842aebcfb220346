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
	LT_BLOCK_DEVICE,	/* issue to completion */
};

/**
 * struct lt_block_report - a request, as it was when the stage began
 * @sector: first one, units of 512 bytes
 * @dev: the whole disk
 * @bytes: of the request
 * @opf: operation and flags
 * @pid: of @comm
 * @comm: who inserted or issued it
 */
struct lt_block_report {
	sector_t sector;
	dev_t dev;
	u32 bytes;
	lt_opf_t opf;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};
#endif

TRACE_EVENT(block_latency,

	TP_PROTO(const struct latency_tracker_verdict *verdict,
		 const struct lt_block_report *report, u32 stage, int error),

	TP_ARGS(verdict, report, stage, error),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__field(sector_t, sector)
		__field(dev_t, dev)
		__field(u32, nr_bytes)
		__field(u32, stage)
		__field(int, error)
		__field(pid_t, pid)
		__field(u32, flag)
		__array(char, comm, TASK_COMM_LEN)
		__array(char, rwbs, RWBS_LEN)
	),

	TP_fast_assign(
		__entry->delay = verdict->delay_ns;
		__entry->start = verdict->start_ns;
		__entry->sector = report->sector;
		__entry->dev = report->dev;
		__entry->nr_bytes = report->bytes;
		__entry->stage = stage;
		__entry->error = error;
		__entry->pid = report->pid;
		__entry->flag = verdict->flag;
		memcpy(__entry->comm, report->comm, TASK_COMM_LEN);
		memset(__entry->rwbs, 0, RWBS_LEN);
		lt_fill_rwbs(__entry->rwbs, report->opf);
	),

	TP_printk("dev=%d,%d, sector=%llu, nr_bytes=%u, rwbs=%s, stage=%s, error=%d, comm=%s, pid=%d, delay=%llu, flag=%s, start=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev),
		  (unsigned long long)__entry->sector, __entry->nr_bytes,
		  __entry->rwbs,
		  __print_symbolic(__entry->stage, { 0, "queue" },
				   { 1, "device" }),
		  __entry->error, __entry->comm, __entry->pid, __entry->delay,
		  lt_show_flag(__entry->flag), __entry->start)
);

#endif /* _LT_TRACE_BLOCK_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_block
#include <trace/define_trace.h>
