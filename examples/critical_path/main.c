// SPDX-License-Identifier: GPL-2.0-only
/*
 * The critical path of a late operation of a task: what it consisted of, and for what each wait
 * was, hop by hop.
 *
 * The trackers report that an operation is late, and publish the waits of tasks that they know
 * of: for locks, disks, CPUs, soft interrupts. This module sees by itself when each task is off
 * the CPU, and what wakes it. An event critical_path tells of each segment of a path, some
 * milliseconds behind the report.
 *
 * The files: tasks.c sees the waits, works.c what workers do, stacks.c keeps the stacks; late.c
 * gets the late operations and tells their paths; walk.c finds them, with behind.c, history.c,
 * cpu.c and segments.c.
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/sysfs.h>

#include "examples/critical_path/late.h"
#include "examples/critical_path/path.h"
#include "usecase/filter_set.h"
#include "usecase/interrupt.h"
#include "usecase/off_cpu.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_critical_path.h>

/* A day: longer ones are mistakes. */
#define USEC_MAX	(86400 * (u64)USEC_PER_SEC)
#define TASKS_MIN	1024U
#define TASKS_MAX	4194304U

static struct lt_usecase usecase = {
	.name = "critical_path",
	.owner = THIS_MODULE,
};

static u64 usec_wait = 1000;
static unsigned int waits = 4096;
static unsigned int tasks = 32768;
static bool is_started;	/* under kernel_param_lock() */

/* Trackers whose operations are of a task. */
static const char *const operation_names[] = {
	"syscalls", "offcpu", "wakeup", "lock", "mark",
};

static struct lt_set operations = {
	.mask = GENMASK(ARRAY_SIZE(operation_names) - 1, 0),
	.usecase = &usecase,
	.names = operation_names,
	.nr_names = ARRAY_SIZE(operation_names),
};
module_param_cb(operations, &lt_set_ops, &operations, 0644);
MODULE_PARM_DESC(operations, "Tell the paths of late operations of these trackers, with commas: syscalls, offcpu, wakeup, lock, mark; or all (default all)");

static int parse_usec(const char *val, u64 *usec)
{
	u64 value;
	int err = kstrtou64(val, 10, &value);

	if (err || value > USEC_MAX)
		return -EINVAL;
	*usec = value;
	return 0;
}

static int usec_wait_set(const char *val, const struct kernel_param *kp)
{
	u64 usec;
	int err = parse_usec(val, &usec);

	if (err)
		return err;
	if (is_started)
		err = latency_tracker_waits_set_least(usec * NSEC_PER_USEC);
	if (err)
		return err;
	usec_wait = usec;
	WRITE_ONCE(path_least_ns, usec * NSEC_PER_USEC);	/* pairs with is_long() */
	return 0;
}

static int usec_stack_set(const char *val, const struct kernel_param *kp)
{
	u64 usec;
	int err = parse_usec(val, &usec);

	if (!err)
		WRITE_ONCE(path_usec_stack, usec);	/* pairs with look_at() */
	return err;
}

static int usec_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%llu\n", *(const u64 *)kp->arg);
}

static const struct kernel_param_ops usec_wait_ops = {
	.set = usec_wait_set,
	.get = usec_get,
};
module_param_cb(usec_wait, &usec_wait_ops, &usec_wait, 0644);
MODULE_PARM_DESC(usec_wait, "Remember waits of at least so many microseconds; of shorter ones only how long they were together is known (default 1000)");

static const struct kernel_param_ops usec_stack_ops = {
	.set = usec_stack_set,
	.get = usec_get,
};
module_param_cb(usec_stack, &usec_stack_ops, &path_usec_stack, 0644);
MODULE_PARM_DESC(usec_stack, "Remember the stacks of tasks that have slept for at least so many microseconds (default 10000)");

module_param(waits, uint, 0444);
MODULE_PARM_DESC(waits, "Waits that each CPU remembers, a power of two from 64 to 65536 (default 4096)");
module_param(tasks, uint, 0444);
MODULE_PARM_DESC(tasks, "Tasks whose waits are seen, a power of two from 1024 to 4194304 (default 32768)");

static int count_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lu\n",
			  (unsigned long)atomic_long_read(kp->arg));
}

static const struct kernel_param_ops count_ops = {
	.get = count_get,
};

module_param_cb(paths, &count_ops, &path_counts.paths, 0444);
MODULE_PARM_DESC(paths, "Paths that were told");
module_param_cb(left_out, &count_ops, &path_counts.left_out, 0444);
MODULE_PARM_DESC(left_out, "Late operations without a path: there were too many at once, or the task is gone or not known");
module_param_cb(unknown, &count_ops, &path_counts.unknown, 0444);
MODULE_PARM_DESC(unknown, "Segments whose cause is not known");
module_param_cb(lost, &count_ops, &path_counts.lost, 0444);
MODULE_PARM_DESC(lost, "Segments of which what was known was overwritten: more waits would help");
module_param_cb(cut, &count_ops, &path_counts.cut, 0444);
MODULE_PARM_DESC(cut, "Paths with more than 64 segments or 8 hops: not all parts of them are told apart");

static int untracked_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lu\n", path_tasks_lost());
}

static const struct kernel_param_ops untracked_ops = {
	.get = untracked_get,
};
module_param_cb(untracked, &untracked_ops, NULL, 0444);
MODULE_PARM_DESC(untracked, "Switches away from tasks whose waits are not seen: more tasks would help");

