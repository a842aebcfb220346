// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a CPU is just doing, for the name of what has woken a task.
 *
 * The kernel does not keep which interrupt or timer a CPU serves. So each handler of a line, each
 * run of a vector of soft interrupts and each expired timer notes it, for the CPU. Handlers of
 * lines are not interrupted by one another. A soft interrupt may be, but what that wakes is woken
 * by the line. With PREEMPT_RT a task may preempt a soft interrupt: what it wakes is woken by a
 * task.
 *
 * Each of these begins and ends steps a number of its level, hard or soft. What a tracker notes,
 * such as a request of a disk that is completed, is true as long as that number is the same: in
 * the rest of that handler, run or timer. A task notes on a third level, where it is true as long
 * as the task has the CPU.
 *
 * The probes are registered as long as there is a user of them.
 */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "latency_tracker.h"
#include "usecase/data.h"
#include "usecase/interrupt.h"
#include "usecase/probe.h"
#include "wrapper/irq.h"
#include "wrapper/timer.h"

static const char *const softirq_names[] = { LT_SOFTIRQ_NAMES };

static_assert(ARRAY_SIZE(softirq_names) == NR_SOFTIRQS);

enum level {
	LEVEL_HARD,
	LEVEL_SOFT,
	LEVEL_TASK,
	NR_LEVELS,
};

/**
 * struct doing - what a CPU is doing
 * @line: one more than the number of the line; 0: none, or it began before this was on
 * @softirq: likewise of the vector
 * @timer: an expired timer runs on that level
 * @serial: see above; of LEVEL_TASK it is asked of the task
 */
struct doing {
	u32 line;
	u32 softirq;
	bool timer[LEVEL_TASK];
	u32 serial[LEVEL_TASK];
};

static DEFINE_PER_CPU(struct doing, doing);

/**
 * struct noted - what was noted on a level
 * @wait: what is known of it
 * @task: on LEVEL_TASK, by which task; else NULL
 * @serial: it is true as long as that of the level is the same
 * @is_set: there is something
 */
struct noted {
	struct latency_tracker_wait wait;
	const struct task_struct *task;
	u64 serial;
	bool is_set;
};

static DEFINE_PER_CPU(struct noted[NR_LT_DOING][NR_LEVELS], noted);

/**
 * lt_context() - where does this run?
 *
 * An idle CPU does what others have sent it, without being in an interrupt: UNKNOWN.
 *
 * Context: Any.
 * Return: the innermost context.
 */
enum offcpu_context lt_context(void)
{
	if (in_nmi())
		return OFFCPU_CONTEXT_NMI;
	if (hardirq_count())
		return OFFCPU_CONTEXT_HARDIRQ;
	if (in_serving_softirq())
		return OFFCPU_CONTEXT_SOFTIRQ;
	if (is_idle_task(current))
		return OFFCPU_CONTEXT_UNKNOWN;
	return OFFCPU_CONTEXT_TASK;
}
EXPORT_SYMBOL_GPL(lt_context);

static enum level level_here(void)
{
	if (hardirq_count())
		return LEVEL_HARD;
	return in_serving_softirq() ? LEVEL_SOFT : LEVEL_TASK;
}

static void probe_irq_handler_entry(void *data, int irq,
				    struct irqaction *action)
{
	this_cpu_write(doing.line, irq + 1);
	this_cpu_inc(doing.serial[LEVEL_HARD]);
}

static void probe_irq_handler_exit(void *data, int irq,
				   struct irqaction *action, int ret)
{
	this_cpu_write(doing.line, 0);
	this_cpu_inc(doing.serial[LEVEL_HARD]);
}

static void probe_softirq_entry(void *data, unsigned int vec)
{
	this_cpu_write(doing.softirq, vec + 1);
	this_cpu_inc(doing.serial[LEVEL_SOFT]);
}

static void probe_softirq_exit(void *data, unsigned int vec)
{
	this_cpu_write(doing.softirq, 0);
	this_cpu_inc(doing.serial[LEVEL_SOFT]);
}

