// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints that a packet passes.
 */
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#include "examples/network/egress.h"
#include "examples/network/filter.h"
#include "examples/network/kprobes.h"
#include "examples/network/network.h"
#include "examples/network/packet.h"
#include "usecase/probe.h"
#include "wrapper/net.h"
#include "wrapper/skbuff.h"

/* Begin. */

/*
 * The network header is not set yet, but it is where the data begins. 0 for
 * fragments, most of which have no other header.
 */
static u8 l4_of(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6 = (const void *)skb->data;
	const struct iphdr *ip = (const void *)skb->data;

	if (skb->protocol == htons(ETH_P_IP) &&
	    skb_headlen(skb) >= sizeof(*ip) && !ip_is_fragment(ip))
		return ip->protocol;
	if (skb->protocol == htons(ETH_P_IPV6) &&
	    skb_headlen(skb) >= sizeof(*ip6))
		return ip6->nexthdr;
	return 0;
}

static void describe(struct lt_network_report *report,
		     const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;

	report->dev = dev;
	report->head = skb->head;
	report->ifindex = dev->ifindex;
	report->netns = dev_net(dev)->ns.inum;
	report->len = skb->len;
	report->missed = missed();
	report->protocol = ntohs(skb->protocol);
	report->l4 = l4_of(skb);
	/* The device may be renamed meanwhile: half a name is possible, no more. */
	memcpy(report->name, dev->name, IFNAMSIZ);
	report->name[IFNAMSIZ - 1] = 0;
}

static void begin(struct latency_tracker *tracker, const struct sk_buff *skb,
		  u32 flags)
{
	struct lt_network_report report;
	struct latency_tracker_in in = {
		.priv = &report,
		.priv_len = offsetof(struct lt_network_report, stage),
	};

	describe(&report, skb);
	latency_tracker_event_in(tracker, &skb, sizeof(skb), flags, &in);
}

static void on_entry(void *data, const struct sk_buff *skb)
{
	if (!skb)	/* of napi_gro_frags(), if its driver is broken */
		return;
	egress_left(data, skb);
	if (wants(skb))
		begin(data, skb, skb->skb_iif ? LATENCY_TRACKER_KEEP : 0);
	else if (!skb->skb_iif)
		forget(data, skb);
}

/* GRO. */

/* The packet that is in GRO on this CPU, and the task that brought it there. */
struct network_gro {
	const struct sk_buff *skb;
	const struct task_struct *task;
};

static DEFINE_PER_CPU(struct network_gro, in_gro);
atomic_t gro_missed;

static void on_gro_entry(void *data, const struct sk_buff *skb)
{
	preempt_disable_notrace();
	__this_cpu_write(in_gro.skb, skb);
	__this_cpu_write(in_gro.task, current);
	preempt_enable_notrace();
	on_entry(data, skb);
}

/*
 * A packet that was merged is no more, or a part of another one. GRO delivers
 * others before it is done with this one, so the entry may not be the last one
 * here; on PREEMPT_RT another thread may have come between. Then the packet is
 * not known.
 */
static void on_gro_exit(void *data, int ret)
{
	const struct sk_buff *skb = NULL;

	preempt_disable_notrace();
	if (__this_cpu_read(in_gro.task) == current) {
		skb = __this_cpu_read(in_gro.skb);
		__this_cpu_write(in_gro.task, NULL);
	}
	preempt_enable_notrace();
	if (ret != GRO_MERGED && ret != GRO_MERGED_FREE)
		return;
	if (skb)
		forget(data, skb);
	else
		atomic_inc(&gro_missed);
}

/* End. */

static void on_copy(void *data, const struct sk_buff *skb, int len)
{
	copied(data, skb);
}

static void on_consume(void *data, const struct sk_buff *skb, void *location)
{
	if (!network_is_local(skb))
		consumed(data, skb, location);
}

/* Still what it was at the entry, as in the queue behind netif_rx(). */
static bool is_untouched(const struct lt_network_report *report,
			 const struct sk_buff *skb)
{
	return report->dev == skb->dev && report->len == skb->len &&
	       report->protocol == ntohs(skb->protocol);
}

static void dropped_early(struct latency_tracker *tracker,
			  struct lt_network_out *out)
{
	struct latency_tracker_event *event =
		latency_tracker_get_event(tracker, &out->skb, sizeof(out->skb));

	if (!event)
		return;
	if (out->reason == LT_DROP_REASON_BACKLOG ||
	    is_untouched(latency_tracker_event_priv(event), out->skb))
		latency_tracker_event_end(tracker, event, out->end, out, 0);
	else
		forget(tracker, out->skb);
	latency_tracker_put_event(tracker, event);
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

	if (skb->skb_iif)
		end(data, &out);
	else
		dropped_early(data, &out);
}

/* What this machine sends has not come in. */
static void on_queue(void *data, struct sk_buff *skb)
{
	if (skb->skb_iif)
		forget(data, skb);
}

static void on_xmit(void *data, const struct sk_buff *skb,
		    const struct net_device *dev)
{
	if (skb->skb_iif)
		forget(data, skb);
}

LT_DEFINE_PROBE_CONSUME_SKB(on_consume)
LT_DEFINE_PROBE_KFREE_SKB(on_drop)
#define probe_skb_copy_datagram_iovec	on_copy
#define probe_net_dev_queue		on_queue
#define probe_net_dev_start_xmit	on_xmit
#define probe_netif_receive_skb_entry	on_entry
#define probe_netif_receive_skb_list_entry on_entry
#define probe_netif_rx_entry		on_entry
#define probe_netif_rx_ni_entry		on_entry
#define probe_napi_gro_receive_entry	on_gro_entry
#define probe_napi_gro_receive_exit	on_gro_exit
#define probe_napi_gro_frags_entry	on_gro_entry
#define probe_napi_gro_frags_exit	on_gro_exit

/* Ends first. */
struct lt_probe network_probes[] = {
	LT_PROBE(kfree_skb),
	LT_PROBE(consume_skb),
	LT_PROBE(skb_copy_datagram_iovec),
	LT_PROBE(net_dev_start_xmit),
	LT_PROBE(net_dev_queue),
	LT_PROBE(napi_gro_receive_exit),
	LT_PROBE(napi_gro_frags_exit),
	LT_PROBE(netif_receive_skb_entry),
	LT_PROBE(netif_receive_skb_list_entry),
	LT_PROBE(netif_rx_entry),
#ifdef LT_HAVE_NETIF_RX_NI
	LT_PROBE(netif_rx_ni_entry),
#endif
	LT_PROBE(napi_gro_receive_entry),
	LT_PROBE(napi_gro_frags_entry),
};

const unsigned int network_nr_probes = ARRAY_SIZE(network_probes);
