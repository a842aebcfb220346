// SPDX-License-Identifier: GPL-2.0-only
/*
 * The callers: tasks, and on each CPU a timer in hard interrupt context that
 * starts a soft interrupt and an irq_work, a probe of the scheduler, and NMIs.
 *
 * CPUs that come while this runs get no callers.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "torture.h"
#include "wrapper/hrtimer.h"
#include "wrapper/irq_work.h"
#include "wrapper/nmi.h"
#include "wrapper/sched.h"

#define PERIOD_NS	1000000
/* Rounds each time; those in front of an NMI wait for it. */
#define ROUNDS		8
#define ROUNDS_BRIEF	2

struct tt_cpu {
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	struct irq_work work;
	struct tt_caller *callers[TT_CONTEXTS];
};

static DEFINE_PER_CPU(struct tt_cpu, cpus);
static struct tracepoint *switch_tp;
static bool probing;

static int thread_main(void *arg)
{
	struct tt_thread *thread = arg;

	thread->run(thread->arg);
	complete(&thread->done);
	set_current_state(TASK_IDLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_IDLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

int tt_run(struct tt_thread *thread, void (*run)(void *arg), void *arg,
	   const char *name)
{
	struct task_struct *task;

	thread->run = run;
	thread->arg = arg;
	init_completion(&thread->done);
	task = kthread_run(thread_main, thread, "tt_%s", name);
	thread->task = IS_ERR(task) ? NULL : task;
	return PTR_ERR_OR_ZERO(task);
}

void tt_join(struct tt_thread *thread, enum tt_oracle oracle, const char *why)
{
	if (!thread->task)
		return;
	if (!wait_for_completion_timeout(&thread->done, 20 * HZ)) {
		tt.stuck = true;
		tt_fail(oracle, why, 0, 0);
	} else {
		kthread_stop(thread->task);
	}
	thread->task = NULL;
}

static void park(void)
{
	/* Full barrier, after all that it has counted; pairs with tt_pause(). */
	atomic_inc_return(&tt.parked);
	wait_event_idle(tt.resume, !READ_ONCE(tt.paused) || READ_ONCE(tt.stop));
	atomic_dec(&tt.parked);
}

static void task_caller(void *arg)
{
	struct tt_caller *c = arg;
	unsigned int i;

	for (i = 1; !READ_ONCE(tt.stop); i++) {
		if (READ_ONCE(tt.paused))
			park();
		tt_round(c);
		if (i % 64 == 0)
			cond_resched();
		/* So that what it holds is held over a sleep, too. */
		if (i % 8192 == 0)
			schedule_timeout_idle(1);
	}
}

/*
 * With preemption off, so that synchronize_rcu() waits for it: in softirqs of
 * PREEMPT_RT, too.
 */
static void rounds(enum tt_context context, int n)
{
	struct tt_caller *c;

	preempt_disable_notrace();
	c = this_cpu_ptr(&cpus)->callers[context];
	while (c && n-- && !READ_ONCE(tt.paused) && !READ_ONCE(tt.stop))
		tt_round(c);
	preempt_enable_notrace();
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct tt_cpu *cpu = container_of(timer, struct tt_cpu, timer);

	if (READ_ONCE(tt.stop))
		return HRTIMER_NORESTART;
	rounds(TT_HARDIRQ, ROUNDS);
	tasklet_schedule(&cpu->tasklet);
	irq_work_queue(&cpu->work);
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

static void on_tasklet(struct tasklet_struct *tasklet)
{
	rounds(TT_SOFTIRQ, ROUNDS);
}

static void on_irq_work(struct irq_work *work)
{
	rounds(TT_IRQ_WORK, ROUNDS);
}

static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	rounds(TT_PROBE, ROUNDS_BRIEF);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_switch)

static void find_switch(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "sched_switch"))
		switch_tp = tp;
}

static int start_probe(void)
{
	int err;

	for_each_kernel_tracepoint(find_switch, NULL);
	if (!switch_tp)
		return -ENOENT;
	err = tracepoint_probe_register(switch_tp,
					lt_typed_probe(sched_switch,
						       probe_sched_switch),
					NULL);
	probing = !err;
	return err;
}

static void stop_probe(void)
{
	if (!probing)
		return;
	tracepoint_probe_unregister(switch_tp,
				    lt_typed_probe(sched_switch,
						   probe_sched_switch), NULL);
	tracepoint_synchronize_unregister();
	probing = false;
}

#ifdef LT_HAVE_NMI
static struct tt_thread shower;

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	atomic64_inc(&tt.nmis);
	rounds(TT_NMI, ROUNDS_BRIEF);
	return NMI_HANDLED;
}

static void send_nmis(void *arg)
{
	int cpu;

	while (!READ_ONCE(tt.stop)) {
		for_each_online_cpu(cpu)
			lt_send_nmi(cpu);
		usleep_range(200, 600);
	}
	/* The last ones arrive. */
	msleep(20);
}

