/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_network.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_NETWORK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_NETWORK_H

#include <linux/if.h>
#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#include "wrapper/skbuff.h"

#ifndef _LT_NETWORK_REPORT
#define _LT_NETWORK_REPORT
enum lt_network_end {
	LT_NETWORK_NOWHERE,	/* has not ended */
	LT_NETWORK_SOCKET,	/* copied to a socket's owner */
	LT_NETWORK_CONSUMED,
	LT_NETWORK_DROPPED,
};

/**
 * struct lt_network_report - a packet, as it was when it entered the stack
 * @dev: its device, to compare with
 * @head: its data, to compare with
 * @ifindex: of @dev
 * @netns: inode of the network namespace of @dev
 * @len: bytes, from the network header on
 * @missed: see missed() of the module
 * @protocol: ethertype
 * @l4: protocol of IP, 0 if it is not known
 * @name: of @dev
 */
struct lt_network_report {
	const struct net_device *dev;
	const void *head;
	int ifindex;
	u32 netns;
	u32 len;
	u32 missed;
	u16 protocol;
	u8 l4;
	char name[IFNAMSIZ];
};

/**
 * struct lt_network_out - how it ended
 * @skb: still held by the caller of the probe
 * @location: of the code that let it go, or NULL
 * @reason: enum skb_drop_reason, 0 if there is none
 * @end: where
 */
struct lt_network_out {
	const struct sk_buff *skb;
	const void *location;
	u32 reason;
	enum lt_network_end end;
};
#endif

TRACE_EVENT(network_latency,

	TP_PROTO(const struct latency_tracker_verdict *verdict,
		 const struct lt_network_report *report,
		 const struct lt_network_out *out),

	TP_ARGS(verdict, report, out),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__field(const void *, skbaddr)
		__field(const void *, location)
		__field(u32, ifindex)
		__field(u32, netns)
		__field(u32, len)
		__field(u32, reason)
		__field(u32, end)
		__field(u32, flag)
		__field(pid_t, pid)
		__field(u16, protocol)
		__field(u8, l4)
		__array(char, dev, IFNAMSIZ)
		__array(char, comm, TASK_COMM_LEN)
	),

	/* Only a copy to a socket is made by a task on its own behalf. */
	TP_fast_assign(
		__entry->delay = verdict->delay_ns;
		__entry->start = verdict->start_ns;
		__entry->skbaddr = *(const void *const *)verdict->key;
		__entry->location = out->location;
		__entry->ifindex = report->ifindex;
		__entry->netns = report->netns;
		__entry->len = report->len;
		__entry->reason = out->reason;
		__entry->end = out->end;
		__entry->flag = verdict->flag;
		__entry->protocol = report->protocol;
		__entry->l4 = report->l4;
		memcpy(__entry->dev, report->name, IFNAMSIZ);
		memset(__entry->comm, 0, TASK_COMM_LEN);
		if (out->end == LT_NETWORK_SOCKET) {
			__entry->pid = current->pid;
			memcpy(__entry->comm, current->comm, TASK_COMM_LEN);
		} else {
			__entry->pid = -1;
			__entry->comm[0] = '-';
		}
	),

	TP_printk("dev=%s, ifindex=%u, netns=%u, protocol=0x%04x, l4=%u, len=%u, end=%s, reason=%s, location=%pS, comm=%s, pid=%d, delay=%llu, flag=%s, start=%llu, skbaddr=%p",
		  __entry->dev, __entry->ifindex, __entry->netns,
		  __entry->protocol, __entry->l4, __entry->len,
		  __print_symbolic(__entry->end, { 0, "-" }, { 1, "socket" },
				   { 2, "consumed" }, { 3, "dropped" }),
		  lt_show_drop_reason(__entry->reason),
		  __entry->location, __entry->comm, __entry->pid,
		  __entry->delay, lt_show_flag(__entry->flag), __entry->start,
		  __entry->skbaddr)
);

#endif /* _LT_TRACE_NETWORK_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_network
#include <trace/define_trace.h>
