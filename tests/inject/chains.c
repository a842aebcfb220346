// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes activations of a task with stages of a set duration, for tests/guest/chain.
 *
 * It has lines without hardware, and a thread "lt-waiter" on CPU 1 that sleeps until a line
 * wakes it. A command is written to the parameter "run" and is over when the write returns;
 * reading the parameter then tells what happened, as NAME=VALUE on one line, in ns of the
 * trackers' clock. Milliseconds; at most SPIN_MAX_MS each.
 *
 *	off MS		interrupts are off on this CPU
 *	wake BY A B C	the line comes on this CPU: its handler takes A. Then the waiter is woken by
 *			the handler (BY is 0), by a tasklet of it (1) or by its thread (2), after
 *			B; the waiter takes C, and sleeps again. BY is 3: by its thread, which
 *			then holds a spinlock for C that the waiter takes first. 4: by the
 *			thread of a line whose handlers may be threads, too: its second one then
 *	self C		the handler of the line wakes this task when it is about to sleep, so that
 *			it does not; then it takes C, and sleeps
 *	kernel C	this task sleeps until a timer wakes it, and takes C before it is back in
 *			user space; in the middle of that another task may have the CPU
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#include "wrapper/irq_work.h"

#define SPIN_MAX_MS	2000
#define WORDS		4

enum by {
	BY_HANDLER,
	BY_TASKLET,
	BY_THREAD,
	BY_HOLDER,
	BY_SECOND,
	NR_BY,
};

static int line, line_of_threads;
static int by;
static int ms[3];	/* the handler, what follows, the waiter */
static u64 before, handler, wake, woken, ran, done;
static bool is_over;
static DEFINE_SPINLOCK(held);
static struct task_struct *waiter, *target;
static char text[256];

static u64 clock(void)
{
	return ktime_get_mono_fast_ns();
}

static void spin(int how_long)
{
	u64 end = clock() + how_long * NSEC_PER_MSEC;

	while (clock() < end)
		cpu_relax();
}

static void wake_waiter(void)
{
	spin(ms[1]);
	wake = clock();
	wake_up_process(target);
	WRITE_ONCE(woken, clock());
}

static void run_tasklet(struct tasklet_struct *tasklet)
{
	wake_waiter();
}

static DECLARE_TASKLET(tasklet, run_tasklet);

static irqreturn_t handle(int irq, void *dev)
{
	handler = clock();
	spin(ms[0]);
	switch (by) {
	case BY_HANDLER:
		wake_waiter();
		return IRQ_HANDLED;
	case BY_TASKLET:
		tasklet_schedule(&tasklet);
		return IRQ_HANDLED;
	default:
		return IRQ_WAKE_THREAD;
	}
}

static irqreturn_t handle_in_thread(int irq, void *dev)
{
	u64 end;

	if (by != BY_HOLDER) {
		wake_waiter();
		return IRQ_HANDLED;
	}
	spin_lock(&held);
	wake_waiter();
	end = clock() + SPIN_MAX_MS * NSEC_PER_MSEC;
	while (!READ_ONCE(ran) && clock() < end)
		cpu_relax();
	spin(ms[2]);
	spin_unlock(&held);
	return IRQ_HANDLED;
}

static int wait(void *unused)
{
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		if (!READ_ONCE(wake))
			continue;
		WRITE_ONCE(ran, clock());
		spin_lock(&held);
		spin_unlock(&held);
		spin(ms[2]);
		done = clock();
		smp_store_release(&is_over, true);	/* pairs with cmd_wake() */
	}
	return 0;
}

static int line_of(int how)
{
	return how == BY_SECOND ? line_of_threads : line;
}

static void raise_line(struct irq_work *work)
{
	generic_handle_irq(line_of(by));
}

static struct irq_work line_work;

/* A frame of its own in stacks. */
static noinline int cmd_off(const int *arg)
{
	unsigned long flags;
	u64 end;

	local_irq_save(flags);
	before = clock();
	spin(arg[0]);
	end = clock();
	local_irq_restore(flags);
	snprintf(text, sizeof(text), "before=%llu end=%llu after=%llu", before, end, clock());
	return 0;
}

