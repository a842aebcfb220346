// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profile of a group. See group.h.
 */
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/group.h"

/* Within the bound. */
static void *alloc_for_group(size_t size, size_t *bytes)
{
	void *p = NULL;

	if (*bytes + size <= LT_GROUP_BYTES)
		p = kzalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (p)
		*bytes += size;
	return p;
}

/**
 * lt_group_new() - a group without counts
 * @bytes: of all groups of the tracker; changed
 *
 * Context: Task, may sleep.
 * Return: the group; NULL for want of memory.
 */
struct lt_group *lt_group_new(size_t *bytes)
{
	return alloc_for_group(sizeof(struct lt_group), bytes);
}

static struct lt_group_octave *octave_of(struct lt_group *group,
					 unsigned int bucket, size_t *bytes)
{
	struct lt_group_octave **octave = &group->octave[bucket / LT_GROUP_OCTAVE];

	if (!*octave)
		*octave = alloc_for_group(sizeof(**octave), bytes);
	return *octave;
}

/**
 * lt_group_make_all() - make room for all buckets of a group
 * @group: the group
 * @bytes: as for lt_group_new()
 *
 * Context: Task, may sleep.
 * Return: false for want of memory.
 */
bool lt_group_make_all(struct lt_group *group, size_t *bytes)
{
	unsigned int i;

	for (i = 0; i < LT_GROUP_OCTAVES; i++)
		if (!octave_of(group, i * LT_GROUP_OCTAVE, bytes))
			return false;
	return true;
}

/**
 * lt_group_free() - free a group
 * @group: the group, or NULL
 * @bytes: as for lt_group_new()
 *
 * Context: Task.
 */
void lt_group_free(struct lt_group *group, size_t *bytes)
{
	unsigned int i;

	if (!group)
		return;
	for (i = 0; i < LT_GROUP_OCTAVES; i++) {
		if (group->octave[i])
			*bytes -= sizeof(*group->octave[i]);
		kfree(group->octave[i]);
	}
	*bytes -= sizeof(*group);
	kfree(group);
}

static void add_sum(struct lt_group_sum *to, u64 sum_ns, u64 max_ns)
{
	to->sum_ns += sum_ns;
	to->max_ns = max(to->max_ns, max_ns);
}

static void add_to_group(struct lt_group *group, unsigned int step, u64 sum_ns,
			 u64 max_ns)
{
	add_sum(&group->total, sum_ns, max_ns);
	add_sum(&group->step[step], sum_ns, max_ns);
}

/**
 * lt_group_add() - operations have ended
 * @group: in which
 * @step: the step under way
 * @sum: what they are
 * @bytes: as for lt_group_new()
 *
 * Context: Task, may sleep.
 * Return: false for want of memory: nothing was added.
 */
bool lt_group_add(struct lt_group *group, unsigned int step,
		  const struct lt_cells_sum *sum, size_t *bytes)
{
	struct lt_group_octave *octave = octave_of(group, sum->bucket, bytes);
	unsigned int at = sum->bucket % LT_GROUP_OCTAVE;

	if (!octave)
		return false;
	octave->total[at] += sum->count;
	octave->step[step][at] += sum->count;
	add_to_group(group, step, sum->sum_ns, sum->max_ns);
	return true;
}

/**
 * lt_group_add_rest() - operations have ended without a cell
 * @group: one with room for all
 * @step: the step under way
 * @now: all of them
 * @seen: those that were added before; becomes @now
 *
 * Context: Task.
 */
void lt_group_add_rest(struct lt_group *group, unsigned int step,
		       const struct lt_cells_rest *now,
		       struct lt_cells_rest *seen)
{
	struct lt_group_octave *octave;
	unsigned int i, at;

	for (i = 0; i < LT_CELLS_BUCKETS; i++) {
		octave = group->octave[i / LT_GROUP_OCTAVE];
		at = i % LT_GROUP_OCTAVE;
		octave->total[at] += now->count[i] - seen->count[i];
		octave->step[step][at] += now->count[i] - seen->count[i];
	}
	add_to_group(group, step, now->sum_ns - seen->sum_ns, now->max_ns);
	*seen = *now;
}

