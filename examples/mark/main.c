// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mark latency: operations of programs, between a begin and an end of their own.
 *
 * Default threshold: 100 ms. A program shares memory with the kernel, in which it notes what its
 * threads have begun: see include/uapi/latency_tracker_mark.h. An event mark_latency has the mark,
 * the operations that this one is part of, how long it took, and for how long of it the thread
 * had a CPU; while it is pending, also the kernel's stack of the thread.
 *
 * The files: device.c is what programs call; space.c has their memory and threads; scan.c looks at
 * these every now and then; operation.c makes events of operations; fold.c adds up what ended in
 * time; shared.c has operations between processes; cpu_time.c tells threads their CPU time; ends.c
 * tells the core of their ends; names.c and users.c have what is in their names. probes.c and
 * uprobes.c are for programs that know nothing of marks.
 */
#include <linux/err.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "examples/mark/mark.h"
#include "examples/mark/probes.h"
#include "usecase/look_task.h"
#include "usecase/usecase.h"
#include "wrapper/sched.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_mark.h>

LT_KEEP_EVENT(mark_latency, MARK_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(mark_latency),
};

#define USEC_THRESHOLD	100000
#define MAX_EVENTS	1024
#define GROW_LIMIT	65536

struct mark_counts mark_counts;

static struct lt_look look;
LT_LOOK_PARAMS(look);

static int limit_set(const char *val, const struct kernel_param *kp)
{
	unsigned int limit;

	if (kstrtouint(val, 10, &limit))
		return -EINVAL;
	WRITE_ONCE(*(unsigned int *)kp->arg, limit);	/* pairs with those in users.c */
	return 0;
}

static const struct kernel_param_ops limit_ops = {
	.set = limit_set,
	.get = param_get_uint,
};

module_param_cb(user_threads, &limit_ops, &mark_user_threads, 0644);
MODULE_PARM_DESC(user_threads, "Threads with marks that a user may have (default 4096)");
module_param_cb(user_marks, &limit_ops, &mark_user_marks, 0644);
MODULE_PARM_DESC(user_marks, "Marks that all programs of a user may have (default 512)");
module_param_cb(user_shared, &limit_ops, &mark_user_shared, 0644);
MODULE_PARM_DESC(user_shared,
		 "Operations between processes that a user may have pending (default 1024)");
module_param_cb(shared_seconds, &limit_ops, &mark_shared_seconds, 0644);
MODULE_PARM_DESC(shared_seconds,
		 "Age at which an operation between processes is given up, 0 for never (default 3600)");
module_param_cb(user_reports, &limit_ops, &mark_user_reports, 0644);
MODULE_PARM_DESC(user_reports,
		 "Reports of operations of a user per second, 0 for all (default 1000)");

static int count_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%ld\n", atomic_long_read(kp->arg));
}

static const struct kernel_param_ops count_ops = { .get = count_get };

module_param_cb(threads, &count_ops, &mark_counts.threads, 0444);
MODULE_PARM_DESC(threads, "Threads that have marks now (read only)");
module_param_cb(shared, &count_ops, &mark_counts.shared, 0444);
MODULE_PARM_DESC(shared, "Operations between processes that are pending now (read only)");
module_param_cb(suppressed, &count_ops, &mark_counts.suppressed, 0444);
MODULE_PARM_DESC(suppressed,
		 "Reports that were not made for user_reports (read only)");
module_param_cb(refused, &count_ops, &mark_counts.refused, 0444);
MODULE_PARM_DESC(refused, "What programs have said that can't be (read only)");
module_param_cb(abandoned, &count_ops, &mark_counts.abandoned, 0444);
MODULE_PARM_DESC(abandoned, "Pending operations whose end was not told (read only)");
module_param_cb(dropped, &count_ops, &mark_counts.dropped, 0444);
MODULE_PARM_DESC(dropped,
		 "Begins that found no frame or slot, or calls that were nested too deep (read only)");

module_param_cb(full, &count_ops, &mark_counts.full, 0444);
MODULE_PARM_DESC(full,
		 "Ends in time that were told by a call, as their thread has too many different times (read only)");

static struct task_struct *task_of(const struct lt_mark_operation *of)
{
	return lt_task_alive((const struct task_struct *)(unsigned long)of->task,
			     of->pid);
}

/* Of a task that has a CPU: in its own words. */
static bool ask_for_stack(struct lt_stack *stack,
			  const struct latency_tracker_verdict *verdict,
			  const struct lt_mark_operation *of)
{
	const struct task_struct *task;
	int cpu = -1;

	rcu_read_lock();
	task = task_of(of);
	if (task && lt_task_on_cpu(task))
		cpu = task_cpu(task);
	rcu_read_unlock();
	return cpu >= 0 && lt_look_at_task(&look, stack, task, cpu) &&
	       lt_is_pending(verdict);
}

/* Up to the last tick or switch, if it runs. */
static s64 run_until_now(const struct task_struct *task,
			 const struct lt_mark_operation *of)
{
	u64 run_ns = READ_ONCE(task->se.sum_exec_runtime);

	if (of->by_id || of->start_run_ns == LT_MARK_NO_TIME)
		return -1;
	return run_ns > of->start_run_ns ? run_ns - of->start_run_ns : 0;
}

