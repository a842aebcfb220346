// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports: what runs for a verdict.
 */
#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/sysfs.h>

#include "usecase/action.h"
#include "usecase/report.h"

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
