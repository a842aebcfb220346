// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracker of one's own: which fsync() of which task was slow?
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "latency_tracker.h"

static struct latency_tracker *tracker;

/* In the context of the end: no sleeping, no locks that the end may hold. */
static void slow(const struct latency_tracker_verdict *verdict)
{
	pr_info("fsync_latency: %s (%d) waited %llu us\n", current->comm,
		current->pid, verdict->delay_ns / 1000);
}

/* The key is the address of the task: one fsync() at a time. */
static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct task_struct *task = current;

	latency_tracker_event_in(tracker, &task, sizeof(task),
				 LATENCY_TRACKER_UNIQUE, NULL);
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct task_struct *task = current;

	latency_tracker_event_out(tracker, &task, sizeof(task), 0, NULL, 0);
	return 0;
}

static struct kretprobe probe = {
	.kp.symbol_name = "vfs_fsync_range",
	.entry_handler = on_entry,
	.handler = on_return,
	.maxactive = 64,
};

static int __init fsync_latency_init(void)
{
	struct latency_tracker_config config = {
		.name = "fsync",		/* /sys/kernel/latency_tracker/fsync */
		.callback = slow,
		.threshold_ns = 10 * NSEC_PER_MSEC,
		.max_events = 256,		/* at once; more are skipped and counted */
		.key_size = sizeof(struct task_struct *),
	};
	int err;

	tracker = latency_tracker_create(&config);
	if (IS_ERR(tracker))
		return PTR_ERR(tracker);
	err = register_kretprobe(&probe);
	if (err)
		latency_tracker_destroy(tracker);
	return err;
}
module_init(fsync_latency_init);

static void __exit fsync_latency_exit(void)
{
	unregister_kretprobe(&probe);		/* waits: no call is running now */
	latency_tracker_destroy(tracker);
}
module_exit(fsync_latency_exit);

MODULE_DESCRIPTION("Example: latency of fsync");
MODULE_LICENSE("GPL");
