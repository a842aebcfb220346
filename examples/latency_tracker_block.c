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
 * kernel uses its memory for the next one, or after COLLECT_NS, with a
 * report: no request of a healthy device takes that long.
 */
#include "usecase/filter_dev.h"
#include "usecase/usecase.h"
#include "wrapper/block.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_block.h>

#define USEC_THRESHOLD	100000
#define MAX_EVENTS	4096
#define GROW_LIMIT	65536
#define COLLECT_NS	(600 * (u64)NSEC_PER_SEC)

static struct lt_usecase usecase;

/* Two longs: no padding, which would be part of the key. */
struct block_key {
	struct request *rq;
	unsigned long stage;
};

struct block_end {
	struct request *rq;
	int error;
};

static struct lt_disk_filter disk_filter = { .usecase = &usecase };
module_param_cb(dev, &lt_disk_ops, &disk_filter, 0644);
MODULE_PARM_DESC(dev, "Track only this disk, as MAJOR:MINOR (default empty: all)");

static bool wants(const struct request *rq)
{
	dev_t only = lt_disk_only(&disk_filter);

	return !only || lt_rq_dev(rq) == only;
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

static struct lt_probe probes[] = {
	LT_PROBE(block_rq_complete),
	LT_PROBE(block_rq_merge),
	LT_PROBE(block_rq_requeue),
	LT_PROBE(block_rq_issue),
	LT_PROBE(block_rq_insert),
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
	lt_trace(block_latency, verdict, report, rwbs, key->stage,
		 end ? end->error : 0);
}

static struct lt_usecase usecase = {
	.name = "block",
	.owner = THIS_MODULE,
	LT_PROBES(probes),
	.report = callback,
	.usec_threshold = USEC_THRESHOLD,
	.collect_ns = COLLECT_NS,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct block_key),
	.priv_size = sizeof(struct lt_block_report),
};

LT_USECASE_PARAMS(usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_USECASE_MODULE(usecase);

MODULE_DESCRIPTION("Latency of block requests, in the queue and in the device");
MODULE_LICENSE("GPL");
