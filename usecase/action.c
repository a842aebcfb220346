// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a tracker module does on a crossing, besides the report: keep the trace
 * of the kernel, by a snapshot, or by stopping it.
 *
 * The callback may run in any context. tracing_off() may be called in any;
 * tracing_snapshot() refuses in an NMI, so it is called from a hard interrupt,
 * by irq_work. Both come after the report, so that the report is in the trace.
 */
#include <linux/bits.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "usecase/action.h"
#include "usecase/data.h"
#include "wrapper/irq_work.h"
#include "wrapper/trace_printk.h"

enum what {
	NONE,
	SNAPSHOT,
	TRACEOFF,
	NR_ACTIONS,
};

static const char *const names[NR_ACTIONS] = {
	"none", "snapshot", "traceoff",
};

/*
 * lt_action.armed is one word, so that a report sees both parts or neither: the
 * number of the action in the upper bits; below, how often yet, where all ones
 * is without end. NONE has no count.
 */
#define COUNT_BITS	28
#define COUNT_MASK	(BIT(COUNT_BITS) - 1)

static enum what action_of(u32 armed)
{
	return armed >> COUNT_BITS;
}

static bool is_spent(u32 armed)
{
	return action_of(armed) == NONE || !(armed & COUNT_MASK);
}

/* May @what be done once more? */
static bool take(struct lt_action *action, enum what what)
{
	int old = atomic_read(&action->armed), new;

	do {
		if (action_of(old) != what || is_spent(old))
			return false;
		new = (old & COUNT_MASK) == COUNT_MASK ? old : old - 1;
		/* Full barrier on success; pairs with action_set(). */
	} while (!atomic_try_cmpxchg(&action->armed, &old, new));
	atomic_inc(&action->taken);
	return true;
}

/* One for all crossings until it runs. */
static void take_snapshot(struct irq_work *work)
{
	struct lt_action *action =
		container_of(work, struct lt_action, snapshot);

	if (tracing_is_on() && take(action, SNAPSHOT))
		tracing_snapshot();
}

/* While the trace is stopped there is nothing to keep. */
void lt_act(struct lt_action *action,
	    const struct latency_tracker_verdict *verdict)
{
	u32 armed = atomic_read(&action->armed);

	if (is_spent(armed) || verdict->flag == LATENCY_TRACKER_COLLECTED ||
	    !tracing_is_on())
		return;
	if (action_of(armed) == SNAPSHOT)
		irq_work_queue(&action->snapshot);
	else if (take(action, TRACEOFF))
		tracing_off();
}

/* ACTION or ACTION:COUNT, as ftrace has it. Returns -EINVAL if @val is neither. */
static int parse(const char *val)
{
	u32 left = COUNT_MASK;
	const char *rest;
	enum what what;

	for (what = 0; what < NR_ACTIONS; what++) {
		rest = val + str_has_prefix(val, names[what]);
		if (rest != val)
			break;
	}
	if (what == NR_ACTIONS)
		return -EINVAL;
	if (what != NONE && rest[0] == ':') {
		if (kstrtouint(rest + 1, 10, &left) || left >= COUNT_MASK)
			return -EINVAL;
	} else if (!sysfs_streq(rest, "")) {
		return -EINVAL;
	}
	return what << COUNT_BITS | left;
}

static int action_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;
	int armed = parse(val), err;

	if (armed < 0)
		return armed;
	if (action_of(armed) == SNAPSHOT) {
		err = lt_tracing_alloc_snapshot();
		if (err) {
			pr_err("%s: can't take snapshots: %d; the kernel needs CONFIG_TRACER_SNAPSHOT, and memory for a second trace buffer\n",
			       module_name(usecase->owner), err);
			return err;
		}
	}
	/* The buffer comes first; pairs with take(). */
	atomic_set_release(&usecase->action.armed, armed);
	return 0;
}

static int action_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;
	u32 armed = atomic_read(&usecase->action.armed);
	const char *name = names[action_of(armed)];

	if (action_of(armed) == NONE || (armed & COUNT_MASK) == COUNT_MASK)
		return sysfs_emit(buffer, "%s\n", name);
	return sysfs_emit(buffer, "%s:%lu\n", name, armed & COUNT_MASK);
}

const struct kernel_param_ops lt_action_ops = {
	.set = action_set,
	.get = action_get,
};
EXPORT_SYMBOL_GPL(lt_action_ops);

static int taken_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;

	return sysfs_emit(buffer, "%u\n",
			  (u32)atomic_read(&usecase->action.taken));
}

const struct kernel_param_ops lt_action_taken_ops = {
	.get = taken_get,
};
EXPORT_SYMBOL_GPL(lt_action_taken_ops);

/* Before there is a tracker. */
void lt_action_init(struct lt_action *action)
{
	lt_init_irq_work_hard(&action->snapshot, take_snapshot);
}

/* There is no tracker any more. On return take_snapshot() does not run. */
void lt_action_exit(struct lt_action *action)
{
	irq_work_sync(&action->snapshot);
}
