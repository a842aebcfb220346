// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes interrupts that take a set time, for tests/guest/irq.
 *
 * It has two lines of its own, without hardware: the line "shared" with two
 * handlers, the line "outer" with one that is interrupted, so to speak, by the
 * line "shared". And it has tasklets, which run in the soft interrupts HI and
 * TASKLET.
 *
 * A command is written to the parameter "run" and is over when the write
 * returns; reading the parameter then tells what happened, as NAME=VALUE on one
 * line, in ns of the trackers' clock. Milliseconds; at most SPIN_MAX_MS each.
 *
 *	irq CPU A B	the shared line on CPU, as a hard interrupt if that is
 *			not the present one: its handlers take A and B, and the
 *			second wakes this task
 *	nest CPU O A B	the outer line: its handler takes O, and the shared line
 *			comes in the middle of that
 *	softirq HI B N R	N (up to TASKLETS) tasklets are scheduled, B apart,
 *			while soft interrupts are disabled here, and B later
 *			they are enabled; each tasklet takes R. HI is 1 for HI,
 *			0 for TASKLET.
 *	during R A	a tasklet that takes R; in the middle of it comes the
 *			shared line, whose first handler takes A and schedules
 *			another tasklet of R
 *	tasklet CPU R	a tasklet on CPU that takes R, and wakes this task
 *	line IRQ	any line, as if its hardware had raised it
 *	self N MS	N times, a hard interrupt wakes this task on its own CPU when
 *			it is about to sleep, so that it does not; then it runs for MS
 *	other N MS CPU W	the same, on that CPU, and W behind
 *	resched		the scheduler is to look for another task when this one goes
 *			back to user space, if there is one or not
 *	tick MS		a timer of this CPU that schedules a tasklet every
 *			TICKER_NSEC, for so long, or until it is moved elsewhere
 *			because the CPU goes
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/kernel.h>
#include <linux/kernel_stat.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "wrapper/hrtimer.h"
#include "wrapper/irq_work.h"

#define SPIN_MAX_MS	2000
#define TICKER_NSEC	(200 * NSEC_PER_USEC)
#define TASKLETS	3
#define SELF_MAX	100
#define WORDS		4

static u64 clock(void)
{
	return ktime_get_mono_fast_ns();
}

static void spin_until(u64 end)
{
	while (clock() < end)
		cpu_relax();
}

/* Something that takes a set time. */
struct stage {
	u64 ms;
	u64 begin;	/* ns */
	u64 end;
};

static void stage_half(struct stage *stage)
{
	stage->begin = clock();
	spin_until(stage->begin + stage->ms * NSEC_PER_MSEC / 2);
}

static void stage_end(struct stage *stage)
{
	spin_until(stage->begin + stage->ms * NSEC_PER_MSEC);
	stage->end = clock();
}

static void stage_all(struct stage *stage)
{
	stage_half(stage);
	stage_end(stage);
}

/* Lines. */

static bool steal;
module_param(steal, bool, 0600);
MODULE_PARM_DESC(steal, "Count the time of the command irq as if a hypervisor took the CPU");

static DECLARE_COMPLETION(handled);
static int line_shared, line_outer;
static struct stage first, second, outer;
static u64 before, after;
static bool nest, schedule_more;

/* A tasklet that takes a set time: run_tasklet() */
struct job {
	struct tasklet_struct tasklet;
	struct stage stage;
	u64 before;	/* when it was going to be scheduled, ns */
	u64 after;	/* when it had been */
};

static struct job jobs[TASKLETS], more;

static void schedule_job(struct job *job, bool hi)
{
	job->before = clock();
	if (hi)
		tasklet_hi_schedule(&job->tasklet);
	else
		tasklet_schedule(&job->tasklet);
	job->after = clock();
}

static irqreturn_t handle_first(int irq, void *dev)
{
	stage_half(&first);
	if (schedule_more)
		schedule_job(&more, false);
	stage_end(&first);
	return IRQ_NONE;
}

