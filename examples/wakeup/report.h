/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports of waits.
 */
#ifndef _LT_WAKEUP_REPORT_H
#define _LT_WAKEUP_REPORT_H

#include <linux/types.h>

struct latency_tracker_verdict;

int report_start(void);
void report_stop(void);
bool report_is_doubtful(const struct latency_tracker_verdict *verdict);
void report_waited(const struct latency_tracker_verdict *verdict);
void report_wait(const struct latency_tracker_verdict *verdict);

#endif /* _LT_WAKEUP_REPORT_H */
