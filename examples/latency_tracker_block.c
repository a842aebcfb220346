// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block request latency, in two stages: in the queue, from insert to issue, and
 * in the device, from issue to completion.
 *
 * Default threshold: 100 ms for each stage. An event block_latency tells of a
 * request that was longer in one.
 *
 * A request that was merged into another, or that the device gave back, has no
 * end of its own: its event is removed. One that completes in parts ends with
 * the last one. A request that is given up otherwise is forgotten when the
 * kernel uses its memory for the next one, or after TRK_COLLECT_NS, with a
 * report: no request of a healthy device takes that long.
 */
#include "wrapper/block.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_block.h>

#define TRK_NAME		"block"
#define TRK_USEC_THRESHOLD	100000
#define TRK_MAX_EVENTS		4096
#define TRK_GROW_LIMIT		65536
#include "examples/tracker.h"

#define TRK_COLLECT_NS		(600 * (u64)NSEC_PER_SEC)

/* Two longs: no padding, which would be part of the key. */
struct block_key {
	struct request *rq;
	unsigned long stage;
};

struct block_end {
	struct request *rq;
	int error;
};

/* Filter: 0 is all devices. */
static dev_t trk_dev;

static int trk_dev_set(const char *val, const struct kernel_param *kp)
{
	unsigned int major, minor;
	char text[24], *minor_text;
	dev_t new = 0;

	if (strscpy(text, val, sizeof(text)) < 0)
		return -EINVAL;
	minor_text = strim(text);
	if (*minor_text) {
		val = strsep(&minor_text, ":");
		/* Each number might end in a newline of its own. */
		if (!minor_text || strchr(val, '\n') ||
		    kstrtouint(val, 10, &major) ||
		    kstrtouint(minor_text, 10, &minor))
			return -EINVAL;
		if (!major || major > MAJOR(~0U) || minor > MINORMASK)
			return -EINVAL;
		new = MKDEV(major, minor);
	}
	if (new == trk_dev)
		return 0;
	WRITE_ONCE(trk_dev, new);
	trk_filter_changed();
	return 0;
}

static int trk_dev_get(char *buffer, const struct kernel_param *kp)
{
	if (!trk_dev)
		return sysfs_emit(buffer, "\n");
	return sysfs_emit(buffer, "%u:%u\n", MAJOR(trk_dev), MINOR(trk_dev));
}

static const struct kernel_param_ops trk_dev_ops = {
	.set = trk_dev_set,
	.get = trk_dev_get,
};

module_param_cb(dev, &trk_dev_ops, NULL, 0644);
MODULE_PARM_DESC(dev, "Track only this disk, as MAJOR:MINOR (default empty: all)");

static bool wants(const struct request *rq)
{
	dev_t dev = READ_ONCE(trk_dev);

	return !dev || lt_rq_dev(rq) == dev;
}

static void describe(struct lt_block_report *report, struct request *rq)
{
	report->sector = lt_rq_sector(rq);
	report->dev = lt_rq_dev(rq);
	report->bytes = blk_rq_bytes(rq);
	report->opf = rq->cmd_flags;
	report->pid = current->pid;
	memcpy(report->comm, current->comm, TASK_COMM_LEN);
}

static void begin(struct latency_tracker *tracker, struct request *rq,
		  enum lt_block_stage stage, u64 now)
{
	struct block_key key = { .rq = rq, .stage = stage };
	struct lt_block_report report;
	struct latency_tracker_in in = {
		.priv = &report,
		.priv_len = sizeof(report),
		.start_ns = now,
	};

	describe(&report, rq);
	latency_tracker_event_in(tracker, &key, sizeof(key),
				 LATENCY_TRACKER_UNIQUE | LATENCY_TRACKER_START,
				 &in);
}

static int end(struct latency_tracker *tracker, struct request *rq,
	       enum lt_block_stage stage, int error, u64 now)
{
	struct block_key key = { .rq = rq, .stage = stage };
	struct block_end end = { .rq = rq, .error = error };

	return latency_tracker_event_out(tracker, &key, sizeof(key), stage,
					 &end, now);
}

static void cancel(struct latency_tracker *tracker, struct request *rq,
		   enum lt_block_stage stage)
{
	struct block_key key = { .rq = rq, .stage = stage };

	latency_tracker_event_cancel(tracker, &key, sizeof(key));
}

static void on_insert(void *data, struct request *rq)
{
	if (wants(rq))
		begin(data, rq, LT_BLOCK_QUEUE, latency_tracker_clock());
}

static void on_issue(void *data, struct request *rq)
{
	u64 now;

	if (!wants(rq))
		return;
	now = latency_tracker_clock();
	end(data, rq, LT_BLOCK_QUEUE, 0, now);
	begin(data, rq, LT_BLOCK_DEVICE, now);
}

static void on_complete(void *data, struct request *rq, int error,
			unsigned int nr_bytes)
{
	/* @nr_bytes of what is left; it is taken off after this probe. */
	if (!wants(rq) || nr_bytes < blk_rq_bytes(rq))
		return;
	/* One that fails before it is issued has not left the queue. */
	if (end(data, rq, LT_BLOCK_DEVICE, error, 0) == -ENOENT)
		cancel(data, rq, LT_BLOCK_QUEUE);
}

/* Into another one, while both are in the queue. */
static void on_merge(void *data, struct request *rq)
{
	if (wants(rq))
		cancel(data, rq, LT_BLOCK_QUEUE);
}

/* One that had not been issued is still in the queue. */
static void on_requeue(void *data, struct request *rq)
{
	if (wants(rq))
		cancel(data, rq, LT_BLOCK_DEVICE);
}

LT_DEFINE_PROBE_BLOCK_RQ(block_rq_insert, on_insert)
LT_DEFINE_PROBE_BLOCK_RQ(block_rq_issue, on_issue)
LT_DEFINE_PROBE_BLOCK_RQ(block_rq_merge, on_merge)
LT_DEFINE_PROBE_BLOCK_RQ(block_rq_requeue, on_requeue)
LT_DEFINE_PROBE_BLOCK_RQ_COMPLETE(on_complete)

static struct trk_probe probes[] = {
	TRK_PROBE(block_rq_complete),
	TRK_PROBE(block_rq_merge),
	TRK_PROBE(block_rq_requeue),
	TRK_PROBE(block_rq_issue),
	TRK_PROBE(block_rq_insert),
};

static void callback(const struct latency_tracker_verdict *verdict)
{
	const struct block_key *key = verdict->key;
	const struct block_end *end = verdict->out_data;
	struct lt_block_report *report = verdict->priv;
	char rwbs[RWBS_LEN] = {};

	if (!trace_block_latency_enabled())
		return;
	/* In the queue, bios are added to a request at both ends. */
	if (end && key->stage == LT_BLOCK_QUEUE) {
		report->sector = lt_rq_sector(end->rq);
		report->bytes = blk_rq_bytes(end->rq);
	}
	lt_fill_rwbs(rwbs, report->opf);
	trk_trace(block_latency, verdict, report, rwbs, key->stage,
		  end ? end->error : 0);
}

static int __init block_init(void)
{
	struct latency_tracker_config config = {
		.callback = callback,
		.collect_ns = TRK_COLLECT_NS,
		.key_size = sizeof(struct block_key),
		.priv_size = sizeof(struct lt_block_report),
	};

	return trk_start(&config, probes, ARRAY_SIZE(probes));
}
module_init(block_init);

static void __exit block_exit(void)
{
	trk_stop();
}
module_exit(block_exit);

MODULE_DESCRIPTION("Latency of block requests, in the queue and in the device");
MODULE_LICENSE("GPL");
