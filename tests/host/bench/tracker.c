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

/*
 * A tracker for each thread, of the size that it has alone: what is slower here
 * than with one thread is the machine's doing, since nothing is shared.
 */
static struct bench_size size_of_each(const struct bench_size *size)
{
	struct bench_size one = { .threads = 1, .events = 1, .slots = size->slots };

	while (one.events * 2 * size->threads <= size->events)
		one.events *= 2;
	one.buckets = one.events;
	return one;
}

static void *create_each(const struct bench_size *size)
{
	struct latency_tracker **each = bench_alloc(size->threads + 1, sizeof(*each));
	struct bench_size one = size_of_each(size);
	unsigned int i;

	for (i = 0; i < size->threads; i++)
		each[i] = create(&one);
	return each;
}

static void destroy_each(void *table)
{
	struct latency_tracker **each = table;

	for (; *each; each++)
		destroy(*each);
	bench_free(table);
}

static double bytes_each(const struct bench_size *size)
{
	struct bench_size one = size_of_each(size);

	return bytes(&one);
}

static void enter_each(struct bench_thread *t)
{
	struct latency_tracker **each = t->table;

	native_enter(t->nr);
	t->self = each[t->nr];
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

static __always_inline bool begin_each(struct bench_thread *t, const struct bench_op *op)
{
	return !latency_tracker_event_in(t->self, &op->key, 8, 0, NULL);
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

static __always_inline bool end_each(struct bench_thread *t, const struct bench_op *op)
{
	return !latency_tracker_event_out(t->self, &op->key, 8, 0, NULL, 0);
}

static void each_pairs(struct bench_thread *t)
{
	bench_pairs(t, begin_each, end_each, quiescent);
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

const struct bench_contestant bench_tracker_each = {
	.name = "trackers, one each",
	.create = create_each,
	.destroy = destroy_each,
	.enter = enter_each,
	.leave = leave,
	.bytes = bytes_each,
	.loop = { [BENCH_PRIVATE] = each_pairs },
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
