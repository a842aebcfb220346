// SPDX-License-Identifier: GPL-2.0-only
/* The tracker: event_in and event_out, with all that belongs to them. */
#include "core/tracker.h"

#define KEY_SIZE	16

static void callback(const struct latency_tracker_verdict *verdict)
{
}

static struct latency_tracker *new_tracker(const struct bench_size *size,
					   u16 priv_size)
{
	struct latency_tracker_config config = {
		.name = "bench",
		.callback = callback,
		.threshold_ns = LATENCY_TRACKER_NEVER,
		.max_events = size->events,
		.key_size = KEY_SIZE,
		.priv_size = priv_size,
	};
	struct latency_tracker *tracker = latency_tracker_create(&config);

	BUG_ON(IS_ERR(tracker));
	BUG_ON(lfht_size(tracker->ht) != size->buckets);
	return tracker;
}

static void *create(const struct bench_size *size)
{
	return new_tracker(size, 0);
}

static void *create_priv(const struct bench_size *size)
{
	return new_tracker(size, 24);
}

static void destroy(void *table)
{
	struct latency_tracker *tracker = table;
	struct latency_tracker_counts counts;

	latency_tracker_snapshot(tracker, &counts);
	BUG_ON(counts.started != counts.finished + counts.cleared + counts.pending);
	latency_tracker_destroy(tracker);
}

static double bytes(const struct bench_size *size)
{
	struct latency_tracker *tracker = create(size);
	struct latency_tracker_counts counts;
	double each;

	latency_tracker_snapshot(tracker, &counts);
	each = (double)counts.memory / counts.capacity;
	destroy(tracker);
	return each;
}

static void enter(struct bench_thread *t)
{
	native_enter(t->nr);
}

static void leave(struct bench_thread *t)
{
	native_leave();
}

static __always_inline void quiescent(struct bench_thread *t)
{
	native_quiescent();
}

static __always_inline bool begin(struct bench_thread *t, const struct bench_op *op)
{
	return !latency_tracker_event_in(t->table, &op->key, 8, 0, NULL);
}

static __always_inline bool begin_unique(struct bench_thread *t,
					 const struct bench_op *op)
{
	return !latency_tracker_event_in(t->table, &op->key, 8,
					 LATENCY_TRACKER_UNIQUE, NULL);
}

static __always_inline bool begin_priv(struct bench_thread *t,
				       const struct bench_op *op)
{
	u64 priv[3] = { op->key, op->slot };
	struct latency_tracker_in in = {
		.priv = priv, .priv_len = sizeof(priv),
	};

	return !latency_tracker_event_in(t->table, &op->key, 8, 0, &in);
}

static __always_inline bool end(struct bench_thread *t, const struct bench_op *op)
{
	return !latency_tracker_event_out(t->table, &op->key, 8, 0, NULL, 0);
}

BENCH_LOOPS(tracker, begin, end, quiescent)
BENCH_LOOPS(unique, begin_unique, end, quiescent)
BENCH_LOOPS(priv, begin_priv, end, quiescent)

const struct bench_contestant bench_tracker = {
	.name = "tracker",
	.create = create,
	.destroy = destroy,
	.enter = enter,
	.leave = leave,
	.bytes = bytes,
	.loop = BENCH_LOOPS_OF(tracker),
};

const struct bench_contestant bench_tracker_unique = {
	.name = "tracker, unique",
	.create = create,
	.destroy = destroy,
	.enter = enter,
	.leave = leave,
	.bytes = bytes,
	.loop = BENCH_LOOPS_OF(unique),
};

const struct bench_contestant bench_tracker_priv = {
	.name = "tracker, 24 private bytes",
	.create = create_priv,
	.destroy = destroy,
	.enter = enter,
	.leave = leave,
	.bytes = bytes,
	.loop = BENCH_LOOPS_OF(priv),
};
