/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Telling user space that the threshold, or the timeout, was crossed.
 */
#ifndef _LT_CORE_CROSSINGS_H
#define _LT_CORE_CROSSINGS_H

#include <linux/time64.h>
#include <linux/types.h>

struct kernfs_node;

/*
 * Bounds of the interval. Below the first, the wake-ups could become the load;
 * to the tracker of wake-ups each of them is one more operation.
 */
#define LT_CROSSINGS_MIN_NS	NSEC_PER_MSEC
#define LT_CROSSINGS_MAX_NS	(3600 * NSEC_PER_SEC)
#define LT_CROSSINGS_DEFAULT_NS	(100 * NSEC_PER_MSEC)

/**
 * struct lt_crossings - what those who poll know
 * @file: they poll this one; NULL before it is there
 * @interval_ns: they are not woken more often than this
 * @told_ns: when they were woken last; the worker's
 * @told: crossings of which they were told; the worker's
 * @suppressed: of @told, those without a wake-up of their own; written by the
 *	worker
 * @armed: the worker wants to be told of the next crossing
 */
struct lt_crossings {
	struct kernfs_node *file;
	u64 interval_ns;
	u64 told_ns;
	unsigned long told;
	unsigned long suppressed;
	bool armed;
};

#endif /* _LT_CORE_CROSSINGS_H */
