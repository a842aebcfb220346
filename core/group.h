/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile of a group: since the begin, and of the last minute.
 *
 * Memory is allocated for the octaves of its buckets that something was counted in. The
 * last minute is that of the last steps: those that are over and the one under way.
 */
#ifndef _LT_CORE_GROUP_H
#define _LT_CORE_GROUP_H

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/types.h>

#include "core/cells.h"
#include "core/types.h"

#define LT_GROUP_STEPS		4
#define LT_GROUP_OCTAVE		8
#define LT_GROUP_OCTAVES	DIV_ROUND_UP(LT_CELLS_BUCKETS, LT_GROUP_OCTAVE)
/* All groups of a tracker have at most so many. */
#define LT_GROUP_BYTES		(4U << 20)
#define LT_GROUPS_MAGIC		0x50555247544cULL	/* LTGRUP */
#define LT_GROUPS_VERSION	1

struct lt_group_octave {
	u64 total[LT_GROUP_OCTAVE];
	u32 step[LT_GROUP_STEPS][LT_GROUP_OCTAVE];
};

/**
 * struct lt_group_sum - sum and maximum of delays
 * @sum_ns: of all
 * @max_ns: the longest
 */
struct lt_group_sum {
	u64 sum_ns;
	u64 max_ns;
};

/**
 * struct lt_group - a group
 * @node: in the table of all, by @id
 * @id: as the tracker knows it
 * @dimension: what it is one of
 * @handle: of the tracker
 * @name: likewise
 * @total: since the begin
 * @step: of the last minute
 * @octave: counts; NULL where there are none
 */
struct lt_group {
	struct hlist_node node;
	u64 id;
	unsigned int dimension;
	void *handle;
	char name[LATENCY_TRACKER_GROUP_NAME];
	struct lt_group_sum total;
	struct lt_group_sum step[LT_GROUP_STEPS];
	struct lt_group_octave *octave[LT_GROUP_OCTAVES];
};

/**
 * struct lt_groups_record - the profile of a group, for user space
 * @magic: LT_GROUPS_MAGIC
 * @version: LT_GROUPS_VERSION
 * @dimension: its number
 * @schema: of the buckets: 3
 * @index: what OpenTelemetry would call the first bucket, which has all that is shorter
 *	than the second; the last one has all that is longer than the one before
 * @nr: number of buckets
 * @groups: number of records
 * @generation: records of the same one are of the same moment
 * @id: of the group, as the tracker knows it
 * @begin_ns: when counting began, CLOCK_MONOTONIC, like the next two
 * @minute_ns: when the last minute began
 * @end_ns: the moment
 * @sum_ns: of all delays
 * @max_ns: the longest
 * @minute_sum_ns: of those of the last minute
 * @minute_max_ns: likewise
 * @is_other: what belongs to no group that is known
 * @reserved: 0
 * @dimension_name: what @dimension is
 * @name: of the group
 * @more: 0
 * @count: operations
 * @minute: those of the last minute
 *
 * It is part of the ABI, see Documentation/ABI/sysfs.
 */
struct lt_groups_record {
	__u64 magic;
	__u32 version;
	__u32 dimension;
	__s32 schema;
	__s32 index;
	__u32 nr;
	__u32 groups;
	__u64 generation;
	__u64 id;
	__u64 begin_ns;
	__u64 minute_ns;
	__u64 end_ns;
	__u64 sum_ns;
	__u64 max_ns;
	__u64 minute_sum_ns;
	__u64 minute_max_ns;
	__u32 is_other;
	__u32 reserved;
	char dimension_name[16];
	char name[LATENCY_TRACKER_GROUP_NAME];
	__u64 more[6];
	__u64 count[LT_CELLS_BUCKETS];
	__u64 minute[LT_CELLS_BUCKETS];
};

struct lt_group *lt_group_new(size_t *bytes);
bool lt_group_make_all(struct lt_group *group, size_t *bytes);
void lt_group_free(struct lt_group *group, size_t *bytes);
bool lt_group_add(struct lt_group *group, unsigned int step,
		  const struct lt_cells_sum *sum, size_t *bytes);
void lt_group_add_rest(struct lt_group *group, unsigned int step,
		       const struct lt_cells_rest *now,
		       struct lt_cells_rest *seen);
void lt_group_forget_step(struct lt_group *group, unsigned int step);
void lt_group_fold(struct lt_group *to, const struct lt_group *from);
u64 lt_group_count(const struct lt_group *group);
void lt_group_fill(const struct lt_group *group, struct lt_groups_record *record);

#endif /* _LT_CORE_GROUP_H */
