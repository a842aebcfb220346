// SPDX-License-Identifier: GPL-2.0-only
/* The tracker: event_in and event_out, with all that belongs to them. */
#include "core/tracker.h"
#include "latency_tracker.h"

static void callback(const struct latency_tracker_verdict *verdict)
{
}

static struct latency_tracker *new_tracker(struct bench_size *size, u16 priv_size,
					   bool slots)
{
	struct latency_tracker_config config = {
		.name = "bench",
		.callback = callback,
		.threshold_ns = LATENCY_TRACKER_NEVER,
		.max_events = size->events,
		.key_size = slots ? 8 : 16,
		.priv_size = priv_size,
		.slots = slots,
	};
	struct latency_tracker *tracker = latency_tracker_create(&config);
	struct latency_tracker_counts counts;

	BUG_ON(IS_ERR(tracker));
	BUG_ON(lfht_size(tracker->ht) != size->events);
	latency_tracker_snapshot(tracker, &counts);
	size->bytes = (double)counts.memory / counts.capacity;
	return tracker;
}

static void *create(struct bench_size *size)
{
	return new_tracker(size, 0, false);
}

static void *create_priv(struct bench_size *size)
{
	return new_tracker(size, 24, false);
}

static void *create_slots(struct bench_size *size)
{
	return new_tracker(size, 0, true);
}

/*
 * A tracker for each thread, of the size that it has alone: what is slower here
 * than with one thread is the machine's doing, since nothing is shared.
 */
static void *create_each(struct bench_size *size)
{
	struct latency_tracker **each = bench_alloc(size->threads, sizeof(*each));
	struct bench_size one = { .events = 1 };
	unsigned int i;

	while (one.events * 2 * size->threads <= size->events)
		one.events *= 2;
	for (i = 0; i < size->threads; i++)
		each[i] = create(&one);
	size->bytes = one.bytes;
	return each;
}

static void enter_each(struct bench_thread *t)
{
	t->table = ((void **)t->table)[t->nr];
}

static __always_inline bool begin(struct bench_thread *t, const struct bench_op *op)
{
	return !latency_tracker_event_in(t->table, &op->key, 8, 0, NULL);
}

static __always_inline bool begin_duplicate(struct bench_thread *t, const struct bench_op *op)
{
	return !latency_tracker_event_in(t->table, &op->key, 8, LATENCY_TRACKER_DUPLICATE, NULL);
}

static __always_inline bool begin_slot(struct bench_thread *t, const struct bench_op *op)
{
	void *priv;

	preempt_disable();
	priv = latency_tracker_slot_begin(t->table, op->key, 0);
	if (!IS_ERR_OR_NULL(priv))
		latency_tracker_slot_publish(t->table, priv, 0);
	preempt_enable();
	return !IS_ERR_OR_NULL(priv);
}

static __always_inline bool end_slot(struct bench_thread *t, const struct bench_op *op)
{
	int ret;

	preempt_disable();
	ret = latency_tracker_slot_end(t->table, op->key, NULL, 0);
	preempt_enable();
	return !ret;
}

static __always_inline bool begin_priv(struct bench_thread *t, const struct bench_op *op)
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

BENCH_CONTESTANT(bench_tracker, "tracker", begin, end, .create = create);

BENCH_CONTESTANT(bench_tracker_duplicates, "tracker, duplicates", begin_duplicate, end,
		 .create = create);

/* Where an event stays with its key. */
BENCH_CONTESTANT(bench_tracker_slots, "tracker, slots", begin_slot, end_slot,
		 .create = create_slots);

BENCH_CONTESTANT(bench_tracker_priv, "tracker, 24 private bytes", begin_priv, end,
		 .create = create_priv);

BENCH_CONTESTANT(bench_tracker_each, "trackers, one each", begin, end,
		 .create = create_each, .enter = enter_each);
