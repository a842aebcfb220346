/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where CLOCK_MONOTONIC counts cycles of the TSC, and how these are read.
 */
#ifndef _LT_WRAPPER_CLOCK_H
#define _LT_WRAPPER_CLOCK_H

#include <linux/types.h>

/* Not in user space, where tests run the core. */
#if defined(CONFIG_X86_64) && defined(CONFIG_X86_TSC)

#include <linux/clocksource.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>

/* 6.16 (efef7f184f2e, "x86/msr: Add explicit includes of <asm/msr.h>") moved rdtsc_ordered(). */
#include <asm/msr.h>
#include <asm/tsc.h>

#define LT_CLOCK_HAS_CYCLES	1

/* As the kernel's read_tsc(). */
static __always_inline u64 lt_clock_cycles(void)
{
	return rdtsc_ordered();
}

/* Is that what @base counts? */
static inline bool lt_clock_is_of_cycles(const struct tk_read_base *base)
{
	return base->clock->vdso_clock_mode == VDSO_CLOCKMODE_TSC;
}

#else

#define LT_CLOCK_HAS_CYCLES	0

static __always_inline u64 lt_clock_cycles(void)
{
	return 0;
}

#endif

#endif /* _LT_WRAPPER_CLOCK_H */
