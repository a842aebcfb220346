// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lock latency: from when a task begins to wait for a lock of the kernel until it has it,
 * or gives up.
 *
 * Default threshold: 10 ms. While it waits past the timeout, and at the end, an event
 * lock_latency has the lock, the stack of the waiter, and three facts about others: who
 * held the lock when the wait began (ended) or holds it now, and does what (pending), and
 * who woke the waiter last, as that task gave the lock back.
 *
 * The kernel tells of a wait at contention_begin and contention_end, from 5.19 on. The
 * first comes again when a waiter changes from spinning to sleeping; and within the wait
 * for one lock there may be one for another, such as the spinlock of its list of waiters:
 * the outer one counts. What an interrupt waits for is not tracked.
 *
 * A spinlock is not tracked by default: its waiter would have it for longer, by what
 * the end costs, while others wait. An end does not say of what kind it is, so that of
 * such a wait costs a look-up all the same.
 *
 * The files: holder.c tells who holds a lock, groups.c has the kinds of locks.
 */
#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "examples/lock/lock.h"
#include "usecase/filter_set.h"
#include "usecase/usecase.h"
#include "wrapper/sched.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_lock.h>

LT_KEEP_EVENT(lock_latency, LOCK_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(lock_latency),
};

#define USEC_THRESHOLD	10000
#define MAX_EVENTS	4096
#define GROW_LIMIT	1048576

static struct lt_usecase usecase;

static struct lt_set kinds = {
	.mask = GENMASK(NR_LT_LOCKS - 1, 0) & ~BIT(LT_LOCK_IS_SPINLOCK) &
		~BIT(LT_LOCK_IS_RWLOCK_READ) & ~BIT(LT_LOCK_IS_RWLOCK_WRITE),
	.usecase = &usecase,
	.names = lock_kind_names,
	.nr_names = NR_LT_LOCKS,
};

/* Is there one at all? */
static bool see(struct latency_tracker_event *event, void *arg)
{
	return false;
}

static void probe_contention_begin(void *data, void *lock, unsigned int flags)
{
	enum lt_lock_kind kind = lt_lock_kind(flags);
	struct task_struct *task = current;
	struct lock_wait *wait;

	if (!lt_set_passes(&kinds, BIT(kind)) || !in_task() ||
	    !lt_task_passes(&usecase, task) || !lt_task_in_cgroup(&usecase, task))
		return;
	if (latency_tracker_for_each_event(data, &task, sizeof(task), see, NULL) > 0)
		return;
	wait = latency_tracker_slot_begin(data, lt_task_key(task), 0);
	if (IS_ERR_OR_NULL(wait))
		return;
	WRITE_ONCE(wait->lock, lock);
	wait->kind = kind;
	wait->pid = task->pid;
	wait->woken_ns = 0;
	wait->waking = 0;
	holder_note(wait);
	latency_tracker_slot_publish(data, wait, 0);
}

/* A wait that ends. */
struct ending {
	struct latency_tracker *tracker;
	const void *lock;
	int ret;
};

/* What is pending may be the wait for another lock, around this one. */
static bool end(struct latency_tracker_event *event, void *arg)
{
	const struct lock_wait *wait = latency_tracker_event_priv(event);
	struct ending *ending = arg;

	if (wait->lock == ending->lock)
		latency_tracker_event_end(ending->tracker, event, 0, ending, 0);
	return false;
}

static void probe_contention_end(void *data, void *lock, int ret)
{
	struct ending ending = { .tracker = data, .lock = lock, .ret = ret };
	struct task_struct *task = current;

	if (in_task() && lt_task_passes(&usecase, task))
		latency_tracker_for_each_event(data, &task, sizeof(task), end,
					       &ending);
}

/*
 * Who wakes the waiter has given the lock back. Another task may take it in between, and give
 * it back before the waiter runs: the kernel does not tell of that.
 */
static bool see_waking(struct latency_tracker_event *event, void *arg)
{
	struct lock_wait *wait = latency_tracker_event_priv(event);

	WRITE_ONCE(wait->waking, wait->waking + 1);
	smp_wmb();	/* as in a seqcount; pairs with waker_of() */
	if (in_task() && !is_idle_task(current)) {
		memcpy(wait->waker_comm, current->comm, TASK_COMM_LEN);
		wait->waker_pid = current->pid;
	} else {
		strscpy_pad(wait->waker_comm, "-", TASK_COMM_LEN);
		wait->waker_pid = -1;
	}
	wait->woken_ns = latency_tracker_clock();
	smp_wmb();	/* likewise */
	WRITE_ONCE(wait->waking, wait->waking + 1);
	return false;
}

static void probe_sched_waking(void *data, struct task_struct *task)
{
	latency_tracker_for_each_event(data, &task, sizeof(task), see_waking, NULL);
}

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	lt_task_gone(data, task);
}

static struct lt_probe probes[] = {
	LT_PROBE(sched_process_free),
	LT_PROBE(sched_waking),
	LT_PROBE(contention_end),
	LT_PROBE(contention_begin),
};

