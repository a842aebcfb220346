/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of all trackers.
 *
 * It is ktime_get_mono_fast_ns(), at a third of its instructions where CLOCK_MONOTONIC counts
 * cycles of the TSC: there the timekeeper tells of each change, most often a tick, and the same
 * arithmetic is done here, inline, with the same numbers. So the two are the same clock, to the
 * nanosecond, and as long as anything is in doubt this is the other one: while the numbers
 * change, of another clock source, while the machine is put to sleep, and for a delta that is
 * negative or would overflow.
 */
#ifndef _LT_CORE_CLOCK_H
#define _LT_CORE_CLOCK_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include "wrapper/clock.h"

/**
 * struct lt_clock - CLOCK_MONOTONIC in cycles, as struct tk_read_base
 * @seq: odd: the rest is being written, or of no use
 * @cycle_last: the cycles at the last change
 * @max_cycles: more since then may overflow
 * @mult: units per cycle
 * @xtime_units: to be added to these
 * @base_ns: and to their ns
 * @shift: a ns is so many units, as a power of two
 */
struct lt_clock {
	unsigned long seq;
	u64 cycle_last;
	u64 max_cycles;
	u64 mult;
	u64 xtime_units;
	u64 base_ns;
	u8 shift;
} ____cacheline_aligned_in_smp;

extern struct lt_clock lt_clock;

/* What was read while it changed is not used: so one instruction may load and add, say. */
#define lt_clock_read(member)	data_race(lt_clock.member)

int lt_clock_start(void);
void lt_clock_stop(void);

/* latency_tracker_clock() where that takes no call; else false. */
static __always_inline bool lt_clock_try(u64 *now_ns)
{
#if LT_CLOCK_HAS_CYCLES
	/* Pairs with the release of change_end(): what follows is of this @seq, or newer. */
	unsigned long seq = smp_load_acquire(&lt_clock.seq);
	u64 cycles, ns;

	if (likely(!(seq & 1))) {
		cycles = lt_clock_cycles() - lt_clock_read(cycle_last);
		ns = cycles * lt_clock_read(mult) + lt_clock_read(xtime_units);
		ns = (ns >> lt_clock_read(shift)) + lt_clock_read(base_ns);
		if (likely(cycles <= lt_clock_read(max_cycles))) {
			smp_rmb();	/* pairs with change_begin(): and not newer */
			*now_ns = ns;
			return likely(READ_ONCE(lt_clock.seq) == seq);
		}
	}
#elif defined(LT_CLOCK_TRY)	/* of tests in user space */
	return LT_CLOCK_TRY(now_ns);
#endif
	return false;
}

/**
 * latency_tracker_clock() - the clock of all trackers
 *
 * Context: Any.
 * Return: ns, comparable with CLOCK_MONOTONIC.
 */
static __always_inline u64 latency_tracker_clock(void)
{
	u64 now_ns;

	return likely(lt_clock_try(&now_ns)) ? now_ns :
					       ktime_get_mono_fast_ns();
}

#endif /* _LT_CORE_CLOCK_H */
