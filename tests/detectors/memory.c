// SPDX-License-Identifier: GPL-2.0-only
/*
 * For KASAN, kmemleak, fault injection, and the debug build of the core.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "bad.h"
#include "core/tracker.h"

int bad_use_after_free(void)
{
	int *p = kmalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	READ_ONCE(*p);
	return 0;
}

int bad_out_of_bounds(void)
{
	char *p = kmalloc(24, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[24], 1);
	kfree(p);
	return 0;
}

static void ignore(const struct latency_tracker_verdict *verdict)
{
}

/* A tracker with one event, which the caller holds. */
static struct latency_tracker_event *held_event(struct latency_tracker **tracker)
{
	static const struct latency_tracker_config config = {
		.name = "bad",
		.callback = ignore,
		.max_events = 16,
		.key_size = 8,
		.threshold_ns = LATENCY_TRACKER_NEVER,
	};
	struct latency_tracker_event *event;
	u64 key = 1;

	*tracker = latency_tracker_create(&config);
	if (IS_ERR(*tracker))
		return ERR_CAST(*tracker);
	latency_tracker_event_in(*tracker, &key, sizeof(key), 0, NULL);
	event = latency_tracker_get_event(*tracker, &key, sizeof(key));
	latency_tracker_event_out(*tracker, &key, sizeof(key), 0, NULL, 0);
	return event ?: ERR_PTR(-ENOENT);
}

/* The event is used after the last reference to it and a grace period are gone. */
int bad_stale_event(void)
{
	struct latency_tracker *tracker;
	struct latency_tracker_event *event = held_event(&tracker);

	if (IS_ERR(event))
		return PTR_ERR(event);
	latency_tracker_put_event(tracker, event);
	/* The thread takes what was retired at least once in a second. */
	msleep(4000);
	latency_tracker_event_start(event);
	latency_tracker_destroy(tracker);
	return 0;
}

/* Somebody writes to an event that is not his. */
int bad_state(void)
{
	struct latency_tracker *tracker;
	struct latency_tracker_event *event = held_event(&tracker);

	if (IS_ERR(event))
		return PTR_ERR(event);
#ifdef LT_DEBUG
	WRITE_ONCE(event->item.state, 0);
#endif
	latency_tracker_put_event(tracker, event);
	latency_tracker_destroy(tracker);
	return 0;
}

int bad_leak(void)
{
	void *p = kmalloc(200, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(p);
	return 0;
}

/* Nobody has the event any more, and the pool has not got it back. */
int bad_lost_event(void)
{
	struct latency_tracker *tracker;
	struct latency_tracker_event *event = held_event(&tracker);

	if (IS_ERR(event))
		return PTR_ERR(event);
	/* Or else destroy() would wait for it. */
	tracker->pool.total--;
	latency_tracker_destroy(tracker);
	return 0;
}

#ifdef CONFIG_FAULT_INJECTION

int bad_failslab(void)
{
	void *p;

	WRITE_ONCE(current->fail_nth, 1);
	p = kmalloc(200, GFP_KERNEL);
	WRITE_ONCE(current->fail_nth, 0);
	kfree(p);
	return p ? -ENODATA : 0;
}

int bad_fail_page(void)
{
	unsigned long page;

	WRITE_ONCE(current->fail_nth, 1);
	page = __get_free_pages(GFP_KERNEL, 1);
	WRITE_ONCE(current->fail_nth, 0);
	free_pages(page, 1);
	return page ? -ENODATA : 0;
}

#else

int bad_failslab(void)
{
	return -EOPNOTSUPP;
}

int bad_fail_page(void)
{
	return -EOPNOTSUPP;
}

#endif
