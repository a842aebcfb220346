// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: their stages in the queue, in the device, and of those that are requeued
 * all of it.
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
 * one, or when it is collected, with a report.
 */
#include <linux/atomic.h>
#include <linux/hash.h>

#include "examples/block/block.h"

static bool wants(const struct request *rq)
{
	return wants_disk(lt_rq_disk(rq), lt_rq_part_dev(rq));
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
	struct block_key key = { .of = rq, .stage = stage };
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
	struct block_key key = { .of = rq, .stage = stage };

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

static void describe_request(struct lt_block_report *report,
			     struct request *rq)
{
	report->sector = lt_rq_sector(rq);
	report->bytes = blk_rq_bytes(rq);
	report->opf = rq->cmd_flags;
	describe(report, lt_rq_disk(rq));
}

static int begin(struct latency_tracker *tracker, struct request *rq,
		 enum lt_block_stage stage,
		 const struct lt_block_report *report, u64 start)
{
	struct block_key key = { .of = rq, .stage = stage };
	struct latency_tracker_in in = {
		.priv = report,
		.priv_len = sizeof(*report),
		.start_ns = start,
	};

	return latency_tracker_event_in(tracker, &key, sizeof(key),
					LATENCY_TRACKER_START, &in);
}

static int end(struct latency_tracker *tracker, struct request *rq,
	       enum lt_block_stage stage, enum lt_block_end how, int error)
{
	struct block_key key = { .of = rq, .stage = stage };
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
	struct block_key key = { .of = rq, .stage = stage };
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
		report.cgroup_ns = LATENCY_TRACKER_NEVER;
	}
	describe_request(&report, rq);
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
	report.cgroup_ns = LATENCY_TRACKER_NEVER;
	end_handing_over(data, rq, LT_BLOCK_QUEUE, LT_BLOCK_ISSUED, &report,
			 now);
	look_up_whole(data, rq, &report);
	describe_request(&report, rq);
	begin(data, rq, LT_BLOCK_DEVICE, &report, now);
}

static void on_complete(void *data, struct request *rq, int error,
			unsigned int nr_bytes)
{
	struct lt_block_report report;

	if (!wants(rq))
		return;
	if (bios_are_tracked())
		bios_complete(data, rq, nr_bytes);
	/* @nr_bytes of what is left; it is taken off after this probe. */
	if (nr_bytes < blk_rq_bytes(rq))
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
	struct block_key key = { .of = rq, .stage = LT_BLOCK_REQUEST };
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
		report.cgroup_ns = LATENCY_TRACKER_NEVER;
		describe_request(&report, rq);
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

struct lt_probe block_probes[] = {
	LT_PROBE(block_rq_complete),
	LT_PROBE(block_rq_merge),
	LT_PROBE(block_rq_requeue),
	LT_PROBE(block_rq_issue),
	LT_PROBE(block_rq_insert),
};

const unsigned int block_nr_probes = ARRAY_SIZE(block_probes);

/* The stage of the whole request @rq was given up. */
void request_collected(const struct request *rq)
{
	atomic_dec(requeued_of(rq));
}
