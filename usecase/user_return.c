// SPDX-License-Identifier: GPL-2.0-only
/*
 * The moment at which a task is back in user space.
 *
 * A notifier of the kernel belongs to a CPU, and runs once a task returns to user space there. All
 * users share one per CPU. It is registered where one of them watches for the current task, or for
 * the one that this is being switched to. It is unregistered by its first run, which may be due to
 * another task: so users watch again where their task is switched to.
 *
 * Lifetime: lt_user_return_start(), watches, lt_user_return_stop(). After that a user is not called
 * any more, though its probes may still try to watch. With the last user the notifiers go. A CPU
 * that goes off line takes none with it.
 */
#include "usecase/user_return.h"

#ifdef LT_HAVE_USER_RETURN
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
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
static DEFINE_MUTEX(users_lock);	/* the list, where it is written; online_state */
static HLIST_HEAD(users);		/* read with interrupts off */
static enum cpuhp_state online_state;

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
	const struct lt_user_return *user;
	unsigned long flags;

	local_irq_save(flags);
	unwatch(NULL);
	/* Pairs with the synchronize_rcu() of lt_user_return_stop(). */
	hlist_for_each_entry_rcu_notrace(user, &users, node)
		user->returned();
	local_irq_restore(flags);
}

/**
 * lt_user_return_watch() - wait for a task to return to user space
 * @user: which wants to know
 *
 * Of the current task; in a probe of sched_switch, of that which it is being switched to.
 *
 * Context: Any but NMI; preemption off.
 * Return: false if that is not told: @user has stopped, or the CPU goes off line.
 */
bool lt_user_return_watch(const struct lt_user_return *user)
{
	struct watch *watch = this_cpu_ptr(&watches);
	unsigned long flags;
	bool on;

	local_irq_save(flags);
	if (!watch->on && READ_ONCE(user->is_on) && cpu_active(smp_processor_id())) {
		watch->notifier.on_user_return = on_user_return;
		user_return_notifier_register(&watch->notifier);
		watch->on = true;
	}
	on = watch->on && READ_ONCE(user->is_on);
	local_irq_restore(flags);
	return on;
}
EXPORT_SYMBOL_GPL(lt_user_return_watch);

static int cpu_goes(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	unwatch(NULL);
	local_irq_restore(flags);
	return 0;
}

/* For the first user. Returns 0 or an error. */
static int watch_cpus(void)
{
	int state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					      "latency_tracker/user_return:online",
					      NULL, cpu_goes);

	if (state < 0) {
		pr_err("%s: can't watch CPUs go: %d\n", KBUILD_MODNAME, state);
		return state;
	}
	online_state = state;
	return 0;
}

/**
 * lt_user_return_start() - from now on lt_user_return_watch() works
 * @user: a static variable of the module
 *
 * Context: Task, may sleep.
 * Return: 0 or an error, which was logged.
 */
int lt_user_return_start(struct lt_user_return *user)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (hlist_empty(&users))
		err = watch_cpus();
	if (!err) {
		hlist_add_head_rcu(&user->node, &users);
		WRITE_ONCE(user->is_on, true);
	}
	mutex_unlock(&users_lock);
	return err;
}
EXPORT_SYMBOL_GPL(lt_user_return_start);

static bool is_on(int cpu, void *unused)
{
	return READ_ONCE(per_cpu(watches, cpu).on);
}

/**
 * lt_user_return_stop() - the end of lt_user_return_start()
 * @user: it is not called any more on return
 *
 * Context: Task, may sleep.
 */
void lt_user_return_stop(struct lt_user_return *user)
{
	mutex_lock(&users_lock);
	WRITE_ONCE(user->is_on, false);
	hlist_del_rcu(&user->node);
	/* Each watch that has seen it on is registered, and each run that has found it is over. */
	synchronize_rcu();
	if (hlist_empty(&users)) {
		on_each_cpu_cond(is_on, unwatch, NULL, true);
		cpuhp_remove_state_nocalls(online_state);
	}
	mutex_unlock(&users_lock);
}
EXPORT_SYMBOL_GPL(lt_user_return_stop);
#endif /* LT_HAVE_USER_RETURN */
