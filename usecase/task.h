/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of tasks: their filter, and their key.
 *
 * The key of a task is the address of its task_struct: an exec by a thread
 * that is not the leader changes the pid of both, the address stays. It must
 * not pass on to the next task, so the slot of a task is freed before its memory is,
 * filters or not.
 */
#ifndef _LT_USECASE_TASK_H
#define _LT_USECASE_TASK_H

#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "usecase/data.h"
#include "wrapper/cgroup.h"

/* For module_param_cb(); the argument is the address of the struct lt_usecase. */
extern const struct kernel_param_ops lt_pid_ops;
extern const struct kernel_param_ops lt_tgid_ops;
extern const struct kernel_param_ops lt_cgroup_ops;

#define LT_TASK_FILTER_PARAMS(usecase)					\
	module_param_cb(pid, &lt_pid_ops, &(usecase), 0644);		\
	MODULE_PARM_DESC(pid, "Track only this thread; of the initial pid namespace (default 0: all)"); \
	module_param_cb(tgid, &lt_tgid_ops, &(usecase), 0644);		\
	MODULE_PARM_DESC(tgid, "Track only threads of this process; of the initial pid namespace (default 0: all)"); \
	module_param_cb(cgroup, &lt_cgroup_ops, &(usecase), 0644);	\
	MODULE_PARM_DESC(cgroup, "Track only tasks of this control group and of those below it: a path such as /system.slice, or the inode of its directory (default empty: all)")

/*
 * Does @task pass the filter? At both ends of an operation; at the begin, it must be
 * in the group, too.
 */
static __always_inline bool lt_task_passes(const struct lt_usecase *usecase,
					   const struct task_struct *task)
{
	pid_t pid, tgid;

	if (likely(!READ_ONCE(usecase->task.by_id)))
		return true;
	pid = READ_ONCE(usecase->task.pid);
	tgid = READ_ONCE(usecase->task.tgid);
	return (!pid || task->pid == pid) && (!tgid || task->tgid == tgid);
}

/* May one not pass? Else there is no need to ask for the task and its group. */
static __always_inline bool lt_task_is_filtered(const struct lt_usecase *usecase)
{
	return unlikely(READ_ONCE(usecase->task.on));
}

static __always_inline bool
lt_task_has_cgroup_filter(const struct lt_usecase *usecase)
{
	return unlikely(READ_ONCE(usecase->task.cgroup));
}

/*
 * A task may change its group while the operation is pending. So an end is looked for
 * whatever the group is then; if there is none, that is no end without a begin.
 */
static __always_inline bool lt_task_in_cgroup(const struct lt_usecase *usecase,
					      const struct task_struct *task)
{
	struct cgroup *cgroup = READ_ONCE(usecase->task.cgroup);

	return likely(!cgroup) || lt_cgroup_has(cgroup, task);
}

static __always_inline u64 lt_task_key(const struct task_struct *task)
{
	return (unsigned long)task;
}

static __always_inline int lt_task_forget(struct latency_tracker *tracker,
					  struct task_struct *task)
{
	u64 key = lt_task_key(task);

	return latency_tracker_event_cancel(tracker, &key, sizeof(key));
}

/* At sched_process_free. A task that was never tracked has no slot. */
static inline void lt_task_gone(struct latency_tracker *tracker,
				struct task_struct *task)
{
	latency_tracker_slot_free(tracker, lt_task_key(task));
}

/* A thread that runs soft interrupts; with PREEMPT_RT there is one for those of timers. */
static inline bool lt_task_runs_softirqs(const struct task_struct *task)
{
	return task->flags & PF_KTHREAD &&
	       (strstarts(task->comm, "ksoftirqd/") || strstarts(task->comm, "ktimers/"));
}

void lt_task_filter_set(struct lt_usecase *usecase);
struct task_struct *lt_task_alive(const struct task_struct *task, pid_t pid);
struct task_struct *
lt_task_find(const struct latency_tracker_verdict *verdict, pid_t pid);
int lt_task_cpu(const struct latency_tracker_verdict *verdict, pid_t pid);

#endif /* _LT_USECASE_TASK_H */
