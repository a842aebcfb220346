/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of a packet, for tracepoints and kprobes.
 */
#ifndef _LT_NETWORK_PACKET_H
#define _LT_NETWORK_PACKET_H

#include <trace/events/latency_tracker_network.h>

static inline void forget(struct latency_tracker *tracker,
			  const struct sk_buff *skb)
{
	latency_tracker_event_cancel(tracker, &skb, sizeof(skb));
}

static inline void end(struct latency_tracker *tracker, struct lt_network_out *out)
{
	latency_tracker_event_out(tracker, &out->skb, sizeof(out->skb),
				  out->end, out, 0);
}

static inline void copied(struct latency_tracker *tracker,
			  const struct sk_buff *skb)
{
	struct lt_network_out out = {
		.skb = skb,
		.end = LT_NETWORK_SOCKET,
	};

	if (skb->skb_iif)
		end(tracker, &out);
}

/* A packet that has not come as far as the core was merged by GRO. */
static inline void consumed(struct latency_tracker *tracker,
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

#endif /* _LT_NETWORK_PACKET_H */
