/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets that are sent.
 */
#ifndef _LT_NETWORK_EGRESS_H
#define _LT_NETWORK_EGRESS_H

#include <linux/skbuff.h>

#include "usecase/data.h"

/* Longer than the key of a packet that comes in, so never that. */
struct egress_key {
	const struct sk_buff *skb;
	unsigned long unused;
};

extern struct lt_stage egress_stage;

void egress_freed(struct latency_tracker *tracker, const struct sk_buff *skb);
void egress_left(struct latency_tracker *tracker, const struct sk_buff *skb);

#endif /* _LT_NETWORK_EGRESS_H */
