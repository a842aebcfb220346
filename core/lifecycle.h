/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Create and destroy a tracker. Part of latency_tracker.h.
 */
#ifndef _LT_CORE_LIFECYCLE_H
#define _LT_CORE_LIFECYCLE_H

#include "core/types.h"

struct latency_tracker *
latency_tracker_create(const struct latency_tracker_config *config);
void latency_tracker_destroy(struct latency_tracker *tracker);
void *latency_tracker_data(const struct latency_tracker *tracker);

#endif /* _LT_CORE_LIFECYCLE_H */