/* PREEMPT_RT has some in a thread that serves soft interrupts. */
static void timer_begins(bool is_timer)
{
	enum level level = level_here();

	if (level == LEVEL_TASK)
		return;
	this_cpu_write(doing.timer[level], is_timer);
	this_cpu_inc(doing.serial[level]);
}

static void probe_timer_expire_entry(void *data, struct timer_list *timer,
				     unsigned long baseclk)
{
	timer_begins(true);
}

static void probe_timer_expire_exit(void *data, struct timer_list *timer)
{
	timer_begins(false);
}

static void hrtimer_begins(const struct hrtimer *timer)
{
	timer_begins(true);
}

LT_DEFINE_PROBE_HRTIMER_EXPIRE_ENTRY(hrtimer_begins)

static void probe_hrtimer_expire_exit(void *data, struct hrtimer *timer)
{
	timer_begins(false);
}

/**
 * lt_interrupt_line() - which line's handler runs here?
 *
 * Context: Any; between lt_interrupts_get() and lt_interrupts_put().
 * Return: its number, or -1.
 */
int lt_interrupt_line(void)
{
	return (int)this_cpu_read(doing.line) - 1;
}
EXPORT_SYMBOL_GPL(lt_interrupt_line);

/**
 * lt_interrupt_softirq() - which soft interrupt runs here?
 *
 * Context: A soft interrupt; as lt_interrupt_line().
 * Return: its vector, or OFFCPU_NO_SOFTIRQ.
 */
u32 lt_interrupt_softirq(void)
{
	u32 softirq = this_cpu_read(doing.softirq);

	return softirq ? softirq - 1 : OFFCPU_NO_SOFTIRQ;
}
EXPORT_SYMBOL_GPL(lt_interrupt_softirq);

/**
 * lt_softirq_name() - the name of a vector of soft interrupts
 * @vector: its number
 *
 * Context: Any.
 * Return: as in /proc/softirqs; "-" if there is no such vector.
 */
const char *lt_softirq_name(u32 vector)
{
	return vector < NR_SOFTIRQS ? softirq_names[vector] : "-";
}
EXPORT_SYMBOL_GPL(lt_softirq_name);

/**
 * lt_interrupt_is_timer() - is it a timer that has expired?
 *
 * Context: Any; between lt_timers_get() and lt_timers_put().
 * Return: true in the function of a timer, in an interrupt.
 */
bool lt_interrupt_is_timer(void)
{
	enum level level = level_here();

	return level != LEVEL_TASK && this_cpu_read(doing.timer[level]);
}
EXPORT_SYMBOL_GPL(lt_interrupt_is_timer);

static u64 serial_of(enum level level)
{
	if (level == LEVEL_TASK)
		return current->nvcsw + current->nivcsw;
	return this_cpu_read(doing.serial[level]);
}

/* An interrupt that is not among those above has no end that is known. */
static bool has_an_end(enum level level)
{
	switch (level) {
	case LEVEL_HARD:
		return this_cpu_read(doing.line) || this_cpu_read(doing.timer[LEVEL_HARD]);
	case LEVEL_SOFT:
		return this_cpu_read(doing.softirq);
	default:
		return !is_idle_task(current);
	}
}

/**
 * lt_doing_note() - this is what has been completed here
 * @what: of what kind it is
 * @wait: what is known of it
 *
 * Context: Any but NMI; preemption off.
 */
void lt_doing_note(enum lt_doing what, const struct latency_tracker_wait *wait)
{
	enum level level = level_here();
	struct noted *note = &(*this_cpu_ptr(&noted))[what][level];

	note->is_set = false;
	if (!has_an_end(level))
		return;
	note->wait = *wait;
	note->task = level == LEVEL_TASK ? current : NULL;
	note->serial = serial_of(level);
	note->is_set = true;
}
EXPORT_SYMBOL_GPL(lt_doing_note);

/**
 * lt_doing_nothing() - something else has been completed, of which nothing is known
 * @what: of what kind it is
 *
 * Context: As lt_doing_note().
 */
void lt_doing_nothing(enum lt_doing what)
{
	(*this_cpu_ptr(&noted))[what][level_here()].is_set = false;
}
EXPORT_SYMBOL_GPL(lt_doing_nothing);

