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
 * TCP frees packets without passing a tracepoint; kprobes on what it calls see
 * to it that no event outlives its skb. A kprobe is not called where another
 * one was interrupted (the kernel counts that: nmissed), or when somebody
 * disables all of them. What is then left waits for the next skb of the same
 * address, or for TRK_COLLECT_NS. It never makes a false value:
 * - the next packet that enters replaces or removes it;
 * - an skb that did not come the receive path has skb_iif 0: not its end;
 * - a clone of one that did looks alike, and so does a packet in a socket's
 *   queue to the timeout. Both are not reported if a kprobe was missed since
 *   the begin, and a clone not if it has the data of another packet; counted
 *   in the parameter "doubtful".
 */
#include <linux/atomic.h>
#include <linux/ctype.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#include "wrapper/kprobes.h"
#include "wrapper/net.h"
#include "wrapper/skbuff.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_network.h>

#define TRK_NAME		"network"
#define TRK_USEC_THRESHOLD	5000
#define TRK_MAX_EVENTS		8192
#define TRK_GROW_LIMIT		65536
#define TRK_FALSE_ALARM		is_doubtful
#include "examples/tracker.h"
#include "examples/tracker_kprobes.h"

#define TRK_COLLECT_NS		(60 * (u64)NSEC_PER_SEC)

/* Filters. */

/**
 * struct network_dev - which device; nothing set is all
 * @ifindex: by number, in any namespace
 * @name: by name
 */
struct network_dev {
	int ifindex;
	char name[IFNAMSIZ];
};

/* A probe may see half of a change; trk_filter_changed() sorts that out. */
static struct network_dev dev_filter;
static u16 protocol_filter;	/* ethertype, 0 is all */

/* What the kernel lets a device be called, but for control characters. */
static bool is_dev_name(const char *name)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (; *name; name++)
		if (iscntrl(*name) || isspace(*name) || *name == '/' ||
		    *name == ':')
			return false;
	return true;
}

static int dev_set(const char *val, const struct kernel_param *kp)
{
	struct network_dev new = { };
	size_t len = strchrnul(val, '\n') - val;

	if (len >= IFNAMSIZ || (val[len] && val[len + 1]))
		return -EINVAL;
	memcpy(new.name, val, len);
	if (isdigit(*new.name) || *new.name == '-') {
		if (kstrtoint(new.name, 10, &new.ifindex) || new.ifindex <= 0)
			return -EINVAL;
		memset(new.name, 0, sizeof(new.name));
	} else if (!is_dev_name(new.name)) {
		return -EINVAL;
	}
	if (!memcmp(&new, &dev_filter, sizeof(new)))
		return 0;
	dev_filter = new;
	trk_filter_changed();
	return 0;
}

static int dev_get(char *buffer, const struct kernel_param *kp)
{
	if (dev_filter.ifindex)
		return sysfs_emit(buffer, "%d\n", dev_filter.ifindex);
	return sysfs_emit(buffer, "%s\n", dev_filter.name);
}

static const struct kernel_param_ops dev_ops = {
	.set = dev_set,
	.get = dev_get,
};

module_param_cb(dev, &dev_ops, NULL, 0644);
MODULE_PARM_DESC(dev, "Track only what enters through this device, a name or an ifindex (default empty: all)");

static int protocol_set(const char *val, const struct kernel_param *kp)
{
	/* Base 0 would take a 0 in front for octal. */
	unsigned int base = strncmp(val, "0x", 2) ? 10 : 16;
	u16 new = 0;

	if (sysfs_streq(val, "ip"))
		new = ETH_P_IP;
	else if (sysfs_streq(val, "ipv6"))
		new = ETH_P_IPV6;
	else if (sysfs_streq(val, "arp"))
		new = ETH_P_ARP;
	else if (!sysfs_streq(val, "") && (kstrtou16(val, base, &new) || !new))
		return -EINVAL;
	if (new == protocol_filter)
		return 0;
	WRITE_ONCE(protocol_filter, new);
	trk_filter_changed();
	return 0;
}

static int protocol_get(char *buffer, const struct kernel_param *kp)
{
	if (!protocol_filter)
		return sysfs_emit(buffer, "\n");
	return sysfs_emit(buffer, "0x%04x\n", protocol_filter);
}

static const struct kernel_param_ops protocol_ops = {
	.set = protocol_set,
	.get = protocol_get,
};

module_param_cb(protocol, &protocol_ops, NULL, 0644);
MODULE_PARM_DESC(protocol, "Track only this protocol: ip, ipv6, arp or an ethertype such as 0x0800 (default empty: all)");

