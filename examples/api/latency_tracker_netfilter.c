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
 * time. All state is in /sys/kernel/latency_tracker/netfilter; thresholds can
 * be changed there at any time.
 *
 * A packet that is dropped in between has no end: its event is forgotten when
 * the kernel uses its memory for the next packet ("replaced"), or after
 * COLLECT_NS ("collected"). The same is true for all fragments but the one
 * that the others are put together in.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/preempt.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

#include "latency_tracker.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_netfilter.h>

#define COLLECT_NS	(10 * (u64)NSEC_PER_SEC)

static unsigned int usec_threshold = 10000;
module_param(usec_threshold, uint, 0444);
MODULE_PARM_DESC(usec_threshold,
		 "Report a packet that takes at least so many microseconds (default 10000)");

static unsigned int usec_timeout;
module_param(usec_timeout, uint, 0444);
MODULE_PARM_DESC(usec_timeout,
		 "Report a packet that is still on its way after so many microseconds (default 0: off)");

static struct latency_tracker *tracker;

/* In the context of the last hook: a softirq, or the tracker's thread. */
static void slow(const struct latency_tracker_verdict *verdict)
{
	/* Most of them were dropped, as the rules want it. */
	if (verdict->flag == LATENCY_TRACKER_COLLECTED)
		return;
	/* A timeout comes from the tracker's thread; LTTng wants it like this. */
	preempt_disable_notrace();
	trace_netfilter_latency(verdict, verdict->priv);
	preempt_enable_notrace();
}

/* The key is the packet's address, which UNIQUE makes safe to be used again. */
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
	latency_tracker_event_in(tracker, &skb, sizeof(skb),
				 LATENCY_TRACKER_UNIQUE, &in);
	return NF_ACCEPT;
}

static unsigned int last_hook(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	latency_tracker_event_out(tracker, &skb, sizeof(skb), state->hook,
				  NULL, 0);
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

static int __init hooks_init(void)
{
	struct latency_tracker_config config = {
		.name = "netfilter",
		.callback = slow,
		.threshold_ns = (u64)usec_threshold * NSEC_PER_USEC,
		.timeout_ns = (u64)usec_timeout * NSEC_PER_USEC,
		.collect_ns = COLLECT_NS,
		.max_events = 4096,
		.grow_limit = 65536,
		.key_size = sizeof(struct sk_buff *),
		.priv_size = sizeof(struct lt_netfilter_packet),
	};
	int err;

	tracker = latency_tracker_create(&config);
	if (IS_ERR(tracker))
		return PTR_ERR(tracker);
	err = register_pernet_subsys(&netns_ops);
	if (err) {
		/* Those that were registered are gone, but may still run. */
		synchronize_net();
		latency_tracker_destroy(tracker);
	}
	return err;
}
module_init(hooks_init);

static void __exit hooks_exit(void)
{
	unregister_pernet_subsys(&netns_ops);
	synchronize_net();		/* no hook is running now */
	latency_tracker_destroy(tracker);
}
module_exit(hooks_exit);

MODULE_DESCRIPTION("Latency of packets between two hooks of netfilter");
MODULE_LICENSE("GPL");
