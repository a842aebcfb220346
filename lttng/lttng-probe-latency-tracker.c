// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trackers' events for LTTng.
 *
 * LTTng finds a tracepoint by its name, when the module that has it is loaded.
 * So nothing here depends on a tracker, and the order of loading is free.
 *
 * LTTng wants preemption disabled where a tracepoint is called. Tracepoints do
 * not see to that on all kernels; those of the trackers are called so.
 */
#include <linux/module.h>
#include <lttng/tracer.h>

/* As ftrace knows them: with other arguments LTTng's don't compile. */
#include <trace/events/latency_tracker_block.h>
#include <trace/events/latency_tracker_chain.h>
#include <trace/events/latency_tracker_critical_path.h>
#include <trace/events/latency_tracker_function.h>
#include <trace/events/latency_tracker_irq.h>
#include <trace/events/latency_tracker_lock.h>
#include <trace/events/latency_tracker_mark.h>
#include <trace/events/latency_tracker_netfilter.h>
#include <trace/events/latency_tracker_network.h>
#include <trace/events/latency_tracker_offcpu.h>
#include <trace/events/latency_tracker_syscalls.h>
#include <trace/events/latency_tracker_wakeup.h>

#include <wrapper/tracepoint.h>

#define LTTNG_PACKAGE_BUILD
#define CREATE_TRACE_POINTS
#define TP_MODULE_NOAUTOLOAD
#include "lttng/latency_tracker_events.h"

static struct lttng_kernel_probe_desc * const probe =
	&__probe_desc___latency_tracker;

/*
 * Have LTTng take into its list what was registered, and give active sessions
 * the events that they wait for: it does so when another probe comes.
 */
static void settle(void)
{
	static struct lttng_kernel_probe_desc empty = {
		.provider_name = "latency_tracker_nobody",
	};

	if (!lttng_kernel_probe_register(&empty))
		lttng_kernel_probe_unregister(&empty);
}

/*
 * LTTng wants the name of an event to begin with that of its probe, and warns
 * when it takes a probe into its list whose events are called otherwise. Ours
 * are called as in ftrace. So at that moment the probe has one event, which is
 * called as LTTng wants and has the enumerations of all, since they are
 * prepared then, too; it is replaced by the others before a session can see it.
 * (A session that is active now and wants all events gets it. It never comes.)
 */
static int __init lttng_probe_init(void)
{
	unsigned int nr_events = probe->nr_events;
	int ret;

	probe->nr_events = 1;
	ret = __lttng_events_init__latency_tracker();
	if (ret)
		return ret;
	settle();
	/*
	 * LTTng does not export its lock. A reader that sees only one of the two
	 * stores finds fewer events, all of them valid.
	 */
	WRITE_ONCE(probe->event_desc, probe->event_desc + 1);
	WRITE_ONCE(probe->nr_events, nr_events - 1);
	settle();
	return 0;
}
module_init(lttng_probe_init);

static void __exit lttng_probe_exit(void)
{
	__lttng_events_exit__latency_tracker();
}
module_exit(lttng_probe_exit);

MODULE_DESCRIPTION("The events of latency-tracker for LTTng");
MODULE_LICENSE("GPL");