/*
 * A waker that came too late, since the waiter found the lock free, may be writing still:
 * then it is not known who was first.
 */
static void waker_of(struct lt_lock_waker *waker, const struct lock_wait *wait,
		     u64 now_ns)
{
	u32 waking = READ_ONCE(wait->waking);
	struct lock_wait copy;

	smp_rmb();	/* pairs with see_waking(), like the other one */
	/* It is thrown away if it changes meanwhile. */
	copy = data_race(*wait);
	smp_rmb();	/* likewise */
	waker->pid = copy.waker_pid;
	memcpy(waker->comm, copy.waker_comm, TASK_COMM_LEN);
	waker->handover = now_ns > copy.woken_ns ? now_ns - copy.woken_ns : 0;
	if (!waking || waking & 1 || READ_ONCE(wait->waking) != waking)
		*waker = (struct lt_lock_waker){
			.handover = -1,
			.comm = "-",
			.pid = -1,
		};
}

static void report_ended(const struct latency_tracker_verdict *verdict)
{
	static const struct lt_stack no_stack;
	const struct lock_wait *wait = verdict->priv;
	const struct ending *ending = verdict->out_data;
	struct lt_lock_waker waker;
	struct lt_lock_wait told = {
		.lock = wait->lock,
		.kind = wait->kind,
		.ret = ending->ret,
		.cpu = raw_smp_processor_id(),
	};
	struct lt_lock_holder holder;
	struct lt_stack stack;

	waker_of(&waker, wait, verdict->now_ns);
	holder_at_begin(&holder, wait);
	lt_stack_of_current(&stack, &usecase, 0);
	lt_trace(lock_latency, verdict, current, &told, &holder, &waker, &stack,
		 &no_stack);
}

static void report_pending(const struct latency_tracker_verdict *verdict)
{
	const struct lock_wait *wait = verdict->priv;
	struct lt_lock_waker waker = { .handover = -1, .comm = "-", .pid = -1 };
	struct lt_lock_wait told = { .lock = wait->lock, .kind = wait->kind };
	struct lt_stack stack, holder_stack;
	struct lt_lock_holder holder;
	struct task_struct *task;

	holder_now(&holder, &holder_stack, verdict);
	preempt_disable();
	rcu_read_lock();
	task = lt_task_find(verdict, wait->pid);
	if (task) {
		lt_stack_of_other(&stack, task);
		told.cpu = task_cpu(task);
		trace_lock_latency(verdict, task, &told, &holder, &waker, &stack,
				   &holder_stack);
	}
	rcu_read_unlock();
	preempt_enable();
}

static void report(const struct latency_tracker_verdict *verdict)
{
	if (verdict->flag == LATENCY_TRACKER_ENDED)
		report_ended(verdict);
	else
		report_pending(verdict);
}

/* All ends are of the current task. */
static void ids(const void *key, const void *priv, const void *out_data, u64 *id)
{
	const struct lock_wait *wait = priv;

	id[0] = wait->kind;
	id[1] = lt_group_of_task(current);
}

static void belongs(const struct latency_tracker_verdict *verdict,
		    struct lt_belongs *to)
{
	const struct lock_wait *wait = verdict->priv;

	to->id = wait->kind;
	to->task = verdict->out_data ? current : lt_task_find(verdict, wait->pid);
}

LT_GROUPING(grouping, ids, "kind", "cgroup");

static struct lt_usecase usecase = {
	.name = "lock",
	.owner = THIS_MODULE,
	LT_PROBES(probes),
	LT_KEEPS(keeps),
	.report = report,
	.usec_threshold = USEC_THRESHOLD,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct task_struct *),
	.priv_size = sizeof(struct lock_wait),
	.slots = true,
	.grouping = &grouping,
	.group_name = lock_group_name,
	.threshold_names = "a kind of lock, or the path of a control group",
	.threshold_find = lock_threshold_find,
	.belongs = belongs,
};

LT_USECASE_PARAMS(usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_TASK_FILTER_PARAMS(usecase);
LT_LOOK_PARAMS(lock_look);

module_param_cb(kinds, &lt_set_ops, &kinds, 0644);
MODULE_PARM_DESC(kinds, "Track only waits for locks of these kinds, with commas: mutex, semaphore, rwsem_read, rwsem_write, rt_mutex, rwbase_read, rwbase_write, percpu_read, percpu_write, spinlock, rwlock_read, rwlock_write; or all (default: all but the last three)");

static int __init lock_init(void)
{
	int err;

	err = lt_look_at_tasks_start(&lock_look);
	if (err)
		return err;
	err = lt_usecase_start(&usecase);
	if (err)
		lt_look_end(&lock_look);
	return err;
}
module_init(lock_init);

static void __exit lock_exit(void)
{
	lt_usecase_stop(&usecase);
	lt_look_end(&lock_look);
}
module_exit(lock_exit);

MODULE_DESCRIPTION("Time that tasks wait for locks of the kernel, and who held them");
MODULE_LICENSE("GPL");
