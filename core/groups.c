// SPDX-License-Identifier: GPL-2.0-only
/*
 * The groups of a tracker, and what has ended in each. See groups.h.
 *
 * The last minute of a group is that of four steps of 20 s: three that are over and the
 * one under way. So it is up to 20 s longer than its name says.
 */
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>

#include "core/groups.h"
#include "wrapper/workqueue.h"

/* Less half a tick, since the ticks are not on time. */
#define LT_GROUP_STEP_NS	(19 * (u64)NSEC_PER_SEC)
/* Not an id. */
#define LT_GROUP_NONE		U64_MAX

/**
 * struct lt_groups_past - all groups
 * @group: those that are known, without an order
 * @nr: how many
 * @dimensions: how many the tracker has
 * @other: of each dimension, what belongs to none of them; has room for all
 * @rest: what the CPUs had counted without a cell, at the last tick
 * @refused: the last id that there is no group for
 * @step: the one under way
 * @begin_ns: when counting began, CLOCK_MONOTONIC, like the next two
 * @step_ns: when each step did
 * @end_ns: the last tick
 * @generation: how many ticks there were
 * @bytes: of all groups
 * @by_id: the table
 */
struct lt_groups_past {
	struct lt_group *group[LT_GROUPS_MAX];
	unsigned int nr;
	unsigned int dimensions;
	struct lt_group *other[LATENCY_TRACKER_DIMENSIONS];
	struct lt_cells_rest rest[LATENCY_TRACKER_DIMENSIONS];
	u64 refused[LATENCY_TRACKER_DIMENSIONS];
	unsigned int step;
	u64 begin_ns;
	u64 step_ns[LT_GROUP_STEPS];
	u64 end_ns;
	u64 generation;
	size_t bytes;
	DECLARE_HASHTABLE(by_id, 8);
};

/**
 * lt_groups_ids() - ask the tracker to which groups an operation belongs
 * @groups: they are on, or have been
 * @key: of the operation, or NULL
 * @priv: its private bytes
 * @out_data: of its end
 * @id: result, by dimension
 *
 * Context: Any; in a read-side section.
 */
void lt_groups_ids(const struct lt_groups *groups, const void *key,
		   const void *priv, const void *out_data, u64 *id)
{
	groups->grouping->ids(key, priv, out_data, id);
}

/**
 * lt_groups_count() - an operation has ended
 * @groups: they are on, or have just been switched off
 * @id: to which it belongs, by dimension
 * @delay_ns: how long it took
 *
 * Context: Any; in a read-side section.
 */
void lt_groups_count(struct lt_groups *groups, const u64 *id, u64 delay_ns)
{
	struct lt_cells *cells = READ_ONCE(groups->counted);

	if (likely(cells) && unlikely(lt_cells_count(cells, id, delay_ns)))
		irq_work_queue(&groups->hurry);
}

/**
 * lt_groups_count_many() - operations have ended
 * @groups: they are on, or have just been switched off
 * @id: to which they belong, by dimension
 * @delay_ns: how long each took
 * @nr: how many, at least one
 *
 * Context: Any; in a read-side section.
 */
void lt_groups_count_many(struct lt_groups *groups, const u64 *id, u64 delay_ns,
			  u32 nr)
{
	struct lt_cells *cells = READ_ONCE(groups->counted);

	lt_groups_count(groups, id, delay_ns);
	if (cells && nr > 1)
		lt_cells_add(cells, id, delay_ns, nr - 1);
}

/**
 * lt_groups_count_unwatched() - the same, where RCU is not watching
 * @groups: they are on, or have just been switched off
 * @delay_ns: how long it took
 *
 * Context: Any.
 */
void lt_groups_count_unwatched(struct lt_groups *groups, u64 delay_ns)
{
	struct lt_cells *cells = READ_ONCE(groups->counted);

	if (cells)
		lt_cells_count_rest(cells, delay_ns);
}

static struct lt_group *find_group(struct lt_groups_past *past,
				   unsigned int dimension, u64 id)
{
	struct lt_group *group;

	hash_for_each_possible(past->by_id, group, node, id)
		if (group->id == id && group->dimension == dimension)
			return group;
	return NULL;
}

static struct lt_group *make_group(struct lt_groups *groups,
				   unsigned int dimension, u64 id)
{
	struct lt_groups_past *past = groups->past;
	struct lt_group *group = NULL;

	/* One that is refused has many cells, most often. */
	if (past->nr == LT_GROUPS_MAX || past->refused[dimension] == id)
		return NULL;
	past->refused[dimension] = id;
	group = lt_group_new(&past->bytes);
	if (!group)
		return NULL;
	group->handle = groups->grouping->open(groups->data, dimension, id,
					       group->name);
	if (IS_ERR(group->handle)) {
		lt_group_free(group, &past->bytes);
		return NULL;
	}
	past->refused[dimension] = LT_GROUP_NONE;
	group->id = id;
	group->dimension = dimension;
	hash_add(past->by_id, &group->node, id);
	past->group[past->nr++] = group;
	return group;
}

