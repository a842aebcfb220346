// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has woken a task.
 *
 * The probe of sched_waking writes it, with p->pi_lock held, to the event of the
 * very interval: a task that runs has no event. What the task was woken by is
 * what came first; by another wake-up it could not be woken again, as it does not
 * sleep any more. A wake-up that comes before the switch, while the task is on its
 * way to sleep, finds no event, and is unknown.
 *
 * The switch to the task reads it. It comes after the wake-up has put the task
 * on a run queue, and both hold the lock of that run queue. The thread of the
 * tracker may read at the same moment; for it the time is written last.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "examples/offcpu/waker.h"
#include "latency_tracker.h"
#include "usecase/interrupt.h"

#include <trace/events/latency_tracker_offcpu.h>

/* It did not sleep, so nothing wakes it. */
static bool could_run(enum offcpu_state state)
{
	return state == OFFCPU_PREEMPTED || state == OFFCPU_YIELDED ||
	       state == OFFCPU_RUNNABLE;
}

static void no_task(char *comm, pid_t *pid)
{
	memset(comm, 0, TASK_COMM_LEN);
	comm[0] = '-';
	*pid = -1;
}

/**
 * offcpu_waker_note() - a task is woken by what runs here
 * @offcpu: of the task
 * @now: ns of latency_tracker_clock()
 *
 * What an interrupt does is not done by the task that it has interrupted.
 *
 * Context: A probe of sched_waking.
 */
void offcpu_waker_note(struct offcpu *offcpu, u64 now)
{
	if (could_run(offcpu->state) || offcpu->state == OFFCPU_THROTTLED ||
	    offcpu->woken_ns)
		return;
	offcpu->waker_context = lt_context();
	if (offcpu->waker_context == OFFCPU_CONTEXT_TASK) {
		memcpy(offcpu->waker_comm, current->comm, TASK_COMM_LEN);
		offcpu->waker_pid = current->pid;
	} else {
		no_task(offcpu->waker_comm, &offcpu->waker_pid);
	}
	offcpu->waker_irq = lt_interrupt_line();
	offcpu->waker_softirq = offcpu->waker_context == OFFCPU_CONTEXT_SOFTIRQ ?
					lt_interrupt_softirq() : OFFCPU_NO_SOFTIRQ;
	/* The waker comes first; pairs with offcpu_waker_tell(). */
	smp_store_release(&offcpu->woken_ns, now);
}

/**
 * offcpu_waker_tell() - what has woken the task of an event, as far as is known
 * @waker: where to put it
 * @verdict: of a callback
 * @state: why the task is out
 *
 * Context: Any.
 */
void offcpu_waker_tell(struct lt_offcpu_waker *waker,
		       const struct latency_tracker_verdict *verdict,
		       enum offcpu_state state)
{
	const struct offcpu *offcpu = verdict->priv;
	/* Then the waker is there, too; pairs with offcpu_waker_note(). */
	u64 woken = smp_load_acquire(&offcpu->woken_ns);

	if (!woken) {
		no_task(waker->comm, &waker->pid);
		waker->context = OFFCPU_CONTEXT_UNKNOWN;
		waker->irq = -1;
		waker->softirq = OFFCPU_NO_SOFTIRQ;
		waker->runqueue = could_run(state) ? (s64)verdict->delay_ns : -1;
		return;
	}
	memcpy(waker->comm, offcpu->waker_comm, TASK_COMM_LEN);
	waker->pid = offcpu->waker_pid;
	waker->context = offcpu->waker_context;
	waker->irq = offcpu->waker_irq;
	waker->softirq = offcpu->waker_softirq;
	waker->runqueue = verdict->now_ns > woken ? verdict->now_ns - woken : 0;
}
