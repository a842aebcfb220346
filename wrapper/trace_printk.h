/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots of the kernel's own trace.
 *
 * linux/trace_printk.h came with 7.0 ("tracing: move tracing declarations from
 * kernel.h to a dedicated header").
 *
 * tracing_alloc_snapshot() is in no header that modules may include, and 7.1
 * stopped to export it (bade44fe5462, "tracing: Move snapshot code out of trace.c
 * and into trace_snapshot.c"). What is left takes a snapshot at once.
 */
#ifndef _LT_WRAPPER_TRACE_PRINTK_H
#define _LT_WRAPPER_TRACE_PRINTK_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#ifdef __has_include
#if __has_include(<linux/trace_printk.h>)
#include <linux/trace_printk.h>
#endif
#endif

int tracing_alloc_snapshot(void);

/* So that tracing_snapshot() works. May sleep; may take a snapshot, too. */
static inline int lt_tracing_alloc_snapshot(void)
{
	typeof(&tracing_alloc_snapshot) alloc;
	int err = 0;

	if (!IS_ENABLED(CONFIG_TRACER_SNAPSHOT))
		return -EOPNOTSUPP;
	alloc = symbol_get(tracing_alloc_snapshot);
	if (alloc) {
		err = alloc();
		symbol_put(tracing_alloc_snapshot);
	} else {
		tracing_snapshot_alloc();
	}
	return err;
}

#endif /* _LT_WRAPPER_TRACE_PRINTK_H */
