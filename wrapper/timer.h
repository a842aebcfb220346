/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timers: their tracepoints.
 *
 * LT_DEFINE_PROBE_HRTIMER_EXPIRE_ENTRY(handler) defines probe_hrtimer_expire_entry, which
 * calls handler(timer). By 7.3 the tracepoint gets the time itself, not its address.
 */
#ifndef _LT_WRAPPER_TIMER_H
#define _LT_WRAPPER_TIMER_H

#include <linux/compiler.h>
#include <linux/hrtimer.h>
#include <linux/version.h>
#include <trace/events/timer.h>

/* By 7.3 the clock bases have a header of their own. */
#ifdef __has_include
#if __has_include(<linux/hrtimer_bases.h>)
#define LT_LINUX_HRTIMER_BASES
#endif
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)	/* for sparse */
#define LT_LINUX_HRTIMER_BASES
#endif

#ifdef LT_LINUX_HRTIMER_BASES
#include <linux/hrtimer_bases.h>
#endif

#include "wrapper/tracepoint.h"

#define LT_DEFINE_PROBE_HRTIMER_EXPIRE_ENTRY(handler)			\
static void __maybe_unused						\
probe_hrtimer_expire_entry_value(void *data, struct hrtimer *timer,	\
				 ktime_t now)				\
{									\
	handler(timer);							\
}									\
static void __maybe_unused						\
probe_hrtimer_expire_entry_address(void *data, struct hrtimer *timer,	\
				   ktime_t *now)			\
{									\
	handler(timer);							\
}

#define probe_hrtimer_expire_entry					\
	lt_pick_probe(hrtimer_expire_entry, probe_hrtimer_expire_entry_value, \
		      probe_hrtimer_expire_entry_address)

/*
 * When a timer that expires should have expired, ns of CLOCK_MONOTONIC: the moment that was asked
 * for, without the slack that the kernel may add.
 */
static inline u64 lt_hrtimer_expiry(const struct hrtimer *timer)
{
	return ktime_sub(hrtimer_get_softexpires(timer), READ_ONCE(timer->base->offset));
}

/* How much later the kernel was allowed to let it expire, ns. */
static inline u64 lt_hrtimer_slack(const struct hrtimer *timer)
{
	return ktime_sub(hrtimer_get_expires(timer), hrtimer_get_softexpires(timer));
}

/* 6.15 ("hrtimers: Make callback function pointer private") */
static inline const void *lt_hrtimer_function(const struct hrtimer *timer)
{
	return ACCESS_PRIVATE(timer, function);
}

#endif /* _LT_WRAPPER_TIMER_H */
