// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misuse: calls that make no sense are refused, harm nothing, and the tracker goes on.
 */
#include <linux/preempt.h>

#include "selftest.h"

static bool put_visit(struct latency_tracker_event *event, void *arg)
{
	ST_EQ(latency_tracker_put_event(arg, event), -EINVAL);
	return true;
}

static void put_without_get(struct latency_tracker *t)
{
	struct latency_tracker_event *event;
	u64 key = 1;

	ST_EQ(st_in(t, key, 0, NULL), 0);
	ST_EQ(latency_tracker_for_each_event(t, &key, 8, put_visit, t), 1);
	event = latency_tracker_get_event(t, &key, 8);
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(latency_tracker_put_event(t, event), -EINVAL);
	event = latency_tracker_get_event(t, &key, 8);
	ST_EQ(st_out(t, key), 1);
	/* Until this section ends, the event is not used again. */
	preempt_disable();
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_EQ(latency_tracker_put_event(t, event), -EINVAL);
	ST_TRUE(!latency_tracker_hold_event(event));
	ST_EQ(latency_tracker_put_event(t, event), -EINVAL);
	preempt_enable();
	/* All 64 are there, each of them once. */
	for (key = 0; key < 64; key++)
		ST_EQ(st_in(t, key, 0, NULL), 0);
	for (key = 0; key < 64; key++)
		ST_EQ(st_out(t, key), 1);
}

static int destroy_it(struct st_thread *th, u64 i)
{
	latency_tracker_destroy(th->tracker);
	return 0;
}

/* It waits for the event that is held; a late call meets an empty tracker. */
static void while_destroyed(struct latency_tracker *t)
{
	struct latency_tracker_event *event;
	struct st_thread *thread;
	u64 key = 1;
	int i;

	for (i = 0; i < 60; i++)
		ST_EQ(st_in(t, i, 0, NULL), 0);
	event = latency_tracker_get_event(t, &key, 8);
	thread = st_start(t, 1, destroy_it, 1, false);
	if (!thread || IS_ERR(thread->task)) {
		latency_tracker_put_event(t, event);
		st_join(thread, 1);
		return;
	}
	st_tracker = NULL;
	for (i = 0; i < 500 && st_counts(t).pending; i++)
		msleep(20);
	ST_EQ(st_in(t, 9, 0, NULL), -ESHUTDOWN);
	ST_EQ(st_out(t, key), -ENOENT);
	ST_EQ(latency_tracker_event_end(t, event, 0, NULL, 0), -ENOENT);
	msleep(300);
	ST_TRUE(!completion_done(&thread->done));
	ST_EQ(*(const u64 *)latency_tracker_event_key(event), key);
	ST_EQ(latency_tracker_put_event(t, event), 0);
	ST_TRUE(wait_for_completion_timeout(&thread->done, 10 * HZ));
	complete(&thread->done);
	st_join(thread, 1);
	/* The callback has heard of nothing that was pending. */
	ST_EQ(st_calls(), 0);
}

const struct st_case st_misuse[] = {
	{ "misuse: a put without a get, or once too often", put_without_get },
	{ "misuse: calls on a tracker that is being destroyed",
	  while_destroyed },
	{ }
};
