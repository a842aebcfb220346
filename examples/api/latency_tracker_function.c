// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start here: how long does a function of the kernel take?
 *
 *	modprobe latency_tracker_function symbol=vfs_fsync_range
 *
 * An event function_latency tells of each call that takes usec_threshold or
 * longer; with usec_timeout, also of each that is still running after that
 * time. All state is in /sys/kernel/latency_tracker/function; thresholds can
 * be changed there at any time.
 *
 * Not every function can be probed: the kernel protects what the probes need
 * themselves, and the compiler inlines static functions.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "latency_tracker.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_function.h>

static char *symbol = "";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "The function to time");

static unsigned int usec_threshold = 10000;
module_param(usec_threshold, uint, 0444);
MODULE_PARM_DESC(usec_threshold,
		 "Report a call that takes at least so many microseconds (default 10000)");

static unsigned int usec_timeout;
module_param(usec_timeout, uint, 0444);
MODULE_PARM_DESC(usec_timeout,
		 "Report a call that is still running after so many microseconds (default 0: off)");

static unsigned int max_active = 256;
module_param(max_active, uint, 0444);
MODULE_PARM_DESC(max_active,
		 "Calls that can be tracked at once; more are counted in missed (default 256)");

static struct latency_tracker *tracker;
static struct kretprobe probe;

/*
 * In the context of the function's return: no sleeping, no lock that anybody
 * who is probed may hold, no printk().
 */
static void slow(const struct latency_tracker_verdict *verdict)
{
	/* A timeout comes from the tracker's thread; LTTng wants it like this. */
	preempt_disable_notrace();
	trace_function_latency(verdict, verdict->priv, probe.kp.addr);
	preempt_enable_notrace();
}

/*
 * The key is the kernel's record of this call: a call inside a call of the
 * same function has one of its own. When a task dies inside the function, its
 * record is used again without a return: UNIQUE removes what it left.
 */
static int on_entry(struct kretprobe_instance *call, struct pt_regs *regs)
{
	struct lt_function_call who = { .pid = current->pid };
	struct latency_tracker_in in = { .priv = &who, .priv_len = sizeof(who) };

	memcpy(who.comm, current->comm, sizeof(who.comm));
	/* Not 0: the return of this call is not of interest. */
	return latency_tracker_event_in(tracker, &call, sizeof(call),
					LATENCY_TRACKER_UNIQUE, &in);
}

static int on_return(struct kretprobe_instance *call, struct pt_regs *regs)
{
	latency_tracker_event_out(tracker, &call, sizeof(call), 0, NULL, 0);
	return 0;
}

static struct kretprobe probe = {
	.entry_handler = on_entry,
	.handler = on_return,
};

/* Calls that were not tracked for want of a record, or inside of a probe. */
static int missed_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lu\n", probe.nmissed + probe.kp.nmissed);
}

static const struct kernel_param_ops missed_ops = { .get = missed_get };
module_param_cb(missed, &missed_ops, NULL, 0444);
MODULE_PARM_DESC(missed, "Calls that could not be tracked (read only)");

static int __init function_init(void)
{
	struct latency_tracker_config config = {
		.name = "function",
		.callback = slow,
		.threshold_ns = (u64)usec_threshold * NSEC_PER_USEC,
		.timeout_ns = (u64)usec_timeout * NSEC_PER_USEC,
		/* What has ended is free again some 10 ms later. */
		.max_events = 1024,
		.grow_limit = 65536,
		.key_size = sizeof(struct kretprobe_instance *),
		.priv_size = sizeof(struct lt_function_call),
	};
	int err;

	if (!*symbol || !max_active || max_active > config.grow_limit) {
		pr_err("%s: give symbol=FUNCTION, and max_active from 1 to %u\n",
		       KBUILD_MODNAME, config.grow_limit);
		return -EINVAL;
	}
	tracker = latency_tracker_create(&config);
	if (IS_ERR(tracker))
		return PTR_ERR(tracker);
	probe.kp.symbol_name = symbol;
	probe.maxactive = max_active;
	err = register_kretprobe(&probe);
	if (err) {
		pr_err("%s: can't probe %s: %s (%d)\n", KBUILD_MODNAME, symbol,
		       err == -ENOENT ? "no such function" :
		       "the kernel does not allow it", err);
		latency_tracker_destroy(tracker);
	}
	return err;
}
module_init(function_init);

static void __exit function_exit(void)
{
	/* Waits: no handler is running now. Calls that are not back stay. */
	unregister_kretprobe(&probe);
	latency_tracker_destroy(tracker);
}
module_exit(function_exit);

MODULE_DESCRIPTION("Latency of a function of the kernel, by kretprobe");
MODULE_LICENSE("GPL");
