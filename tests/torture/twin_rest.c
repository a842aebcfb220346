// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rest of the core of latency_tracker_twin, as it is.
 */
#include <linux/kobject.h>

/* Not in the place of the other core. */
#define kset_create_and_add(name, ops, parent)				\
	kset_create_and_add(name "_twin", ops, parent)

#include "core/control.c"
#include "core/crossings.c"
#include "core/pool.c"
#ifdef LT_DEBUG
#include "core/debug.c"
#endif
#include "core/timeout.c"
#include "core/worker.c"
#include "rculfhash/rculfhash.c"
