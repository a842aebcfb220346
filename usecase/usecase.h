/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracker modules: the code that all of them share. A module includes this file,
 * defines a struct lt_usecase, its probes and its report, and ends in
 * LT_USECASE_PARAMS() and LT_USECASE_MODULE(). Each header below declares one
 * file of this directory, which is linked into latency_tracker.ko.
 *
 * Lifetimes
 * ---------
 * start:  find the tracepoints
 *	   create the tracker and publish it in usecase->tracker  [param lock]
 *	   register the probes that keep records, on events of our own
 *	   register the probes, in the order of the table
 *	   likewise those of the stage, if it is on		  [param lock]
 * stop:   unregister those of the stage			  [param lock]
 *	   unregister the probes, in the opposite order
 *	   tracepoint_synchronize_unregister()
 *	   unregister those that keep records, and wait likewise
 *	   usecase->tracker = NULL				  [param lock]
 *	   latency_tracker_destroy()
 *	   irq_work_sync() of the action
 *
 * A parameter file exists before module_init() and after module_exit(). A read
 * or write of it holds kernel_param_lock(owner), so it sees either no tracker,
 * and just stores the value, or one that is not destroyed before it returns.
 *
 * What may run while what else runs:
 *
 *		start  stop   param  probe  report  snapshot
 *   start	 -	-      L      1      1	     1
 *   stop		-      L      2      3	     4
 *   param			L      5      5	     x
 *   probe			       x      x	     x
 *   report				      x	     x
 *   snapshot					     -
 *
 * x: at any time, on all CPUs.
 * -: never. The module loader serialises start and stop; an irq_work does not
 *    run twice at a time.
 * L: kernel_param_lock(owner) serialises them, where they touch usecase->tracker.
 * 1: A probe runs, reports and acts from its registration on, while start still
 *    registers the others. What it needs has been set before.
 * 2: Until tracepoint_synchronize_unregister() returns. So the tracker must not
 *    be destroyed before that.
 * 3: The tracker's thread reports until latency_tracker_destroy() returns. What
 *    report() uses is taken down after lt_usecase_stop(). A report finds no probe
 *    that keeps records any more: they were in the memory of the tracker.
 * 4: Until irq_work_sync() returns. It comes last: a report queues the work.
 * 5: A probe may see one filter changed and the other one not yet, or half of a
 *    name. lt_filter_changed() waits until no probe does, then forgets what is
 *    pending.
 *
 * Not allowed: a probe that is registered otherwise (kprobe, hook of netfilter)
 * and may run when lt_usecase_stop() is called; unregister it and wait before.
 *
 * A module uses symbols of latency_tracker.ko, which so can't be unloaded before.
 */
#ifndef _LT_USECASE_USECASE_H
#define _LT_USECASE_USECASE_H

#include <linux/module.h>

#include "usecase/data.h"
#include "usecase/groups.h"
#include "usecase/keep.h"
#include "usecase/life.h"
#include "usecase/param.h"
#include "usecase/probe.h"
#include "usecase/report.h"
#include "usecase/stack.h"
#include "usecase/task.h"
#include "usecase/thresholds.h"

#endif /* _LT_USECASE_USECASE_H */