static irqreturn_t handle_second(int irq, void *dev)
{
	stage_all(&second);
	complete(&handled);
	return IRQ_HANDLED;
}

static irqreturn_t handle_outer(int irq, void *dev)
{
	stage_half(&outer);
	generic_handle_irq(line_shared);
	stage_end(&outer);
	return IRQ_HANDLED;
}

/* In a hard interrupt. */
static void raise_line(void *unused)
{
	before = clock();
	generic_handle_irq(nest ? line_outer : line_shared);
	if (steal)	/* as the tick behind it would */
		kcpustat_this_cpu->cpustat[CPUTIME_STEAL] += clock() - before;
	WRITE_ONCE(after, clock());
}

/*
 * On @cpu. The caller sleeps meanwhile: its CPU may be the only one that is left
 * for others. The line's second handler wakes it.
 */
static int raise_line_on(int cpu)
{
	static call_single_data_t csd = { .func = raise_line };
	int err;

	after = 0;
	reinit_completion(&handled);
	err = smp_call_function_single_async(cpu, &csd);
	if (!err)
		wait_for_completion(&handled);
	while (!err && !READ_ONCE(after))
		usleep_range(500, 1000);
	return err;
}

static void raise_line_work(struct irq_work *work)
{
	raise_line(NULL);
}

static struct irq_work line_work;

/* Tasklets. */

static bool interrupt_me;

static void run_tasklet(struct tasklet_struct *tasklet)
{
	struct job *job = container_of(tasklet, struct job, tasklet);

	stage_half(&job->stage);
	if (interrupt_me && job == jobs) {
		irq_work_queue(&line_work);
		while (!READ_ONCE(after))
			cpu_relax();
	}
	stage_end(&job->stage);
	if (job == &more)
		complete(&handled);
}

/* Until all have run. */
static void wait_for_tasklets(void)
{
	unsigned int i;

	for (i = 0; i < TASKLETS; i++)
		tasklet_kill(&jobs[i].tasklet);
	tasklet_kill(&more.tasklet);
}

/* A CPU that goes has this tasklet scheduled; it does not run there any more. */

static struct hrtimer ticker;
static struct tasklet_struct ticked;
static unsigned int ticker_cpu;
static u64 ticker_end;

static void run_ticked(struct tasklet_struct *tasklet)
{
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	if (smp_processor_id() != ticker_cpu || clock() > ticker_end)
		return HRTIMER_NORESTART;
	tasklet_schedule(&ticked);
	hrtimer_forward_now(timer, TICKER_NSEC);
	return HRTIMER_RESTART;
}

/* Commands: each says what it has done in @text. */

static char text[512];

static int raise_and_tell(int cpu)
{
	int err = raise_line_on(cpu);

	snprintf(text, sizeof(text),
		 "irq=%d outer=%d before=%llu begin=%llu begin1=%llu end1=%llu begin2=%llu end2=%llu end=%llu after=%llu",
		 line_shared, line_outer, before, outer.begin, first.begin,
		 first.end, second.begin, second.end, outer.end, after);
	return err;
}

static int cmd_irq(const int *arg)
{
	nest = false;
	first.ms = arg[1];
	second.ms = arg[2];
	return raise_and_tell(arg[0]);
}

static int cmd_nest(const int *arg)
{
	nest = true;
	outer.ms = arg[1];
	first.ms = arg[2];
	second.ms = arg[3];
	return raise_and_tell(arg[0]);
}

static int cmd_softirq(const int *arg)
{
	u64 enable, enabled;
	int i, last = arg[2] - 1;

	if (arg[0] > 1 || last < 0 || last >= TASKLETS)
		return -EINVAL;
	interrupt_me = false;
	local_bh_disable();
	for (i = 0; i <= last; i++) {
		jobs[i].stage.ms = arg[3];
		schedule_job(&jobs[i], arg[0]);
		spin_until(clock() + arg[1] * NSEC_PER_MSEC);
	}
	enable = clock();
	local_bh_enable();
	wait_for_tasklets();
	enabled = clock();
	snprintf(text, sizeof(text),
		 "before=%llu after=%llu last=%llu enable=%llu begin=%llu end=%llu enabled=%llu",
		 jobs[0].before, jobs[0].after, jobs[last].before, enable,
		 jobs[0].stage.begin, jobs[last].stage.end, enabled);
	return 0;
}

