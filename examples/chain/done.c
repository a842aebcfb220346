// SPDX-License-Identifier: GPL-2.0-only
/*
 * When is the work of a task done?
 *
 * When it goes to sleep; or, with the parameter done, when it has ended the work of that name. Then
 * it may sleep before, for a lock or a disk, and do other things behind it. It says so in its own
 * memory. That is looked at when it goes to sleep, and is the word of a program: an end before the
 * task ran belongs to an activation before, one in the future to none.
 *
 * If it has not ended that work when it is woken for its next activation, or dies, it is not known
 * when it was done: that is told, and counted.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "examples/chain/chain.h"
#include "usecase/filter.h"
#include "usecase/task.h"

/* Under kernel_param_lock(). */
static char name[LATENCY_TRACKER_END_NAME];
static bool is_started;

/* There is a name. */
static bool is_on;

static int done_set(const char *val, const struct kernel_param *kp)
{
	size_t len = strcspn(val, "\n");
	char new[sizeof(name)];
	int err;

	if (len >= sizeof(new) || (val[len] && val[len + 1]))
		return -EINVAL;
	memcpy(new, val, len);
	new[len] = '\0';
	if (len && !latency_tracker_end_name_is_valid(new))
		return -EINVAL;
	if (!strcmp(new, name))
		return 0;
	err = is_started ? latency_tracker_ends_want(new) : 0;
	if (err)
		return err;
	strscpy(name, new, sizeof(name));
	WRITE_ONCE(is_on, len);	/* pairs with chain_done() */
	lt_filter_changed(&chain_usecase);
	return 0;
}

static int done_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", name);
}

static const struct kernel_param_ops done_ops = {
	.set = done_set,
	.get = done_get,
};

module_param_cb(done, &done_ops, NULL, 0644);
MODULE_PARM_DESC(done,
		 "The work is done when the task ends its mark of this name (default empty: when it sleeps)");

static atomic_t undone;
static atomic_t unmarked;
static atomic_t refused;

static int count_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", (u32)atomic_read(kp->arg));
}

static const struct kernel_param_ops count_ops = { .get = count_get };

module_param_cb(undone, &count_ops, &undone, 0444);
MODULE_PARM_DESC(undone,
		 "Activations whose mark had not ended when the next one began, or the task died");
module_param_cb(unmarked, &count_ops, &unmarked, 0444);
MODULE_PARM_DESC(unmarked,
		 "With done: activations of tasks that have no such mark, which ended with a sleep");
module_param_cb(refused, &count_ops, &refused, 0444);
MODULE_PARM_DESC(refused, "Ends of that mark that can't be, since they are in the future");

/**
 * chain_done() - is the work of an activation done?
 * @task: whose; it stays meanwhile
 * @ran_ns: when it had a CPU first
 * @end_ns: result: when the task has ended its mark, or now
 *
 * Context: Any.
 * Return: what has told it: its sleep, which is for the caller to know, or its mark.
 */
enum lt_chain_done chain_done(const struct task_struct *task, u64 ran_ns, u64 *end_ns)
{
	bool by_sleep = likely(!READ_ONCE(is_on));
	u64 last_ns;

	if (!by_sleep)
		by_sleep = latency_tracker_end_last(task, &last_ns);
	/* Behind it: the task may run, and end it now. */
	*end_ns = latency_tracker_clock();
	if (by_sleep)
		return LT_CHAIN_BY_SLEEP;
	if (last_ns > *end_ns)
		atomic_inc(&refused);
	if (last_ns < ran_ns || last_ns > *end_ns)
		return LT_CHAIN_NOT_DONE;
	*end_ns = last_ns;
	return LT_CHAIN_BY_MARK;
}

/* An activation has ended. Context: Any. */
void chain_done_count(enum lt_chain_done by)
{
	if (by == LT_CHAIN_NOT_DONE)
		atomic_inc(&undone);
	else if (by == LT_CHAIN_BY_SLEEP && READ_ONCE(is_on))
		atomic_inc(&unmarked);
}

/**
 * chain_is_wanted() - is an activation to be reported?
 * @verdict: of it
 *
 * A task that has ended its mark, but does not sleep, is done. The end itself comes with its sleep.
 *
 * Context: Any.
 * Return: false if it is said to be pending, and is done.
 */
bool chain_is_wanted(const struct latency_tracker_verdict *verdict)
{
	const struct lt_chain *chain = verdict->priv;
	u64 ran_ns, end_ns;
	const struct task_struct *task;
	bool is_done = false;

	if (verdict->flag == LATENCY_TRACKER_ENDED)
		return true;
	ran_ns = smp_load_acquire(&chain->ran_ns);	/* pairs with note_run() */
	if (!ran_ns)
		return true;
	rcu_read_lock();
	task = lt_task_find(verdict, chain->pid);
	if (task)
		is_done = chain_done(task, ran_ns, &end_ns) == LT_CHAIN_BY_MARK;
	rcu_read_unlock();
	return !is_done;
}

/* Before the tracker is there. Returns 0 or an error. */
int chain_done_start(void)
{
	int err;

	kernel_param_lock(THIS_MODULE);
	err = latency_tracker_ends_want(name);
	is_started = !err;
	kernel_param_unlock(THIS_MODULE);
	return err;
}

/* No probe asks any more. */
void chain_done_stop(void)
{
	kernel_param_lock(THIS_MODULE);
	is_started = false;
	latency_tracker_ends_want("");
	kernel_param_unlock(THIS_MODULE);
}
