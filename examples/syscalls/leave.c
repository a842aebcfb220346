// SPDX-License-Identifier: GPL-2.0-only
/*
 * The moment at which a task is back in user space.
 *
 * A notifier of the kernel belongs to a CPU, and runs once a task returns to user
 * space there. It is registered for a task that has work to do behind sys_exit,
 * and again where such a task is switched to. It is unregistered by its first run,
 * which may be due to another task.
 *
 * Lifetime: leave_begin(), registrations, leave_stop(), leave_end(). After
 * leave_stop() none is registered, nor will be, so that the probes may go, which
 * still call leave_watch(). A CPU that goes off line takes none with it.
 */
#include "examples/syscalls/call.h"
#include "examples/syscalls/leave.h"

#ifdef LT_HAVE_USER_RETURN
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

/**
 * struct watch - the notifier of a CPU
 * @notifier: the kernel's
 * @on: it is registered
 *
 * Changed by its CPU, with interrupts off.
 */
struct watch {
	struct user_return_notifier notifier;
	bool on;
};

static DEFINE_PER_CPU(struct watch, watches);
static bool watching;
static enum cpuhp_state online_state;

struct marks leave_marks;

static void unwatch(void *unused)
{
	struct watch *watch = this_cpu_ptr(&watches);

	if (watch->on)
		user_return_notifier_unregister(&watch->notifier);
	watch->on = false;
}

/* With interrupts off, as unwatch() wants it: the way to user space is. */
static void on_user_return(struct user_return_notifier *notifier)
{
	unsigned long flags;

	local_irq_save(flags);
	unwatch(NULL);
	syscall_returned();
	local_irq_restore(flags);
}

/*
 * From now on the return of the current task to user space is told, or that of the
 * task that the current one is being switched to. In a section with preemption off.
 * False if nothing watches.
 */
bool leave_watch(void)
{
	struct watch *watch = this_cpu_ptr(&watches);
	unsigned long flags;
	bool on;

	local_irq_save(flags);
	if (!watch->on && READ_ONCE(watching) && cpu_active(smp_processor_id())) {
		watch->notifier.on_user_return = on_user_return;
		user_return_notifier_register(&watch->notifier);
		watch->on = true;
	}
	on = watch->on;
	local_irq_restore(flags);
	return on;
}

static int cpu_goes(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	unwatch(NULL);
	local_irq_restore(flags);
	return 0;
}

/* From now on leave_watch() works. */
int leave_begin(void)
{
	int state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					      "latency_tracker/syscalls:online",
					      NULL, cpu_goes);

	if (state < 0) {
		pr_err("%s: can't watch CPUs go: %d\n", KBUILD_MODNAME, state);
		return state;
	}
	online_state = state;
	WRITE_ONCE(watching, true);
	return 0;
}

static bool is_on(int cpu, void *unused)
{
	return READ_ONCE(per_cpu(watches, cpu).on);
}

/* On return no notifier is registered, nor will be. */
void leave_stop(void)
{
	WRITE_ONCE(watching, false);
	/* Each leave_watch() that has seen it true is over. */
	synchronize_rcu();
	on_each_cpu_cond(is_on, unwatch, NULL, true);
}

void leave_end(void)
{
	cpuhp_remove_state_nocalls(online_state);
}
#endif /* LT_HAVE_USER_RETURN */
