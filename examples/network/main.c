// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive latency of packets: from a packet's entry into the network stack,
 * out of its driver, until it is copied to a socket's owner, consumed, or
 * dropped. The key is the address of the skb.
 *
 * Default threshold: 5 ms. An event network_latency tells of a packet that
 * took longer.
 *
 * One packet, one event
 * ---------------------
 * - A packet that enters for the first time (skb_iif is 0: the core of the
 *   stack sets it) replaces what is left of its address. One that enters again,
 *   such as out of a bridge, goes on with its first entry.
 * - GRO and TCP put packets together. The first one goes on; the others are
 *   forgotten, as is one that is transmitted.
 * - Of a packet and its clones, the one that entered counts.
 *
 * Silent ends
 * -----------
 * TCP frees packets without passing a tracepoint; kprobes on what it calls end
 * or forget the event, so that none outlives its skb. A kprobe is not called
 * where another one was interrupted (the kernel counts that: nmissed), or when
 * all of them are disabled. The event that is then left waits for the next skb
 * of the same address, or for COLLECT_NS. It never makes a false value:
 * - the next packet that enters replaces or removes it;
 * - an skb that did not come the receive path has skb_iif 0: not its end;
 * - a clone of one that did looks alike, and so does a packet in a socket's
 *   queue to the timeout. Both are not reported if a kprobe was missed since
 *   the begin, and a clone not if it has the data of another packet; counted
 *   in the parameter "doubtful".
 *
 * Packets that are sent are another stage: see egress.c.
 *
 * The files: filter.c has the filters, probes.c the tracepoints, kprobes.c the
 * kprobes, packet.h what the probes of both do at an end.
 */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>

#include "examples/network/egress.h"
#include "examples/network/kprobes.h"
#include "examples/network/network.h"
#include "usecase/usecase.h"
#include "wrapper/skbuff.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_network.h>

LT_KEEP_EVENT(network_latency, NETWORK_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(network_latency),
};

#define USEC_THRESHOLD	5000
#define MAX_EVENTS	8192
#define GROW_LIMIT	65536
#define COLLECT_NS	(60 * (u64)NSEC_PER_SEC)
/* One program that does not read its datagrams must not take all events from the others. */
#define COLLECT_LEAST_NS	((u64)NSEC_PER_SEC)

/* Of a datagram in fragments the last one to come goes on, with the data of the first. */
static bool is_fragment(const struct lt_network_report *report)
{
	return (report->protocol == ETH_P_IP && !report->l4) ||
	       (report->protocol == ETH_P_IPV6 &&
		report->l4 == IPPROTO_FRAGMENT);
}

/*
 * May the packet have ended unseen, so that this is another one? Not one that is
 * known to be neither TCP nor a fragment.
 */
static bool is_doubtful(const struct latency_tracker_verdict *verdict)
{
	const struct lt_network_report *report = verdict->priv;
	const struct lt_network_out *out = verdict->out_data;

	/* Its end is of this one: each packet that is sent ends what is left. */
	if (report->stage == LT_NETWORK_SEND)
		return !out && report->missed != missed();
	if (report->l4 == IPPROTO_UDP || report->l4 == IPPROTO_ICMP ||
	    report->l4 == IPPROTO_ICMPV6)
		return false;
	if (out && !out->skb->cloned)
		return false;
	return report->missed != missed() ||
	       (out && out->skb->head != report->head && !is_fragment(report));
}

static void callback(const struct latency_tracker_verdict *verdict)
{
	static const struct lt_network_out nowhere;

	lt_trace(network_latency, verdict, verdict->priv,
		 verdict->out_data ?: &nowhere);
}

LT_GROUPING(grouping, network_group_ids, "device", "cgroup");

struct lt_usecase network_usecase = {
	.name = "network",
	.owner = THIS_MODULE,
	.probes = network_probes,
	LT_KEEPS(keeps),
	.stage = &egress_stage,
	.report = callback,
	.is_false_alarm = is_doubtful,
	.usec_threshold = USEC_THRESHOLD,
	.collect_ns = COLLECT_NS,
	.collect_least_ns = COLLECT_LEAST_NS,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct egress_key),
	.priv_size = sizeof(struct lt_network_report),
	.grouping = &grouping,
	.group_name = network_group_name,
	.threshold_names = "a device, such as eth0 or eth0 socket, or the path of a control group",
	.threshold_find = network_threshold_find,
	.belongs = network_belongs,
};

LT_USECASE_PARAMS(network_usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_DOUBTFUL_PARAM(network_usecase);

static int __init network_init(void)
{
	int err;

	err = hook_all();
	if (err)
		return err;
	network_usecase.nr_probes = network_nr_probes;
	err = lt_usecase_start(&network_usecase);
	if (err) {
		unhook_all();
		return err;
	}
	hooks_begin(network_usecase.tracker);
	return 0;
}
module_init(network_init);

static void __exit network_exit(void)
{
	/* No event, so that none ends unseen. */
	latency_tracker_set_tracking(network_usecase.tracker, false);
	unhook_all();
	lt_usecase_stop(&network_usecase);
}
module_exit(network_exit);

MODULE_DESCRIPTION("Latency of packets from the driver to their socket");
MODULE_LICENSE("GPL");
