/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports: what runs for a verdict.
 */
#ifndef _LT_USECASE_REPORT_H
#define _LT_USECASE_REPORT_H

#include <linux/moduleparam.h>
#include <linux/preempt.h>

#include "usecase/data.h"

/*
 * With preemption disabled, as LTTng wants it where a tracepoint is called; the
 * tracker's thread calls back with preemption enabled.
 */
#define lt_trace(event, ...)						\
	do {								\
		preempt_disable_notrace();				\
		trace_##event(__VA_ARGS__);				\
		preempt_enable_notrace();				\
	} while (0)

/* For a module that has is_false_alarm(). */
extern const struct kernel_param_ops lt_doubtful_ops;
#define LT_DOUBTFUL_PARAM(usecase)					\
	module_param_cb(doubtful, &lt_doubtful_ops, &(usecase), 0444);	\
	MODULE_PARM_DESC(doubtful,					\
		"What was late, but not reported, since it may be no latency")

void lt_report(const struct latency_tracker_verdict *verdict);
bool lt_is_pending(const struct latency_tracker_verdict *verdict);

#endif /* _LT_USECASE_REPORT_H */
