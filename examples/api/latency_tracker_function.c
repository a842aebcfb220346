// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start here: how long does a function of the kernel take?
 *
 *	modprobe latency_tracker_function symbol=vfs_fsync_range
 *
 * An event function_latency tells of each call that takes usec_threshold or
 * longer; with usec_timeout, also of each that is still running after that
 * time. These parameters can be changed at any time; all other state is in
 * /sys/kernel/latency_tracker/function.
 *
 * Not every function can be probed: the kernel protects what the probes need
 * themselves, and the compiler inlines static functions.
 */
#include <linux/kprobes.h>
#include <linux/sched.h>

#include "usecase/usecase.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_function.h>

LT_KEEP_EVENT(function_latency, FUNCTION_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(function_latency),
};

/* The defaults of the parameters that all trackers have. */
#define USEC_THRESHOLD	10000
#define MAX_EVENTS	1024	/* what has ended is free again some 10 ms later */
#define GROW_LIMIT	65536

static char *symbol = "";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "The function to time");

static unsigned int max_active = 256;
module_param(max_active, uint, 0444);
MODULE_PARM_DESC(max_active,
		 "Calls that can be tracked at once; more are counted in missed (default 256)");

static struct lt_usecase usecase;
static struct kretprobe probe;

/*
 * Called at the return of a slow call, or, for a timeout, by the tracker's
 * thread. No sleeping, no printk(), no lock that probed code may hold.
 */
static void slow(const struct latency_tracker_verdict *verdict)
{
	lt_trace(function_latency, verdict, verdict->priv, probe.kp.addr);
}

/*
 * The key is the kernel's record of this call: a call inside a call of the
 * same function has one of its own. When a task dies inside the function, its
 * record is used again without a return: the next begin replaces what it left.
 */
static int on_entry(struct kretprobe_instance *call, struct pt_regs *regs)
{
	struct lt_function_call info = { .pid = current->pid };
	struct latency_tracker_in in = { .priv = &info, .priv_len = sizeof(info) };

	memcpy(info.comm, current->comm, sizeof(info.comm));
	/* Not 0: the return of this call is not of interest. */
	return latency_tracker_event_in(usecase.tracker, &call, sizeof(call),
					0, &in);
}

static int on_return(struct kretprobe_instance *call, struct pt_regs *regs)
{
	latency_tracker_event_out(usecase.tracker, &call, sizeof(call), 0,
				  NULL, 0);
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

static struct lt_usecase usecase = {
	.name = "function",	/* /sys/kernel/latency_tracker/function */
	.owner = THIS_MODULE,
	LT_KEEPS(keeps),
	.report = slow,
	.usec_threshold = USEC_THRESHOLD,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct kretprobe_instance *),
	.priv_size = sizeof(struct lt_function_call),
};

LT_USECASE_PARAMS(usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);

static int __init function_init(void)
{
	int err;

	if (!*symbol || !max_active || max_active > GROW_LIMIT) {
		pr_err("%s: give symbol=FUNCTION, and max_active from 1 to %u\n",
		       KBUILD_MODNAME, GROW_LIMIT);
		return -EINVAL;
	}
	err = lt_usecase_start(&usecase);
	if (err)
		return err;
	probe.kp.symbol_name = symbol;
	probe.maxactive = max_active;
	err = register_kretprobe(&probe);
	if (err) {
		pr_err("%s: can't probe %s: %s (%d)\n", KBUILD_MODNAME, symbol,
		       err == -ENOENT ? "no such function" :
		       "the kernel does not allow it", err);
		lt_usecase_stop(&usecase);
	}
	return err;
}
module_init(function_init);

static void __exit function_exit(void)
{
	/* Waits until no handler runs. Calls that have not returned stay. */
	unregister_kretprobe(&probe);
	lt_usecase_stop(&usecase);
}
module_exit(function_exit);

MODULE_DESCRIPTION("Latency of a function of the kernel, by kretprobe");
MODULE_LICENSE("GPL");
