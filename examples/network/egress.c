// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that are sent: the stage from the queue of their device, its qdisc, to the
 * driver.
 *
 * net_dev_queue() begins it, if the device has a queue: loopback, bridges, tunnels and
 * the like have none unless they are given one. It ends at net_dev_start_xmit(), or
 * where the packet is freed: dropped by the qdisc, or consumed, as a large packet is
 * that is cut in segments on its way to the driver. A driver that is busy gets the
 * packet once more; that is not tracked.
 *
 * No event outlives its packet: each that passes net_dev_queue() again, comes in, or is
 * freed ends what is left of its address. A packet has one event at most of those that
 * come in, and one of those that are sent: the keys differ in length.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#include "examples/network/egress.h"
#include "examples/network/filter.h"
#include "examples/network/missed.h"
#include "examples/network/network.h"
#include "usecase/probe.h"
#include "usecase/stage.h"
#include "wrapper/net.h"
#include "wrapper/skbuff.h"

#include <trace/events/latency_tracker_network.h>

static bool end_event(struct latency_tracker_event *event, void *arg)
{
	struct lt_network_out *out = arg;

	latency_tracker_event_end(READ_ONCE(network_usecase.tracker), event,
				  out->end, out, 0);
	return false;
}

/* Most packets have no event of this kind: no end without a begin is counted. */
static void end(struct latency_tracker *tracker, struct lt_network_out *out)
{
	struct egress_key key = { .skb = out->skb };

	latency_tracker_for_each_event(tracker, &key, sizeof(key), end_event,
				       out);
}

static bool forget_event(struct latency_tracker_event *event, void *tracker)
{
	const struct egress_key *key = latency_tracker_event_key(event);

	latency_tracker_event_cancel(tracker, key, sizeof(*key));
	return false;
}

static void forget(struct latency_tracker *tracker, const struct sk_buff *skb)
{
	struct egress_key key = { .skb = skb };

	latency_tracker_for_each_event(tracker, &key, sizeof(key), forget_event,
				       tracker);
}

/* Of the headers that the network layer has put in front. */
static u8 l4_of(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6 = (const void *)skb_network_header(skb);
	const struct iphdr *ip = (const void *)skb_network_header(skb);
	int len = skb_headlen(skb) - skb_network_offset(skb);

	if (skb->protocol == htons(ETH_P_IP) && len >= (int)sizeof(*ip) &&
	    !ip_is_fragment(ip))
		return ip->protocol;
	if (skb->protocol == htons(ETH_P_IPV6) && len >= (int)sizeof(*ip6))
		return ip6->nexthdr;
	return 0;
}

/* What an interrupt sends is not sent by the task that it has interrupted. */
static void describe_sender(struct lt_network_report *report)
{
	if (in_nmi() || hardirq_count() || in_serving_softirq()) {
		strscpy(report->comm, "-", sizeof(report->comm));
		report->pid = -1;
		return;
	}
	memcpy(report->comm, current->comm, TASK_COMM_LEN);
	report->pid = current->pid;
}

static void describe(struct lt_network_report *report,
		     const struct sk_buff *skb, const char *kind)
{
	const struct net_device *dev = skb->dev;

	report->ifindex = dev->ifindex;
	report->netns = dev_net(dev)->ns.inum;
	report->len = skb->len - skb_network_offset(skb);
	report->missed = missed();
	report->protocol = ntohs(skb->protocol);
	report->l4 = l4_of(skb);
	report->stage = LT_NETWORK_SEND;
	memcpy(report->name, dev->name, IFNAMSIZ);
	report->name[IFNAMSIZ - 1] = 0;
	strscpy(report->qdisc, kind, sizeof(report->qdisc));
	describe_sender(report);
}

static void on_queue(void *data, struct sk_buff *skb)
{
	struct egress_key key = { .skb = skb };
	const char *kind = lt_queue_kind(skb);
	struct lt_network_report report = {};
	struct latency_tracker_in in = {
		.priv = &report,
		.priv_len = sizeof(report),
	};

	if (!kind || !wants(skb)) {
		forget(data, skb);
		return;
	}
	describe(&report, skb, kind);
	latency_tracker_event_in(data, &key, sizeof(key), 0, &in);
}

static void on_xmit(void *data, const struct sk_buff *skb,
		    const struct net_device *dev)
{
	struct lt_network_out out = { .skb = skb, .end = LT_NETWORK_SENT };

	end(data, &out);
}

static void on_drop(void *data, const struct sk_buff *skb, void *location,
		    unsigned int reason)
{
	struct lt_network_out out = {
		.skb = skb,
		.location = location,
		.reason = reason,
		.end = LT_NETWORK_DROPPED,
	};

	end(data, &out);
}

static void on_consume(void *data, const struct sk_buff *skb, void *location)
{
	struct lt_network_out out = {
		.skb = skb,
		.location = location,
		.end = LT_NETWORK_CONSUMED,
	};

	if (!network_is_local(skb))
		end(data, &out);
}

LT_DEFINE_PROBE_CONSUME_SKB(on_consume)
LT_DEFINE_PROBE_KFREE_SKB(on_drop)
#define probe_net_dev_queue		on_queue
#define probe_net_dev_start_xmit	on_xmit

static struct lt_probe probes[] = {
	LT_PROBE(kfree_skb),
	LT_PROBE(consume_skb),
	LT_PROBE(net_dev_start_xmit),
	LT_PROBE(net_dev_queue),
};

struct lt_stage egress_stage = {
	.usecase = &network_usecase,
	.name = "egress",
	LT_PROBES(probes),
	.on = true,
};
module_param_cb(egress, &lt_stage_ops, &egress_stage, 0644);
MODULE_PARM_DESC(egress, "Track packets that are sent, too, from the queue of their device to its driver (default Y)");

/* It passes no tracepoint on its way out. */
void egress_freed(struct latency_tracker *tracker, const struct sk_buff *skb)
{
	if (READ_ONCE(egress_stage.on))
		on_consume(tracker, skb, NULL);
}

/* It comes in: if it was in a queue, it has been taken out there. */
void egress_left(struct latency_tracker *tracker, const struct sk_buff *skb)
{
	if (READ_ONCE(egress_stage.on))
		forget(tracker, skb);
}
