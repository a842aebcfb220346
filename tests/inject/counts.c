// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests/guest/control/counters.tc: a tracker "counts", used so that each of
 * its counters has another value, which the return values alone tell.
 */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "latency_tracker.h"
#include "wrapper/rcu_watching.h"

#define START_NS	1000
#define THRESHOLD_NS	100
#define NOT_BEGUN	1000000
#define FILL		2000000

static struct latency_tracker *tracker;

static uint pending;
module_param(pending, uint, 0444);
MODULE_PARM_DESC(pending, "How many events were begun and not ended");

static uint refused;
module_param(refused, uint, 0444);
MODULE_PARM_DESC(refused, "How many calls did not return what they should");

static void ignore(const struct latency_tracker_verdict *verdict)
{
}

static int begin(u64 key, u32 flags)
{
	struct latency_tracker_in in = { .start_ns = START_NS };

	return latency_tracker_event_in(tracker, &key, sizeof(key),
					flags | LATENCY_TRACKER_START, &in);
}

static int end(u64 key, s64 delay_ns)
{
	return latency_tracker_event_out(tracker, &key, sizeof(key), 0, NULL,
					 START_NS + delay_ns);
}

static void expect(int expected, int ret)
{
	refused += ret != expected;
}

/* So many operations, each of which ends so long after its begin. */
static void operations(int n, s64 delay_ns)
{
	for (; n; n--) {
		expect(0, begin(n, 0));
		expect(delay_ns >= THRESHOLD_NS, end(n, delay_ns));
	}
}

/* One operation, begun @n more times meanwhile. */
static void begun_again(int n, u32 flags, int ret)
{
	expect(0, begin(1, flags));
	for (; n; n--)
		expect(ret, begin(1, flags));
	expect(0, end(1, 0));
}

static void unmatched(int n)
{
	for (; n; n--)
		expect(-ENOENT, end(NOT_BEGUN, 0));
}

static void cancelled(int n)
{
	u64 key = 1;

	for (; n; n--) {
		expect(0, begin(key, 0));
		expect(0, latency_tracker_event_cancel(tracker, &key,
						       sizeof(key)));
	}
}

/* As if the idle loop called. */
static void unwatched(int n)
{
	unsigned long irq_flags;
	int again = 0;

	local_irq_save(irq_flags);
	current->flags |= PF_IDLE;
	lt_rcu_idle_enter();
	for (; n; n--)
		again += end(NOT_BEGUN, 0) == -EAGAIN ? 0 : 1;
	lt_rcu_idle_exit();
	current->flags &= ~PF_IDLE;
	local_irq_restore(irq_flags);
	refused += again;
}

static void skipped(int n)
{
	u64 key;

	for (key = FILL; n; key++) {
		if (begin(key, 0))
			n--;
		else
			pending++;
	}
}

static int __init counts_init(void)
{
	struct latency_tracker_config config = {
		.name = "counts",
		.callback = ignore,
		.threshold_ns = THRESHOLD_NS,
		.max_events = 64,
		.key_size = sizeof(u64),
	};

	tracker = latency_tracker_create(&config);
	if (IS_ERR(tracker))
		return PTR_ERR(tracker);
	operations(1, THRESHOLD_NS - 1);
	operations(2, THRESHOLD_NS);
	operations(3, -10);
	begun_again(4, 0, 0);
	begun_again(5, LATENCY_TRACKER_KEEP, -EEXIST);
	unmatched(6);
	cancelled(7);
	unwatched(8);
	skipped(9);
	return 0;
}

static void __exit counts_exit(void)
{
	latency_tracker_destroy(tracker);
}

module_init(counts_init);
module_exit(counts_exit);
MODULE_DESCRIPTION("A tracker whose counters are known, for tests");
MODULE_LICENSE("GPL");