/* What a cell has; of lt_cells_take(). */
static void take_sum(void *arg, const struct lt_cells_sum *sum)
{
	struct lt_groups *groups = arg;
	struct lt_groups_past *past = groups->past;
	struct lt_group *group = find_group(past, sum->dimension, sum->id);

	if (!group)
		group = make_group(groups, sum->dimension, sum->id);
	if (!group || !lt_group_add(group, past->step, sum, &past->bytes))
		lt_group_add(past->other[sum->dimension], past->step, sum,
			     &past->bytes);
}

/* Of all that is counted. False: it is left for the next time. */
static bool take_groups(struct lt_groups *groups)
{
	struct lt_groups_past *past = groups->past;
	struct lt_cells_rest *now = kzalloc(sizeof(*now), GFP_KERNEL);
	bool is_all = now;
	unsigned int i;

	for (i = 0; i < past->dimensions; i++)
		past->refused[i] = LT_GROUP_NONE;
	lt_cells_take(&groups->cells, take_sum, groups);
	for (i = 0; i < past->dimensions && is_all; i++) {
		lt_cells_rest(&groups->cells, i, now);
		lt_group_add_rest(past->other[i], past->step, now, &past->rest[i]);
	}
	kfree(now);
	past->end_ns = ktime_get_mono_fast_ns();
	past->generation++;
	WRITE_ONCE(groups->bytes, sizeof(*past) + past->bytes);
	return is_all;
}

/* The last one takes the place of the one at @at. */
static void forget_group(struct lt_groups *groups, unsigned int at)
{
	struct lt_groups_past *past = groups->past;
	struct lt_group *group = past->group[at];

	hash_del(&group->node);
	past->group[at] = past->group[--past->nr];
	groups->grouping->close(groups->data, group->dimension, group->handle);
	lt_group_free(group, &past->bytes);
}

static void begin_step(struct lt_groups *groups)
{
	struct lt_groups_past *past = groups->past;
	struct lt_group *group;
	unsigned int i;

	past->step = (past->step + 1) % LT_GROUP_STEPS;
	past->step_ns[past->step] = past->end_ns;
	for (i = 0; i < past->dimensions; i++)
		lt_group_forget_step(past->other[i], past->step);
	/* From the last one on, since forget_group() moves that. */
	for (i = past->nr; i--;) {
		group = past->group[i];
		lt_group_forget_step(group, past->step);
		if (groups->grouping->is_gone(groups->data, group->dimension,
					      group->id, group->name,
					      group->handle)) {
			lt_group_fold(past->other[group->dimension], group);
			forget_group(groups, i);
		}
		cond_resched();
	}
}

static void plan_groups_tick(struct lt_groups *groups)
{
	/* All trackers wake the machine at the same moment. */
	queue_delayed_work(lt_unbound_wq, &groups->tick,
			   round_jiffies_relative(msecs_to_jiffies(LT_GROUPS_TICK_MS)));
}

static void lt_groups_tick(struct work_struct *work)
{
	struct lt_groups *groups = container_of(work, struct lt_groups, tick.work);
	struct lt_groups_past *past = groups->past;

	/* Without the lock: a reader does not wait for a grace period. */
	if (lt_cells_turn(&groups->cells))
		synchronize_rcu();
	mutex_lock(&groups->lock);
	take_groups(groups);
	if (past->end_ns - past->step_ns[past->step] >= LT_GROUP_STEP_NS)
		begin_step(groups);
	mutex_unlock(&groups->lock);
	plan_groups_tick(groups);
}

static void hurry(struct irq_work *work)
{
	struct lt_groups *groups = container_of(work, struct lt_groups, hurry);

	mod_delayed_work(lt_unbound_wq, &groups->tick, 0);
}

/* What was counted stays as it is. */
static void stop_ticks(struct lt_groups *groups)
{
	irq_work_sync(&groups->hurry);
	cancel_delayed_work_sync(&groups->tick);
}

static void fill_group(const struct lt_groups *groups, const struct lt_group *group,
		       struct lt_groups_record *record)
{
	const struct lt_groups_past *past = groups->past;

	lt_group_fill(group, record);
	strscpy(record->dimension_name,
		groups->grouping->dimension[group->dimension],
		sizeof(record->dimension_name));
	record->groups = past->nr + past->dimensions;
	record->generation = past->generation;
	record->begin_ns = past->begin_ns;
	/* The oldest of the four; of the first, if there are less. */
	record->minute_ns = past->step_ns[(past->step + 1) % LT_GROUP_STEPS] ?:
			    past->begin_ns;
	record->end_ns = past->end_ns;
	record->is_other = group == past->other[group->dimension];
}

/**
 * lt_groups_fill() - the profile of a group, as it was at the last tick
 * @groups: the groups
 * @nr: which one: those of what belongs to no other come first
 * @record: result
 *
 * Context: Task, may sleep.
 * Return: false if there are less, or if they were never on.
 */
