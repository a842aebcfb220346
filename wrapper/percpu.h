/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A compare-and-exchange on a variable that only its own CPU writes, in any
 * context up to NMI.
 *
 * this_cpu_cmpxchg() is one instruction without a bus lock on x86 and a
 * LL/SC or LSE sequence on arm64. The generic one masks interrupts and so is
 * not safe against NMIs: elsewhere pay for the atomic cmpxchg().
 */
#ifndef _LT_WRAPPER_PERCPU_H
#define _LT_WRAPPER_PERCPU_H

#include <linux/percpu.h>

#if defined(CONFIG_X86_64) || defined(CONFIG_ARM64)
#define lt_this_cpu_cmpxchg(pcp, old, new)	this_cpu_cmpxchg(pcp, old, new)
#else
#include <linux/atomic.h>
#define lt_this_cpu_cmpxchg(pcp, old, new)	\
	cmpxchg(this_cpu_ptr(&(pcp)), old, new)
#endif

#endif /* _LT_WRAPPER_PERCPU_H */
