/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Broken twins: does an oracle object when the core is wrong?
 *
 * latency_tracker_twin is the same torture on a core of its own, compiled from
 * the same files. Where twin.c includes them, some functions have another
 * name, and do what they should not when the parameter "twin" says so. Nothing
 * of that is in the modules for users, nor in their sources.
 */
#ifndef _LT_TORTURE_TWIN_H
#define _LT_TORTURE_TWIN_H

#include <linux/types.h>

#ifdef TT_TWIN
int tt_twin_init(void);
void tt_twin_settle(void);
void tt_twin_exit(void);
#else
static inline int tt_twin_init(void)
{
	return 0;
}

/* Until nothing runs that should have ended long ago. */
static inline void tt_twin_settle(void)
{
}

static inline void tt_twin_exit(void)
{
}
#endif

#endif /* _LT_TORTURE_TWIN_H */
