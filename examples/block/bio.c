// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bios: the stage from submission to end, on any device, with where the time went.
 *
 * submit_bio_noacct() begins it: what its cgroup may hold back has not passed any
 * tracepoint there. bio_endio() ends it. In between, tracepoints put time stamps into
 * the event: the bio is let in, gets a request or is merged into one, and that
 * completes.
 *
 * A bio that is too large is split: the pieces never pass submit_bio_noacct(), and their
 * ends are some of those that the bio itself waits for. So a piece has no event, and
 * its stamps go to the bio that was submitted. Others make a bio wait for the end of
 * another one in the same way, but submit both: then each has an event of its own.
 *
 * bio_endio() is entered once for each end that a bio waits for. Which of them is the
 * last: bio_ends.c. Where the time went: bio_times.c.
 *
 * Ordering: the stamps of a bio are written by the task or the interrupt that works on it,
 * and the block layer orders these, and the end behind them. The report of a timeout may
 * come in between: hence READ_ONCE() and WRITE_ONCE().
 */
#include <linux/bio.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "examples/block/block.h"
#include "usecase/entry.h"
#include "usecase/function.h"
#include "usecase/interrupt.h"
#include "usecase/stage.h"

/* The end of a piece, which is one of those that another bio waits for. */
static struct lt_function chained = { .name = "bio_chain_endio" };

void bio_find_functions(void)
{
	lt_function_find(&chained, 1);
}

/* Does another bio, bi_private, wait for its end? */
static bool is_waited_for(const struct bio *bio)
{
	return chained.size && (unsigned long)bio->bi_end_io == chained.start;
}

static struct lt_block_stamps *stamps_of(struct latency_tracker_event *event)
{
	return &bio_report(event)->bio;
}

static bool visit(struct latency_tracker *tracker, const void *of,
		  enum lt_block_stage stage, latency_tracker_visit visitor,
		  void *arg)
{
	struct block_key key = { .of = of, .stage = stage };

	return latency_tracker_for_each_event(tracker, &key, sizeof(key),
					      visitor, arg) > 0;
}

/*
 * The event of a bio. One of which ends were counted is of a bio that waits for more
 * than its own: where this one does not, the event is of another.
 */
static bool visit_bio(struct latency_tracker *tracker, struct bio *bio,
		      latency_tracker_visit visitor, void *arg)
{
	if (!lt_bio_waits(bio))
		bio_settle_former(tracker, bio);
	return visit(tracker, bio, LT_BLOCK_BIO, visitor, arg);
}

/* The same, or if it is a piece, the event of what it is a piece of. */
static void visit_whole(struct latency_tracker *tracker, struct bio *bio,
			latency_tracker_visit visitor, void *arg)
{
	while (!visit_bio(tracker, bio, visitor, arg) && is_waited_for(bio))
		bio = bio->bi_private;
}

static void on_submit(void *arg)
{
	struct lt_block_report report = { .cgroup_ns = LATENCY_TRACKER_NEVER };
	struct latency_tracker_in in = {
		.priv = &report,
		.priv_len = sizeof(report),
	};
	struct latency_tracker *tracker = READ_ONCE(block_usecase.tracker);
	struct bio *bio = arg;
	struct block_key key = { .of = bio, .stage = LT_BLOCK_BIO };
	const struct gendisk *disk = lt_bio_disk(bio);

	if (!disk || !lt_bio_is_new(bio))
		return;
	bio_settle_former(tracker, bio);
	if (!wants_disk(disk, lt_bio_part_dev(bio)))
		return;
	describe(&report, disk);
	report.sector = lt_bio_sector(bio);
	report.bytes = bio->bi_iter.bi_size;
	report.opf = bio->bi_opf;
	report.bio.parent = is_waited_for(bio) ? bio->bi_private : NULL;
	report.bio.submitter = current;
	report.bio.switches = current->nvcsw;
	report.bio.has_requests = lt_disk_has_requests(disk);
	latency_tracker_event_in(tracker, &key, sizeof(key), 0, &in);
}

static bool admit(struct latency_tracker_event *event, void *unused)
{
	struct lt_block_stamps *bio = stamps_of(event);

	bio->was_held = bio->submitter != current;
	WRITE_ONCE(bio->submitter, current);
	WRITE_ONCE(bio->switches, (u16)current->nvcsw);
	WRITE_ONCE(bio->run_delay, bio_run_delay(current));
	WRITE_ONCE(bio->admitted, latency_tracker_clock());
	return false;
}

static void on_queue(void *data, struct bio *bio)
{
	visit_bio(data, bio, admit, NULL);
}

/* The last piece that gets one: until then the bio waits for requests. */
static bool get_request(struct latency_tracker_event *event, void *unused)
{
	struct lt_block_stamps *bio = stamps_of(event);

	bio->slept = bio->submitter == current &&
		     bio->switches != (u16)current->nvcsw;
	bio->delayed = bio_run_delay(current) - bio->run_delay;
	WRITE_ONCE(bio->got, latency_tracker_clock());
	return false;
}

static void on_getrq(void *data, struct bio *bio)
{
	if (bio)
		visit_whole(data, bio, get_request, NULL);
}

static bool split(struct latency_tracker_event *event, void *unused)
{
	bio_count_split(event);
	return false;
}