static void tell(void)
{
	snprintf(text, sizeof(text),
		 "irq=%d pid=%d before=%llu handler=%llu wake=%llu woken=%llu ran=%llu done=%llu",
		 line_of(by), target->pid, before, handler, wake, woken, ran, done);
}

static int cmd_wake(const int *arg)
{
	if (arg[0] >= NR_BY)
		return -EINVAL;
	by = arg[0];
	target = waiter;
	memcpy(ms, arg + 1, sizeof(ms));
	WRITE_ONCE(wake, 0);
	WRITE_ONCE(ran, 0);
	is_over = false;
	before = clock();
	irq_work_queue(&line_work);
	while (!smp_load_acquire(&is_over))	/* pairs with wait() */
		usleep_range(1000, 2000);
	/* It sleeps again. */
	msleep(100);
	tell();
	return 0;
}

static int cmd_self(const int *arg)
{
	by = BY_HANDLER;
	target = current;
	memset(ms, 0, sizeof(ms));
	woken = 0;
	before = clock();
	set_current_state(TASK_UNINTERRUPTIBLE);
	irq_work_queue(&line_work);
	while (!READ_ONCE(woken))
		cpu_relax();
	schedule();
	ran = clock();
	spin(arg[0]);
	done = clock();
	msleep(100);
	tell();
	return 0;
}

static int cmd_kernel(const int *arg)
{
	usleep_range(1000, 1100);
	ran = clock();
	spin(arg[0] / 2);
	schedule();
	spin(arg[0] - arg[0] / 2);
	done = clock();
	snprintf(text, sizeof(text), "ran=%llu done=%llu", ran, done);
	return 0;
}

static int run_set(const char *val, const struct kernel_param *kp)
{
	int arg[WORDS], n, i;
	char name[16];

	n = sscanf(val, "%15s %d %d %d %d", name, &arg[0], &arg[1], &arg[2], &arg[3]) - 1;
	for (i = 0; i < n; i++) {
		if (arg[i] < 0 || arg[i] > SPIN_MAX_MS)
			return -EINVAL;
	}
	if (n == 1 && !strcmp(name, "off"))
		return cmd_off(arg);
	if (n == 1 && !strcmp(name, "self"))
		return cmd_self(arg);
	if (n == 1 && !strcmp(name, "kernel"))
		return cmd_kernel(arg);
	if (n == WORDS && !strcmp(name, "wake"))
		return cmd_wake(arg);
	return -EINVAL;
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

static int new_line(int *nr, unsigned long flags)
{
	static struct irq_affinity_desc affinity;
	int err, irq;

	/* The thread is not where the waiter is: while it holds a spinlock, that must run. */
	cpumask_set_cpu(0, &affinity.mask);
	/* With an owner, the request would hold this module. */
	irq = __irq_alloc_descs(-1, 0, 1, NUMA_NO_NODE, NULL, &affinity);
	if (irq < 0)
		return irq;
	irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
	irq_clear_status_flags(irq, IRQ_NOREQUEST | IRQ_NOPROBE);
	err = request_threaded_irq(irq, handle, handle_in_thread, flags, "lt chain", nr);
	if (err)
		irq_free_descs(irq, 1);
	else
		*nr = irq;
	return err;
}

static void free_line(int *nr)
{
	free_irq(*nr, nr);
	irq_free_descs(*nr, 1);
}

static int __init chains_init(void)
{
	int err;

	lt_init_irq_work_hard(&line_work, raise_line);
	waiter = kthread_create(wait, NULL, "lt-waiter");
	if (IS_ERR(waiter))
		return PTR_ERR(waiter);
	kthread_bind(waiter, 1);
	wake_up_process(waiter);
	err = new_line(&line, IRQF_NO_THREAD);
	if (err)
		goto stop;
	err = new_line(&line_of_threads, 0);
	if (err)
		goto free;
	return 0;

free:
	free_line(&line);
stop:
	kthread_stop(waiter);
	return err;
}

static void __exit chains_exit(void)
{
	irq_work_sync(&line_work);
	free_line(&line);
	free_line(&line_of_threads);
	tasklet_kill(&tasklet);
	kthread_stop(waiter);
}

module_init(chains_init);
module_exit(chains_exit);
MODULE_DESCRIPTION("Activations of a task, for tests");
MODULE_LICENSE("GPL");
