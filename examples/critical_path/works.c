// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items: which one a worker does, who has queued it, and when.
 *
 * What is queued is kept by the address of the work item, in one place that others with the same
 * hash overwrite. A worker looks it up when it begins, since the item may be queued again while
 * it runs. So what is kept of a worker is written and read by that task only, and its place is
 * its own until the memory of the task is freed.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "examples/critical_path/path.h"
#include "usecase/function.h"
#include "usecase/interrupt.h"
#include "wrapper/work_item.h"

#define QUEUED_BITS	11
#define WORKERS_BITS	8
#define WAYS		4

/**
 * struct queued - a work item was queued
 * @work: which one
 * @ns: when
 * @seq: odd while another item is written
 * @pid: of the task that queued it; -1: none did
 * @context: where, enum offcpu_context
 * @is_timer: by a timer that expired
 * @comm: of @pid; "-"
 */
struct queued {
	const struct work_struct *work;
	u64 ns;
	unsigned int seq;
	pid_t pid;
	u8 context;
	bool is_timer;
	char comm[TASK_COMM_LEN];
} ____cacheline_aligned;

/**
 * struct worker - what a worker does
 * @begin: when that began
 * @func: function of the work item; NULL: it was not seen when that was queued
 * @queued: how it was
 */
struct worker {
	u64 begin;
	work_func_t func;
	struct queued queued;
};

static struct queued *queued;
static const struct task_struct **owners;
static struct worker *workers;

/* What flush_work() puts behind a work item, to be woken when that is done. */
static struct lt_function barrier = { .name = "wq_barrier_func" };

static void probe_workqueue_queue_work(void *data, lt_work_cpu_t cpu,
				       struct pool_workqueue *pwq,
				       struct work_struct *work)
{
	struct queued *place = &queued[hash_ptr(work, QUEUED_BITS)];
	unsigned int seq = READ_ONCE(place->seq);

	/* Of one that comes while another CPU writes, nothing is known. Pairs with look_up(). */
	if (seq & 1 || cmpxchg(&place->seq, seq, seq + 1) != seq)
		return;
	WRITE_ONCE(place->work, work);
	place->ns = latency_tracker_clock();
	place->context = lt_context();
	if (place->context == OFFCPU_CONTEXT_TASK) {
		place->pid = current->pid;
		place->is_timer = false;
		memcpy(place->comm, current->comm, TASK_COMM_LEN);
	} else {
		place->pid = -1;
		place->is_timer = lt_interrupt_is_timer();
		strscpy_pad(place->comm, "-", TASK_COMM_LEN);
	}
	/* It is whole; pairs with look_up(). */
	smp_store_release(&place->seq, seq + 2);
}

static bool look_up(const struct work_struct *work, struct queued *copy)
{
	const struct queued *place = &queued[hash_ptr(work, QUEUED_BITS)];
	/* Pairs with the release of the probe. */
	unsigned int seq = smp_load_acquire(&place->seq);

	if (seq & 1)
		return false;
	/* It is thrown away if it changes meanwhile. */
	data_race(*copy = *place);
	smp_rmb();	/* pairs with the cmpxchg() of the probe */
	return READ_ONCE(place->seq) == seq && copy->work == work;
}

static const struct task_struct **owners_of(const struct task_struct *task)
{
	return &owners[hash_ptr(task, WORKERS_BITS) * WAYS];
}

/* The place of @task, or one that it takes for itself. */
static struct worker *worker_of(const struct task_struct *task, bool takes)
{
	const struct task_struct **set = owners_of(task);
	unsigned int way;

	for (way = 0; way < WAYS; way++) {
		if (READ_ONCE(set[way]) == task)
			return &workers[set - owners + way];
	}
	for (way = 0; takes && way < WAYS; way++) {
		if (!READ_ONCE(set[way]) && !cmpxchg(&set[way], NULL, task))
			return &workers[set - owners + way];
	}
	return NULL;
}

/* The memory of @task is freed. */
void path_works_forget(const struct task_struct *task)
{
	const struct task_struct **set = owners_of(task);
	unsigned int way;

	for (way = 0; way < WAYS; way++) {
		if (READ_ONCE(set[way]) != task)
			continue;
		/* What it has done is forgotten; pairs with the cmpxchg() of worker_of(). */
		smp_store_release(&set[way], NULL);
	}
}

static void probe_workqueue_execute_start(void *data, struct work_struct *work)
{
	struct worker *worker;

	/* Some run in a soft interrupt. */
	if (!in_task() || (unsigned long)work->func == barrier.start)
		return;
	worker = worker_of(current, true);
	if (!worker)
		return;
	worker->begin = latency_tracker_clock();
	worker->func = look_up(work, &worker->queued) ? work->func : NULL;
}

struct lt_probe path_work_probes[] = {
	LT_PROBE(workqueue_queue_work),
	LT_PROBE(workqueue_execute_start),
};

const unsigned int path_nr_work_probes = ARRAY_SIZE(path_work_probes);

/*
 * Which work item does @current do, if it is a worker? Its number as a wait, or 0. In a probe,
 * in a task.
 */
u64 path_work_publish(void)
{
	const struct worker *worker;
	struct latency_tracker_wait wait;

	if (!(current->flags & PF_WQ_WORKER) || !current_work())
		return 0;
	worker = worker_of(current, false);
	if (!worker || !worker->func)
		return 0;
	wait = (struct latency_tracker_wait) {
		.kind = LATENCY_TRACKER_WAIT_WORK,
		.begin_ns = worker->queued.ns,
		.end_ns = worker->begin,
		.where = (unsigned long)worker->func,
		.pid = current->pid,
		.by_pid = worker->queued.pid,
		.context = worker->queued.context,
		.is_timer = worker->queued.is_timer,
	};
	memcpy(wait.comm, current->comm, TASK_COMM_LEN);
	memcpy(wait.by_comm, worker->queued.comm, TASK_COMM_LEN);
	return latency_tracker_wait_publish(&wait);
}

u64 path_works_memory(void)
{
	return (sizeof(*queued) << QUEUED_BITS) +
	       ((WAYS * (sizeof(*owners) + sizeof(*workers))) << WORKERS_BITS);
}

/* Before there are probes; task, may sleep. 0 or -ENOMEM. */
int path_works_start(void)
{
	lt_function_find(&barrier, 1);
	queued = vzalloc(sizeof(*queued) << QUEUED_BITS);
	owners = vzalloc((WAYS * sizeof(*owners)) << WORKERS_BITS);
	workers = vzalloc((WAYS * sizeof(*workers)) << WORKERS_BITS);
	if (queued && owners && workers)
		return 0;
	path_works_stop();
	return -ENOMEM;
}

/* There are no probes any more. */
void path_works_stop(void)
{
	vfree(queued);
	vfree(owners);
	vfree(workers);
	queued = NULL;
	owners = NULL;
	workers = NULL;
}
