/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The settings that change while a tracker works. Part of latency_tracker.h.
 */
#ifndef _LT_CORE_SETTINGS_H
#define _LT_CORE_SETTINGS_H

#include "core/types.h"

int latency_tracker_set_threshold(struct latency_tracker *tracker,
				  u64 threshold_ns);
u64 latency_tracker_get_threshold(const struct latency_tracker *tracker);
int latency_tracker_set_own_least(struct latency_tracker *tracker, u64 least_ns);
u64 latency_tracker_get_timeout(const struct latency_tracker *tracker);
int latency_tracker_set_timeout(struct latency_tracker *tracker,
				u64 timeout_ns);
int latency_tracker_set_collect(struct latency_tracker *tracker,
				u64 collect_ns);
int latency_tracker_set_tracking(struct latency_tracker *tracker, bool on);
bool latency_tracker_get_tracking(const struct latency_tracker *tracker);
int latency_tracker_set_profile(struct latency_tracker *tracker, bool on);
bool latency_tracker_get_profile(const struct latency_tracker *tracker);
int latency_tracker_set_groups(struct latency_tracker *tracker, bool on);
bool latency_tracker_get_groups(const struct latency_tracker *tracker);
int latency_tracker_set_per_minute(struct latency_tracker *tracker, u32 wanted);
u32 latency_tracker_get_per_minute(const struct latency_tracker *tracker);
u64 latency_tracker_get_least_threshold(const struct latency_tracker *tracker);
void latency_tracker_clear(struct latency_tracker *tracker);

#endif /* _LT_CORE_SETTINGS_H */