static bool wants(const struct sk_buff *skb)
{
	u16 protocol = READ_ONCE(protocol_filter);
	int ifindex = READ_ONCE(dev_filter.ifindex);

	if (protocol && ntohs(skb->protocol) != protocol)
		return false;
	if (ifindex)
		return skb->dev->ifindex == ifindex;
	return !READ_ONCE(dev_filter.name[0]) ||
	       !strncmp(skb->dev->name, dev_filter.name, IFNAMSIZ);
}

/* Ends that were not seen. */

/* Set once the kprobes work; cleared never, they go before the tracker. */
static struct latency_tracker *hooked;

static u32 missed(void);

static int missed_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", hooked ? missed() : 0);
}

static const struct kernel_param_ops missed_ops = {
	.get = missed_get,
};

module_param_cb(missed, &missed_ops, NULL, 0444);
MODULE_PARM_DESC(missed, "How often the end of a packet was not seen");

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
	/* Someone may be renaming it: half a name is possible, no more. */
	memcpy(report->name, dev->name, IFNAMSIZ);
	report->name[IFNAMSIZ - 1] = 0;
}

static void begin(struct latency_tracker *tracker, const struct sk_buff *skb,
		  u32 flags)
{
	struct lt_network_report report;
	struct latency_tracker_in in = {
		.priv = &report,
		.priv_len = sizeof(report),
	};

	describe(&report, skb);
	latency_tracker_event_in(tracker, &skb, sizeof(skb), flags, &in);
}

static void forget(struct latency_tracker *tracker, const struct sk_buff *skb)
{
	latency_tracker_event_cancel(tracker, &skb, sizeof(skb));
}

static void on_entry(void *data, const struct sk_buff *skb)
{
	if (!skb)	/* of napi_gro_frags(), if its driver is broken */
		return;
	if (wants(skb))
		begin(data, skb, skb->skb_iif ? LATENCY_TRACKER_KEEP :
						LATENCY_TRACKER_UNIQUE);
	else if (!skb->skb_iif)
		forget(data, skb);
}

/* GRO. */

/* The packet that is in GRO on this CPU, and who has brought it there. */
struct network_gro {
	const struct sk_buff *skb;
	const struct task_struct *task;
};

static DEFINE_PER_CPU(struct network_gro, in_gro);
static atomic_t gro_missed;

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
 * here; on PREEMPT_RT another thread may have come between. Then nobody knows.
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

static void end(struct latency_tracker *tracker, struct lt_network_out *out)
{
	latency_tracker_event_out(tracker, &out->skb, sizeof(out->skb),
				  out->end, out, 0);
}

static void on_copy(void *data, const struct sk_buff *skb, int len)
{
	struct lt_network_out out = {
		.skb = skb,
		.end = LT_NETWORK_SOCKET,
	};

	if (skb->skb_iif)
		end(data, &out);
}

/* Of one that has not come as far as the core: GRO has merged it. */
static void consumed(struct latency_tracker *tracker,
		     const struct sk_buff *skb, const void *location)
{
	struct lt_network_out out = {
		.skb = skb,
		.location = location,
		.end = LT_NETWORK_CONSUMED,
	};

	if (skb->skb_iif)
		end(tracker, &out);
	else
		forget(tracker, skb);
}

