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

TRACE_EVENT(netfilter_latency,

	TP_PROTO(const struct latency_tracker_verdict *verdict,
		 const struct lt_netfilter_packet *packet),

	TP_ARGS(verdict, packet),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__field(u32, netns)
		__field(u32, len)
		__field(u32, pf)
		__field(u32, hook)
		__field(u32, flag)
		__array(char, dev, IFNAMSIZ)
	),

	TP_fast_assign(
		__entry->delay = verdict->delay_ns;
		__entry->start = verdict->start_ns;
		__entry->netns = packet->netns;
		__entry->len = packet->len;
		__entry->pf = packet->pf;
		__entry->hook = verdict->out_id;
		__entry->flag = verdict->flag;
		memcpy(__entry->dev, packet->dev, IFNAMSIZ);
	),

	TP_printk("dev=%s, netns=%u, pf=%s, len=%u, hook=%s, delay=%llu, flag=%s, start=%llu",
		  __entry->dev, __entry->netns,
		  __print_symbolic(__entry->pf, { 2, "ipv4" }, { 10, "ipv6" }),
		  __entry->len,
		  __print_symbolic(__entry->hook, { 0, "none" },
				   { 1, "local_in" }, { 2, "forward" }),
		  __entry->delay, lt_show_flag(__entry->flag), __entry->start)
);

#endif /* _LT_TRACE_NETFILTER_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_netfilter
#include <trace/define_trace.h>
