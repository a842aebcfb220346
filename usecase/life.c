// SPDX-License-Identifier: GPL-2.0-only
/*
 * Begin and end of a tracker module.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/time64.h>

#include "usecase/action.h"
#include "usecase/keep.h"
#include "usecase/life.h"
#include "usecase/probe.h"
#include "usecase/report.h"
#include "usecase/stage.h"
#include "usecase/thresholds.h"

static void configure(struct latency_tracker_config *config,
		      struct lt_usecase *usecase)
{
	*config = (struct latency_tracker_config) {
		.name = usecase->name,
		.callback = lt_report,
		.wanted = usecase->is_wanted,
		.own_threshold = lt_thresholds_own,
		.waited = usecase->waited,
		.waiting = usecase->waiting,
		.data = usecase,
		.threshold_ns = usecase->usec_threshold * NSEC_PER_USEC,
		.timeout_ns = usecase->usec_timeout * NSEC_PER_USEC,
		.collect_ns = usecase->collect_ns,
		.collect_least_ns = usecase->collect_least_ns,
		.max_events = usecase->max_events,
		.grow_limit = usecase->grow_limit,
		.key_size = usecase->key_size,
		.priv_size = usecase->priv_size,
		.slots = usecase->slots,
		.profile = !usecase->profile_is_off,
		.per_minute = usecase->per_minute,
		.grouping = usecase->grouping,
		.groups = usecase->groups,
		.record_size = lt_keep_size(usecase),
	};
}

static int make_tracker(struct lt_usecase *usecase)
{
	struct latency_tracker_config config;
	struct latency_tracker *tracker;

	lt_action_init(&usecase->action);
	kernel_param_lock(usecase->owner);
	configure(&config, usecase);
	tracker = latency_tracker_create(&config);
	if (!IS_ERR(tracker)) {
		usecase->tracker = tracker;
		lt_thresholds_begin(usecase);
	}
	kernel_param_unlock(usecase->owner);
	if (IS_ERR(tracker))
		pr_err("%s: can't create the tracker: %ld\n",
		       module_name(usecase->owner), PTR_ERR(tracker));
	return PTR_ERR_OR_ZERO(tracker);
}

static void destroy(struct lt_usecase *usecase)
{
	struct latency_tracker *tracker = usecase->tracker;

	kernel_param_lock(usecase->owner);
	usecase->tracker = NULL;
	kernel_param_unlock(usecase->owner);
	latency_tracker_destroy(tracker);
	lt_action_exit(&usecase->action);
}

/**
 * lt_usecase_start() - create the tracker, then register the probes, of its own events first
 * @usecase: what to start; a static variable of the module
 *
 * Context: Task; may sleep. For module_init().
 * Return: 0; -ENOENT if this kernel lacks a tracepoint; an error of
 *	latency_tracker_create() or of the registration of a probe. The kernel's
 *	log tells which.
 */
int lt_usecase_start(struct lt_usecase *usecase)
{
	int err;

	err = lt_probe_find(usecase, usecase->probes, usecase->nr_probes);
	if (err)
		return err;
	err = make_tracker(usecase);
	if (err)
		return err;
	err = lt_keep_register(usecase);
	if (err)
		goto err_destroy;
	err = lt_probe_register(usecase, usecase->probes, usecase->nr_probes);
	if (err)
		goto err_keep;
	err = usecase->stage ? lt_stage_start(usecase->stage) : 0;
	if (err)
		goto err_unregister;
	return 0;

err_unregister:
	lt_probe_unregister(usecase, usecase->probes, usecase->nr_probes);
err_keep:
	lt_keep_unregister(usecase, usecase->nr_keeps);
err_destroy:
	destroy(usecase);
	return err;
}
EXPORT_SYMBOL_GPL(lt_usecase_start);

/**
 * lt_usecase_stop() - unregister the probes, wait for them, destroy the tracker
 * @usecase: what lt_usecase_start() has started
 *
 * On return neither a probe nor report() nor the action runs, nor will. A
 * caller that has registered other probes unregisters them first, and waits.
 *
 * Context: Task; may sleep.
 */
void lt_usecase_stop(struct lt_usecase *usecase)
{
	if (usecase->stage)
		lt_stage_stop(usecase->stage);
	lt_probe_unregister(usecase, usecase->probes, usecase->nr_probes);
	lt_keep_unregister(usecase, usecase->nr_keeps);
	destroy(usecase);
}
EXPORT_SYMBOL_GPL(lt_usecase_stop);