static int cmd_during(const int *arg)
{
	u64 enable;

	nest = false;
	interrupt_me = true;
	schedule_more = true;
	first.ms = arg[1];
	second.ms = 0;
	more.stage.ms = arg[0];
	jobs[0].stage.ms = arg[0];
	after = 0;
	local_bh_disable();
	schedule_job(&jobs[0], false);
	enable = clock();
	local_bh_enable();
	wait_for_tasklets();
	interrupt_me = false;
	schedule_more = false;
	snprintf(text, sizeof(text),
		 "irq=%d enable=%llu begin=%llu end=%llu before=%llu begin1=%llu end1=%llu begin2=%llu more_before=%llu more_after=%llu more_begin=%llu more_end=%llu",
		 line_shared, enable, jobs[0].stage.begin, jobs[0].stage.end,
		 before, first.begin, first.end, second.begin, more.before,
		 more.after, more.stage.begin, more.stage.end);
	return 0;
}

static void schedule_more_here(void *unused)
{
	schedule_job(&more, false);
}

static int cmd_tasklet(const int *arg)
{
	int err;

	more.stage.ms = arg[1];
	reinit_completion(&handled);
	err = smp_call_function_single(arg[0], schedule_more_here, NULL, 0);
	if (!err)
		wait_for_completion(&handled);
	wait_for_tasklets();
	text[0] = 0;
	return err;
}

static int cmd_line(const int *arg)
{
	int err;

	before = clock();
	err = irq_inject_interrupt(arg[0]);
	after = clock();
	snprintf(text, sizeof(text), "irq=%d before=%llu after=%llu", arg[0],
		 before, after);
	return err;
}

/* A task that is woken before it has left its CPU. */

static struct task_struct *sleeper;
static bool woken;

static void wake_sleeper(struct irq_work *work)
{
	wake_up_process(sleeper);
	WRITE_ONCE(woken, true);
}

static struct irq_work wake_work;

static void wake_from_other(void *wait)
{
	spin_until(clock() + *(const int *)wait * NSEC_PER_MSEC);
	wake_sleeper(NULL);
}

/* @cpu: what wakes it is there, after @wait ms; negative: here. */
static int wake_early(int times, int ms, int cpu, int wait)
{
	int err = 0;

	if (times > SELF_MAX)
		return -EINVAL;
	sleeper = current;
	while (!err && times--) {
		woken = false;
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (cpu < 0)
			irq_work_queue(&wake_work);
		else
			err = smp_call_function_single(cpu, wake_from_other,
						       &wait, 0);
		while (!err && !READ_ONCE(woken))
			cpu_relax();
		if (!err)
			schedule();
		__set_current_state(TASK_RUNNING);
		spin_until(clock() + ms * NSEC_PER_MSEC);
	}
	snprintf(text, sizeof(text), "pid=%d", current->pid);
	return err;
}

static int cmd_self(const int *arg)
{
	return wake_early(arg[0], arg[1], -1, 0);
}

static int cmd_other(const int *arg)
{
	return wake_early(arg[0], arg[1], arg[2], arg[3]);
}

static int cmd_resched(const int *arg)
{
	local_irq_disable();
	set_tsk_need_resched(current);
	set_preempt_need_resched();
	local_irq_enable();
	text[0] = 0;
	return 0;
}

