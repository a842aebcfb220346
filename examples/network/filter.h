/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of latency_tracker_network: the device, the protocol.
 */
#ifndef _LT_NETWORK_FILTER_H
#define _LT_NETWORK_FILTER_H

#include <linux/skbuff.h>

#include "usecase/filter_dev.h"

extern struct lt_netdev_filter dev_filter;
extern u16 protocol_filter;	/* ethertype, 0 is all */

static __always_inline bool wants(const struct sk_buff *skb)
{
	u16 protocol = READ_ONCE(protocol_filter);

	if (protocol && ntohs(skb->protocol) != protocol)
		return false;
	return lt_netdev_passes(&dev_filter, skb->dev);
}

#endif /* _LT_NETWORK_FILTER_H */
