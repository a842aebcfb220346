// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bios: the stage from submission to end, on any device, with where the time went.
 *
 * submit_bio_noacct() begins it: what its cgroup may hold back has not passed any
 * tracepoint there. bio_endio() ends it. In between, tracepoints put time stamps into
 * the event: the bio is let in, gets a request or is merged into one, and that
 * completes.
 *
 * A bio that is too large is split: the pieces are bios that pass submit_bio_noacct()
 * before, or never, and whose end is one of those that the bio itself waits for. So
 * a piece has no event, and its stamps go to the bio that was submitted.
 *
 * bio_endio() is entered once for each end that a bio waits for, and counts
 * afterwards. The last one sees 1 left. If two CPUs enter it at once, both may see 2,
 * and none sees that it is the last: see count_end(). The event that is left ends, with
 * the time of that, when the next bio of this address comes.
 *
 * Ordering: the stamps of a bio are written by whoever works on it, and the block
 * layer orders these, and the end behind them. The report of a timeout may come in
 * between: hence READ_ONCE() and WRITE_ONCE().
 */
#include <linux/bio.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "examples/block/block.h"
#include "usecase/entry.h"
#include "usecase/function.h"
#include "usecase/stage.h"

/*
 * The ends of struct lt_block_stamps: how many were seen, and the largest number that
 * was left at one of them. Of all ends that there are, no more can be left at one. So
 * once as many were seen, the last of these may have been the last one.
 */
#define ENDS_BITS	15
#define ENDS_MASK	(BIT(ENDS_BITS) - 1)

static bool may_be_over(int ends)
{
	return (ends & ENDS_MASK) && (ends & ENDS_MASK) >= ends >> ENDS_BITS;
}

/* How many events there are of which that is true; those that were cleared count, too. */
static atomic_t unsettled;

/* The end of a piece, which is one of those that another bio waits for. */
static struct lt_function chained = { .name = "bio_chain_endio" };

void bio_find_functions(void)
{
	lt_function_find(&chained, 1);
}

static bool is_piece(const struct bio *bio)
{
	return chained.size && (unsigned long)bio->bi_end_io == chained.start;
}

/* The bio that was submitted. It does not end before @bio. */
static const struct bio *whole_of(const struct bio *bio)
{
	while (is_piece(bio))
		bio = bio->bi_private;
	return bio;
}

static struct lt_block_stamps *stamps_of(struct latency_tracker_event *event)
{
	struct lt_block_report *report = latency_tracker_event_priv(event);

	return &report->bio;
}

static void visit(struct latency_tracker *tracker, const void *of,
		  enum lt_block_stage stage, latency_tracker_visit visitor,
		  void *arg)
{
	struct block_key key = { .of = of, .stage = stage };

	latency_tracker_for_each_event(tracker, &key, sizeof(key), visitor, arg);
}

/* What an earlier bio of this address has left has ended then: see count_end(). */
static bool settle(struct latency_tracker_event *event, void *arg)
{
	const struct lt_block_stamps *bio = stamps_of(event);
	struct block_end end = { .error = READ_ONCE(bio->error) };

	if (may_be_over(atomic_read(&bio->ends)) &&
	    latency_tracker_event_end(arg, event, LT_BLOCK_COMPLETED, &end,
				      READ_ONCE(bio->ended)) >= 0)
		atomic_dec(&unsettled);
	return false;
}

static void on_submit(void *arg)
{
	struct lt_block_report report = {};
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
	if (unlikely(atomic_read(&unsettled)))
		visit(tracker, bio, LT_BLOCK_BIO, settle, tracker);
	if (!wants_disk(disk, lt_bio_part_dev(bio)))
		return;
	describe(&report, disk);
	report.sector = lt_bio_sector(bio);
	report.bytes = bio->bi_iter.bi_size;
	report.opf = bio->bi_opf;
	report.bio.submitter = current;
	report.bio.pid = current->pid;
	report.bio.switches = current->nvcsw;
	report.bio.has_requests = lt_disk_has_requests(disk);
	latency_tracker_event_in(tracker, &key, sizeof(key),
				 LATENCY_TRACKER_UNIQUE |
				 set_threshold(&in, disk), &in);
}