static void on_consume(void *data, const struct sk_buff *skb, void *location)
{
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

/* What we send ourselves has not come in. */
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
static struct trk_probe probes[] = {
	TRK_PROBE(kfree_skb),
	TRK_PROBE(consume_skb),
	TRK_PROBE(skb_copy_datagram_iovec),
	TRK_PROBE(net_dev_start_xmit),
	TRK_PROBE(net_dev_queue),
	TRK_PROBE(napi_gro_receive_exit),
	TRK_PROBE(napi_gro_frags_exit),
	TRK_PROBE(netif_receive_skb_entry),
	TRK_PROBE(netif_receive_skb_list_entry),
	TRK_PROBE(netif_rx_entry),
#ifdef LT_HAVE_NETIF_RX_NI
	TRK_PROBE(netif_rx_ni_entry),
#endif
	TRK_PROBE(napi_gro_receive_entry),
	TRK_PROBE(napi_gro_frags_entry),
};

/*
 * Kprobes. A kprobe is lost if it comes in an interrupt of another one, so
 * there must be none.
 */

typedef void (*network_end)(struct latency_tracker *tracker,
			    const struct sk_buff *skb);

static __always_inline int on_kprobe(network_end done, const struct sk_buff *skb)
{
	struct latency_tracker *tracker = READ_ONCE(hooked);
	unsigned long flags;

	if (!tracker)
		return 0;
	local_irq_save(flags);
	done(tracker, skb);
	local_irq_restore(flags);
	return 0;
}

static void silently_consumed(struct latency_tracker *tracker,
			      const struct sk_buff *skb)
{
	consumed(tracker, skb, NULL);
}

static void read_by_udp(struct latency_tracker *tracker,
			const struct sk_buff *skb)
{
	on_copy(tracker, skb, 0);
}

static int on_silent_free(struct kprobe *kp, struct pt_regs *regs)
{
	return on_kprobe(silently_consumed, lt_kprobe_arg(regs, 0));
}

/* Its data went into another packet. */
static int on_merge(struct kprobe *kp, struct pt_regs *regs)
{
	return on_kprobe(forget, lt_kprobe_arg(regs, 0));
}

/* skb_consume_udp(sk, skb, len), after a copy that passes no tracepoint */
static int on_udp(struct kprobe *kp, struct pt_regs *regs)
{
	return on_kprobe(read_by_udp, lt_kprobe_arg(regs, 1));
}

#define HOOK(symbol, handler)	{ .symbol_name = symbol, .pre_handler = handler }

/* Without these, an event could outlive its packet. */
static struct kprobe hooks[] = {
	HOOK("__kfree_skb", on_silent_free),
#ifdef LT_HAVE_SKB_ATTEMPT_DEFER_FREE
	HOOK("skb_attempt_defer_free", on_silent_free),
#endif
	HOOK("kfree_skb_partial", on_merge),
};

static struct kprobe udp_hooks[] = {
	HOOK("skb_consume_udp", on_udp),
};

/*
 * How often a packet may have ended unseen. Only a change counts, so
 * increments that were lost do no harm.
 */
static u32 missed(void)
{
	u32 n = atomic_read(&gro_missed);
	unsigned int i;

	if (unlikely(!READ_ONCE(hooked)))
		return ~0U;
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		n += READ_ONCE(hooks[i].nmissed);
	return n;
}

static void unhook_all(void)
{
	trk_unhook(udp_hooks, ARRAY_SIZE(udp_hooks));
	trk_unhook(hooks, ARRAY_SIZE(hooks));
}

static int hook_all(void)
{
	int err = trk_hook(hooks, ARRAY_SIZE(hooks));

	if (err)
		return err;
	if (trk_hook(udp_hooks, ARRAY_SIZE(udp_hooks)))
		pr_warn("%s: UDP packets that are read count as consumed\n",
			KBUILD_MODNAME);
	return 0;
}

/* Reports. */

/*
 * May it be that the packet ended unseen, and that this is another one? What
 * is known to be neither TCP nor a fragment does not.
 */
static bool is_doubtful(const struct latency_tracker_verdict *verdict)
{
	const struct lt_network_report *report = verdict->priv;
	const struct lt_network_out *out = verdict->out_data;

	if (report->l4 == IPPROTO_UDP || report->l4 == IPPROTO_ICMP ||
	    report->l4 == IPPROTO_ICMPV6)
		return false;
	if (out && !out->skb->cloned)
		return false;
	return report->missed != missed() ||
	       (out && out->skb->head != report->head);
}

static void callback(const struct latency_tracker_verdict *verdict)
{
	static const struct lt_network_out nowhere;

	trk_trace(network_latency, verdict, verdict->priv,
		  verdict->out_data ?: &nowhere);
}

static int __init network_init(void)
{
	struct latency_tracker_config config = {
		.callback = callback,
		.collect_ns = TRK_COLLECT_NS,
		.key_size = sizeof(struct sk_buff *),
		.priv_size = sizeof(struct lt_network_report),
	};
	int err;

	err = hook_all();
	if (err)
		return err;
	err = trk_start(&config, probes, ARRAY_SIZE(probes));
	if (err) {
		unhook_all();
		return err;
	}
	/* Pairs with the address dependency of who follows it, in on_kprobe(). */
	smp_store_release(&hooked, trk_tracker);
	/* What began before that may have ended unseen. */
	latency_tracker_clear(trk_tracker);
	return 0;
}
module_init(network_init);

static void __exit network_exit(void)
{
	/* No event, so that none ends unseen. */
	latency_tracker_set_tracking(trk_tracker, false);
	unhook_all();
	trk_stop();
}
module_exit(network_exit);

MODULE_DESCRIPTION("Latency of packets from the driver to their socket");
MODULE_LICENSE("GPL");
