// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create and destroy a tracker.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/ask.h"
#include "core/control.h"
#include "core/crossings.h"
#include "core/kick.h"
#include "core/lifecycle.h"
#include "core/per_minute.h"
#include "core/pool_size.h"
#include "core/records.h"
#include "core/settings.h"
#include "core/slot.h"
#include "core/tracker.h"
#include "core/waits.h"
#include "core/worker.h"

static bool config_is_valid(const struct latency_tracker_config *c)
{
	size_t len;

	if (!c || !c->name || !c->callback)
		return false;
	len = strnlen(c->name, LATENCY_TRACKER_NAME_MAX);
	if (!len || len == LATENCY_TRACKER_NAME_MAX || strchr(c->name, '/') ||
	    c->name[0] == '.')
		return false;
	return c->max_events && c->max_events <= LATENCY_TRACKER_EVENTS_MAX &&
	       c->grow_limit <= LATENCY_TRACKER_EVENTS_MAX &&
	       c->key_size && c->key_size <= LATENCY_TRACKER_KEY_MAX &&
	       (!c->slots || c->key_size == sizeof(u64)) &&
	       c->per_minute <= LATENCY_TRACKER_PER_MINUTE_MAX &&
	       c->priv_size <= LATENCY_TRACKER_PRIV_MAX &&
	       c->record_size <= LATENCY_TRACKER_RECORD_MAX;
}

static int init_memory(struct latency_tracker *tracker,
		       const struct latency_tracker_config *c)
{
	size_t size = sizeof(struct latency_tracker_event) +
		      tracker->priv_off + tracker->priv_size +
		      sizeof(struct lt_event_own);
	u32 max = max(c->max_events, c->grow_limit);
	int err;

	tracker->counters = alloc_percpu(struct lt_counters);
	if (!tracker->counters)
		return -ENOMEM;
	err = lt_pool_init(&tracker->pool, size, c->max_events,
			   lt_kick_pool_low);
	if (err)
		goto err_counters;
	err = lt_reclaim_init(&tracker->reclaim, &tracker->pool,
			      lt_kick_reclaim_done);
	if (err)
		goto err_pool;
	tracker->ht = lfht_new(roundup_pow_of_two(c->max_events),
			       roundup_pow_of_two(max));
	err = PTR_ERR_OR_ZERO(tracker->ht);
	if (err)
		goto err_reclaim;
	lt_profile_init(&tracker->profile);
	lt_groups_init(&tracker->groups, c->grouping, c->data);
	lt_per_minute_init(tracker);
	err = lt_slot_init(tracker, c->max_events);
	if (!err && c->profile)
		err = lt_records_make(tracker);
	if (!err)
		err = lt_profile_set(&tracker->profile, c->profile);
	if (!err)
		err = lt_groups_set(&tracker->groups, c->groups);
	if (!err)
		err = lt_per_minute_set(tracker, c->per_minute);
	if (!err)
		return 0;

	lt_groups_destroy(&tracker->groups);
	lt_profile_destroy(&tracker->profile);
	lt_records_free(tracker);
	lt_per_minute_destroy(tracker);
	lt_slot_destroy(tracker);
	lfht_destroy(tracker->ht);
err_reclaim:
	lt_reclaim_destroy(&tracker->reclaim);
err_pool:
	lt_pool_destroy(&tracker->pool);
err_counters:
	free_percpu(tracker->counters);
	return err;
}

static void free_memory(struct latency_tracker *tracker)
{
	u64 ended = lt_counter_sum(tracker->counters, LT_FINISHED);

	WARN_ON(!lt_profile_has_all(&tracker->profile, ended));
	WARN_ON(!lt_groups_have_all(&tracker->groups, ended));
	lt_groups_destroy(&tracker->groups);
	lt_profile_destroy(&tracker->profile);
	lt_records_free(tracker);
	lt_per_minute_destroy(tracker);
	lt_slot_destroy(tracker);
	WARN_ON(lfht_destroy(tracker->ht));
	lt_reclaim_destroy(&tracker->reclaim);
	lt_pool_destroy(&tracker->pool);
	free_percpu(tracker->counters);
}

/**
 * latency_tracker_create() - make a tracker, tracking on
 * @config: its configuration; not needed after the call
 *
 * Context: Task, may sleep.
 * Return: the tracker; ERR_PTR() of -EINVAL for a configuration outside of its
 * bounds, -EEXIST if the name is taken, -ENOMEM.
 */
