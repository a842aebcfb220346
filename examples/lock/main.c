// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lock latency: from when a task begins to wait for a lock, of the kernel, of user space or
 * on a file, until it has it, or gives up.
 *
 * Default threshold: 10 ms. While it waits past the timeout, and at the end, an event
 * lock_latency has the lock, the stack of the waiter, and three facts about others: who
 * held the lock when the wait began (ended) or holds it now, and does what (pending), and
 * who woke the waiter last, as that task gave the lock back.
 *
 * The kernel tells of a wait for one of its own at contention_begin and contention_end,
 * from 5.19 on. The first comes again when a waiter changes from spinning to sleeping; and
 * within the wait for one lock there may be one for another, such as the spinlock of its
 * list of waiters: the outer one counts. What an interrupt waits for is not tracked.
 *
 * A spinlock is not tracked by default: its waiter would have it for longer, by what
 * the end costs, while others wait. An end does not say of what kind it is, so that of
 * such a wait costs a look-up all the same.
 *
 * The files: holder.c tells who holds a lock, groups.c has the kinds of locks. futex.c, file.c
 * and calls.c see the waits for locks of user space, on files, and of kernels before 5.19.
 */
#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "examples/lock/lock.h"
#include "usecase/filter_set.h"
#include "usecase/usecase.h"
#include "wrapper/filelock.h"
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

static struct lt_set kinds = {
	.mask = GENMASK(NR_LT_LOCKS - 1, 0) & ~BIT(LT_LOCK_IS_SPINLOCK) &
		~BIT(LT_LOCK_IS_RWLOCK_READ) & ~BIT(LT_LOCK_IS_RWLOCK_WRITE) &
		~BIT(LT_LOCK_IS_FUTEX_OTHER),
	.usecase = &lock_usecase,
	.names = lock_kind_names,
	.nr_names = NR_LT_LOCKS,
};

/* Is there one at all? */
static bool see(struct latency_tracker_event *event, void *arg)
{
	return false;
}

/*
 * Is a wait of the current task for a lock of that kind to be tracked? Not within the wait
 * for another one.
 */
static bool is_wanted(struct latency_tracker *tracker, enum lt_lock_kind kind)
{
	struct task_struct *task = current;

	return lt_set_passes(&kinds, BIT(kind)) &&
	       lt_task_passes(&lock_usecase, task) &&
	       lt_task_in_cgroup(&lock_usecase, task) &&
	       !latency_tracker_slot_visit(tracker, lt_task_key(task), see, NULL);
}

/*
 * The current task begins to wait: @seen has the lock and its kind. @regs: of the function
 * that it waits in, where that is hooked. Returns 0 if it is tracked.
 */
int lock_wait_begin(struct latency_tracker *tracker, struct lock_wait *seen,
		    struct pt_regs *regs)
{
	struct lock_wait *wait;

	if (!is_wanted(tracker, seen->kind))
		return -ENOENT;
	holder_note(seen);
	lock_stack_note(seen, regs);
	seen->pid = current->pid;
	preempt_disable_notrace();
	wait = latency_tracker_slot_begin(tracker, lt_task_key(current), 0);
	if (!IS_ERR_OR_NULL(wait)) {
		*wait = *seen;
		latency_tracker_slot_publish(tracker, wait, 0);
	}
	preempt_enable_notrace();
	return IS_ERR_OR_NULL(wait) ? -EAGAIN : 0;
}

/* A wait that ends. */
struct ending {
	struct latency_tracker *tracker;
	const void *lock;
	struct pt_regs *regs;
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

/*
 * The current task does not wait for @lock any more: it has it, or an error. @regs: of a
 * kprobe, or NULL.
 */
void lock_wait_end(struct latency_tracker *tracker, const void *lock, int ret,
		   struct pt_regs *regs)
{
	struct ending ending = {
		.tracker = tracker,
		.lock = lock,
		.regs = regs,
		.ret = ret,
	};
	struct task_struct *task = current;

	if (lt_task_passes(&lock_usecase, task))
		latency_tracker_slot_visit(tracker, lt_task_key(task), end, &ending);
}

#ifdef LT_HAVE_CONTENTION
static void probe_contention_begin(void *data, void *lock, unsigned int flags)
{
	struct lock_wait wait = { .lock = lock, .kind = lt_lock_kind(flags) };

	if (in_task())
		lock_wait_begin(data, &wait, NULL);
}

static void probe_contention_end(void *data, void *lock, int ret)
{
	if (in_task())
		lock_wait_end(data, lock, ret, NULL);
}
#endif

/*
 * The task that wakes the waiter has given the lock back. Another task may take it in
 * between, and give it back before the waiter runs: the kernel does not tell of that.
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
	latency_tracker_slot_visit(data, lt_task_key(task), see_waking, NULL);
}

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	lt_task_gone(data, task);
}

static struct lt_probe probes[] = {
	LT_PROBE(sched_process_free),
	LT_PROBE(sched_waking),
	LT_PROBE(flock_lock_inode),
	LT_PROBE(posix_lock_inode),
#ifdef LT_HAVE_CONTENTION
	LT_PROBE(contention_end),
	LT_PROBE(contention_begin),
#endif
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

/* For critical paths. @until: its end, or now. */
static void describe(struct latency_tracker_wait *told,
		     const struct lock_wait *wait, const struct task_struct *task,
		     u64 begin, u64 until)
{
	*told = (struct latency_tracker_wait){
		.kind = LATENCY_TRACKER_WAIT_LOCK,
		.begin_ns = begin,
		.end_ns = until,
		.where = (unsigned long)wait->lock,
		.pid = task->pid,
		.by_pid = wait->holder_pid,
	};
	memcpy(told->comm, task->comm, TASK_COMM_LEN);
	memcpy(told->by_comm, wait->holder_comm, TASK_COMM_LEN);
	strscpy(told->name, lock_kind_names[wait->kind], sizeof(told->name));
}

/* In time or not. All ends are of the current task. */
static void waited(const struct latency_tracker_verdict *verdict)
{
	struct latency_tracker_wait told;

	describe(&told, verdict->priv, current, verdict->start_ns, verdict->now_ns);
	latency_tracker_wait_publish(&told);
}

static bool waiting(struct latency_tracker *tracker, struct task_struct *task,
		    struct latency_tracker_wait *told)
{
	struct latency_tracker_event *event =
		latency_tracker_get_event(tracker, &task, sizeof(task));

