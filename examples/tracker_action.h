/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a use-case module does about a crossing, besides reporting it: keep the
 * trace of the kernel, by a snapshot, or by stopping it.
 *
 * The callback may run in any context. tracing_off() may be called in any;
 * tracing_snapshot() refuses in an NMI, so it is called from a hard interrupt,
 * by irq_work. Both come behind the report, so that it is in the trace.
 */
#ifndef _LT_EXAMPLES_TRACKER_ACTION_H
#define _LT_EXAMPLES_TRACKER_ACTION_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "latency_tracker.h"
#include "wrapper/irq_work.h"
#include "wrapper/trace_printk.h"

enum trk_action {
	TRK_NONE,
	TRK_SNAPSHOT,
	TRK_TRACEOFF,
	TRK_ACTIONS,
};

static const char *const trk_action_names[TRK_ACTIONS] = {
	"none", "snapshot", "traceoff",
};

/*
 * In one word, so that a probe sees both or neither: what to do, and how often
 * yet. All ones is without end.
 */
#define TRK_ACTION_BITS		28
#define TRK_ACTION_LEFT		(BIT(TRK_ACTION_BITS) - 1)

static atomic_t trk_armed = ATOMIC_INIT(TRK_ACTION_LEFT);
static atomic_t trk_acted = ATOMIC_INIT(0);
static struct irq_work trk_snapshot_work;

static enum trk_action trk_action_of(u32 armed)
{
	return armed >> TRK_ACTION_BITS;
}

/* May @action be done once more? */
static bool trk_take_action(enum trk_action action)
{
	int old = atomic_read(&trk_armed), new;

	do {
		if (trk_action_of(old) != action || !(old & TRK_ACTION_LEFT))
			return false;
		new = (old & TRK_ACTION_LEFT) == TRK_ACTION_LEFT ? old : old - 1;
		/* Full barrier on success; pairs with trk_action_set(). */
	} while (!atomic_try_cmpxchg(&trk_armed, &old, new));
	atomic_inc(&trk_acted);
	return true;
}

/* One for all crossings that came until it runs. */
static void trk_snapshot(struct irq_work *work)
{
	if (tracing_is_on() && trk_take_action(TRK_SNAPSHOT))
		tracing_snapshot();
}

/* Without a trace that goes on there is nothing to keep. */
static void trk_act(const struct latency_tracker_verdict *verdict)
{
	u32 armed = atomic_read(&trk_armed);

	if (trk_action_of(armed) == TRK_NONE || !(armed & TRK_ACTION_LEFT) ||
	    verdict->flag == LATENCY_TRACKER_COLLECTED || !tracing_is_on())
		return;
	if (trk_action_of(armed) == TRK_SNAPSHOT)
		irq_work_queue(&trk_snapshot_work);
	else if (trk_take_action(TRK_TRACEOFF))
		tracing_off();
}

/* ACTION or ACTION:COUNT, as ftrace has it. Returns -EINVAL if @val is neither. */
static int trk_action_parse(const char *val)
{
	enum trk_action action;
	const char *rest;
	u32 left = TRK_ACTION_LEFT;

	for (action = 0; action < TRK_ACTIONS; action++) {
		rest = val + str_has_prefix(val, trk_action_names[action]);
		if (rest != val)
			break;
	}
	if (action == TRK_ACTIONS)
		return -EINVAL;
	if (action != TRK_NONE && rest[0] == ':') {
		if (kstrtouint(rest + 1, 10, &left) || left >= TRK_ACTION_LEFT)
			return -EINVAL;
	} else if (!sysfs_streq(rest, "")) {
		return -EINVAL;
	}
	return action << TRK_ACTION_BITS | left;
}

static int trk_action_set(const char *val, const struct kernel_param *kp)
{
	int armed = trk_action_parse(val), err;

	if (armed < 0)
		return armed;
	if (trk_action_of(armed) == TRK_SNAPSHOT) {
		err = lt_tracing_alloc_snapshot();
		if (err) {
			pr_err("%s: can't take snapshots: %d; the kernel needs CONFIG_TRACER_SNAPSHOT, and memory for a second trace buffer\n",
			       KBUILD_MODNAME, err);
			return err;
		}
	}
	/* The buffer comes first; pairs with trk_take_action(). */
	atomic_set_release(&trk_armed, armed);
	return 0;
}

static int trk_action_get(char *buffer, const struct kernel_param *kp)
{
	u32 armed = atomic_read(&trk_armed);
	const char *name = trk_action_names[trk_action_of(armed)];

	if ((armed & TRK_ACTION_LEFT) == TRK_ACTION_LEFT)
		return sysfs_emit(buffer, "%s\n", name);
	return sysfs_emit(buffer, "%s:%lu\n", name, armed & TRK_ACTION_LEFT);
}

static const struct kernel_param_ops trk_action_ops = {
	.set = trk_action_set,
	.get = trk_action_get,
};

module_param_cb(action, &trk_action_ops, NULL, 0644);
MODULE_PARM_DESC(action,
		 "On a crossing: none, snapshot or traceoff of the kernel's trace; with :COUNT only so often (default none)");

static int trk_acted_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", (u32)atomic_read(&trk_acted));
}

static const struct kernel_param_ops trk_acted_ops = {
	.get = trk_acted_get,
};

module_param_cb(actions, &trk_acted_ops, NULL, 0444);
MODULE_PARM_DESC(actions, "How often the action was taken");

/* Before there is a tracker. */
static void trk_action_init(void)
{
	lt_init_irq_work_hard(&trk_snapshot_work, trk_snapshot);
}

/* There is no tracker any more. On return nothing of the above runs. */
static void trk_action_exit(void)
{
	irq_work_sync(&trk_snapshot_work);
}

#endif /* _LT_EXAMPLES_TRACKER_ACTION_H */