/**
 * lt_doing_is() - what has been completed here last, in what this CPU is just serving?
 * @what: of what kind
 * @wait: result
 *
 * Context: Any but NMI; preemption off.
 * Return: false if nothing was noted.
 */
bool lt_doing_is(enum lt_doing what, struct latency_tracker_wait *wait)
{
	enum level level = level_here();
	const struct noted *note = &(*this_cpu_ptr(&noted))[what][level];

	if (!note->is_set || note->serial != serial_of(level) ||
	    (level == LEVEL_TASK && note->task != current))
		return false;
	*wait = note->wait;
	return true;
}
EXPORT_SYMBOL_GPL(lt_doing_is);

/* What is noted in another probe of the same moment is of the handler that begins there. */
static struct lt_probe interrupt_probes[] = {
	LT_FIRST_PROBE(softirq_exit),
	LT_FIRST_PROBE(softirq_entry),
	LT_FIRST_PROBE(irq_handler_exit),
	LT_FIRST_PROBE(irq_handler_entry),
};

static struct lt_probe timer_probes[] = {
	LT_FIRST_PROBE(timer_expire_exit),
	LT_FIRST_PROBE(timer_expire_entry),
	LT_FIRST_PROBE(hrtimer_expire_exit),
	LT_FIRST_PROBE(hrtimer_expire_entry),
};

/* For messages. */
static const struct lt_usecase all_users = { .owner = THIS_MODULE };

/* Probes, and how many use them. */
struct service {
	struct lt_probe *probes;
	unsigned int nr;
	unsigned int users;
};

static struct service interrupts = {
	.probes = interrupt_probes,
	.nr = ARRAY_SIZE(interrupt_probes),
};

static struct service timers = {
	.probes = timer_probes,
	.nr = ARRAY_SIZE(timer_probes),
};

static DEFINE_MUTEX(services_lock);	/* users */

static int get(struct service *service)
{
	int err = 0;

	mutex_lock(&services_lock);
	if (!service->users) {
		err = lt_probe_find(&all_users, service->probes, service->nr);
		if (!err)
			err = lt_probe_register(&all_users, service->probes,
						service->nr);
	}
	if (!err)
		service->users++;
	mutex_unlock(&services_lock);
	return err;
}

/* What has begun before the next user comes is not ended for it. */
static void put(struct service *service)
{
	int cpu;

	mutex_lock(&services_lock);
	if (!--service->users) {
		lt_probe_unregister(&all_users, service->probes, service->nr);
		for_each_possible_cpu(cpu) {
			if (service == &interrupts) {
				per_cpu(doing, cpu).line = 0;
				per_cpu(doing, cpu).softirq = 0;
			} else {
				per_cpu(doing, cpu).timer[LEVEL_HARD] = false;
				per_cpu(doing, cpu).timer[LEVEL_SOFT] = false;
			}
		}
	}
	mutex_unlock(&services_lock);
}

/**
 * lt_interrupts_get() - lines and vectors are known from now on
 *
 * Context: Task, may sleep.
 * Return: 0, or an error of the probes.
 */
int lt_interrupts_get(void)
{
	return get(&interrupts);
}
EXPORT_SYMBOL_GPL(lt_interrupts_get);

/**
 * lt_interrupts_put() - the end of lt_interrupts_get()
 *
 * Context: Task, may sleep.
 */
void lt_interrupts_put(void)
{
	put(&interrupts);
}
EXPORT_SYMBOL_GPL(lt_interrupts_put);

/**
 * lt_timers_get() - timers are known from now on
 *
 * Context: Task, may sleep.
 * Return: 0, or an error of the probes.
 */
int lt_timers_get(void)
{
	return get(&timers);
}
EXPORT_SYMBOL_GPL(lt_timers_get);

/**
 * lt_timers_put() - the end of lt_timers_get()
 *
 * Context: Task, may sleep.
 */
void lt_timers_put(void)
{
	put(&timers);
}
EXPORT_SYMBOL_GPL(lt_timers_put);
