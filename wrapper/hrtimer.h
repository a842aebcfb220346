/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hrtimer_setup(): 6.13 ("hrtimers: Introduce hrtimer_setup() to replace
 * hrtimer_init()"). 6.15 ("hrtimers: Delete hrtimer_init()") left no other.
 */
#ifndef _LT_WRAPPER_HRTIMER_H
#define _LT_WRAPPER_HRTIMER_H

#include <linux/hrtimer.h>
#include <linux/version.h>

static inline void
lt_hrtimer_setup(struct hrtimer *timer,
		 enum hrtimer_restart (*function)(struct hrtimer *),
		 clockid_t clock, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

#endif /* _LT_WRAPPER_HRTIMER_H */
