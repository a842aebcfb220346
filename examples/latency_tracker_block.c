// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block request latency, in stages: in the queue, from insert to issue; in the
 * device, from issue to completion; and for a request that is requeued, all of
 * it, from its first insert or issue to its completion.
 *
 * Default threshold: 100 ms for each stage. An event block_latency tells of a
 * request that was longer in one.
 *
 * A device that does not take a request, or gives it back, or does not answer
 * in time, has it requeued. That ends the stage in the device, and the next
 * issue begins another one. The stage of the whole request exists for those
 * requests only, and from the first requeue on: it begins then, with the time at
 * which the request itself began.
 *
 * A request that was merged into another has no end of its own: its events are
 * removed. One that completes in parts ends with the last one. A request that is
 * given up otherwise is forgotten when the kernel uses its memory for the next
 * one, or after COLLECT_NS, with a report: no request of a healthy device takes
 * that long.
 */
#include <linux/atomic.h>
#include <linux/hash.h>

#include "usecase/filter_dev.h"
#include "usecase/thresholds.h"
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
MODULE_PARM_DESC(dev, "Track only this disk or partition, as MAJOR:MINOR or by name (default empty: all)");

static int find_disk(const char *text, u64 *id, char *name)
{
	struct lt_disk disk;
	int err;

	err = lt_disk_find(text, &disk);
	if (err)
		return err;
	if (!disk.name[0] || disk.is_part)
		return -EINVAL;
	*id = disk.dev;
	strscpy(name, disk.name, LT_THRESHOLD_NAME_LEN);
	return 0;
}

static struct lt_thresholds thresholds = {
	.usecase = &usecase,
	.find = find_disk,
};
module_param_cb(thresholds, &lt_thresholds_ops, &thresholds, 0644);
MODULE_PARM_DESC(thresholds, "Thresholds of disks, as DISK:TIME,DISK:TIME... with unit ns, us, ms or s (default empty: that of all)");

/* Of the disk of @rq; 0 and false if it has none of its own. */
static noinline bool look_threshold_up(const struct lt_threshold_table *table,
				       const struct request *rq, u64 *ns)
{
	const struct gendisk *disk = lt_rq_disk(rq);
	int i = lt_threshold_by_id(table, lt_rq_dev(rq));

	if (i < 0 && disk && lt_disk_is_hidden(disk)) {
		for (i = table->nr - 1; i >= 0; i--) {
			if (lt_disk_is_path_of(table->name[i], disk->disk_name))
				break;
		}
	}
	*ns = i >= 0 ? table->ns[i] : 0;
	return i >= 0;
}

static u32 set_threshold(struct latency_tracker_in *in,
			 const struct request *rq)
{
	const struct lt_threshold_table *table = lt_thresholds_live(&thresholds);

	if (likely(!table) || !look_threshold_up(table, rq, &in->threshold_ns))
		return 0;
	return LATENCY_TRACKER_THRESHOLD;
}

static bool passes(const struct request *rq, dev_t only)
{
	const struct gendisk *disk = lt_rq_disk(rq);

	if (lt_rq_dev(rq) == only || lt_rq_part_dev(rq) == only)
		return true;
	return disk && lt_disk_is_hidden(disk) &&
	       lt_disk_is_path_of(disk_filter.name, disk->disk_name);
}

static bool wants(const struct request *rq)
{
	dev_t only = lt_disk_only(&disk_filter);

	return !only || passes(rq, only);
}

/*
 * How many requests of a bucket have a stage REQUEST: 0 for nearly all, which
 * saves a look-up for each begin and each completion. What was cleared while it
 * was pending is never taken off, which costs these look-ups again.
 */
#define REQUEUED_BITS	8
static atomic_t requeued[1 << REQUEUED_BITS];

static atomic_t *requeued_of(const struct request *rq)
{
	return &requeued[hash_ptr(rq, REQUEUED_BITS)];
}

static void cancel(struct latency_tracker *tracker, struct request *rq,
		   enum lt_block_stage stage)
{
	struct block_key key = { .rq = rq, .stage = stage };
	int err;