static void report_pending(const struct latency_tracker_verdict *verdict,
			   const struct lt_mark_operation *of)
{
	struct lt_stack stack = {};
	/* Which thread an operation between threads or processes waits for is not known. */
	bool is_known = of->by_id || ask_for_stack(&stack, verdict, of);
	struct task_struct *task;

	preempt_disable();
	rcu_read_lock();
	task = task_of(of);
	if (task && !is_known)
		lt_stack_of_other(&stack, task);
	if (task)
		trace_mark_latency(verdict, of, run_until_now(task, of),
				   task_cpu(task), &stack);
	else if (of->by_id == LT_MARK_BY_PROCESS)
		/* Its process is gone, but another one may end it. */
		trace_mark_latency(verdict, of, -1, -1, &stack);
	rcu_read_unlock();
	preempt_enable();
}

/* What has ended was asked about before. What is refused has no path and no action, either. */
static bool may_report(const struct latency_tracker_verdict *verdict)
{
	const struct lt_mark_operation *of = verdict->priv;

	if (verdict->flag == LATENCY_TRACKER_ENDED || verdict->asked)
		return true;
	return of->uid == LT_MARK_NOBODY ? mark_name_may_report(of->mark) :
					   mark_user_may_report(of->uid);
}

static void report(const struct latency_tracker_verdict *verdict)
{
	const struct lt_mark_operation *of = verdict->priv;
	const s64 *run_ns = verdict->out_data;
	struct lt_stack none = {};

	if (verdict->flag == LATENCY_TRACKER_ENDED)
		trace_mark_latency(verdict, of, *run_ns,
				   raw_smp_processor_id(), &none);
	else
		report_pending(verdict, of);
}

static void ids(const void *key, const void *priv, const void *out_data, u64 *id)
{
	const struct lt_mark_operation *of = priv;

	id[0] = of->mark;
	id[1] = of->cgroup_id;
}

static void belongs(const struct latency_tracker_verdict *verdict,
		    struct lt_belongs *to)
{
	const struct lt_mark_operation *of = verdict->priv;

	to->id = of->mark;
	if (!of->by_id)
		to->task = verdict->flag == LATENCY_TRACKER_ENDED ? current : task_of(of);
}

LT_GROUPING(grouping, ids, "mark", "cgroup");

static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	mark_time_switch(next);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_sched_switch)

static void on_sched_process_exit(void *data, struct task_struct *task)
{
	mark_probes_forget(task);
}

LT_DEFINE_PROBE_SCHED_PROCESS_EXIT(on_sched_process_exit)

static void probe_sched_process_exec(void *data, struct task_struct *task, pid_t old_pid,
				     struct linux_binprm *bprm)
{
	mark_probes_forget(task);
}

static struct lt_probe probes[] = {
	LT_PROBE(sched_process_exit),
	LT_PROBE(sched_process_exec),
	LT_PROBE(sched_switch),
};

struct lt_usecase mark_usecase = {
	.name = "mark",
	.owner = THIS_MODULE,
	LT_PROBES(probes),
	LT_KEEPS(keeps),
	.report = report,
	.is_wanted = may_report,
	.usec_threshold = USEC_THRESHOLD,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct mark_key),
	.priv_size = sizeof(struct mark_call),
	.grouping = &grouping,
	.group_name = mark_name,
	.threshold_names = "that of a mark, or the path of a control group",
	.threshold_find = mark_threshold_find,
	.belongs = belongs,
	.is_of_task = true,
};

LT_USECASE_PARAMS(mark_usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_TASK_FILTER_PARAMS(mark_usecase);

static int __init mark_init(void)
{
	int err;

	err = mark_scan_start();
	if (err)
		goto err_names;
	err = lt_look_at_tasks_start(&look);
	if (err)
		goto err_scan;
	err = lt_usecase_start(&mark_usecase);
	if (err)
		goto err_look;
	err = mark_probes_start();
	if (err)
		goto err_usecase;
	err = mark_ends_start();
	if (err)
		goto err_probes;
	err = mark_device_register();
	if (err)
		goto err_ends;
	return 0;

err_ends:
	mark_ends_stop();
err_probes:
	mark_probes_stop();
err_usecase:
	lt_usecase_stop(&mark_usecase);
err_look:
	lt_look_end(&look);
err_scan:
	mark_scan_stop();
err_names:
	mark_names_free();
	return err;
}
module_init(mark_init);

/* An open file holds the module: here there is none. */
static void __exit mark_exit(void)
{
	mark_device_deregister();
	mark_ends_stop();
	mark_probes_stop();
	mark_scan_stop();
	mark_shared_stop();
	lt_usecase_stop(&mark_usecase);
	lt_look_end(&look);
	mark_names_free();
}
module_exit(mark_exit);

MODULE_DESCRIPTION("Operations of programs, between a begin and an end of their own");
MODULE_LICENSE("GPL");
