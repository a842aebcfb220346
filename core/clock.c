// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of all trackers. See clock.h.
 */
#include <linux/export.h>
#include <linux/spinlock.h>
#include <linux/suspend.h>

#include "core/clock.h"

struct lt_clock lt_clock = { .seq = 1 };
EXPORT_SYMBOL_GPL(lt_clock);

#if LT_CLOCK_HAS_CYCLES

/*
 * Each change of the timekeeper comes under its lock, with interrupts off; an NMI may read
 * meanwhile. @asleep is of two notifiers, hence the lock.
 */
static DEFINE_RAW_SPINLOCK(change_lock);	/* what follows, and writing lt_clock */
static bool asleep;

/* From here on readers go elsewhere. */
static void change_begin(void)
{
	WRITE_ONCE(lt_clock.seq, lt_clock.seq | 1);
	smp_wmb();	/* pairs with the smp_rmb() of latency_tracker_clock() */
}

static void change_end(void)
{
	/* Pairs with the acquire of latency_tracker_clock(). */
	smp_store_release(&lt_clock.seq, lt_clock.seq + 1);
}

/* The timekeeper has changed. */
static int on_change(struct notifier_block *nb, unsigned long was_set, void *arg)
{
	const struct timekeeper *tk = arg;
	const struct tk_read_base *base = &tk->tkr_mono;
	unsigned long flags;

	raw_spin_lock_irqsave(&change_lock, flags);
	change_begin();
	WRITE_ONCE(lt_clock.cycle_last, base->cycle_last);
	WRITE_ONCE(lt_clock.max_cycles, base->clock->max_cycles);
	WRITE_ONCE(lt_clock.mult, base->mult);
	WRITE_ONCE(lt_clock.xtime_units, base->xtime_nsec);
	WRITE_ONCE(lt_clock.base_ns, ktime_to_ns(base->base));
	WRITE_ONCE(lt_clock.shift, base->shift);
	if (likely(!asleep) && lt_clock_is_of_cycles(base))
		change_end();
	raw_spin_unlock_irqrestore(&change_lock, flags);
	return NOTIFY_OK;
}

static struct notifier_block change_block = { .notifier_call = on_change };

/* While the machine sleeps the timekeeper stands still, and the TSC may not. */
static int on_sleep(struct notifier_block *nb, unsigned long what, void *arg)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&change_lock, flags);
	asleep = what == PM_HIBERNATION_PREPARE || what == PM_SUSPEND_PREPARE ||
		 what == PM_RESTORE_PREPARE;
	/* It is of use again with the next change. */
	change_begin();
	raw_spin_unlock_irqrestore(&change_lock, flags);
	return NOTIFY_OK;
}

static struct notifier_block sleep_block = { .notifier_call = on_sleep };

/**
 * lt_clock_start() - be told of changes
 *
 * Context: Task, may sleep.
 * Return: 0; -ENOMEM.
 */
int lt_clock_start(void)
{
	int err = register_pm_notifier(&sleep_block);

	if (err)
		return err;
	err = pvclock_gtod_register_notifier(&change_block);
	if (err)
		unregister_pm_notifier(&sleep_block);
	return err;
}

/**
 * lt_clock_stop() - be told no more
 *
 * Context: Task, may sleep. No tracker is left.
 */
void lt_clock_stop(void)
{
	pvclock_gtod_unregister_notifier(&change_block);
	unregister_pm_notifier(&sleep_block);
}

#else

int lt_clock_start(void)
{
	return 0;
}

void lt_clock_stop(void)
{
}

#endif
