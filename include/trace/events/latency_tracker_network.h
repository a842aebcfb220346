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

#include "wrapper/cgroup.h"
#include "wrapper/skbuff.h"

#ifndef _LT_NETWORK_REPORT
#define _LT_NETWORK_REPORT
enum lt_network_end {
	LT_NETWORK_NOWHERE,	/* has not ended */
	LT_NETWORK_SOCKET,	/* copied to a socket's owner */
	LT_NETWORK_CONSUMED,
	LT_NETWORK_DROPPED,
	LT_NETWORK_SENT,	/* given to its driver */
};

enum lt_network_stage {
	LT_NETWORK_RECEIVE,
	LT_NETWORK_SEND,
};

/**
 * struct lt_network_report - a packet, as it was when it entered the stack, or the
 *	queue of its device
 * @dev: its device, to compare with
 * @head: its data, to compare with
 * @ifindex: of @dev
 * @netns: inode of the network namespace of @dev
 * @len: bytes, from the network header on
 * @missed: see missed() of the module
 * @protocol: ethertype
 * @l4: protocol of IP, 0 if it is not known
 * @name: of @dev
 * @stage: enum lt_network_stage; from here on only of a packet that is sent
 * @pid: of the task that sends it; -1 if none does
 * @comm: likewise; "-"
 * @qdisc: the kind of the queue
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
	u8 stage;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	char qdisc[IFNAMSIZ];
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

/* enum lt_network_end */
#define LT_VALUES_NETWORK_END(FIRST, NEXT)				\
	FIRST(0, "-") NEXT(1, "socket") NEXT(2, "consumed")		\
	NEXT(3, "dropped") NEXT(4, "sent")

/* enum lt_network_stage */
#define LT_VALUES_NETWORK_STAGE(FIRST, NEXT)				\
	FIRST(0, "receive") NEXT(1, "send")

/* Of what comes in, only a copy to a socket is made by a task on its own behalf. */
#define LT_NETWORK_TASK(yes, no)					\
	(out->end == LT_NETWORK_SOCKET ? (yes) : (no))
#define LT_NETWORK_SENDER(yes, no)					\
	(report->stage == LT_NETWORK_SEND ? (yes) : (no))
#define LT_NO_COMM	"-\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

#define LT_PROTO_NETWORK_LATENCY					\
	TP_PROTO(const struct latency_tracker_verdict *verdict,		\
		 const struct lt_network_report *report,		\
		 const struct lt_network_out *out)
#define LT_ARGS_NETWORK_LATENCY	TP_ARGS(verdict, report, out)
#define LT_FIELDS_NETWORK_LATENCY(F)					\
	F(INT, u64, delay, verdict->delay_ns)				\
	F(INT, u64, start, verdict->start_ns)				\
	F(INT, u64, cgroup_id, LT_NETWORK_TASK(lt_task_cgroup_id(current), 0)) \
	F(ADDR, skbaddr, *(const void *const *)verdict->key)		\
	F(ADDR, location, out->location)				\
	F(INT, u32, ifindex, report->ifindex)				\
	F(INT, u32, netns, report->netns)				\
	F(INT, u32, len, report->len)					\
	F(INT, u32, reason, out->reason)				\
	F(ENUM, u32, end, NETWORK_END, out->end)			\
	F(ENUM, u32, flag, FLAG, verdict->flag)				\
	F(ENUM, u32, stage, NETWORK_STAGE, report->stage)		\
	F(INT, pid_t, pid, LT_NETWORK_SENDER(report->pid,		\
			   LT_NETWORK_TASK(current->pid, -1)))		\
	F(INT, u16, protocol, report->protocol)				\
	F(INT, u8, l4, report->l4)					\
	F(TEXT, dev, IFNAMSIZ, report->name)				\
	F(TEXT, comm, TASK_COMM_LEN, LT_NETWORK_SENDER(report->comm,	\
			   LT_NETWORK_TASK(current->comm, LT_NO_COMM)))	\
	F(TEXT, qdisc, IFNAMSIZ, LT_NETWORK_SENDER(report->qdisc, LT_NO_COMM))

/* So that user space knows the numbers of their names. */
LT_DEFINE_DROP_REASONS;

TRACE_EVENT(network_latency,

	LT_PROTO_NETWORK_LATENCY, LT_ARGS_NETWORK_LATENCY,

	TP_STRUCT__entry(LT_FIELDS_NETWORK_LATENCY(LT_ENTRY)),

	TP_fast_assign(LT_FIELDS_NETWORK_LATENCY(LT_ASSIGN)),

	TP_printk("dev=%s, ifindex=%u, netns=%u, protocol=0x%04x, l4=%u, len=%u, end=%s, reason=%s, location=%pS, comm=%s, pid=%d, delay=%llu, flag=%s, start=%llu, skbaddr=%p, cgroup_id=%llu, stage=%s, qdisc=%s",
		  __entry->dev, __entry->ifindex, __entry->netns,
		  __entry->protocol, __entry->l4, __entry->len,
		  LT_SHOW(NETWORK_END, __entry->end),
		  lt_show_drop_reason(__entry->reason),
		  LT_SHOW_ADDR(__entry->location), __entry->comm, __entry->pid,
		  __entry->delay, LT_SHOW(FLAG, __entry->flag), __entry->start,
		  __entry->skbaddr, __entry->cgroup_id,
		  LT_SHOW(NETWORK_STAGE, __entry->stage), __entry->qdisc)
);

#endif /* _LT_TRACE_NETWORK_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_network
#include <trace/define_trace.h>
