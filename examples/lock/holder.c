// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who holds a lock, and what that task is doing.
 *
 * The lock says who: the task that waits reads it when it begins to, the thread of the
 * tracker while that task still waits. The lock is no part of the event, so it may be gone
 * when the thread reads it, and what was read be nonsense:
 *
 *	the waiter				the thread
 *	----------				----------
 *	ends the event (full barrier)		rcu_read_lock()
 *	gives the lock back			reads the lock, without a fault
 *	a task frees the lock			smp_rmb()
 *						is the event pending still?
 *						uses the owner
 *						rcu_read_unlock()
 *
 * If it is, the lock was there when it was read, and the owner held it within this RCU
 * read-side section. If not, the owner is unknown, and never looked at.
 *
 * A lock of user space is read in the memory of the waiter, which the thread makes its own
 * for that while; see futex.c. That of a file: see file.c.
 */
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "examples/lock/lock.h"
#include "usecase/usecase.h"
#include "wrapper/sched.h"

struct lt_look lock_look;

static void nobody(struct lt_lock_holder *holder)
{
	*holder = (struct lt_lock_holder){
		.comm = "-",
		.pid = -1,
		.tgid = -1,
		.cpu = -1,
	};
}

/*
 * The task that has the lock, into @owner. A lock of the kernel that the waiter has by now, it has
 * waited for: it is about to say so.
 */
static enum lt_lock_held owner_of(const struct lock_wait *wait,
				  struct task_struct *waiter,
				  struct task_struct **owner)
{
	enum lt_lock_held held;

	if (lock_is_futex(wait))
		return lock_futex_owner(wait, waiter, owner);
	if (lock_is_of_user(wait))
		return lock_file_owner(wait, owner);
	held = lt_lock_owner(wait->lock, wait->kind, owner);
	if (*owner != waiter)
		return held;
	*owner = NULL;
	return LT_LOCK_HELD_UNKNOWN;
}

/* By the waiter. */
void holder_note(struct lock_wait *wait)
{
	struct task_struct *task;

	rcu_read_lock();
	wait->held = owner_of(wait, current, &task);
	if (task) {
		memcpy(wait->holder_comm, task->comm, TASK_COMM_LEN);
		wait->holder_pid = task->pid;
		wait->holder_tgid = task->tgid;
	} else {
		strscpy_pad(wait->holder_comm, "-", TASK_COMM_LEN);
		wait->holder_pid = -1;
		wait->holder_tgid = -1;
	}
	rcu_read_unlock();
}

/* What that has noted. What the task is doing now is no matter any more. */
void holder_at_begin(struct lt_lock_holder *holder, const struct lock_wait *wait)
{
	nobody(holder);
	holder->held = wait->held;
	memcpy(holder->comm, wait->holder_comm, TASK_COMM_LEN);
	holder->pid = wait->holder_pid;
	holder->tgid = wait->holder_tgid;
}

static enum lock_holder_state state_of(const struct task_struct *task)
{
	unsigned int state = lt_task_state(task);

	if (lt_task_on_cpu(task))
		return LOCK_HOLDER_RUNNING;
	if (lt_task_is_runnable(task) || state == TASK_RUNNING)
		return LOCK_HOLDER_RUNNABLE;
	if (lt_state_is_uninterruptible(state))
		return LOCK_HOLDER_BLOCKED;
	return state & TASK_INTERRUPTIBLE ? LOCK_HOLDER_SLEEPING :
					    LOCK_HOLDER_OTHER;
}

/* The lock that the holder waits for itself. */
static bool see_lock(struct latency_tracker_event *event, void *arg)
{
	const struct lock_wait *wait = latency_tracker_event_priv(event);
	struct lt_lock_holder *holder = arg;

	holder->lock = READ_ONCE(wait->lock);
	return false;
}

static void describe(struct lt_lock_holder *holder, struct latency_tracker *tracker,
		     const struct task_struct *task)
{
	memcpy(holder->comm, task->comm, TASK_COMM_LEN);
	holder->pid = task->pid;
	holder->tgid = task->tgid;
	holder->state = state_of(task);
	holder->cpu = task_cpu(task);
	latency_tracker_slot_visit(tracker, lt_task_key(task), see_lock, holder);
}

/* The holder of the lock of a pending event: in an RCU read-side section. */
static struct task_struct *find(struct lt_lock_holder *holder,
				const struct latency_tracker_verdict *verdict)
{
	const struct lock_wait *wait = verdict->priv;
	struct task_struct *waiter = lt_task_find(verdict, wait->pid), *task;
	u32 held;

	if (!waiter)
		return NULL;
	held = owner_of(wait, waiter, &task);
	/* See above; pairs with the end of the event, an atomic operation with a value. */
	smp_rmb();
	if (!lt_is_pending(verdict))
		return NULL;
	holder->held = held;
	if (task)
		describe(holder, verdict->tracker, task);
	return task;
}

/**
 * holder_now() - which task holds the lock of a pending event, and what does it do?
 * @holder: result
 * @stack: its kernel stack; empty if that is not known, or it runs in user space
 * @verdict: of the callback
 *
 * Context: The tracker's thread. May sleep, until a CPU has answered.
 */
void holder_now(struct lt_lock_holder *holder, struct lt_stack *stack,
		const struct latency_tracker_verdict *verdict)
{
	const struct lock_wait *wait = verdict->priv;
	struct mm_struct *mm = NULL;
	struct task_struct *task;
	bool runs;

	nobody(holder);
	stack->first = 0;
	stack->nr = 0;
	if (lock_is_futex(wait)) {
		mm = lock_futex_use_memory(verdict);
		if (!mm)
			return;
	}
	/* A stack that is given up meanwhile stays for a section like this. */
	preempt_disable();
	rcu_read_lock();
	task = find(holder, verdict);
	runs = holder->state == LOCK_HOLDER_RUNNING;
	if (task && !runs)
		lt_stack_of_other(stack, task);
	rcu_read_unlock();
	preempt_enable();
	if (mm)
		lock_futex_unuse_memory(mm);
	/* The address is all that is compared there. */
	if (task && runs)
		lt_look_at_task(&lock_look, stack, task, holder->cpu);
}
