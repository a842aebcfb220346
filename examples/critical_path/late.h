/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Late operations, from when a tracker reports one until its path is told.
 */
#ifndef _LT_CRITICAL_PATH_LATE_H
#define _LT_CRITICAL_PATH_LATE_H

#include <linux/atomic.h>

struct latency_tracker_late;

/**
 * struct path_counts - what became of late operations
 * @paths: that were told
 * @left_out: late operations that found no place, or whose task is gone or not known
 * @unknown: segments without a cause
 * @lost: segments of which what was known was overwritten
 * @cut: paths that reached a limit, or have parts that are told together
 */
struct path_counts {
	atomic_long_t paths;
	atomic_long_t left_out;
	atomic_long_t unknown;
	atomic_long_t lost;
	atomic_long_t cut;
};

extern struct path_counts path_counts;

int path_late_start(void);
void path_late_stop(void);
void path_late(const struct latency_tracker_late *late);

#endif /* _LT_CRITICAL_PATH_LATE_H */
