// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a task has ended a piece of work. See ends.h.
 */
#include <linux/compiler.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "core/ends.h"
#include "wrapper/rcu_watching.h"

static DEFINE_MUTEX(ends_lock);	/* what follows, where it is written */
/* Read in sections with preemption off. */
static const struct latency_tracker_ends *ends_known;
static char ends_wanted[LATENCY_TRACKER_END_NAME];

/**
 * latency_tracker_end_name_is_valid() - may a piece of work have that name?
 * @name: with its 0
 *
 * What is in a list of thresholds, and in the name of a file, needs no quotes.
 *
 * Context: Any.
 * Return: whether it consists of letters, digits and _ . - /, with no / in front, and is shorter
 * than LATENCY_TRACKER_END_NAME.
 */
bool latency_tracker_end_name_is_valid(const char *name)
{
	size_t len;

	for (len = 0; name[len] && len < LATENCY_TRACKER_END_NAME; len++) {
		if (!isascii(name[len]) || (!isalnum(name[len]) && !strchr("_.-/", name[len])))
			return false;
	}
	return len && len < LATENCY_TRACKER_END_NAME && name[0] != '/';
}
EXPORT_SYMBOL_GPL(latency_tracker_end_name_is_valid);

/**
 * latency_tracker_ends_provide() - ends are known from now on
 * @ends: what knows them, until latency_tracker_ends_withdraw()
 *
 * Context: Task, may sleep.
 * Return: 0; -EBUSY if something knows them already; an error of @ends->want().
 */
int latency_tracker_ends_provide(const struct latency_tracker_ends *ends)
{
	int err = -EBUSY;

	mutex_lock(&ends_lock);
	if (!ends_known)
		err = ends->want(ends_wanted);
	if (!err)
		/* All behind it is constant, or ready: pairs with latency_tracker_end_last(). */
		smp_store_release(&ends_known, ends);
	mutex_unlock(&ends_lock);
	return err;
}
EXPORT_SYMBOL_GPL(latency_tracker_ends_provide);

/**
 * latency_tracker_ends_withdraw() - they are not known any more
 *
 * For the caller of latency_tracker_ends_provide(). When it returns, none of its functions runs.
 *
 * Context: Task, may sleep.
 */
void latency_tracker_ends_withdraw(void)
{
	mutex_lock(&ends_lock);
	WRITE_ONCE(ends_known, NULL);
	mutex_unlock(&ends_lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(latency_tracker_ends_withdraw);

/**
 * latency_tracker_ends_want() - the ends of which work are asked for?
 * @name: its name, which is valid; "": of none
 *
 * For one module at a time.
 *
 * Context: Task, may sleep.
 * Return: 0; an error of what knows the ends: then nothing has changed.
 */
int latency_tracker_ends_want(const char *name)
{
	int err = 0;

	mutex_lock(&ends_lock);
	if (ends_known)
		err = ends_known->want(name);
	if (!err)
		strscpy(ends_wanted, name, sizeof(ends_wanted));
	mutex_unlock(&ends_lock);
	return err;
}
EXPORT_SYMBOL_GPL(latency_tracker_ends_want);

/**
 * latency_tracker_end_last() - when has a task ended the work last that is asked for?
 * @task: it stays meanwhile
 * @end_ns: result, by the word of the task; 0: never yet
 *
 * Context: Any.
 * Return: 0; -ENOENT: it has no such work, as far as is known; -EAGAIN: RCU does not watch.
 */
int latency_tracker_end_last(const struct task_struct *task, u64 *end_ns)
{
	const struct latency_tracker_ends *ends;
	int err = -EAGAIN;

	rcu_read_lock_sched_notrace();
	if (likely(lt_rcu_is_watching())) {
		/* Pairs with latency_tracker_ends_provide(). */
		ends = smp_load_acquire(&ends_known);
		err = ends ? ends->last(task, end_ns) : -ENOENT;
	}
	rcu_read_unlock_sched_notrace();
	return err;
}
EXPORT_SYMBOL_GPL(latency_tracker_end_last);