static int cmd_tick(const int *arg)
{
	hrtimer_cancel(&ticker);
	ticker_end = clock() + arg[0] * NSEC_PER_MSEC;
	ticker_cpu = get_cpu();
	hrtimer_start(&ticker, TICKER_NSEC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	put_cpu();
	snprintf(text, sizeof(text), "cpu=%u end=%llu", ticker_cpu, ticker_end);
	return 0;
}

static const struct {
	const char *name;
	int args;
	int times;	/* from which on arguments are times to spin */
	int (*run)(const int *arg);
} commands[] = {
	{ "irq", 3, 1, cmd_irq },
	{ "nest", 4, 1, cmd_nest },
	{ "softirq", 4, 1, cmd_softirq },
	{ "during", 2, 0, cmd_during },
	{ "tasklet", 2, 1, cmd_tasklet },
	{ "line", 1, 1, cmd_line },
	{ "self", 2, 1, cmd_self },
	{ "other", 4, 1, cmd_other },
	{ "resched", 0, 0, cmd_resched },
	{ "tick", 1, 1, cmd_tick },
};

static int run_set(const char *val, const struct kernel_param *kp)
{
	int i, n, arg[WORDS];
	char name[16];

	n = sscanf(val, "%15s %d %d %d %d", name, &arg[0], &arg[1], &arg[2],
		   &arg[3]) - 1;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (n == commands[i].args && !strcmp(name, commands[i].name))
			break;
	}
	if (i == ARRAY_SIZE(commands))
		return -EINVAL;
	while (--n >= 0) {
		if (arg[n] < 0 ||
		    (n >= commands[i].times && arg[n] > SPIN_MAX_MS))
			return -EINVAL;
	}
	return commands[i].run(arg);
}

static int run_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", text);
}

static const struct kernel_param_ops run_ops = {
	.set = run_set,
	.get = run_get,
};
module_param_cb(run, &run_ops, NULL, 0600);

/* Life. */

static int new_lines(void)
{
	/* With an owner, each request would hold this module. */
	int irq = __irq_alloc_descs(-1, 0, 2, NUMA_NO_NODE, NULL, NULL);

	if (irq < 0)
		return irq;
	line_shared = irq;
	line_outer = irq + 1;
	for (; irq <= line_outer; irq++) {
		irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
		irq_clear_status_flags(irq, IRQ_NOREQUEST | IRQ_NOPROBE);
	}
	return 0;
}

static const struct {
	int *line;
	irq_handler_t handler;
	const char *name;
} handlers[] = {
	{ &line_shared, handle_first, "lt first" },
	{ &line_shared, handle_second, "lt second" },
	{ &line_outer, handle_outer,
	  "lt outer, whose name is far longer than reports have room for" },
};

/* The first @n of them. */
static void free_handlers(int n)
{
	while (--n >= 0)
		free_irq(*handlers[n].line, handlers[n].handler);
}

static int request_handlers(void)
{
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(handlers) && !err; i++)
		err = request_irq(*handlers[i].line, handlers[i].handler,
				  IRQF_SHARED | IRQF_NO_THREAD, handlers[i].name,
				  handlers[i].handler);
	if (err)
		free_handlers(i - 1);
	return err;
}

static int __init inject_init(void)
{
	int i, err;

	for (i = 0; i < TASKLETS; i++)
		tasklet_setup(&jobs[i].tasklet, run_tasklet);
	tasklet_setup(&more.tasklet, run_tasklet);
	tasklet_setup(&ticked, run_ticked);
	lt_hrtimer_setup(&ticker, tick, CLOCK_MONOTONIC,
			 HRTIMER_MODE_REL_PINNED_HARD);
	lt_init_irq_work_hard(&line_work, raise_line_work);
	lt_init_irq_work_hard(&wake_work, wake_sleeper);
	err = new_lines();
	if (err)
		return err;
	err = request_handlers();
	if (err)
		irq_free_descs(line_shared, 2);
	return err;
}

static void __exit inject_exit(void)
{
	hrtimer_cancel(&ticker);
	tasklet_kill(&ticked);
	wait_for_tasklets();
	irq_work_sync(&line_work);
	irq_work_sync(&wake_work);
	free_handlers(ARRAY_SIZE(handlers));
	irq_free_descs(line_shared, 2);
}

module_init(inject_init);
module_exit(inject_exit);
MODULE_DESCRIPTION("Interrupts of a set duration, for tests");
MODULE_LICENSE("GPL");
