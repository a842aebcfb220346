/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile of each group of operations: those of a system call, of a disk, of a control
 * group.
 *
 * CPUs count in cells, see cells.h. A work item empties these every two seconds, and when
 * those of a CPU are half full, into the groups, which it makes: so memory for a group is
 * allocated out of context, once, for all CPUs, and for the buckets that it needs. What
 * finds no room is in the group "other" of its dimension, as is what a group has had that
 * is gone. So the counts of each dimension add up to those of the tracker.
 */
#ifndef _LT_CORE_GROUPS_H
#define _LT_CORE_GROUPS_H

#include <linux/compiler.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/cells.h"
#include "core/group.h"
#include "core/types.h"

struct lt_groups_past;

#define LT_GROUPS_MAX		2048U
#define LT_GROUPS_TICK_MS	2000U

/**
 * struct lt_groups - the groups of a tracker
 * @counted: where operations are counted; NULL is off; probes read it in any context
 * @grouping: of the configuration, or NULL
 * @data: likewise
 * @cells: what @counted leads to; stays when it is switched off
 * @past: the groups; NULL as long as it was never on
 * @bytes: memory of both
 * @is_whole: it was on from the begin
 * @tick: takes what was counted, and plans the next
 * @hurry: lets @tick run at once, from any context
 * @lock: of @past, and of switching on and off
 */
struct lt_groups {
	struct lt_cells *counted;
	const struct latency_tracker_grouping *grouping;
	void *data;
	struct lt_cells cells;
	struct lt_groups_past *past;
	size_t bytes;
	bool is_whole;
	struct delayed_work tick;
	struct irq_work hurry;
	struct mutex lock; /* past, counted */
};

#define LT_GROUPS_RECORDS	(LT_GROUPS_MAX + LATENCY_TRACKER_DIMENSIONS)

void lt_groups_init(struct lt_groups *groups,
		    const struct latency_tracker_grouping *grouping, void *data);
void lt_groups_destroy(struct lt_groups *groups);
int lt_groups_set(struct lt_groups *groups, bool on);
bool lt_groups_have_all(struct lt_groups *groups, u64 ended);
bool lt_groups_fill(struct lt_groups *groups, unsigned int nr,
		    struct lt_groups_record *record);
void lt_groups_ids(const struct lt_groups *groups, const void *key,
		   const void *priv, const void *out_data, u64 *id);
void lt_groups_count(struct lt_groups *groups, const u64 *id, u64 delay_ns);
void lt_groups_count_many(struct lt_groups *groups, const u64 *id, u64 delay_ns,
			  u32 nr);
void lt_groups_count_unwatched(struct lt_groups *groups, u64 delay_ns);

/* Is there anything to do for an operation that ends? In any context. */
static __always_inline bool lt_groups_are_on(const struct lt_groups *groups)
{
	return unlikely(READ_ONCE(groups->counted));
}

#endif /* _LT_CORE_GROUPS_H */
