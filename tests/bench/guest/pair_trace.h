/* SPDX-License-Identifier: GPL-2.0-only */
/* An event for what is late: a key, when it began, how long it took. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker_bench

#if !defined(_LT_BENCH_PAIR_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_BENCH_PAIR_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(pair_latency,

	TP_PROTO(u64 key, u64 start, u64 delay),

	TP_ARGS(key, start, delay),

	TP_STRUCT__entry(
		__field(u64, key)
		__field(u64, start)
		__field(u64, delay)
	),

	TP_fast_assign(
		__entry->key = key;
		__entry->start = start;
		__entry->delay = delay;
	),

	TP_printk("key=%llu, delay=%llu, start=%llu", __entry->key, __entry->delay, __entry->start)
);

#endif /* _LT_BENCH_PAIR_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tests/bench/guest
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pair_trace
#include <trace/define_trace.h>
