/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All counters of a tracker at once. Part of latency_tracker.h.
 */
#ifndef _LT_CORE_SNAPSHOT_H
#define _LT_CORE_SNAPSHOT_H

#include "core/types.h"

void latency_tracker_snapshot(struct latency_tracker *tracker,
			      struct latency_tracker_counts *counts);

#endif /* _LT_CORE_SNAPSHOT_H */
