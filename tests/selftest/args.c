// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments: what is out of bounds is refused and changes nothing.
 */
#include "selftest.h"

static struct st_log log;

static int create_error(const struct latency_tracker_config *config)
{
	struct latency_tracker *tracker = latency_tracker_create(config);

	if (IS_ERR(tracker))
		return PTR_ERR(tracker);
	latency_tracker_destroy(tracker);
	return 0;
}

#define REFUSED(field, value)						\
	do {								\
		struct latency_tracker_config c = st_config(&log);	\
									\
		c.field = value;					\
		ST_EQ(create_error(&c), -EINVAL);			\
	} while (0)
#define ACCEPTED(field, value)						\
	do {								\
		struct latency_tracker_config c = st_config(&log);	\
									\
		c.field = value;					\
		ST_EQ(create_error(&c), 0);				\
	} while (0)

static void create_bounds(void)
{
	ST_EQ(create_error(NULL), -EINVAL);
	REFUSED(name, NULL);
	REFUSED(name, "");
	REFUSED(name, "a/b");
	REFUSED(name, "..");
	REFUSED(name, "0123456789012345678901234567890x");
	ACCEPTED(name, "0123456789012345678901234567890");
	REFUSED(callback, NULL);
	REFUSED(max_events, 0);
	REFUSED(max_events, LATENCY_TRACKER_EVENTS_MAX + 1);
	REFUSED(grow_limit, LATENCY_TRACKER_EVENTS_MAX + 1);
	ACCEPTED(max_events, 1);
	REFUSED(key_size, 0);
	REFUSED(key_size, LATENCY_TRACKER_KEY_MAX + 1);
	ACCEPTED(key_size, LATENCY_TRACKER_KEY_MAX);
	ACCEPTED(key_size, 1);
	REFUSED(priv_size, LATENCY_TRACKER_PRIV_MAX + 1);
	ACCEPTED(priv_size, LATENCY_TRACKER_PRIV_MAX);
}

static void create_same_name(void)
{
	struct latency_tracker_config config = st_config(&log);
	struct latency_tracker *tracker = st_create(&config);

	ST_EQ(create_error(&config), -EEXIST);
	st_destroy(tracker);
	/* The name is free again. */
	ST_EQ(create_error(&config), 0);
}

static void destroy_nothing(void)
{
	latency_tracker_destroy(NULL);
	latency_tracker_destroy(ERR_PTR(-ENOMEM));
}

static void in_bounds(void)
{
	struct latency_tracker_config config = st_config(&log);
	struct latency_tracker *t = st_create(&config);
	struct latency_tracker_in in = { };
	u64 key[3] = { 1, 2, 3 };
	struct st_priv priv = { };

	if (!t)
		return;
	ST_EQ(latency_tracker_event_in(NULL, key, 8, 0, NULL), -EINVAL);
	ST_EQ(latency_tracker_event_in(t, NULL, 8, 0, NULL), -EINVAL);
	ST_EQ(latency_tracker_event_in(t, key, 0, 0, NULL), -EINVAL);
	ST_EQ(latency_tracker_event_in(t, key, 17, 0, NULL), -EINVAL);
	ST_EQ(latency_tracker_event_in(t, key, U32_MAX, 0, NULL), -EINVAL);
	ST_EQ(st_in(t, 1, BIT(5), NULL), -EINVAL);
	ST_EQ(st_in(t, 1, BIT(31), &in), -EINVAL);
	ST_EQ(st_in(t, 1, LATENCY_TRACKER_UNIQUE | LATENCY_TRACKER_KEEP, &in),
	      -EINVAL);
	ST_EQ(st_in(t, 1, LATENCY_TRACKER_THRESHOLD, NULL), -EINVAL);
	ST_EQ(st_in(t, 1, LATENCY_TRACKER_TIMEOUT, NULL), -EINVAL);
	ST_EQ(st_in(t, 1, LATENCY_TRACKER_START, NULL), -EINVAL);
	in.priv_len = sizeof(priv);
	ST_EQ(st_in(t, 1, 0, &in), -EINVAL);
	in.priv = &priv;
	in.priv_len = sizeof(priv) + 1;
	ST_EQ(st_in(t, 1, 0, &in), -EINVAL);
	ST_EQ(st_counts(t).started, 0);
	in.priv_len = sizeof(priv);
	ST_EQ(latency_tracker_event_in(t, key, 16, 0, &in), 0);
	ST_EQ(latency_tracker_event_in(t, key, 1, 0, NULL), 0);
	ST_EQ(st_counts(t).started, 2);
	ST_EQ(st_counts(t).pending, 2);
	st_destroy(t);
}

static bool never_called(struct latency_tracker_event *event, void *arg)
{
	ST_TRUE(false);
	return true;
}

static void other_bounds(void)
{
	struct latency_tracker_config config = st_config(&log);
	struct latency_tracker *t = st_create(&config);
	const u32 start = LATENCY_TRACKER_START;
	struct latency_tracker_in in = {};
	u64 k = 1;

	if (!t)
		return;
	ST_EQ(latency_tracker_event_out(NULL, &k, 8, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_out(t, NULL, 8, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_out(t, &k, 0, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_out(t, &k, 17, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_out(t, &k, 8, 0, NULL, 0), -ENOENT);
	ST_EQ(latency_tracker_event_whole(NULL, &k, 8, start, &in, 0, NULL, 0),
	      -EINVAL);
	ST_EQ(latency_tracker_event_whole(t, &k, 17, start, &in, 0, NULL, 0),
	      -EINVAL);
	ST_EQ(latency_tracker_event_whole(t, &k, 8, 0, &in, 0, NULL, 0),
	      -EINVAL);
	ST_EQ(latency_tracker_event_whole(t, &k, 8, start, NULL, 0, NULL, 0),
	      -EINVAL);
	ST_EQ(latency_tracker_event_whole(t, &k, 8,
					  start | LATENCY_TRACKER_UNIQUE, &in,
					  0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_end(t, NULL, 0, NULL, 0), -EINVAL);
	ST_EQ(latency_tracker_event_cancel(t, NULL, 8), -EINVAL);
	ST_EQ(latency_tracker_event_cancel(t, &k, 8), -ENOENT);
	ST_TRUE(!latency_tracker_get_event(t, NULL, 8));
	ST_TRUE(!latency_tracker_get_event(t, &k, 17));
	ST_TRUE(!latency_tracker_get_event(t, &k, 8));
	ST_EQ(latency_tracker_put_event(t, NULL), 0);
	ST_EQ(latency_tracker_for_each_event(t, &k, 8, NULL, NULL), -EINVAL);
	ST_EQ(latency_tracker_for_each_event(t, &k, 8, never_called, NULL), 0);
	ST_EQ(latency_tracker_set_threshold(NULL, 1), -EINVAL);
	ST_EQ(latency_tracker_set_timeout(NULL, 1), -EINVAL);
	ST_EQ(latency_tracker_set_collect(NULL, 1), -EINVAL);
	ST_EQ(latency_tracker_set_tracking(NULL, true), -EINVAL);
	latency_tracker_clear(NULL);
	/* One end and one cancel looked for an event and found none. */
	ST_EQ(st_counts(t).unmatched, 2);
	st_destroy(t);
}

const struct st_case st_args[] = {
	{ "create refuses what is out of bounds", create_bounds },
	{ "create refuses a name that is taken", create_same_name },
	{ "destroy ignores NULL and errors", destroy_nothing },
	{ "event_in refuses what is out of bounds", in_bounds },
	{ "the other calls refuse what is out of bounds", other_bounds },
	{ }
};