static bool admit(struct latency_tracker_event *event, void *unused)
{
	struct lt_block_stamps *bio = stamps_of(event);

	bio->was_held = bio->submitter != current;
	WRITE_ONCE(bio->switches, (u32)current->nvcsw);
	WRITE_ONCE(bio->submitter, current);
	WRITE_ONCE(bio->pid, current->pid);
	WRITE_ONCE(bio->admitted, latency_tracker_clock());
	return false;
}

static void on_queue(void *data, struct bio *bio)
{
	visit(data, bio, LT_BLOCK_BIO, admit, NULL);
}

/* The last piece that gets one: until then the bio waits for requests. */
static bool get_request(struct latency_tracker_event *event, void *unused)
{
	struct lt_block_stamps *bio = stamps_of(event);

	bio->slept = bio->submitter == current &&
		     bio->switches != (u32)current->nvcsw;
	WRITE_ONCE(bio->got, latency_tracker_clock());
	return false;
}

static void on_getrq(void *data, struct bio *bio)
{
	if (bio)
		visit(data, whole_of(bio), LT_BLOCK_BIO, get_request, NULL);
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
	const struct bio *bio;

	if (!rq->bio)
		return;
	visit(tracker, rq, LT_BLOCK_DEVICE, tell, &told);
	if (!told.issued)
		return;
	for (bio = rq->bio; bio && bio->bi_iter.bi_size <= nr_bytes;
	     bio = bio->bi_next) {
		visit(tracker, whole_of(bio), LT_BLOCK_BIO, pass_on, &told);
		nr_bytes -= bio->bi_iter.bi_size;
	}
}

/*
 * An end that does not see that it is the last one. It may be all the same, if others
 * that were before it in bio_endio() are still there: then no other one comes, and
 * settle() ends the event, with the time of this one. Otherwise the last one will see it.
 */
static bool count_end(struct latency_tracker_event *event, void *arg)
{
	struct lt_block_stamps *bio = stamps_of(event);
	const struct bio *this = arg;
	int left = chained.size ? min_t(int, lt_bio_remaining(arg), ENDS_MASK) : 0;
	int old = atomic_read(&bio->ends), ends;

	WRITE_ONCE(bio->error, blk_status_to_errno(this->bi_status));
	WRITE_ONCE(bio->ended, latency_tracker_clock());
	do {
		ends = min_t(int, (old & ENDS_MASK) + 1, ENDS_MASK) |
		       max(old >> ENDS_BITS, left) << ENDS_BITS;
	} while (!atomic_try_cmpxchg(&bio->ends, &old, ends));
	if (may_be_over(ends) && !may_be_over(old))
		atomic_inc(&unsettled);
	else if (may_be_over(old) && !may_be_over(ends))
		atomic_dec(&unsettled);
	return false;
}

/* Many a bio that ends has no event: that is no loss. */
static bool end_event(struct latency_tracker_event *event, void *arg)
{
	struct bio *bio = arg;
	struct block_end end = {
		.error = blk_status_to_errno(bio->bi_status),
	};

	latency_tracker_event_end(READ_ONCE(block_usecase.tracker), event,
				  LT_BLOCK_COMPLETED, &end, 0);
	if (unlikely(may_be_over(atomic_read(&stamps_of(event)->ends))))
		atomic_dec(&unsettled);
	return false;
}

/* A piece that ends may be what the bio that it is a piece of has waited for. */
static void on_end(void *arg)
{
	struct latency_tracker *tracker = READ_ONCE(block_usecase.tracker);
	struct bio *bio = arg;

	for (;;) {
		if (lt_bio_remaining(bio) > 1) {
			visit(tracker, bio, LT_BLOCK_BIO, count_end, bio);
			return;
		}
		visit(tracker, bio, LT_BLOCK_BIO, end_event, bio);
		if (!is_piece(bio))
			return;
		bio = bio->bi_private;
	}
}

LT_DEFINE_PROBE_BIO(block_bio_queue, on_queue)
LT_DEFINE_PROBE_BIO(block_getrq, on_getrq)
LT_DEFINE_PROBE_BIO(block_bio_backmerge, on_getrq)
LT_DEFINE_PROBE_BIO(block_bio_frontmerge, on_getrq)

static struct lt_probe probes[] = {
	LT_PROBE(block_bio_queue),
	LT_PROBE(block_getrq),
	LT_PROBE(block_bio_backmerge),
	LT_PROBE(block_bio_frontmerge),
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
	.on = true,
};
module_param_cb(bios, &lt_stage_ops, &bio_stage, 0644);
MODULE_PARM_DESC(bios, "Track bios, too: what waits before it is a request, and devices without requests (default Y)");

