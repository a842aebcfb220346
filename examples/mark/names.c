// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of marks: a number for each, the same for all programs that use it.
 *
 * A name that no space has any more stays until its number is wanted, which is when all others
 * are in use or have been given up later: what was counted under it is looked up some seconds
 * behind its last end.
 */
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "examples/mark/mark.h"
#include "usecase/thresholds.h"

/**
 * struct mark_name - a name
 * @users: spaces that have it, and operations between processes
 * @rate: of reports of what probes have begun and has not ended
 * @name: the name
 * @rcu: it may be read while it is replaced
 */
struct mark_name {
	unsigned int users;
	struct mark_rate rate;
	char name[LT_MARK_NAME];
	struct rcu_head rcu;
};

static DEFINE_MUTEX(names_lock);
/* Read under RCU. */
static struct mark_name *names[MARK_NAMES];
static unsigned int hint;

static int find(const char *name)
{
	unsigned int i;

	for (i = 0; i < MARK_NAMES && names[i]; i++) {
		if (!strcmp(names[i]->name, name))
			return i;
	}
	return -ENOENT;
}

/* Has a mark of that number a threshold of its own? */
static bool has_threshold(unsigned int nr)
{
	const struct lt_threshold_table *table;
	unsigned int i;
	bool has = false;

	rcu_read_lock();
	/* Pairs with thresholds_set(). */
	table = READ_ONCE(mark_usecase.thresholds);
	for (i = 0; table && i < table->nr; i++)
		has |= !table->entry[i].cgroup && table->entry[i].id == nr;
	rcu_read_unlock();
	return has;
}

/* They fill up from the front; then those that nobody uses are given up in turn. */
static int find_room(void)
{
	unsigned int i;

	for (i = 0; i < MARK_NAMES; i++, hint++) {
		const struct mark_name *is = names[hint % MARK_NAMES];

		if (!is || (!is->users && !has_threshold(hint % MARK_NAMES)))
			return hint++ % MARK_NAMES;
	}
	return -ENOSPC;
}

static int add(const char *name)
{
	struct mark_name *new;
	int nr = find_room();

	if (nr < 0)
		return nr;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	strscpy(new->name, name, sizeof(new->name));
	if (names[nr])
		kfree_rcu(names[nr], rcu);
	/* Its text comes first; pairs with the address dependency in mark_name(). */
	smp_store_release(&names[nr], new);
	return nr;
}

/**
 * mark_name_get() - the number of a name
 * @name: shorter than LT_MARK_NAME, and valid
 *
 * Context: Task, may sleep.
 * Return: the number, until mark_name_put(); -ENOSPC, -ENOMEM.
 */
int mark_name_get(const char *name)
{
	int nr;

	mutex_lock(&names_lock);
	nr = find(name);
	if (nr < 0)
		nr = add(name);
	if (nr >= 0)
		names[nr]->users++;
	mutex_unlock(&names_lock);
	return nr;
}

/**
 * mark_name_hold() - one more has a name
 * @mark: its number; a caller of mark_name_get() has it
 *
 * Context: Task, may sleep.
 */
void mark_name_hold(u32 mark)
{
	mutex_lock(&names_lock);
	names[mark]->users++;
	mutex_unlock(&names_lock);
}

/**
 * mark_name_put() - a space, or an operation, does not have a name any more
 * @mark: what mark_name_get() has returned
 *
 * Context: Task, may sleep.
 */
void mark_name_put(u32 mark)
{
	mutex_lock(&names_lock);
	names[mark]->users--;
	mutex_unlock(&names_lock);
}

/**
 * mark_name() - the name of a number
 * @mark: the number
 * @name: result, LATENCY_TRACKER_GROUP_NAME bytes
 *
 * Context: Any.
 * Return: 0; -ENOENT if no mark has that number.
 */
int mark_name(u64 mark, char *name)
{
	const struct mark_name *of;

	if (mark >= MARK_NAMES)
		return -ENOENT;
	rcu_read_lock();
	/* Pairs with add(). */
	of = READ_ONCE(names[mark]);
	if (of)
		strscpy(name, of->name, LATENCY_TRACKER_GROUP_NAME);
	rcu_read_unlock();
	return of ? 0 : -ENOENT;
}

/**
 * mark_name_may_report() - is an operation of a probe to be reported that has not ended?
 * @mark: its mark
 *
 * Context: Task.
 * Return: as mark_may_report().
 */
bool mark_name_may_report(u32 mark)
{
	struct mark_name *of;
	bool may;

	/* Not with names_lock, with which others wait for memory. */
	rcu_read_lock();
	of = READ_ONCE(names[mark]);	/* pairs with add() */
	may = !of || mark_may_report(&of->rate);
	rcu_read_unlock();
	return may;
}

/*
 * A program that has it may come later. Until the threshold is seen by has_threshold(), the name is
 * the last one to be given up, since numbers are used in turn.
 */
int mark_threshold_find(const char *text, struct lt_threshold *found)
{
	int nr;

	if (!latency_tracker_end_name_is_valid(text))
		return -EINVAL;
	nr = mark_name_get(text);
	if (nr < 0)
		return nr;
	mark_name_put(nr);
	found->id = nr;
	found->mask = ~0ULL;
	strscpy(found->name, text, sizeof(found->name));
	return 1;
}

/* When nobody has marks any more. */
void mark_names_free(void)
{
	unsigned int i;

	for (i = 0; i < MARK_NAMES; i++)
		kfree(names[i]);
}
