/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_netfilter.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_NETFILTER_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_NETFILTER_H

#include <linux/if.h>
#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#ifndef _LT_NETFILTER_PACKET
#define _LT_NETFILTER_PACKET
/**
 * struct lt_netfilter_packet - a packet, as it was at the first hook
 * @netns: inode of its network namespace
 * @len: bytes, without the link layer's header
 * @pf: NFPROTO_IPV4 or NFPROTO_IPV6
 * @dev: on which it came in
 */
struct lt_netfilter_packet {
	u32 netns;
	u32 len;
	u32 pf;
	char dev[IFNAMSIZ];
};
#endif

/* NFPROTO_* */
#define LT_VALUES_NETFILTER_PF(FIRST, NEXT)				\
	FIRST(2, "ipv4") NEXT(10, "ipv6")

/* enum nf_inet_hooks, where a packet's way ends */
#define LT_VALUES_NETFILTER_HOOK(FIRST, NEXT)				\
	FIRST(0, "none") NEXT(1, "local_in") NEXT(2, "forward")

#define LT_PROTO_NETFILTER_LATENCY					\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct lt_netfilter_packet *packet)
#define LT_ARGS_NETFILTER_LATENCY	TP_ARGS(verdict, packet)
#define LT_FIELDS_NETFILTER_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(INT, u32, netns, packet->netns)				\
	F(INT, u32, len, packet->len)					\
	F(ENUM, u32, pf, NETFILTER_PF, packet->pf)			\
	F(ENUM, u32, hook, NETFILTER_HOOK, verdict->out_id)		\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(TEXT, dev, IFNAMSIZ, packet->dev)

TRACE_EVENT(netfilter_latency,

	LT_PROTO_NETFILTER_LATENCY, LT_ARGS_NETFILTER_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_NETFILTER_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_NETFILTER_LATENCY(LT_ASSIGN)),

	TP_printk("dev=%s, netns=%u, pf=%s, len=%u, hook=%s, delay=%llu, flag=%s, start=%llu",
		  __entry->dev, __entry->netns,
		  LT_SHOW(NETFILTER_PF, __entry->pf),
		  __entry->len,
		  LT_SHOW(NETFILTER_HOOK, __entry->hook),
		  __entry->delay, LT_SHOW(FLAG, __entry->flag), __entry->start)
);

#endif /* _LT_TRACE_NETFILTER_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_netfilter
#include <trace/define_trace.h>
