// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of tasks: their filter, and their key.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sysfs.h>
#include <linux/threads.h>

#include "usecase/filter.h"
#include "usecase/task.h"

/* One of the filters was set. */
void lt_task_filter_set(struct lt_usecase *usecase)
{
	/* Pairs with lt_task_is_filtered(). */
	WRITE_ONCE(usecase->task.on, usecase->task.by_id || usecase->task.cgroup);
}

static int set(struct lt_usecase *usecase, pid_t *id, const char *val)
{
	int new;

	if (kstrtoint(val, 10, &new) || new < 0 || new > PID_MAX_LIMIT)
		return -EINVAL;
	if (new == *id)
		return 0;
	/* These pair with lt_task_passes(). */
	WRITE_ONCE(*id, new);
	WRITE_ONCE(usecase->task.by_id, usecase->task.pid || usecase->task.tgid);
	lt_task_filter_set(usecase);
	lt_filter_changed(usecase);
	return 0;
}

static int pid_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;

	return set(usecase, &usecase->task.pid, val);
}

static int pid_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;

	return sysfs_emit(buffer, "%d\n", usecase->task.pid);
}

const struct kernel_param_ops lt_pid_ops = {
	.set = pid_set,
	.get = pid_get,
};
EXPORT_SYMBOL_GPL(lt_pid_ops);

static int tgid_set(const char *val, const struct kernel_param *kp)
{
	struct lt_usecase *usecase = kp->arg;

	return set(usecase, &usecase->task.tgid, val);
}

static int tgid_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_usecase *usecase = kp->arg;

	return sysfs_emit(buffer, "%d\n", usecase->task.tgid);
}

const struct kernel_param_ops lt_tgid_ops = {
	.set = tgid_set,
	.get = tgid_get,
};
EXPORT_SYMBOL_GPL(lt_tgid_ops);

/**
 * lt_task_alive() - the task at an address, if it still is the same
 * @task: address of the task; may be freed
 * @pid: of the task when it was alive, in the initial pid namespace
 *
 * Context: Any; under rcu_read_lock(), until the end of which the task is valid.
 * Return: the task, or NULL: it may have died, and its pid may be another's.
 */
struct task_struct *lt_task_alive(const struct task_struct *task, pid_t pid)
{
	struct task_struct *found;

	found = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	return found == task ? found : NULL;
}
EXPORT_SYMBOL_GPL(lt_task_alive);

/**
 * lt_task_find() - the task of an event that did not end
 * @verdict: of a callback; its key is the address of the task
 * @pid: of the task when the event began, in the initial pid namespace
 *
 * Context: Any; under rcu_read_lock(), until the end of which the task is valid.
 * Return: the task, or NULL: it may have died, and its pid may be another's.
 */
struct task_struct *
lt_task_find(const struct latency_tracker_verdict *verdict, pid_t pid)
{
	return lt_task_alive(*(struct task_struct *const *)verdict->key, pid);
}
EXPORT_SYMBOL_GPL(lt_task_find);

/**
 * lt_task_cpu() - the CPU that the task of an event waits for, or has
 * @verdict: of a callback; its key is the address of the task
 * @pid: of the task when the event began, in the initial pid namespace
 *
 * Context: Any.
 * Return: that of this moment, or -1: the task may have died.
 */
int lt_task_cpu(const struct latency_tracker_verdict *verdict, pid_t pid)
{
	struct task_struct *task;
	int cpu = -1;

	rcu_read_lock();
	task = lt_task_find(verdict, pid);
	if (task)
		cpu = task_cpu(task);
	rcu_read_unlock();
	return cpu;
}
EXPORT_SYMBOL_GPL(lt_task_cpu);
