// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items: which one a worker does, which task has queued it, and when.
 *
 * How an item was queued is kept by its address, in one of the places, until it begins. A
 * place that is busy is left alone, and items with the same hash overwrite each other: then
 * it is not known how the item was queued, which is counted when it begins. Nor is it if it
 * was queued again before that: the kernel lets it be queued from just before it begins on.
 *
 * What is kept of a worker is written and read by that task only.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "examples/critical_path/owners.h"
#include "examples/critical_path/path.h"
#include "usecase/function.h"
#include "usecase/interrupt.h"
#include "wrapper/work_item.h"

#define QUEUED_BITS	11
#define WORKERS_BITS	8

/**
 * struct queueing - how a work item was queued
 * @ns: when; 0: that is not known
 * @pid: of the task that queued it; -1: none did, or none is known
 * @context: where, enum offcpu_context
 * @is_timer: by a timer that expired
 * @comm: of @pid; "-"
 */
struct queueing {
	u64 ns;
	pid_t pid;
	u8 context;
	bool is_timer;
	char comm[TASK_COMM_LEN];
};

/**
 * struct queued - a work item that has not begun
 * @work: which one; NULL: none
 * @is_busy: a CPU reads or writes this
 * @is_again: it may be another one's begin that comes next: it was queued twice
 * @how: it was queued the last time
 */
struct queued {
	const struct work_struct *work;
	unsigned int is_busy;
	bool is_again;
	struct queueing how;
} ____cacheline_aligned;

/**
 * struct worker - what a worker does
 * @begin: when that began
 * @func: function of the work item; NULL: that is not known
 * @how: the item was queued
 */
struct worker {
	u64 begin;
	work_func_t func;
	struct queueing how;
};

static struct queued *queued;
static struct path_owners owners;
static struct worker *workers;
static DEFINE_PER_CPU(unsigned long, unseen);

/* What flush_work() puts behind a work item, to be woken when that is done. */
static struct lt_function barrier = { .name = "wq_barrier_func" };

/* Nobody waits for it. With preemption off. */
static bool claim(struct queued *place)
{
	/* Pairs with let_go(). */
	return !READ_ONCE(place->is_busy) && !cmpxchg(&place->is_busy, 0, 1);
}

static void let_go(struct queued *place)
{
	/* What was written comes first; pairs with the cmpxchg() of claim(). */
	smp_store_release(&place->is_busy, 0);
}

static void note_queueing(struct queueing *how)
{
	how->ns = latency_tracker_clock();
	how->context = lt_context();
	if (how->context == OFFCPU_CONTEXT_TASK) {
		how->pid = current->pid;
		how->is_timer = false;
		memcpy(how->comm, current->comm, TASK_COMM_LEN);
	} else {
		how->pid = -1;
		how->is_timer = lt_interrupt_is_timer();
		strscpy_pad(how->comm, "-", TASK_COMM_LEN);
	}
}

/* With the lock of the pool of workers, so no interrupt comes. */
static void probe_workqueue_queue_work(void *data, lt_work_cpu_t cpu,
				       struct pool_workqueue *pwq,
				       struct work_struct *work)
{
	struct queued *place = &queued[hash_ptr(work, QUEUED_BITS)];

	if (!claim(place))
		return;
	place->is_again = place->work == work;
	place->work = work;
	note_queueing(&place->how);
	let_go(place);
}

/* It begins. False: it is not known how it was queued. */
static bool take_queueing(const struct work_struct *work, struct queueing *how)
{
	struct queued *place = &queued[hash_ptr(work, QUEUED_BITS)];
	bool is_known = false;

	preempt_disable_notrace();
	if (claim(place)) {
		if (place->work == work) {
			is_known = !place->is_again;
			*how = place->how;
			place->work = NULL;
		}
		let_go(place);
	}
	preempt_enable_notrace();
	return is_known;
}

/* The place of @current; it may take one. */
static struct worker *take_worker(void)
{
	int number = path_owners_find(&owners, current);

	if (number < 0)
		number = path_owners_take(&owners, current);
	return number < 0 ? NULL : &workers[number];
}

/* The memory of @task is freed. */
void path_works_forget(const struct task_struct *task)
{
	int number = path_owners_find(&owners, task);

	if (number >= 0)
		path_owners_give(&owners, number);
}

static void probe_workqueue_execute_start(void *data, struct work_struct *work)
{
	static const struct queueing unknown = { .pid = -1, .comm = "-" };
	struct worker *worker;

	/* Some run in a soft interrupt. */
	if (!in_task() || (unsigned long)work->func == barrier.start)
		return;
	worker = take_worker();
	if (!worker) {
		this_cpu_inc(unseen);
		return;
	}
	worker->begin = latency_tracker_clock();
	worker->func = work->func;
	if (take_queueing(work, &worker->how))
		return;
	this_cpu_inc(unseen);
	worker->how = unknown;
	/* It may be a barrier, if that could not be found. */
	if (!barrier.size)
		worker->func = NULL;
}

struct lt_probe path_work_probes[] = {
	LT_PROBE(workqueue_queue_work),
	LT_PROBE(workqueue_execute_start),
};

const unsigned int path_nr_work_probes = ARRAY_SIZE(path_work_probes);

/* Work items that began, of which it is not known how they were queued. */
unsigned long path_works_unseen(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(unseen, cpu));
	return sum;
}

/*
 * Which work item does @current do, if it is a worker? Its number as a wait, or 0. In a probe,
 * in a task.
 */
u64 path_work_publish(void)
{
	const struct worker *worker;
	struct latency_tracker_wait wait;
	int number;

	if (!(current->flags & PF_WQ_WORKER) || !current_work())
		return 0;
	number = path_owners_find(&owners, current);
	if (number < 0 || !workers[number].func)
		return 0;
	worker = &workers[number];
	wait = (struct latency_tracker_wait) {
		.kind = LATENCY_TRACKER_WAIT_WORK,
		.begin_ns = worker->how.ns,
		.end_ns = worker->begin,
		.where = (unsigned long)worker->func,
		.pid = current->pid,
		.by_pid = worker->how.pid,
		.context = worker->how.context,
		.is_timer = worker->how.is_timer,
	};
	memcpy(wait.comm, current->comm, TASK_COMM_LEN);
	memcpy(wait.by_comm, worker->how.comm, TASK_COMM_LEN);
	return latency_tracker_wait_publish(&wait);
}

u64 path_works_memory(void)
{
	return (sizeof(*queued) << QUEUED_BITS) +
	       path_owners_places(&owners) * (sizeof(*owners.tasks) + sizeof(*workers));
}

/* Before there are probes; task, may sleep. 0 or -ENOMEM. */
int path_works_start(void)
{
	lt_function_find(&barrier, 1);
	queued = vzalloc(sizeof(*queued) << QUEUED_BITS);
	if (path_owners_make(&owners, WORKERS_BITS))
		workers = vzalloc(path_owners_places(&owners) * sizeof(*workers));
	if (queued && workers)
		return 0;
	path_works_stop();
	return -ENOMEM;
}

/* There are no probes any more. */
void path_works_stop(void)
{
	path_owners_free(&owners);
	vfree(queued);
	vfree(workers);
	queued = NULL;
	workers = NULL;
}
