/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * More of the kernel's API, for programs that have the whole tracker in them:
 * what is the same whoever plays the kernel. They bring clock, RCU, CPUs,
 * locks, irq_work and threads.
 */
#ifndef LT_MODULE_H
#define LT_MODULE_H

#include <stdio.h>

#include "lt_host.h"

#define U64_MAX			(~0ULL)
#define NSEC_PER_SEC		1000000000L
#define NSEC_PER_MSEC		1000000L
#define __init
#define __exit
#define pr_warn(...)		do { } while (0)
#define IS_ERR_OR_NULL(p)	(!(p) || IS_ERR(p))
#define min3(a, b, c)		min(min(a, b), c)

/* ---- module.h ---- */

#define module_init(fn)		int (*const lt_module_init)(void) = fn
#define module_exit(fn)		void (*const lt_module_exit)(void) = fn
#define MODULE_LICENSE(s)
#define MODULE_DESCRIPTION(s)
#define MODULE_AUTHOR(s)

/* ---- string.h, unaligned.h, hash.h, bitops.h ---- */

#define GOLDEN_RATIO_64		0x61C8864680B583EBull
#define get_unaligned(p)	({ typeof(*(p) + 0) v_;			\
				   memcpy(&v_, p, sizeof(v_)); v_; })

static inline u64 ror64(u64 word, unsigned int shift)
{
	return word >> shift | word << (64 - shift);
}

static inline void strscpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
}

/* ---- ktime.h, delay.h ---- */

typedef s64 ktime_t;
#define ns_to_ktime(ns)		((ktime_t)(ns))
#define HRTIMER_MODE_REL	0
void msleep(unsigned int ms);

/* ---- completion.h, kobject.h, kernfs.h, sysfs.h: there are no files ---- */

struct completion { bool done; };
struct kobject { int unused; };

#define init_completion(c)		((c)->done = false)
#define sysfs_get_dirent(dir, name)	((struct kernfs_node *)NULL)
#define sysfs_put(file)			((void)(file))
#define kernfs_notify(file)		((void)(file))

#endif /* LT_MODULE_H */