bool lt_groups_fill(struct lt_groups *groups, unsigned int nr,
		    struct lt_groups_record *record)
{
	const struct lt_groups_past *past;
	bool is_there;

	mutex_lock(&groups->lock);
	past = groups->past;
	is_there = past && nr < past->nr + past->dimensions;
	if (is_there)
		fill_group(groups, nr < past->dimensions ? past->other[nr] :
			     past->group[nr - past->dimensions], record);
	mutex_unlock(&groups->lock);
	return is_there;
}

static void free_past(struct lt_groups *groups)
{
	struct lt_groups_past *past = groups->past;
	unsigned int i;

	while (past->nr)
		forget_group(groups, past->nr - 1);
	for (i = 0; i < past->dimensions; i++)
		lt_group_free(past->other[i], &past->bytes);
	kvfree(past);
	groups->past = NULL;
}

/* With room for all, so that whatever ends later finds memory. */
static bool make_other(struct lt_groups_past *past, unsigned int dimension)
{
	struct lt_group *other = lt_group_new(&past->bytes);

	past->other[dimension] = other;
	if (!other)
		return false;
	other->dimension = dimension;
	strscpy(other->name, "other", sizeof(other->name));
	return lt_group_make_all(other, &past->bytes);
}

static int make_past(struct lt_groups *groups)
{
	struct lt_groups_past *past = kvzalloc(sizeof(*past), GFP_KERNEL);
	bool is_made = past;

	if (!past)
		return -ENOMEM;
	groups->past = past;
	hash_init(past->by_id);
	while (is_made && past->dimensions < LATENCY_TRACKER_DIMENSIONS &&
	       groups->grouping->dimension[past->dimensions])
		is_made = make_other(past, past->dimensions++);
	groups->cells.dimensions = past->dimensions;
	if (!is_made || lt_cells_init(&groups->cells)) {
		free_past(groups);
		return -ENOMEM;
	}
	past->begin_ns = ktime_get_mono_fast_ns();
	past->step_ns[0] = past->begin_ns;
	past->end_ns = past->begin_ns;
	WRITE_ONCE(groups->bytes, sizeof(*past) + past->bytes);
	return 0;
}

/**
 * lt_groups_set() - switch them on or off
 * @groups: the groups
 * @on: count; what was counted before stays
 *
 * Context: Task, may sleep.
 * Return: 0; -ENOMEM; -EOPNOTSUPP if the tracker has none.
 */
int lt_groups_set(struct lt_groups *groups, bool on)
{
	int err = 0;

	if (on && !groups->grouping)
		return -EOPNOTSUPP;
	mutex_lock(&groups->lock);
	if (on && !groups->past) {
		err = make_past(groups);
		if (!err)
			plan_groups_tick(groups);
	}
	if (!err)
		/* Pairs with the address dependency in lt_groups_count(). */
		smp_store_release(&groups->counted, on ? &groups->cells : NULL);
	groups->is_whole &= on;
	mutex_unlock(&groups->lock);
	return err;
}

/**
 * lt_groups_have_all() - was each operation counted once, in each dimension?
 * @groups: no operation ends any more; they take no more counts after this
 * @ended: how many have
 *
 * Context: Task, may sleep.
 * Return: false if not; true if that cannot be told, since they were off for a time.
 */
bool lt_groups_have_all(struct lt_groups *groups, u64 ended)
{
	u64 count[LATENCY_TRACKER_DIMENSIONS] = {};
	struct lt_groups_past *past = groups->past;
	unsigned int i;

	stop_ticks(groups);
	if (!past || !groups->is_whole)
		return true;
	lt_cells_turn(&groups->cells);
	if (!take_groups(groups))
		return true;
	for (i = 0; i < past->nr; i++)
		count[past->group[i]->dimension] += lt_group_count(past->group[i]);
	for (i = 0; i < past->dimensions; i++)
		if (count[i] + lt_group_count(past->other[i]) != ended)
			return false;
	return true;
}

/**
 * lt_groups_init() - groups that are off
 * @groups: all 0
 * @grouping: of the configuration, or NULL
 * @data: likewise
 *
 * Context: Any.
 */
void lt_groups_init(struct lt_groups *groups,
		    const struct latency_tracker_grouping *grouping, void *data)
{
	mutex_init(&groups->lock);
	groups->grouping = grouping;
	groups->data = data;
	groups->is_whole = true;
	INIT_DELAYED_WORK(&groups->tick, lt_groups_tick);
	init_irq_work(&groups->hurry, hurry);
}

/**
 * lt_groups_destroy() - free them
 * @groups: no operation ends any more
 *
 * Context: Task, may sleep.
 */
void lt_groups_destroy(struct lt_groups *groups)
{
	stop_ticks(groups);
	if (groups->past)
		free_past(groups);
	lt_cells_destroy(&groups->cells);
	mutex_destroy(&groups->lock);
}