/**
 * lt_group_forget_step() - a step begins in the place of an old one
 * @group: the group
 * @step: its number
 *
 * Context: Task.
 */
void lt_group_forget_step(struct lt_group *group, unsigned int step)
{
	struct lt_group_octave *octave;
	unsigned int i;

	group->step[step] = (struct lt_group_sum){};
	for (i = 0; i < LT_GROUP_OCTAVES; i++) {
		octave = group->octave[i];
		if (octave)
			memset(octave->step[step], 0, sizeof(octave->step[step]));
	}
}

static void fold_octave(struct lt_group_octave *to,
			const struct lt_group_octave *from)
{
	unsigned int i, step;

	for (i = 0; i < LT_GROUP_OCTAVE; i++) {
		to->total[i] += from->total[i];
		for (step = 0; step < LT_GROUP_STEPS; step++)
			to->step[step][i] += from->step[step][i];
	}
}

/**
 * lt_group_fold() - add to a group what another one has had
 * @to: one with room for all
 * @from: the other one
 *
 * Context: Task.
 */
void lt_group_fold(struct lt_group *to, const struct lt_group *from)
{
	unsigned int i;

	add_sum(&to->total, from->total.sum_ns, from->total.max_ns);
	for (i = 0; i < LT_GROUP_STEPS; i++)
		add_sum(&to->step[i], from->step[i].sum_ns, from->step[i].max_ns);
	for (i = 0; i < LT_GROUP_OCTAVES; i++)
		if (from->octave[i])
			fold_octave(to->octave[i], from->octave[i]);
}

/**
 * lt_group_count() - all operations of a group
 * @group: the group
 *
 * Context: Task.
 * Return: their number.
 */
u64 lt_group_count(const struct lt_group *group)
{
	const struct lt_group_octave *octave;
	unsigned int i;
	u64 count = 0;

	for (i = 0; i < LT_CELLS_BUCKETS; i++) {
		octave = group->octave[i / LT_GROUP_OCTAVE];
		if (octave)
			count += octave->total[i % LT_GROUP_OCTAVE];
	}
	return count;
}

static void fill_counts(const struct lt_group *group,
			struct lt_groups_record *record)
{
	const struct lt_group_octave *octave;
	unsigned int i, at, step;

	for (i = 0; i < LT_CELLS_BUCKETS; i++) {
		octave = group->octave[i / LT_GROUP_OCTAVE];
		at = i % LT_GROUP_OCTAVE;
		if (!octave)
			continue;
		record->count[i] = octave->total[at];
		for (step = 0; step < LT_GROUP_STEPS; step++)
			record->minute[i] += octave->step[step][at];
	}
}

/**
 * lt_group_fill() - what a record says of the group itself
 * @group: the group
 * @record: result; what else it says is 0
 *
 * Context: Task.
 */
void lt_group_fill(const struct lt_group *group, struct lt_groups_record *record)
{
	struct lt_group_sum minute = {};
	unsigned int i;

	for (i = 0; i < LT_GROUP_STEPS; i++)
		add_sum(&minute, group->step[i].sum_ns, group->step[i].max_ns);
	*record = (struct lt_groups_record){
		.magic = LT_GROUPS_MAGIC,
		.version = LT_GROUPS_VERSION,
		.dimension = group->dimension,
		.schema = LT_CELLS_SCHEMA,
		.index = LT_CELLS_FIRST - 1,
		.nr = LT_CELLS_BUCKETS,
		.id = group->id,
		.sum_ns = group->total.sum_ns,
		.max_ns = group->total.max_ns,
		.minute_sum_ns = minute.sum_ns,
		.minute_max_ns = minute.max_ns,
	};
	memcpy(record->name, group->name, sizeof(record->name));
	fill_counts(group, record);
}
