/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports of late calls.
 */
#ifndef _LT_SYSCALLS_REPORT_H
#define _LT_SYSCALLS_REPORT_H

struct latency_tracker;
struct lt_belongs;
struct latency_tracker_verdict;
struct lt_look;
struct task_struct;

extern struct lt_look syscalls_look;

void syscall_report(const struct latency_tracker_verdict *verdict);
void syscall_belongs(const struct latency_tracker_verdict *verdict,
		     struct lt_belongs *to);
void syscall_sample(struct latency_tracker *tracker, struct task_struct *next);

#endif /* _LT_SYSCALLS_REPORT_H */
