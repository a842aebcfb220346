// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPU time of threads with marks, for themselves: what a switch leaves in the memory that they
 * share with the kernel. So to know it costs no system call.
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "examples/mark/mark.h"

/* So many tasks with marks have lists of one or two, which each switch looks at. */
#define BITS	12

static DEFINE_SPINLOCK(lock); /* of writers */
static struct hlist_head threads[1 << BITS];

/**
 * mark_threads_like() - the threads with marks that are this task, and some others
 * @task: which
 *
 * Context: Any; in an RCU read-side section with preemption off, or under the lock here.
 * Return: a list, by mark_thread.by_task.
 */
struct hlist_head *mark_threads_like(const struct task_struct *task)
{
	return &threads[hash_ptr((void *)task, BITS)];
}

/**
 * mark_time_add() - from its next switch on, a thread is told of its CPU time
 * @thread: with its task and area
 *
 * Context: Task.
 */
void mark_time_add(struct mark_thread *thread)
{
	spin_lock(&lock);
	hlist_add_head_rcu(&thread->by_task, mark_threads_like(thread->task));
	spin_unlock(&lock);
}

/**
 * mark_time_remove() - it is not any more
 * @thread: in use until a grace period is over
 *
 * Context: Task.
 */
void mark_time_remove(struct mark_thread *thread)
{
	spin_lock(&lock);
	hlist_del_rcu(&thread->by_task);
	spin_unlock(&lock);
}

/*
 * The thread itself reads it, which does not run now: the order of the stores is that of this
 * CPU, and its next one has it by the switch.
 */
static void tell(struct lt_mark_thread *area, const struct task_struct *task)
{
	WRITE_ONCE(area->run_seq, area->run_seq + 1);
	WRITE_ONCE(area->run_ns, task->se.sum_exec_runtime);
	WRITE_ONCE(area->in_ns, latency_tracker_clock());
	WRITE_ONCE(area->run_seq, area->run_seq + 1);
}

/**
 * mark_time_switch() - a task gets this CPU
 * @next: the task
 *
 * Context: The probe of sched_switch: with the lock of the run queue.
 */
void mark_time_switch(struct task_struct *next)
{
	struct hlist_head *list = mark_threads_like(next);
	struct mark_thread *thread;

	if (likely(!READ_ONCE(list->first)))
		return;
	rcu_read_lock_sched_notrace();
	hlist_for_each_entry_rcu_notrace(thread, list, by_task) {
		if (thread->task == next)
			tell(thread->area, next);
	}
	rcu_read_unlock_sched_notrace();
}