static int untracked_works_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lu\n", path_works_unseen());
}

static const struct kernel_param_ops untracked_works_ops = {
	.get = untracked_works_get,
};
module_param_cb(untracked_works, &untracked_works_ops, NULL, 0444);
MODULE_PARM_DESC(untracked_works, "Work items that began, of which it is not known who queued them");

static int dropped_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%llu\n",
			  is_started ? latency_tracker_waits_lost() : 0);
}

static const struct kernel_param_ops dropped_ops = {
	.get = dropped_get,
};
module_param_cb(dropped, &dropped_ops, NULL, 0444);
MODULE_PARM_DESC(dropped, "Waits that a CPU without memory has not kept");

static int memory_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%llu\n", is_started ?
			  latency_tracker_waits_memory() + path_tasks_memory() +
			  path_works_memory() : 0);
}

static const struct kernel_param_ops memory_ops = {
	.get = memory_get,
};
module_param_cb(memory_bytes, &memory_ops, NULL, 0444);
MODULE_PARM_DESC(memory_bytes, "Memory of waits, tasks and work items");

static bool tells(const char *tracker)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(operation_names); i++) {
		if (!strcmp(tracker, operation_names[i]))
			return lt_set_passes(&operations, BIT(i));
	}
	return false;
}

static void late(const struct latency_tracker_late *late)
{
	if (trace_critical_path_enabled() && tells(late->tracker))
		path_late(late);
}

static int check_sizes(void)
{
	if (is_power_of_2(waits) && waits >= LATENCY_TRACKER_WAITS_MIN &&
	    waits <= LATENCY_TRACKER_WAITS_MAX && is_power_of_2(tasks) &&
	    tasks >= TASKS_MIN && tasks <= TASKS_MAX)
		return 0;
	pr_err("%s: waits and tasks are powers of two, from %u to %u and from %u to %u\n",
	       KBUILD_MODNAME, LATENCY_TRACKER_WAITS_MIN,
	       LATENCY_TRACKER_WAITS_MAX, TASKS_MIN, TASKS_MAX);
	return -EINVAL;
}

static int open_waits(void)
{
	struct latency_tracker_waits_config config = {
		.entries = waits,
		.late = late,
	};
	int err;

	kernel_param_lock(THIS_MODULE);
	config.least_ns = usec_wait * NSEC_PER_USEC;
	path_least_ns = config.least_ns;
	err = latency_tracker_waits_open(&config);
	is_started = !err;
	kernel_param_unlock(THIS_MODULE);
	return err;
}

static void close_waits(void)
{
	kernel_param_lock(THIS_MODULE);
	is_started = false;
	latency_tracker_waits_close();
	kernel_param_unlock(THIS_MODULE);
}

/* Memory that a probe, or a walk, finds. */
static int make_memory(void)
{
	int err;

	err = path_tasks_start(tasks);
	if (err)
		return err;
	err = path_works_start();
	if (err)
		goto err_tasks;
	err = path_stacks_start();
	if (err)
		goto err_works;
	err = path_walk_start();
	if (err)
		goto err_stacks;
	return 0;

err_stacks:
	path_stacks_stop();
err_works:
	path_works_stop();
err_tasks:
	path_tasks_stop();
	return err;
}

static void free_memory(void)
{
	path_walk_stop();
	path_stacks_stop();
	path_works_stop();
	path_tasks_stop();
}

static int start_probes(void)
{
	int err;

	err = lt_probe_find(&usecase, path_probes, path_nr_probes);
	if (err)
		return err;
	err = lt_probe_find(&usecase, path_work_probes, path_nr_work_probes);
	if (err)
		return err;
	err = lt_interrupts_get();
	if (err)
		return err;
	err = lt_timers_get();
	if (err)
		goto err_interrupts;
	err = lt_probe_register(&usecase, path_work_probes, path_nr_work_probes);
	if (err)
		goto err_timers;
	err = lt_probe_register(&usecase, path_probes, path_nr_probes);
	if (err)
		goto err_works;
	return 0;

err_works:
	lt_probe_unregister(&usecase, path_work_probes, path_nr_work_probes);
err_timers:
	lt_timers_put();
err_interrupts:
	lt_interrupts_put();
	return err;
}

static void stop_probes(void)
{
	lt_probe_unregister(&usecase, path_probes, path_nr_probes);
	lt_probe_unregister(&usecase, path_work_probes, path_nr_work_probes);
	lt_timers_put();
	lt_interrupts_put();
}

static int __init critical_path_init(void)
{
	int err;

	err = check_sizes();
	if (err)
		return err;
	lt_offcpu_init();
	err = make_memory();
	if (err)
		return err;
	err = path_late_start();
	if (err)
		goto err_memory;
	err = open_waits();
	if (err)
		goto err_late;
	err = start_probes();
	if (err)
		goto err_waits;
	return 0;

err_waits:
	path_late_stop();
	close_waits();
	goto err_memory;
err_late:
	path_late_stop();
err_memory:
	free_memory();
	return err;
}
module_init(critical_path_init);

/* The work that walks reads what is told of waits: it comes to an end first. */
static void __exit critical_path_exit(void)
{
	stop_probes();
	path_late_stop();
	close_waits();
	free_memory();
}
module_exit(critical_path_exit);

MODULE_DESCRIPTION("What a late operation of a task consisted of, and what was behind its waits");
MODULE_LICENSE("GPL");
