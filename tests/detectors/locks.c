// SPDX-License-Identifier: GPL-2.0-only
/*
 * For DEBUG_OBJECTS, PROVE_RCU, DEBUG_ATOMIC_SLEEP and lockdep.
 */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

#include "bad.h"

struct timed {
	struct timer_list timer;
};

static void nothing(struct timer_list *timer)
{
}

int bad_active_timer(void)
{
	struct timed *timed = kzalloc(sizeof(*timed), GFP_KERNEL);

	if (!timed)
		return -ENOMEM;
	timer_setup(&timed->timer, nothing, 0);
	mod_timer(&timed->timer, jiffies + 3600 * HZ);
	/* The detector deletes it after its report. */
	kfree(timed);
	return 0;
}

int bad_rcu(void)
{
	static int __rcu *pointer;

	return rcu_dereference(pointer) ? -EINVAL : 0;
}

int bad_sleep(void)
{
	static DEFINE_SPINLOCK(lock);
	static DEFINE_MUTEX(mutex);

	spin_lock(&lock);
	/* Nobody else has it: it does not sleep, but might. */
	mutex_lock(&mutex);
	mutex_unlock(&mutex);
	spin_unlock(&lock);
	return 0;
}

int bad_inversion(void)
{
	static DEFINE_SPINLOCK(one);
	static DEFINE_SPINLOCK(other);

	spin_lock(&one);
	spin_lock(&other);
	spin_unlock(&other);
	spin_unlock(&one);

	spin_lock(&other);
	spin_lock(&one);
	spin_unlock(&one);
	spin_unlock(&other);
	return 0;
}
