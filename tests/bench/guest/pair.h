/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of latency_tracker_pair share. */
#ifndef _LT_BENCH_PAIR_H
#define _LT_BENCH_PAIR_H

#include <linux/types.h>

/* Rounds fit the pools. */
#define PAIRS	256
#define EVENTS	8192

extern u64 pair_threshold_ns;
void pair_report(const char *name, int (*fn)(u64 key));
void pair_set_late(bool all);

int pair_tables_init(void);
void pair_tables_report(void);
void pair_tables_rest(void);
void pair_tables_exit(void);

#endif /* _LT_BENCH_PAIR_H */
