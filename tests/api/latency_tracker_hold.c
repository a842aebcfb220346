// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: a netfilter hook at PRE_ROUTING of the initial network namespace
 * that holds UDP packets to hold_port for hold_ms milliseconds, and drops those to drop_port.
 */
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <linux/workqueue.h>
#include <net/ip.h>
#include <net/net_namespace.h>

static ushort hold_port;
module_param(hold_port, ushort, 0444);

static uint hold_ms = 20;
module_param(hold_ms, uint, 0444);

static ushort drop_port;
module_param(drop_port, ushort, 0444);

static uint dropped;
module_param(dropped, uint, 0444);

/* A packet that is held, and where it goes on. */
struct packet {
	struct delayed_work work;
	struct nf_hook_state state;
	struct sk_buff *skb;
};

static struct workqueue_struct *queue;
static atomic_t waiting = ATOMIC_INIT(0);

static void release(struct work_struct *work)
{
	struct packet *packet =
		container_of(to_delayed_work(work), struct packet, work);
	struct nf_hook_state *state = &packet->state;

	rcu_read_lock_bh();
	state->okfn(state->net, state->sk, packet->skb);
	rcu_read_unlock_bh();
	kfree(packet);
	atomic_dec(&waiting);
}

static unsigned int hold(struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct packet *packet = kmalloc(sizeof(*packet), GFP_ATOMIC);

	if (!packet)
		return NF_DROP;
	packet->skb = skb;
	packet->state = *state;
	INIT_DELAYED_WORK(&packet->work, release);
	atomic_inc(&waiting);
	queue_delayed_work(queue, &packet->work, msecs_to_jiffies(hold_ms) + 1);
	return NF_STOLEN;
}

static unsigned int hook(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	struct udphdr header, *udp;

	if (ip_hdr(skb)->protocol != IPPROTO_UDP)
		return NF_ACCEPT;
	udp = skb_header_pointer(skb, ip_hdrlen(skb), sizeof(header), &header);
	if (!udp)
		return NF_ACCEPT;
	if (hold_port && ntohs(udp->dest) == hold_port)
		return hold(skb, state);
	if (drop_port && ntohs(udp->dest) == drop_port) {
		dropped++;
		return NF_DROP;
	}
	return NF_ACCEPT;
}

static const struct nf_hook_ops hook_ops = {
	.hook = hook,
	.pf = NFPROTO_IPV4,
	.hooknum = NF_INET_PRE_ROUTING,
	.priority = NF_IP_PRI_FILTER,
};

static int __init hold_init(void)
{
	int err;

	queue = alloc_workqueue("%s", WQ_UNBOUND, 0, KBUILD_MODNAME);
	if (!queue)
		return -ENOMEM;
	err = nf_register_net_hook(&init_net, &hook_ops);
	if (err)
		destroy_workqueue(queue);
	return err;
}
module_init(hold_init);

static void __exit hold_exit(void)
{
	nf_unregister_net_hook(&init_net, &hook_ops);
	synchronize_net();
	while (atomic_read(&waiting))
		schedule_timeout_uninterruptible(HZ / 100);
	destroy_workqueue(queue);
}
module_exit(hold_exit);

MODULE_DESCRIPTION("For tests: holds and drops packets");
MODULE_LICENSE("GPL");