	if (!event)
		return false;
	describe(told, latency_tracker_event_priv(event), task,
		 latency_tracker_event_start(event), latency_tracker_clock());
	latency_tracker_put_event(tracker, event);
	return true;
}

static void report_ended(const struct latency_tracker_verdict *verdict)
{
	static const struct lt_stack no_stack;
	const struct lock_wait *wait = verdict->priv;
	const struct ending *ending = verdict->out_data;
	struct lt_lock_waker waker;
	struct lt_lock_wait told = {
		.lock = wait->lock,
		.ino = wait->ino,
		.dev = wait->dev,
		.kind = wait->kind,
		.ret = ending->ret,
		.cpu = raw_smp_processor_id(),
	};
	struct lt_lock_holder holder;
	struct lt_stack stack;

	waker_of(&waker, wait, verdict->now_ns);
	holder_at_begin(&holder, wait);
	if (!lock_stack_noted(&stack, wait)) {
		if (ending->regs)
			lt_stack_at(&stack, ending->regs);
		else
			lt_stack_of_current(&stack, &lock_usecase, 0);
	}
	lt_trace(lock_latency, verdict, current, &told, &holder, &waker, &stack,
		 &no_stack);
}

/* Not inlined: with KASAN two stacks in one frame are too much. */
static noinline void tell_pending(const struct latency_tracker_verdict *verdict,
				  const struct lt_lock_holder *holder,
				  const struct lt_stack *holder_stack)
{
	const struct lock_wait *wait = verdict->priv;
	struct lt_lock_waker waker = { .handover = -1, .comm = "-", .pid = -1 };
	struct lt_lock_wait told = {
		.lock = wait->lock,
		.ino = wait->ino,
		.dev = wait->dev,
		.kind = wait->kind,
	};
	struct task_struct *task;
	struct lt_stack stack;

	preempt_disable();
	rcu_read_lock();
	task = lt_task_find(verdict, wait->pid);
	if (task) {
		if (!lock_stack_noted(&stack, wait))
			lt_stack_of_other(&stack, task);
		told.cpu = task_cpu(task);
		trace_lock_latency(verdict, task, &told, holder, &waker, &stack,
				   holder_stack);
	}
	rcu_read_unlock();
	preempt_enable();
}

static void report_pending(const struct latency_tracker_verdict *verdict)
{
	struct lt_lock_holder holder;
	struct lt_stack stack;

	holder_now(&holder, &stack, verdict);
	tell_pending(verdict, &holder, &stack);
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

struct lt_usecase lock_usecase = {
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
	.waited = waited,
	.waiting = waiting,
	.is_of_task = true,
};

LT_USECASE_PARAMS(lock_usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_TASK_FILTER_PARAMS(lock_usecase);
LT_LOOK_PARAMS(lock_look);

module_param_cb(kinds, &lt_set_ops, &kinds, 0644);
MODULE_PARM_DESC(kinds, "Track only waits for locks of these kinds, with commas: mutex, semaphore, rwsem_read, rwsem_write, rt_mutex, rwbase_read, rwbase_write, percpu_read, percpu_write, spinlock, rwlock_read, rwlock_write, futex, futex_pi, futex_other, flock, posix; or all (default: all but those of spinlocks and rwlocks, and futex_other)");

static int missed_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lu\n", lock_futex_missed() +
			  lock_file_missed() + lock_calls_missed());
}

static const struct kernel_param_ops missed_ops = {
	.get = missed_get,
};

module_param_cb(missed, &missed_ops, NULL, 0444);
MODULE_PARM_DESC(missed, "How often the begin or the end of a wait was not seen");

/* A kernel that does not allow one of these has the others all the same. */
static void hook_all(void)
{
	if (lock_futex_hook())
		pr_warn("%s: waits for locks of user space are not seen\n",
			KBUILD_MODNAME);
	if (lock_calls_hook())
		pr_warn("%s: waits for locks of the kernel are not seen\n",
			KBUILD_MODNAME);
}

static void unhook_all(void)
{
	lock_calls_unhook();
	lock_futex_unhook();
	lock_file_unhook();
}

static int __init lock_init(void)
{
	int err;

	err = lt_look_at_tasks_start(&lock_look);
	if (err)
		return err;
	err = lt_usecase_start(&lock_usecase);
	if (err)
		goto err_look;
	err = lock_file_hook();
	if (err)
		goto err_usecase;
	hook_all();
	/* What has begun before these were hooked may have ended unseen. */
	latency_tracker_clear(lock_usecase.tracker);
	return 0;
err_usecase:
	lt_usecase_stop(&lock_usecase);
err_look:
	lt_look_end(&lock_look);
	return err;
}
module_init(lock_init);

static void __exit lock_exit(void)
{
	/* None begins, so that none ends unseen. */
	latency_tracker_set_tracking(lock_usecase.tracker, false);
	unhook_all();
	lt_usecase_stop(&lock_usecase);
	lt_look_end(&lock_look);
}
module_exit(lock_exit);

MODULE_DESCRIPTION("Time that tasks wait for locks, and who held them");
MODULE_LICENSE("GPL");
