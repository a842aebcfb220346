/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_function.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_FUNCTION_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_FUNCTION_H

#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#ifndef _LT_FUNCTION_CALL
#define _LT_FUNCTION_CALL
/**
 * struct lt_function_call - a call, as it was when it began
 * @pid: of the caller
 * @comm: of the caller
 */
struct lt_function_call {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};
#endif

#define LT_PROTO_FUNCTION_LATENCY					\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct lt_function_call *call, void *function)
#define LT_ARGS_FUNCTION_LATENCY	TP_ARGS(verdict, call, function)
#define LT_FIELDS_FUNCTION_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(ADDR, function, function)					\
	F(INT, pid_t, pid, call->pid)					\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(TEXT, comm, TASK_COMM_LEN, call->comm)

TRACE_EVENT(function_latency,

	LT_PROTO_FUNCTION_LATENCY, LT_ARGS_FUNCTION_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_FUNCTION_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_FUNCTION_LATENCY(LT_ASSIGN)),

	TP_printk("function=%ps, comm=%s, pid=%d, delay=%llu, flag=%s, start=%llu",
		  __entry->function, __entry->comm, __entry->pid,
		  __entry->delay, LT_SHOW(FLAG, __entry->flag), __entry->start)
);

#endif /* _LT_TRACE_FUNCTION_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_function
#include <trace/define_trace.h>
