/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets: the tracepoints at their end, and why they were dropped.
 */
#ifndef _LT_WRAPPER_SKBUFF_H
#define _LT_WRAPPER_SKBUFF_H

#include <linux/skbuff.h>
#include <linux/version.h>
#include <trace/events/skb.h>

#include "wrapper/tracepoint.h"

/*
 * LT_DEFINE_PROBE_KFREE_SKB(handler) defines probe_kfree_skb, which calls
 *
 *	handler(void *data, const struct sk_buff *skb, void *location,
 *		unsigned int reason)
 *
 * with reason 0 where the kernel has none.
 *
 * 5.17 ("net: skb: introduce kfree_skb_reason()") added the reason, and the
 * enum, which the preprocessor can't see. 6.11 ("net: add rx_sk to
 * trace_kfree_skb") added the socket, which is const in 7.3.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
#define LT_DEFINE_PROBE_KFREE_SKB(handler)				\
static void __maybe_unused						\
probe_kfree_skb_const_sk(void *data, struct sk_buff *skb, void *location, \
			 enum skb_drop_reason reason,			\
			 const struct sock *rx_sk)			\
{									\
	handler(data, skb, location, reason);				\
}									\
static void __maybe_unused						\
probe_kfree_skb_sk(void *data, struct sk_buff *skb, void *location,	\
		   enum skb_drop_reason reason, struct sock *rx_sk)	\
{									\
	handler(data, skb, location, reason);				\
}									\
static void __maybe_unused						\
probe_kfree_skb_reason(void *data, struct sk_buff *skb, void *location,	\
		       enum skb_drop_reason reason)			\
{									\
	handler(data, skb, location, reason);				\
}

#define probe_kfree_skb							\
	lt_pick_probe(kfree_skb, probe_kfree_skb_const_sk,		\
		      lt_pick_probe(kfree_skb, probe_kfree_skb_sk,	\
				    probe_kfree_skb_reason))
#else
#define LT_DEFINE_PROBE_KFREE_SKB(handler)				\
static void probe_kfree_skb(void *data, struct sk_buff *skb,		\
			    void *location)				\
{									\
	handler(data, skb, location, 0);				\
}
#endif

/*
 * LT_DEFINE_PROBE_CONSUME_SKB(handler) defines probe_consume_skb, which calls
 *
 *	handler(void *data, const struct sk_buff *skb, void *location)
 *
 * with location NULL where the kernel has none.
 *
 * 6.3 ("net: add location to trace_consume_skb()") added the location.
 */
#define LT_DEFINE_PROBE_CONSUME_SKB(handler)				\
static void __maybe_unused						\
probe_consume_skb_location(void *data, struct sk_buff *skb,		\
			   void *location)				\
{									\
	handler(data, skb, location);					\
}									\
static void __maybe_unused						\
probe_consume_skb_none(void *data, struct sk_buff *skb)			\
{									\
	handler(data, skb, NULL);					\
}

#define probe_consume_skb						\
	lt_pick_probe(consume_skb, probe_consume_skb_location,		\
		      probe_consume_skb_none)

/*
 * The name of a drop reason, in TP_printk(); "-" for 0, which is none.
 *
 * 6.0 ("net: skb: use auto-generation to convert skb drop reason to string")
 * made a list of them that others can use; before, they print as numbers.
 * LT_DROP_REASON_BACKLOG is that of a full queue behind netif_rx().
 */
#ifdef DEFINE_DROP_REASON
#define LT_DROP_REASON_NAME(reason)					\
	{ SKB_DROP_REASON_##reason, #reason },
#define LT_DROP_REASON_LAST(reason)					\
	{ SKB_DROP_REASON_##reason, #reason }
#define lt_show_drop_reason(reason)					\
	__print_symbolic(reason, { 0, "-" },				\
			 DEFINE_DROP_REASON(LT_DROP_REASON_NAME,	\
					    LT_DROP_REASON_LAST))
#define LT_DEFINE_DROP_REASON(reason)					\
	TRACE_DEFINE_ENUM(SKB_DROP_REASON_##reason);
#define LT_DEFINE_DROP_REASONS						\
	DEFINE_DROP_REASON(LT_DEFINE_DROP_REASON, LT_DEFINE_DROP_REASON)
#define LT_DROP_REASON_BACKLOG	SKB_DROP_REASON_CPU_BACKLOG
#else
#define LT_DEFINE_DROP_REASONS
#define lt_show_drop_reason(reason)	__print_symbolic(reason, { 0, "-" })
#define LT_DROP_REASON_BACKLOG	(~0U)
#endif

/*
 * Functions that free a packet and pass no tracepoint, for kprobes. What is
 * called from other files of the kernel is there to be probed.
 *
 * 5.19 ("net: generalize skb freeing deferral to per-cpu lists") brought
 * skb_attempt_defer_free(); before, and for the rest, it is __kfree_skb().
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
#define LT_HAVE_SKB_ATTEMPT_DEFER_FREE
#endif

#endif /* _LT_WRAPPER_SKBUFF_H */
