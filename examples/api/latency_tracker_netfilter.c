// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start here: how long is a packet between two hooks of netfilter?
 *
 * From PRE_ROUTING, before all other hooks, to the end of LOCAL_IN or FORWARD:
 * the filter rules, connection tracking, address translation, the decision
 * where the packet goes. IPv4 and IPv6, in all network namespaces.
 *
 *	modprobe latency_tracker_netfilter
 *
 * An event netfilter_latency tells of each packet that takes usec_threshold or
 * longer; with usec_timeout, also of each that is still on its way after that
 * time. These parameters can be changed at any time; all other state is in
 * /sys/kernel/latency_tracker/netfilter.
 *
 * A packet that is dropped in between has no end: its event is forgotten when
 * the kernel uses its memory for the next packet ("replaced"), or after
 * COLLECT_NS ("collected"). The same is true for all fragments but the one
 * that the others are put together in.
 */
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

#include "usecase/usecase.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_netfilter.h>

LT_KEEP_EVENT(netfilter_latency, NETFILTER_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(netfilter_latency),
};

#define USEC_THRESHOLD	10000
#define MAX_EVENTS	4096
#define GROW_LIMIT	65536
#define COLLECT_NS	(10 * (u64)NSEC_PER_SEC)

static struct lt_usecase usecase;

/* In the context of the last hook: a softirq, or the tracker's thread. */
static void slow(const struct latency_tracker_verdict *verdict)
{
	/* Most of them were dropped, as the rules want it. */
	if (verdict->flag == LATENCY_TRACKER_COLLECTED)
		return;
	lt_trace(netfilter_latency, verdict, verdict->priv);
}

/* The key is the packet's address, which may be used again: a begin replaces what is left. */
static unsigned int first_hook(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	struct lt_netfilter_packet packet = {
		.netns = state->net->ns.inum,
		.len = skb->len,
		.pf = state->pf,
	};
	struct latency_tracker_in in = {
		.priv = &packet,
		.priv_len = sizeof(packet),
	};

	memcpy(packet.dev, state->in->name, sizeof(packet.dev));
	latency_tracker_event_in(usecase.tracker, &skb, sizeof(skb), 0, &in);
	return NF_ACCEPT;
}

static unsigned int last_hook(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	latency_tracker_event_out(usecase.tracker, &skb, sizeof(skb),
				  state->hook, NULL, 0);
	return NF_ACCEPT;
}

/* INET stands for IPv4 and IPv6. */
static const struct nf_hook_ops hooks[] = {
	{ .hook = first_hook, .pf = NFPROTO_INET,
	  .hooknum = NF_INET_PRE_ROUTING, .priority = INT_MIN },
	{ .hook = last_hook, .pf = NFPROTO_INET,
	  .hooknum = NF_INET_LOCAL_IN, .priority = INT_MAX },
	{ .hook = last_hook, .pf = NFPROTO_INET,
	  .hooknum = NF_INET_FORWARD, .priority = INT_MAX },
};

static int __net_init netns_init(struct net *net)
{
	return nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

static void __net_exit netns_exit(struct net *net)
{
	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

/* For each namespace, those that there are and those to come. */
static struct pernet_operations netns_ops = {
	.init = netns_init,
	.exit = netns_exit,
};

static struct lt_usecase usecase = {
	.name = "netfilter",
	.owner = THIS_MODULE,
	LT_KEEPS(keeps),
	.report = slow,
	.usec_threshold = USEC_THRESHOLD,
	.collect_ns = COLLECT_NS,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct sk_buff *),
	.priv_size = sizeof(struct lt_netfilter_packet),
};

LT_USECASE_PARAMS(usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);

static int __init hooks_init(void)
{
	int err;

	err = lt_usecase_start(&usecase);
	if (err)
		return err;
	err = register_pernet_subsys(&netns_ops);
	if (err) {
		/* Those that were registered are gone, but may still run. */
		synchronize_net();
		lt_usecase_stop(&usecase);
	}
	return err;
}
module_init(hooks_init);

static void __exit hooks_exit(void)
{
	unregister_pernet_subsys(&netns_ops);
	synchronize_net();		/* no hook is running now */
	lt_usecase_stop(&usecase);
}
module_exit(hooks_exit);

MODULE_DESCRIPTION("Latency of packets between two hooks of netfilter");
MODULE_LICENSE("GPL");
