/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Network devices: the tracepoints where a packet enters and leaves the stack.
 */
#ifndef _LT_WRAPPER_NET_H
#define _LT_WRAPPER_NET_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#include <net/sch_generic.h>
#include <trace/events/net.h>

#include "wrapper/tracepoint.h"

/*
 * 5.18 ("net: Remove netif_rx_any_context() and netif_rx_ni().") let
 * netif_rx() be called from any context and dropped netif_rx_ni() with its
 * tracepoints. A tracepoint is nothing that the preprocessor could see.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 18, 0)
#define LT_HAVE_NETIF_RX_NI
#endif

/*
 * The kind of the queue that @skb is about to be put in; NULL if its device has none.
 * At net_dev_queue: bottom halves are off, so the queue stays.
 */
static inline const char *lt_queue_kind(const struct sk_buff *skb)
{
	const struct netdev_queue *queue =
		netdev_get_tx_queue(skb->dev, skb_get_queue_mapping(skb));
	const typeof(*queue->qdisc) *qdisc = rcu_dereference_raw(queue->qdisc);

	return qdisc && qdisc->enqueue ? qdisc->ops->id : NULL;
}

#endif /* _LT_WRAPPER_NET_H */