struct latency_tracker *
latency_tracker_create(const struct latency_tracker_config *config)
{
	struct latency_tracker *tracker;
	int err;

	if (!config_is_valid(config))
		return ERR_PTR(-EINVAL);
	tracker = kzalloc(sizeof(*tracker), GFP_KERNEL);
	if (!tracker)
		return ERR_PTR(-ENOMEM);
	strscpy(tracker->name, config->name, sizeof(tracker->name));
	tracker->callback = config->callback;
	tracker->wanted = config->wanted;
	tracker->data = config->data;
	tracker->own_threshold = config->own_threshold;
	tracker->threshold_ns = lt_threshold_in_time(config->threshold_ns);
	tracker->default_ns = config->threshold_ns;
	tracker->own_least_ns = LATENCY_TRACKER_NEVER;
	tracker->waits_least_ns = LATENCY_TRACKER_NEVER;
	tracker->least_ns = LATENCY_TRACKER_NEVER;
	tracker->waited = config->waited;
	tracker->waiting = config->waiting;
	tracker->timeout_ns = config->timeout_ns;
	tracker->collect_ns = config->collect_ns;
	tracker->collect_least_ns = config->collect_least_ns;
	tracker->key_size = config->key_size;
	tracker->priv_size = ALIGN(config->priv_size, 8);
	tracker->priv_off = ALIGN(config->key_size, 8);
	tracker->grow_limit = config->grow_limit;
	tracker->record_size = config->record_size;
	tracker->slots = config->slots;
	tracker->words = !config->slots && config->key_size >= sizeof(u64);
	tracker->tracking_on = true;
	mutex_init(&tracker->lock);
	init_completion(&tracker->released);
	lt_ask_init(tracker);
	lt_crossings_init(tracker);

	err = init_memory(tracker, config);
	if (err)
		goto err_free;
	err = lt_worker_start(tracker);
	if (err)
		goto err_memory;
	lt_waits_join(tracker);
	/* Last: its files work from the first moment on. */
	err = lt_control_add(tracker);
	if (err)
		goto err_worker;
	return tracker;

err_worker:
	lt_waits_leave(tracker);
	lt_worker_stop(tracker);
	lt_worker_free(tracker);
err_memory:
	free_memory(tracker);
err_free:
	kfree(tracker);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(latency_tracker_create);

/* Wait for the events that callers still hold; all others are home. */
static void wait_for_holders(struct latency_tracker *tracker)
{
	unsigned long warn = jiffies + 10 * HZ;

	while (lt_pool_count_free(&tracker->pool) != tracker->pool.total) {
		if (time_after(jiffies, warn)) {
			pr_warn("latency_tracker: %s: waiting for latency_tracker_put_event()\n",
				tracker->name);
			warn = jiffies + 10 * HZ;
		}
		msleep(20);
		lt_reclaim_drain(&tracker->reclaim);
	}
}

/**
 * latency_tracker_destroy() - end a tracker
 * @tracker: no call on it runs or can begin, except put_event() of held
 *	events, for which it waits; NULL and ERR_PTR() are ignored
 *
 * When it returns, no callback runs or will run. Pending events are cleared.
 *
 * Context: Task, may sleep.
 */
void latency_tracker_destroy(struct latency_tracker *tracker)
{
	if (IS_ERR_OR_NULL(tracker))
		return;
	lt_control_del(tracker);
	lt_waits_leave(tracker);
	latency_tracker_set_tracking(tracker, false);
	lt_worker_stop(tracker);
	lt_crossings_destroy(tracker);
	wait_for_holders(tracker);
	lt_worker_free(tracker);
	free_memory(tracker);
	mutex_destroy(&tracker->ask.lock);
	mutex_destroy(&tracker->lock);
	kfree(tracker);
}
EXPORT_SYMBOL_GPL(latency_tracker_destroy);

/**
 * latency_tracker_data() - the pointer of the configuration
 * @tracker: the tracker
 *
 * Context: Any.
 * Return: data of struct latency_tracker_config; NULL without a tracker.
 */
void *latency_tracker_data(const struct latency_tracker *tracker)
{
	return IS_ERR_OR_NULL(tracker) ? NULL : tracker->data;
}
EXPORT_SYMBOL_GPL(latency_tracker_data);
