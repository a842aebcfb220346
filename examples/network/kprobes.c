// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kprobes: the ends of a packet that pass no tracepoint.
 *
 * A kprobe is lost if it comes in an interrupt of another one, so the handlers
 * run with interrupts off. What is lost all the same is counted.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sysfs.h>

#include "examples/network/egress.h"
#include "examples/network/kprobes.h"
#include "examples/network/packet.h"
#include "usecase/kprobe.h"
#include "wrapper/kprobes.h"

struct latency_tracker *network_hooked;

typedef void (*network_end)(struct latency_tracker *tracker,
			    const struct sk_buff *skb);

static __always_inline int on_kprobe(network_end done, const struct sk_buff *skb)
{
	struct latency_tracker *tracker = READ_ONCE(network_hooked);
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
	egress_freed(tracker, skb);
}

static void read_by_udp(struct latency_tracker *tracker,
			const struct sk_buff *skb)
{
	copied(tracker, skb);
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
struct kprobe network_hooks[NR_HOOKS] = {
	HOOK("__kfree_skb", on_silent_free),
#ifdef LT_HAVE_SKB_ATTEMPT_DEFER_FREE
	HOOK("skb_attempt_defer_free", on_silent_free),
#endif
	HOOK("kfree_skb_partial", on_merge),
};

static struct kprobe udp_hooks[] = {
	HOOK("skb_consume_udp", on_udp),
};

void unhook_all(void)
{
	lt_kprobe_unregister(udp_hooks, ARRAY_SIZE(udp_hooks));
	lt_kprobe_unregister(network_hooks, NR_HOOKS);
}

int hook_all(void)
{
	int err = lt_kprobe_register(&network_usecase, network_hooks, NR_HOOKS);

	if (err)
		return err;
	if (lt_kprobe_register(&network_usecase, udp_hooks,
			       ARRAY_SIZE(udp_hooks)))
		pr_warn("%s: UDP packets that are read count as consumed\n",
			KBUILD_MODNAME);
	return 0;
}

/* From now on the kprobes end packets of @tracker. */
void hooks_begin(struct latency_tracker *tracker)
{
	/* Pairs with the address dependency of its readers, in on_kprobe(). */
	smp_store_release(&network_hooked, tracker);
	/* What began before that may have ended unseen. */
	latency_tracker_clear(tracker);
}

static int missed_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", network_hooked ? missed() : 0);
}

static const struct kernel_param_ops missed_ops = {
	.get = missed_get,
};

module_param_cb(missed, &missed_ops, NULL, 0444);
MODULE_PARM_DESC(missed, "How often the end of a packet was not seen");
