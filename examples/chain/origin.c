// SPDX-License-Identifier: GPL-2.0-only
/*
 * What wakes tasks here: a timer that expires, or the handler of a line and what follows from it.
 *
 * While a timer expires, or a handler of the line runs, the CPU has a note of it, in hard and in
 * soft interrupts apart. A note is passed on: to the soft interrupts that the handler raises on its
 * CPU, until they have run; and to the thread of the handler, until that sleeps, and to a second
 * one that this wakes. What comes meanwhile for the same vector or thread is served by the same
 * run: the first one counts.
 *
 * On PREEMPT_RT a task may preempt a soft interrupt. So a note of a soft interrupt is that of the
 * task in whose name it runs.
 */
#include <linux/ctype.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "examples/chain/chain.h"
#include "latency_tracker.h"
#include "usecase/filter.h"
#include "usecase/task.h"
#include "wrapper/irq.h"
#include "wrapper/timer.h"

/* Threads of handlers of the line. */
#define NR_THREADS	16

static struct lt_choice irq_filter = {
	.value = LT_CHOICE_NONE,
	.usecase = &chain_usecase,
	.none = true,
};
module_param_cb(irq, &lt_choice_ops, &irq_filter, 0644);
MODULE_PARM_DESC(irq, "Follow what this line of interrupts wakes, or empty: any line (default none: what timers wake)");

static atomic_t lost;

static int lost_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&lost));
}

static const struct kernel_param_ops lost_ops = { .get = lost_get };

module_param_cb(lost, &lost_ops, NULL, 0444);
MODULE_PARM_DESC(lost, "How often it was not known any more which interrupt or timer a soft interrupt or thread serves");

/**
 * struct note - what is served
 * @origin: what is known of it
 * @task: in whose name; NULL: nothing is served
 */
struct note {
	struct lt_chain_origin origin;
	const struct task_struct *task;
};

/**
 * struct notes - those of a CPU
 * @hard: in a hard interrupt
 * @soft: in a soft interrupt
 * @raised: by vector: what has raised it, until it runs
 */
struct notes {
	struct note hard;
	struct note soft;
	struct note raised[NR_SOFTIRQS];
};

static DEFINE_PER_CPU(struct notes, notes);

/**
 * struct thread - of a handler
 * @task: the thread; NULL: free. Stays until the task is gone.
 * @is_busy: it has not slept since @origin: the handler writes it while this is not set,
 *	the thread itself reads it while it is
 * @origin: why it was woken
 */
struct thread {
	const struct task_struct *task;
	bool is_busy;
	struct lt_chain_origin origin;
};

static struct thread threads[NR_THREADS];
/* There is one among them. */
static bool has_threads;

/* A soft interrupt stays on its CPU, though it may be preempted. */
static struct note *note_here(void)
{
	struct notes *here = raw_cpu_ptr(&notes);

	return hardirq_count() ? &here->hard : &here->soft;
}

static void write_note(struct note *note, const struct lt_chain_origin *origin)
{
	/* A task that preempts this finds another task's, or none. */
	WRITE_ONCE(note->task, NULL);
	barrier();
	note->origin = *origin;
	barrier();
	WRITE_ONCE(note->task, current);
}

static struct lt_chain_origin begins_now(const void *function, int irq)
{
	struct lt_chain_origin origin = {
		.handler_ns = latency_tracker_clock(),
		.function = function,
		.irq = irq,
		.cpu = raw_smp_processor_id(),
		.pid = current->pid,
		.via = hardirq_count() ? LT_CHAIN_HARDIRQ : LT_CHAIN_SOFTIRQ,
	};

	origin.start_ns = origin.handler_ns;
	memcpy(origin.comm, current->comm, TASK_COMM_LEN);
	return origin;
}

void chain_timer_begins(struct hrtimer *timer)
{
	struct note *note = note_here();
	struct lt_chain_origin origin;

	if (READ_ONCE(irq_filter.value) != LT_CHOICE_NONE)
		return;
	/* Two soft interrupts of a CPU, with PREEMPT_RT. */
	if (unlikely(READ_ONCE(note->task) && note->task != current))
		atomic_inc(&lost);
	origin = begins_now(lt_hrtimer_function(timer), -1);
	origin.start_ns = min(lt_hrtimer_expiry(timer), origin.handler_ns);
	origin.slack_ns = lt_hrtimer_slack(timer);
	write_note(note, &origin);
}

/* Whatever the parameter is by now. On some machines a line is that of all timers. */
void probe_hrtimer_expire_exit(void *data, struct hrtimer *timer)
{
	struct note *note = note_here();

	if (note->task == current && note->origin.irq < 0)
		WRITE_ONCE(note->task, NULL);
}

void probe_irq_handler_entry(void *data, int irq, struct irqaction *action)
{
	struct lt_chain_origin origin;

	if (!lt_choice_passes(&irq_filter, irq))
		return;
	origin = begins_now(action->handler, irq);
	write_note(note_here(), &origin);
}

static struct thread *thread_of(const struct task_struct *task)
{
	int i;

	if (likely(!READ_ONCE(has_threads)) || !(task->flags & PF_KTHREAD))
		return NULL;
	for (i = 0; i < NR_THREADS; i++) {
		if (READ_ONCE(threads[i].task) == task)
			return &threads[i];
	}
	return NULL;
}

