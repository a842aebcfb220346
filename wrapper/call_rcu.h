/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_rcu() for a callback that must not be delayed.
 *
 * 6.2 ("rcu: Make call_rcu() lazy to save power"): where callbacks are
 * offloaded, as on many a real-time machine, call_rcu() may take ten seconds.
 * It brought CONFIG_RCU_LAZY, and call_rcu_hurry() for the other callbacks.
 */
#ifndef _LT_WRAPPER_CALL_RCU_H
#define _LT_WRAPPER_CALL_RCU_H

#include <linux/rcupdate.h>

#ifdef CONFIG_RCU_LAZY
#define lt_call_rcu(head, func)	call_rcu_hurry(head, func)
#else
#define lt_call_rcu(head, func)	call_rcu(head, func)
#endif

#endif /* _LT_WRAPPER_CALL_RCU_H */
