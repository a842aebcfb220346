/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports of late calls.
 */
#ifndef _LT_SYSCALLS_REPORT_H
#define _LT_SYSCALLS_REPORT_H

struct latency_tracker_verdict;

void syscall_report(const struct latency_tracker_verdict *verdict);

#endif /* _LT_SYSCALLS_REPORT_H */
