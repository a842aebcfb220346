/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of LTTng-UST with what a mark has: which one, and an id. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lt_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "marks_lttng.h"

#if !defined(LT_MARKS_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LT_MARKS_LTTNG_H

#include <lttng/tracepoint.h>

#define LT_BENCH_ARGS	LTTNG_UST_TP_ARGS(int, mark, uint64_t, id)
#define LT_BENCH_FIELDS	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, mark, mark) \
					    lttng_ust_field_integer(uint64_t, id, id))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(lt_bench, mark, LT_BENCH_ARGS, LT_BENCH_FIELDS)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(lt_bench, mark, lt_bench, begin, LT_BENCH_ARGS)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(lt_bench, mark, lt_bench, end, LT_BENCH_ARGS)

#endif /* LT_MARKS_LTTNG_H */

#include <lttng/tracepoint-event.h>