static int start_nmis(void)
{
	int err = lt_register_nmi(on_nmi);

	if (err)
		return err;
	err = tt_run(&shower, send_nmis, NULL, "nmi");
	if (err)
		lt_unregister_nmi();
	return err;
}

static void stop_nmis(void)
{
	if (!shower.task)
		return;
	tt_join(&shower, TT_HANG, "the sender of NMIs does not end");
	lt_unregister_nmi();
}
#else
static int start_nmis(void)
{
	return 0;
}

static void stop_nmis(void)
{
}
#endif

static void start_timer(void *arg)
{
	struct tt_cpu *cpu = this_cpu_ptr(&cpus);

	hrtimer_start(&cpu->timer, ns_to_ktime(PERIOD_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* What was started is stopped by tt_stop_callers(), also on an error. */
int tt_start_callers(void)
{
	int i, err = 0;

	for (i = 0; i < TT_TASKS && !err; i++)
		err = tt_run(&tt.callers[i].thread, task_caller, &tt.callers[i],
			     "caller");
	err = err ?: start_probe();
	err = err ?: start_nmis();
	if (!err)
		on_each_cpu(start_timer, NULL, 1);
	return err;
}

void tt_stop_callers(void)
{
	struct tt_caller *c;
	int cpu;

	WRITE_ONCE(tt.stop, true);
	wake_up_all(&tt.resume);
	stop_nmis();
	stop_probe();
	for_each_possible_cpu(cpu) {
		struct tt_cpu *p = per_cpu_ptr(&cpus, cpu);

		hrtimer_cancel(&p->timer);
		tasklet_kill(&p->tasklet);
		irq_work_sync(&p->work);
	}
	for (c = tt.callers; c < tt.callers + TT_TASKS; c++)
		tt_join(&c->thread, TT_HANG, "a caller does not end");
	/* No caller is left. */
	synchronize_rcu();
	if (tt.stuck)
		return;
	for (c = tt.callers; c < tt.callers + tt.nr_callers; c++)
		tt_let_go(c);
}

static int make_caller(struct tt_caller *c, enum tt_context context)
{
	c->context = context;
	c->index = c - tt.callers;
	/* Never 0, and different from the start. */
	c->seed = (tt_seed + c->index + 1) * 0x9e3779b97f4a7c15ULL | 1;
	c->ledger = kvcalloc(TT_LEDGER, sizeof(*c->ledger), GFP_KERNEL);
	return c->ledger ? 0 : -ENOMEM;
}

static int make_cpu(int cpu, struct tt_caller **c)
{
	struct tt_cpu *p = per_cpu_ptr(&cpus, cpu);
	int context, err;

	lt_hrtimer_setup(&p->timer, on_timer, CLOCK_MONOTONIC,
			 HRTIMER_MODE_REL_PINNED_HARD);
	tasklet_setup(&p->tasklet, on_tasklet);
	lt_init_irq_work_hard(&p->work, on_irq_work);
	if (!cpu_online(cpu))
		return 0;
	for (context = TT_TASK + 1; context < TT_CONTEXTS; context++) {
		err = make_caller(*c, context);
		if (err)
			return err;
		p->callers[context] = (*c)++;
	}
	return 0;
}

int tt_make_callers(void)
{
	struct tt_caller *c;
	int cpu, err = 0;

	tt.nr_callers = TT_TASKS + num_possible_cpus() * (TT_CONTEXTS - 1);
	tt.callers = kvcalloc(tt.nr_callers, sizeof(*c), GFP_KERNEL);
	if (!tt.callers)
		return -ENOMEM;
	for (c = tt.callers; c < tt.callers + TT_TASKS && !err; c++)
		err = make_caller(c, TT_TASK);
	for_each_possible_cpu(cpu)
		if (!err)
			err = make_cpu(cpu, &c);
	/* Those of CPUs that are not there were not made. */
	tt.nr_callers = c - tt.callers;
	return err;
}

/* Of the callers in @context; TT_CONTEXTS: of all. */
struct tt_counts tt_sum(enum tt_context context)
{
	const struct tt_caller *c;
	struct tt_counts sum = { };
	unsigned int i;

	for (c = tt.callers; c < tt.callers + tt.nr_callers; c++)
		for (i = 0; i < sizeof(sum) / sizeof(u64); i++)
			if (context == TT_CONTEXTS || context == c->context)
				((u64 *)&sum)[i] +=
					READ_ONCE(((u64 *)&c->count)[i]);
	return sum;
}

void tt_free_callers(void)
{
	unsigned int i;

	for (i = 0; tt.callers && i < tt.nr_callers; i++)
		kvfree(tt.callers[i].ledger);
	kvfree(tt.callers);
	tt.callers = NULL;
}
