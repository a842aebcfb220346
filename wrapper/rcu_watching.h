/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is RCU watching this CPU, that is, does a grace period wait for us?
 */
#ifndef _LT_WRAPPER_RCU_WATCHING_H
#define _LT_WRAPPER_RCU_WATCHING_H

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/version.h>

/*
 * On x86 code that can be probed runs unwatched in the idle task only: in the
 * idle loop, and while a CPU comes or goes. The way from and to user space is
 * noinstr since 5.8 (8f159f1dfa1e, "x86/entry/common: Protect against
 * instrumentation"). So all others save the call.
 */
static __always_inline bool lt_rcu_is_watching(void)
{
#ifdef CONFIG_X86
	return likely(!is_idle_task(current)) || rcu_is_watching();
#else
	return rcu_is_watching();
#endif
}

/*
 * Code between these two is like that of an idle loop: RCU does not watch it.
 * For tests; interrupts are off.
 *
 * 6.0 (e67198cc05b8, "context_tracking: Take idle eqs entrypoints over RCU")
 * renamed rcu_idle_enter() and rcu_idle_exit().
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
#include <linux/context_tracking.h>
#define lt_rcu_idle_enter()	ct_idle_enter()
#define lt_rcu_idle_exit()	ct_idle_exit()
#else
#define lt_rcu_idle_enter()	rcu_idle_enter()
#define lt_rcu_idle_exit()	rcu_idle_exit()
#endif

#endif /* _LT_WRAPPER_RCU_WATCHING_H */
