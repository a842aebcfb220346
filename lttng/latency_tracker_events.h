/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of group latency_tracker for LTTng, made of the same lists of arguments and
 * fields as those for ftrace: see latency_tracker_format.h.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_LTTNG_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_LTTNG_EVENTS_H

#include <lttng/tracepoint-event.h>

/* For TP_FIELDS(). The length of a stack is the length of the sequence. */
#define LT_CTF(kind, ...)	LT_CTF_##kind(__VA_ARGS__)
#define LT_CTF_INT(type, name, value)	ctf_integer(type, name, value)
#define LT_CTF_ENUM(type, name, values, value)				\
	ctf_enum(latency_tracker_##values, type, name, value)
#define LT_CTF_ADDR(name, value)					\
	ctf_integer_hex(unsigned long, name, (unsigned long)(value))
#define LT_CTF_TEXT(name, len, from)	ctf_array_text(char, name, from, len)
#define LT_CTF_STACK(name, stack)					\
	ctf_sequence_hex(unsigned long, name,				\
			 (stack)->ip + (stack)->first, u32, (stack)->nr)

#define LT_LTTNG_EVENT(name, NAME)					\
	LTTNG_TRACEPOINT_EVENT(name, LT_PROTO_##NAME, LT_ARGS_##NAME,	\
			       TP_FIELDS(LT_FIELDS_##NAME(LT_CTF)))

#define LT_CTF_VALUE(number, name)	ctf_enum_value(name, number)
#define LT_LTTNG_ENUM(values)						\
	LTTNG_TRACEPOINT_ENUM(latency_tracker_##values, TP_ENUM_VALUES(	\
		LT_VALUES_##values(LT_CTF_VALUE, LT_CTF_VALUE)))

#define LT_LTTNG_ENUMS(F)						\
	F(FLAG) F(BLOCK_STAGE) F(BLOCK_END) F(BLOCK_CAUSE) F(IRQ_RET) F(SOFTIRQ) \
	F(SOFTIRQ_STAGE) F(NETFILTER_PF) F(NETFILTER_HOOK)		\
	F(NETWORK_END) F(NETWORK_STAGE) F(OFFCPU_STATE) F(OFFCPU_CONTEXT) F(OFFCPU_STALL) \
	F(WAKEUP_CAUSE) F(WAKEUP_REASON) F(LOCK_KIND) F(LOCK_HELD) F(LOCK_HOLDER)	\
	F(PATH_CAUSE) F(CHAIN_VIA) F(CHAIN_STAGE) F(CHAIN_DONE)

LT_LTTNG_ENUMS(LT_LTTNG_ENUM)

/* The first, of no tracepoint: see lttng_probe_init(). */
#define LT_CTF_NAMES(values)						\
	ctf_enum(latency_tracker_##values, u32, values, 0)
LTTNG_TRACEPOINT_EVENT(latency_tracker_names, TP_PROTO(int unused),
		       TP_ARGS(unused), TP_FIELDS(LT_LTTNG_ENUMS(LT_CTF_NAMES)))

LT_LTTNG_EVENT(block_latency, BLOCK_LATENCY)
LT_LTTNG_EVENT(chain_latency, CHAIN_LATENCY)
LT_LTTNG_EVENT(critical_path, CRITICAL_PATH)
LT_LTTNG_EVENT(function_latency, FUNCTION_LATENCY)
LT_LTTNG_EVENT(irq_latency, IRQ_LATENCY)
LT_LTTNG_EVENT(softirq_latency, SOFTIRQ_LATENCY)
LT_LTTNG_EVENT(lock_latency, LOCK_LATENCY)
LT_LTTNG_EVENT(mark_latency, MARK_LATENCY)
LT_LTTNG_EVENT(netfilter_latency, NETFILTER_LATENCY)
LT_LTTNG_EVENT(network_latency, NETWORK_LATENCY)
LT_LTTNG_EVENT(offcpu_sched_switch, OFFCPU_SCHED_SWITCH)
LT_LTTNG_EVENT(offcpu_sched_wakeup, OFFCPU_SCHED_WAKEUP)
LT_LTTNG_EVENT(syscall_latency, SYSCALL_LATENCY)
LT_LTTNG_EVENT(syscall_latency_stack, SYSCALL_LATENCY_STACK)
LT_LTTNG_EVENT(wakeup_latency, WAKEUP_LATENCY)

#endif /* _LT_LTTNG_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH lttng
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_events
#include <lttng/define_trace.h>