/* Has the task slept since? Then it has not been at the same place all the time. */
static bool submitter_slept(const struct lt_block_stamps *bio)
{
	const struct task_struct *task;
	bool slept;

	rcu_read_lock();
	task = lt_task_alive(READ_ONCE(bio->submitter),
			     READ_ONCE(bio->pid));
	slept = !task || (u32)task->nvcsw != READ_ONCE(bio->switches);
	rcu_read_unlock();
	return slept;
}

/*
 * One that is pending and has no request: nothing sleeps between submission and
 * admission, so what has slept since has left the bio behind.
 */
static void account_pending(const struct latency_tracker_verdict *verdict,
			    struct lt_block_times *times, u64 admitted)
{
	const struct lt_block_report *report = verdict->priv;
	u64 now = verdict->start_ns + verdict->delay_ns;

	if (!admitted) {
		if (submitter_slept(&report->bio))
			times->throttled = verdict->delay_ns;
	} else if (report->bio.has_requests && submitter_slept(&report->bio)) {
		times->getrq = now - admitted;
	}
}

static void account_ended(const struct latency_tracker_verdict *verdict,
			  struct lt_block_times *times, u64 admitted)
{
	const struct lt_block_report *report = verdict->priv;
	const struct lt_block_stamps *bio = &report->bio;
	u64 end = verdict->start_ns + verdict->delay_ns;
	u64 completed, issued, got;

	if (!bio->got)
		return;
	/* Of pieces, the one that completed last may not have come last. */
	completed = bio->issued ? bio->completed : bio->got;
	issued = bio->issued ?: completed;
	got = min(bio->got, issued);
	if (bio->slept && admitted < got)
		times->getrq = got - admitted;
	times->device = completed - issued;
	if (report->opf & REQ_PREFLUSH)
		times->flush = issued - got;
	else
		times->queue = issued - got;
	if (report->opf & (REQ_PREFLUSH | REQ_FUA))
		times->flush += end - completed;
}

static u32 cause_of(const struct lt_block_times *times, u64 delay,
		    bool has_requests)
{
	const struct {
		u64 ns;
		u32 cause;
	} parts[] = {
		{ times->throttled, LT_BLOCK_THROTTLED },
		{ times->getrq, LT_BLOCK_GETRQ },
		{ times->queue, LT_BLOCK_IN_QUEUE },
		{ times->device, LT_BLOCK_IN_DEVICE },
		{ times->flush, LT_BLOCK_FLUSH },
	};
	u32 cause = has_requests ? LT_BLOCK_UNKNOWN : LT_BLOCK_LOWER;
	u64 most = delay;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		most -= min(most, parts[i].ns);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i].ns > most) {
			most = parts[i].ns;
			cause = parts[i].cause;
		}
	}
	return cause;
}

void bio_account(const struct latency_tracker_verdict *verdict,
		 struct lt_block_times *times)
{
	const struct lt_block_report *report = verdict->priv;
	u64 admitted = READ_ONCE(report->bio.admitted);

	if (admitted && report->bio.was_held)
		times->throttled = admitted - verdict->start_ns;
	if (verdict->flag == LATENCY_TRACKER_ENDED)
		account_ended(verdict, times, admitted);
	else
		account_pending(verdict, times, admitted);
	times->cause = cause_of(times, verdict->delay_ns,
				report->bio.has_requests);
}

/*
 * Not one of which a stage of its request tells: 95 % of its time were in that, and
 * it was late, or it is what goes on; nor one that may have ended. With a threshold of
 * 0, all that have.
 */
bool bio_is_wanted(const struct latency_tracker_verdict *verdict)
{
	const struct lt_block_report *report = verdict->priv;
	const struct lt_block_stamps *bio = &report->bio;
	u64 told;

	if (verdict->flag != LATENCY_TRACKER_ENDED)
		return !READ_ONCE(bio->got) &&
		       !may_be_over(atomic_read(&bio->ends));
	if (!bio->issued || !verdict->threshold_ns)
		return true;
	told = max(bio->completed - bio->issued, bio->issued - bio->first);
	return told < verdict->threshold_ns ||
	       verdict->delay_ns - min(told, verdict->delay_ns) >
		       div_u64(verdict->delay_ns, 20);
}