	err = latency_tracker_event_cancel(tracker, &key, sizeof(key));
	if (!err && stage == LT_BLOCK_REQUEST)
		atomic_dec(requeued_of(rq));
}

static bool copy_report(struct latency_tracker_event *event, void *report)
{
	memcpy(report, latency_tracker_event_priv(event),
	       sizeof(struct lt_block_report));
	return false;
}

/* What is known of @rq in a stage, if it is in that. */
static bool look_up(struct latency_tracker *tracker, struct request *rq,
		    enum lt_block_stage stage, struct lt_block_report *report)
{
	struct block_key key = { .rq = rq, .stage = stage };

	return latency_tracker_for_each_event(tracker, &key, sizeof(key),
					      copy_report, report) > 0;
}

/*
 * Likewise of the whole request. A stage that began before this request was
 * allocated is of another one, whose end was not seen. The kernel's time of the
 * allocation is at most that of the first begin, but by a clock that may be
 * somewhat off.
 */
static bool look_up_whole(struct latency_tracker *tracker, struct request *rq,
			  struct lt_block_report *report)
{
	if (likely(!atomic_read(requeued_of(rq))) ||
	    !look_up(tracker, rq, LT_BLOCK_REQUEST, report))
		return false;
	if (likely(!lt_rq_is_newer(rq, report->first + NSEC_PER_MSEC)))
		return true;
	cancel(tracker, rq, LT_BLOCK_REQUEST);
	return false;
}

static void describe(struct lt_block_report *report, struct request *rq)
{
	const struct gendisk *disk = lt_rq_disk(rq);

	report->sector = lt_rq_sector(rq);
	report->dev = lt_rq_dev(rq);
	if (disk)
		memcpy(report->disk, disk->disk_name, DISK_NAME_LEN);
	else
		strscpy(report->disk, "-", DISK_NAME_LEN);
	report->bytes = blk_rq_bytes(rq);
	report->opf = rq->cmd_flags;
	report->pid = current->pid;
	memcpy(report->comm, current->comm, TASK_COMM_LEN);
}

static int begin(struct latency_tracker *tracker, struct request *rq,
		 enum lt_block_stage stage,
		 const struct lt_block_report *report, u64 start)
{
	struct block_key key = { .rq = rq, .stage = stage };
	struct latency_tracker_in in = {
		.priv = report,
		.priv_len = sizeof(*report),
		.start_ns = start,
	};
	u32 flags = LATENCY_TRACKER_UNIQUE | LATENCY_TRACKER_START |
		    set_threshold(&in, rq);

	return latency_tracker_event_in(tracker, &key, sizeof(key), flags, &in);
}

static int end(struct latency_tracker *tracker, struct request *rq,
	       enum lt_block_stage stage, enum lt_block_end how, int error)
{
	struct block_key key = { .rq = rq, .stage = stage };
	struct block_end end = { .rq = rq, .error = error };

	return latency_tracker_event_out(tracker, &key, sizeof(key), how,
					 &end, 0);
}

/* An end that leaves what is known of the stage, for the next one. */
struct handover {
	struct latency_tracker *tracker;
	struct request *rq;
	struct lt_block_report *report;
	enum lt_block_end how;
	u64 now;
};

static bool hand_over(struct latency_tracker_event *event, void *arg)
{
	struct handover *over = arg;
	struct block_end end = { .rq = over->rq };

	copy_report(event, over->report);
	latency_tracker_event_end(over->tracker, event, over->how, &end,
				  over->now);
	return false;
}

static bool end_handing_over(struct latency_tracker *tracker,
			     struct request *rq, enum lt_block_stage stage,
			     enum lt_block_end how,
			     struct lt_block_report *report, u64 now)
{
	struct block_key key = { .rq = rq, .stage = stage };
	struct handover over = {
		.tracker = tracker,
		.rq = rq,
		.report = report,
		.how = how,
		.now = now,
	};