static void on_split(void *data, struct bio *bio)
{
	visit_whole(data, bio, split, NULL);
}

/* What the event of the device tells of a request that completes. */
struct told {
	u64 first;
	u64 issued;
	u64 now;
	u32 requeues;
};

static bool tell(struct latency_tracker_event *event, void *arg)
{
	const struct lt_block_report *report = latency_tracker_event_priv(event);
	struct told *told = arg;

	told->first = report->first;
	told->requeues = report->requeues;
	told->issued = told->requeues ? report->first :
					latency_tracker_event_start(event);
	return false;
}

static bool pass_on(struct latency_tracker_event *event, void *arg)
{
	struct lt_block_report *report = latency_tracker_event_priv(event);
	const struct told *told = arg;

	report->bio.first = told->first;
	report->bio.issued = told->issued;
	report->bio.completed = told->now;
	WRITE_ONCE(report->requeues, told->requeues);
	return false;
}

/* Before the bios end. Those that are longer than what is left complete in parts. */
void bios_complete(struct latency_tracker *tracker, const struct request *rq,
		   unsigned int nr_bytes)
{
	struct told told = { .now = latency_tracker_clock() };
	struct bio *bio;

	if (!rq->bio)
		return;
	visit(tracker, rq, LT_BLOCK_DEVICE, tell, &told);
	if (!told.issued)
		return;
	for (bio = rq->bio; bio && bio->bi_iter.bi_size <= nr_bytes;
	     bio = bio->bi_next) {
		visit_whole(tracker, bio, pass_on, &told);
		nr_bytes -= bio->bi_iter.bi_size;
	}
}

static bool count_end(struct latency_tracker_event *event, void *bio)
{
	bio_count_end(event, bio);
	return false;
}

/*
 * For the critical path of the task that this end wakes. A bio without a request of its own
 * has passed others on, of which the last one ends it: what the disk did for that is what
 * counts.
 */
static noinline void tell_end(struct latency_tracker_event *event)
{
	const struct lt_block_report *report = bio_report(event);
	struct latency_tracker_wait wait = {};

	if (report->bio.issued || !lt_doing_is(LT_DOING_DISK, &wait)) {
		wait.part_ns = report->bio.first;
		wait.ready_ns = report->bio.issued;
		wait.where = report->sector;
		wait.dev = report->dev;
		wait.cause = min(report->requeues, 255U);
		strscpy(wait.name, report->disk, sizeof(wait.name));
	}
	wait.kind = LATENCY_TRACKER_WAIT_DISK;
	wait.begin_ns = latency_tracker_event_start(event);
	wait.end_ns = latency_tracker_clock();
	wait.pid = report->pid;
	wait.by_pid = -1;
	memcpy(wait.comm, report->comm, TASK_COMM_LEN);
	memcpy(wait.by_comm, "-", 2);
	lt_doing_note(LT_DOING_DISK, &wait);
}

/* Many a bio that ends has no event: that is no loss. */
static bool end_event(struct latency_tracker_event *event, void *arg)
{
	struct bio *bio = arg;
	struct block_end end = {
		.error = blk_status_to_errno(bio->bi_status),
	};

	if (latency_tracker_waits_are_read())
		tell_end(event);
	bio_end(READ_ONCE(block_usecase.tracker), event, &end, 0);
	return false;
}

/* A piece that ends may be what the bio that it is a piece of has waited for. */
static void on_end(void *arg)
{
	struct latency_tracker *tracker = READ_ONCE(block_usecase.tracker);
	struct bio *bio = arg;

	for (;;) {
		if (lt_bio_remaining(bio) > 1) {
			visit_whole(tracker, bio, count_end, bio);
			return;
		}
		if (!visit_bio(tracker, bio, end_event, bio) &&
		    latency_tracker_waits_are_read())
			lt_doing_nothing(LT_DOING_DISK);
		if (!is_waited_for(bio))
			return;
		bio = bio->bi_private;
	}
}

LT_DEFINE_PROBE_BIO(block_bio_queue, on_queue)
LT_DEFINE_PROBE_BIO(block_getrq, on_getrq)
LT_DEFINE_PROBE_BIO(block_bio_backmerge, on_getrq)
LT_DEFINE_PROBE_BIO(block_bio_frontmerge, on_getrq)
LT_DEFINE_PROBE_BIO_SPLIT(on_split)

static struct lt_probe probes[] = {
	LT_PROBE(block_bio_queue),
	LT_PROBE(block_getrq),
	LT_PROBE(block_bio_backmerge),
	LT_PROBE(block_bio_frontmerge),
	LT_PROBE(block_split),
};

static struct lt_entry entries[] = {
	{ .function = "bio_endio", .func = on_end },
	{ .function = "submit_bio_noacct", .func = on_submit },
};

struct lt_stage bio_stage = {
	.usecase = &block_usecase,
	.name = "bios",
	LT_PROBES(probes),
	.entries = entries,
	.nr_entries = ARRAY_SIZE(entries),
	.quiesce = bio_ends_stop,
	.on = true,
};
module_param_cb(bios, &lt_stage_ops, &bio_stage, 0644);
MODULE_PARM_DESC(bios, "Track bios, too: what waits before it is a request, and devices without requests (default Y)");
