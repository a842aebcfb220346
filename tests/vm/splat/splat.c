// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known-bad cases for the lab: each must be caught by scripts/vm-run.
 *
 *	insmod splat.ko how=warn	a WARNING while the command runs
 *	insmod splat.ko how=later	a WARNING shortly after insmod has returned
 *	insmod splat.ko how=atomic	sleeps with preemption off
 *	insmod splat.ko how=oops	a NULL pointer is written to
 *	insmod splat.ko how=int3	x86: a breakpoint of nobody's
 *	insmod splat.ko how=stale	x86: one that is not in memory, as far as the
 *					kernel can tell
 */
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/timer.h>

static char *how = "warn";
module_param(how, charp, 0444);
MODULE_PARM_DESC(how, "warn, later, atomic, oops, int3 or stale");

#ifdef CONFIG_X86
static void break_here(void)
{
	asm volatile("int3");
}

/*
 * "int $3" in its long form: the exception is the same, the byte is not. Where kprobes
 * take that for one of theirs that is gone, they go back by one byte, and the "clc"
 * behind it becomes an "add".
 */
static void break_stale(void)
{
	asm volatile(".byte 0xcd, 0x03, 0xf8" : : : "edi", "cc");
}
#else
static void break_here(void)
{
}

static void break_stale(void)
{
}
#endif

static void splat_timer_fn(struct timer_list *timer)
{
	WARN(1, "splat: later");
}

static DEFINE_TIMER(splat_timer, splat_timer_fn);

static int __init splat_init(void)
{
	if (!strcmp(how, "warn")) {
		WARN(1, "splat: at once");
	} else if (!strcmp(how, "later")) {
		mod_timer(&splat_timer, jiffies + msecs_to_jiffies(100));
	} else if (!strcmp(how, "atomic")) {
		preempt_disable();
		/*
		 * Where that is not counted, this is. Not on PREEMPT_RT, where
		 * the timer waits for the CPU that has done this.
		 */
		if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
			local_bh_disable();
		msleep(20);
		if (softirq_count())	/* else it was reset with the report */
			local_bh_enable();
		preempt_enable();
	} else if (!strcmp(how, "oops")) {
		WRITE_ONCE(*(int *)NULL, 1);
	} else if (!strcmp(how, "int3")) {
		break_here();
	} else if (!strcmp(how, "stale")) {
		break_stale();
	} else {
		return -EINVAL;
	}
	return 0;
}
module_init(splat_init);

/* No module_exit(): the timer must not outlive the module. */

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Kernel splats on demand, to test the lab");
