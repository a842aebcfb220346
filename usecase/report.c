// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports: what runs for a verdict.
 */
#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "usecase/action.h"
#include "usecase/groups.h"
#include "usecase/report.h"
#include "usecase/thresholds.h"

/* For a tracker that wants to know what it consisted of. */
static noinline void tell_late(const struct lt_usecase *usecase,
			       const struct latency_tracker_verdict *verdict)
{
	struct latency_tracker_late late = {
		.tracker = usecase->name,
		.start_ns = verdict->start_ns,
		.now_ns = verdict->now_ns,
		.flag = verdict->flag,
		.pid = -1,
		.comm = "-",
		.operation = "-",
	};
	struct lt_belongs to = {};

	rcu_read_lock();
	usecase->belongs(verdict, &to);
	if (to.task) {
		late.pid = to.task->pid;
		memcpy(late.comm, to.task->comm, TASK_COMM_LEN);
		if (usecase->group_name != lt_class_name)
			usecase->group_name(to.id, late.operation);
	}
	latency_tracker_wait_late(&late);
	rcu_read_unlock();
}

/*
 * The callback of all trackers. The action comes after the report, so that the
 * report is in the trace that the action keeps.
 */
void lt_report(const struct latency_tracker_verdict *verdict)
{
	struct lt_usecase *usecase = latency_tracker_data(verdict->tracker);

	if (usecase->is_false_alarm &&
	    unlikely(usecase->is_false_alarm(verdict))) {
		if (!verdict->asked)
			atomic_inc(&usecase->false_alarms);
		return;
	}
	usecase->report(verdict);
	if (usecase->is_of_task && latency_tracker_waits_are_read())
		tell_late(usecase, verdict);
	if (!verdict->asked)
		lt_act(&usecase->action, verdict);
}

/**
 * lt_is_pending() - has the operation of a timeout not ended by now?
 * @verdict: of a callback with flag LATENCY_TRACKER_PENDING
 *
 * Context: Any.
 * Return: true if the event was in the table when it was looked for.
 */
bool lt_is_pending(const struct latency_tracker_verdict *verdict)
{
	struct latency_tracker_event *event;

	event = latency_tracker_get_event(verdict->tracker, verdict->key,
					  verdict->key_len);
	if (event)
		latency_tracker_put_event(verdict->tracker, event);
	return event == verdict->event;
}
EXPORT_SYMBOL_GPL(lt_is_pending);

static int doubtful_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;

	return sysfs_emit(buffer, "%u\n",
			  (u32)atomic_read(&usecase->false_alarms));
}

const struct kernel_param_ops lt_doubtful_ops = {
	.get = doubtful_get,
};
EXPORT_SYMBOL_GPL(lt_doubtful_ops);