static struct thread *new_thread(const struct task_struct *task)
{
	int i;

	for (i = 0; i < NR_THREADS; i++) {
		/* Pairs with chain_thread_gone(): what it wrote comes before. */
		if (!READ_ONCE(threads[i].task) &&
		    !cmpxchg(&threads[i].task, NULL, task)) {
			WRITE_ONCE(has_threads, true);
			return &threads[i];
		}
	}
	return NULL;
}

/* A handler of a line does not run on two CPUs at once. */
static void pass_to_thread(const struct task_struct *task,
			   const struct lt_chain_origin *origin)
{
	struct thread *thread;

	thread = thread_of(task) ?: new_thread(task);
	if (!thread) {
		atomic_inc(&lost);
		return;
	}
	if (smp_load_acquire(&thread->is_busy))	/* pairs with chain_thread_sleeps() */
		return;
	thread->origin = *origin;
	thread->origin.via = LT_CHAIN_THREAD;
	smp_store_release(&thread->is_busy, true);	/* pairs with chain_origin_here() */
}

/*
 * With PREEMPT_RT and threadirqs a handler runs in a thread, and if the driver has one of its own,
 * that one is woken there, and named so: irq/NUMBER-s-NAME.
 */
static bool is_secondary(const struct task_struct *task)
{
	const char *name = task->comm;

	if (!(task->flags & PF_KTHREAD) || !strstarts(name, "irq/"))
		return false;
	for (name += strlen("irq/"); isdigit(*name); name++)
		;
	return strstarts(name, "-s-");
}

/**
 * chain_is_passed_on() - is a task that is woken only to go on with what is served?
 * @task: the task
 * @origin: what is served, of chain_origin_here()
 *
 * What such a thread wakes is told then. The soft interrupts that ksoftirqd and ktimers run have
 * their note already; with PREEMPT_RT the end of any interrupt wakes these, and seems to be the
 * thread of a handler that it has interrupted.
 *
 * Context: Where a task is woken: interrupts are off.
 */
bool chain_is_passed_on(const struct task_struct *task,
			const struct lt_chain_origin *origin)
{
	if (lt_task_runs_softirqs(task))
		return true;
	if (origin->via != LT_CHAIN_THREAD || !is_secondary(task))
		return false;
	pass_to_thread(task, origin);
	return true;
}

void probe_irq_handler_exit(void *data, int irq, struct irqaction *action,
			    int ret)
{
	struct note *note = note_here();

	if (!note->task || note->origin.irq < 0)
		return;
	if (ret == IRQ_WAKE_THREAD && action->thread)
		pass_to_thread(action->thread, &note->origin);
	WRITE_ONCE(note->task, NULL);
}

void probe_softirq_raise(void *data, unsigned int vec)
{
	const struct lt_chain_origin *origin = chain_origin_here();
	struct note *raised = &raw_cpu_ptr(&notes)->raised[vec];

	if (origin && origin->irq >= 0 && !raised->task)
		write_note(raised, origin);
}

void probe_softirq_entry(void *data, unsigned int vec)
{
	struct notes *here = raw_cpu_ptr(&notes);
	struct note *raised = &here->raised[vec];

	if (likely(!raised->task))
		return;
	raised->origin.via = LT_CHAIN_SOFTIRQ;
	write_note(&here->soft, &raised->origin);
	WRITE_ONCE(raised->task, NULL);
}

void probe_softirq_exit(void *data, unsigned int vec)
{
	struct note *note = &raw_cpu_ptr(&notes)->soft;

	if (note->task == current)
		WRITE_ONCE(note->task, NULL);
}

/* Is that what is to be followed, by the parameter as it is now? */
bool chain_origin_is_wanted(const struct lt_chain_origin *origin)
{
	if (origin->irq < 0)
		return READ_ONCE(irq_filter.value) == LT_CHOICE_NONE;
	return lt_choice_passes(&irq_filter, origin->irq);
}

/**
 * chain_origin_here() - what is served here, if it is followed
 *
 * Context: Where a task is woken, or a soft interrupt raised: interrupts are off.
 * Return: valid until the caller returns; NULL: nothing.
 */
const struct lt_chain_origin *chain_origin_here(void)
{
	const struct note *note = note_here();
	struct thread *thread;

	if (note->task == current)
		return &note->origin;
	if (hardirq_count() || in_serving_softirq())
		return NULL;
	thread = thread_of(current);
	if (likely(!thread))
		return NULL;
	if (smp_load_acquire(&thread->is_busy))	/* pairs with pass_to_thread() */
		return &thread->origin;
	if (chain_origin_is_wanted(&thread->origin))
		atomic_inc(&lost);
	return NULL;
}

/* @task has been served. */
void chain_thread_sleeps(const struct task_struct *task)
{
	struct thread *thread = thread_of(task);

	if (thread)
		smp_store_release(&thread->is_busy, false);	/* pairs with pass_to_thread() */
}

/* Before its memory is freed. */
void chain_thread_gone(const struct task_struct *task)
{
	struct thread *thread = thread_of(task);

	if (!thread)
		return;
	WRITE_ONCE(thread->is_busy, false);
	smp_store_release(&thread->task, NULL);	/* pairs with new_thread() */
}
