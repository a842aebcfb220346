// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stage of a tracker that a parameter switches on and off.
 *
 * Its probes run from switch_on() on until switch_off() returns. Both are called
 * under kernel_param_lock(owner), between lt_stage_start() and lt_stage_stop(),
 * while there is a tracker.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sysfs.h>

#include "usecase/entry.h"
#include "usecase/filter_set.h"
#include "usecase/probe.h"
#include "usecase/stage.h"

/* Functions begin and end operations; the tracepoints tell what comes between. */
static int switch_on(struct lt_stage *stage)
{
	const struct lt_usecase *usecase = stage->usecase;
	int err;

	err = lt_probe_register(usecase, stage->probes, stage->nr_probes);
	if (err)
		return err;
	err = lt_entry_register(usecase, stage->entries, stage->nr_entries);
	if (err)
		goto err_probes;
	err = stage->begin ? stage->begin() : 0;
	if (err)
		goto err_entries;
	return 0;

err_entries:
	lt_entry_unregister(stage->entries, stage->nr_entries);
err_probes:
	lt_probe_unregister(usecase, stage->probes, stage->nr_probes);
	return err;
}

/* What has begun would not find its end. */
static void switch_off(struct lt_stage *stage)
{
	const struct lt_usecase *usecase = stage->usecase;

	lt_entry_unregister(stage->entries, stage->nr_entries);
	lt_probe_unregister(usecase, stage->probes, stage->nr_probes);
	if (stage->quiesce)
		stage->quiesce();
	if (!stage->only_tells)
		latency_tracker_clear(usecase->tracker);
}

/* Once the tracker works. Without the stage, if its functions can't be traced. */
int lt_stage_start(struct lt_stage *stage)
{
	struct lt_usecase *usecase = stage->usecase;
	int err;

	err = lt_probe_find(usecase, stage->probes, stage->nr_probes);
	if (err)
		return err;
	kernel_param_lock(usecase->owner);
	if (stage->on && switch_on(stage)) {
		pr_warn("%s: works without the stage %s\n",
			module_name(usecase->owner), stage->name);
		stage->on = false;
	}
	stage->is_started = true;
	kernel_param_unlock(usecase->owner);
	return 0;
}

/* Before the tracker is destroyed. */
void lt_stage_stop(struct lt_stage *stage)
{
	kernel_param_lock(stage->usecase->owner);
	if (stage->is_started && stage->on)
		switch_off(stage);
	stage->is_started = false;
	kernel_param_unlock(stage->usecase->owner);
}

static int stage_set(const char *val, const struct kernel_param *kp)
{
	struct lt_stage *stage = kp->arg;
	bool on;
	int err;

	err = lt_parse_toggle(val, &on);
	if (err)
		return err;
	if (stage->is_started && on != stage->on) {
		if (!on)
			switch_off(stage);
		else
			err = switch_on(stage);
	}
	if (!err)
		WRITE_ONCE(stage->on, on);	/* pairs with READ_ONCE() of the module */
	return err;
}

static int stage_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_stage *stage = kp->arg;

	return sysfs_emit(buffer, "%c\n", stage->on ? 'Y' : 'N');
}

const struct kernel_param_ops lt_stage_ops = {
	.set = stage_set,
	.get = stage_get,
};
EXPORT_SYMBOL_GPL(lt_stage_ops);
