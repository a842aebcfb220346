/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The read-side section of a call of the API.
 */
#ifndef _LT_CORE_SECTION_H
#define _LT_CORE_SECTION_H

#include <linux/compiler.h>
#include <linux/rcupdate.h>

#include "core/tracker.h"
#include "wrapper/rcu_watching.h"

/*
 * Every call on the hot path is a read-side section of its own, between these
 * two: synchronize_rcu() and call_rcu() wait for it. They do not wait for code
 * that RCU does not watch, so calls from there are refused.
 */
static __always_inline bool lt_enter(struct latency_tracker *tracker)
{
	rcu_read_lock_sched_notrace();
	if (likely(lt_rcu_is_watching()))
		return true;
	lt_count(tracker->counters, LT_UNWATCHED);
	rcu_read_unlock_sched_notrace();
	return false;
}

static __always_inline void lt_leave(void)
{
	rcu_read_unlock_sched_notrace();
}

#endif /* _LT_CORE_SECTION_H */