	return latency_tracker_for_each_event(tracker, &key, sizeof(key),
					      hand_over, &over) > 0;
}

static void on_insert(void *data, struct request *rq)
{
	struct lt_block_report report;
	u64 now;

	if (!wants(rq))
		return;
	now = latency_tracker_clock();
	if (!look_up_whole(data, rq, &report)) {
		report.first = now;
		report.requeues = 0;
	}
	describe(&report, rq);
	begin(data, rq, LT_BLOCK_QUEUE, &report, now);
}

static void on_issue(void *data, struct request *rq)
{
	struct lt_block_report report;
	u64 now;

	if (!wants(rq))
		return;
	now = latency_tracker_clock();
	report.first = now;
	report.requeues = 0;
	end_handing_over(data, rq, LT_BLOCK_QUEUE, LT_BLOCK_ISSUED, &report,
			 now);
	look_up_whole(data, rq, &report);
	describe(&report, rq);
	begin(data, rq, LT_BLOCK_DEVICE, &report, now);
}

static void on_complete(void *data, struct request *rq, int error,
			unsigned int nr_bytes)
{
	struct lt_block_report report;

	/* @nr_bytes of what is left; it is taken off after this probe. */
	if (!wants(rq) || nr_bytes < blk_rq_bytes(rq))
		return;
	/* One that fails before it is issued has not left the queue. */
	if (end(data, rq, LT_BLOCK_DEVICE, LT_BLOCK_COMPLETED, error) ==
	    -ENOENT)
		cancel(data, rq, LT_BLOCK_QUEUE);
	if (look_up_whole(data, rq, &report) &&
	    end(data, rq, LT_BLOCK_REQUEST, LT_BLOCK_COMPLETED, error) >= 0)
		atomic_dec(requeued_of(rq));
}

/* Into another one, while both are in the queue. */
static void on_merge(void *data, struct request *rq)
{
	if (!wants(rq))
		return;
	cancel(data, rq, LT_BLOCK_QUEUE);
	if (unlikely(atomic_read(requeued_of(rq))))
		cancel(data, rq, LT_BLOCK_REQUEST);
}

static bool count_requeue(struct latency_tracker_event *event, void *arg)
{
	struct lt_block_report *report = latency_tracker_event_priv(event);

	/* A report of the timeout may read it meanwhile. */
	WRITE_ONCE(report->requeues, report->requeues + 1);
	return false;
}

/* No other CPU requeues, issues or completes @rq meanwhile. */
static void requeue_whole(struct latency_tracker *tracker, struct request *rq,
			  struct lt_block_report *report)
{
	struct block_key key = { .rq = rq, .stage = LT_BLOCK_REQUEST };
	struct lt_block_report whole;

	if (look_up_whole(tracker, rq, &whole)) {
		latency_tracker_for_each_event(tracker, &key, sizeof(key),
					       count_requeue, NULL);
		return;
	}
	report->requeues = 1;
	if (!begin(tracker, rq, LT_BLOCK_REQUEST, report, report->first))
		atomic_inc(requeued_of(rq));
}

/* One that had not been issued is still in the queue. */
static void on_requeue(void *data, struct request *rq)
{
	struct lt_block_report report;
	u64 now;

	if (!wants(rq))
		return;
	now = latency_tracker_clock();
	if (!end_handing_over(data, rq, LT_BLOCK_DEVICE, LT_BLOCK_REQUEUED,
			      &report, now) &&
	    !look_up(data, rq, LT_BLOCK_QUEUE, &report)) {
		describe(&report, rq);
		report.first = now;
	}
	/* The request that it is a clone of is requeued, too, or waits for it. */
	if (!lt_rq_is_clone(rq))
		requeue_whole(data, rq, &report);
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

	if (key->stage == LT_BLOCK_REQUEST &&
	    verdict->flag == LATENCY_TRACKER_COLLECTED)
		atomic_dec(requeued_of(key->rq));
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

MODULE_DESCRIPTION("Latency of block requests, in the queue, in the device and until a retry succeeds");
MODULE_LICENSE("GPL");
