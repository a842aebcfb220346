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
#include "wrapper/sched.h"

/*
 * The ends of struct lt_block_report, three numbers of ENDS_BITS: how many ends were
 * seen, how many there are at least, and how often the bio was split. Each split makes
 * for one more end; and of all ends no more can be left at one of them. Once as many
 * were seen as there are at least, the last of these may have been the last one.
 */
#define ENDS_BITS	10
#define ENDS_MAX	((1 << ENDS_BITS) - 1)

static int seen_of(int ends)
{
	return ends & ENDS_MAX;
}

static int least_of(int ends)
{
	return ends >> ENDS_BITS & ENDS_MAX;
}

static int splits_of(int ends)
{
	return ends >> 2 * ENDS_BITS;
}

static bool may_be_over(int ends)
{
	return seen_of(ends) && seen_of(ends) >= least_of(ends);
}

/* How many events there are of which that is true; those that were cleared count, too. */
static atomic_t unsettled;

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

static struct lt_block_report *report_of(struct latency_tracker_event *event)
{
	return latency_tracker_event_priv(event);
}

static struct lt_block_stamps *stamps_of(struct latency_tracker_event *event)
{
	return &report_of(event)->bio;
}

static bool visit(struct latency_tracker *tracker, const void *of,
		  enum lt_block_stage stage, latency_tracker_visit visitor,
		  void *arg)
{
	struct block_key key = { .of = of, .stage = stage };

	return latency_tracker_for_each_event(tracker, &key, sizeof(key),
					      visitor, arg) > 0;
}

/* What an earlier bio of this address has left has ended then: see count_end(). */
static bool settle(struct latency_tracker_event *event, void *arg)
{
	const struct lt_block_stamps *bio = stamps_of(event);
	struct block_end end = { .error = READ_ONCE(bio->error) };

	if (may_be_over(atomic_read(&report_of(event)->ends)) &&
	    latency_tracker_event_end(arg, event, LT_BLOCK_COMPLETED, &end,
				      READ_ONCE(bio->ended)) >= 0)
		atomic_dec(&unsettled);
	return false;
}

/*
 * The event of a bio. One of which ends were counted is of a bio that waits for more
 * than its own: where this one does not, the event is of another.
 */
static bool visit_bio(struct latency_tracker *tracker, struct bio *bio,
		      latency_tracker_visit visitor, void *arg)
{
	if (unlikely(atomic_read(&unsettled)) && !lt_bio_waits(bio))
		visit(tracker, bio, LT_BLOCK_BIO, settle, tracker);
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
	report.bio.switches = current->nvcsw;
	report.bio.has_requests = lt_disk_has_requests(disk);
	latency_tracker_event_in(tracker, &key, sizeof(key),
				 LATENCY_TRACKER_UNIQUE |
				 set_threshold(&in, disk), &in);
}

/* For how long it has waited for a CPU, in all, in units of 1024 ns, modulo 2^32. */
static u32 run_delay_of(const struct task_struct *task)
{
	return lt_sched_run_delay(task) >> 10;
}

static u64 less(u64 ns, u32 run_delay)
{
	return ns - min(ns, (u64)run_delay << 10);
}

static bool admit(struct latency_tracker_event *event, void *unused)
{
	struct lt_block_stamps *bio = stamps_of(event);

	bio->was_held = bio->submitter != current;
	WRITE_ONCE(bio->submitter, current);
	WRITE_ONCE(bio->switches, (u16)current->nvcsw);
	WRITE_ONCE(bio->run_delay, run_delay_of(current));
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
	bio->delayed = run_delay_of(current) - bio->run_delay;
	WRITE_ONCE(bio->got, latency_tracker_clock());
	return false;
}

static void on_getrq(void *data, struct bio *bio)
{
	if (bio)
		visit_whole(data, bio, get_request, NULL);
}

static int add_ends(int old, int seen, int least, int splits)
{
	splits = min(splits_of(old) + splits, ENDS_MAX);
	least = max3(least_of(old), least, splits + 1);
	return min(seen_of(old) + seen, ENDS_MAX) |
	       min(least, ENDS_MAX) << ENDS_BITS | splits << 2 * ENDS_BITS;
}

static void set_ends(struct latency_tracker_event *event, int seen, int least,
		     int splits)
{
	atomic_t *ends = &report_of(event)->ends;
	int old = atomic_read(ends), new;

	do {
		new = add_ends(old, seen, least, splits);
	} while (!atomic_try_cmpxchg(ends, &old, new));
	if (may_be_over(new) != may_be_over(old))
		atomic_add(may_be_over(new) ? 1 : -1, &unsettled);
}

static bool split(struct latency_tracker_event *event, void *unused)
{
	set_ends(event, 0, 0, 1);
	return false;
}

/*
 * Device mapper goes on with the same bio, which then waits for one more end. Otherwise
 * @bio is a piece, and what it is a piece of goes on at @sector, and waits. Another
 * bio must not be taken for that: an end too many would hide the last one.
 */
static void on_split(void *data, struct bio *bio, unsigned int sector)
{
	struct bio *rest = bio->bi_private;

	if (!visit_bio(data, bio, split, NULL) && is_waited_for(bio) &&
	    (u32)rest->bi_iter.bi_sector == sector)
		visit_bio(data, rest, split, NULL);
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

/*
 * An end that does not see that it is the last one. It may be all the same, if others
 * that were before it in bio_endio() are still there: then no other one comes, and
 * settle() ends the event, with the time of this one. Otherwise the last one will see it.
 */
static bool count_end(struct latency_tracker_event *event, void *arg)
{
	struct lt_block_stamps *bio = stamps_of(event);
	struct bio *this = arg;

	WRITE_ONCE(bio->error, (s16)blk_status_to_errno(this->bi_status));
	WRITE_ONCE(bio->ended, latency_tracker_clock());
	set_ends(event, 1, chained.size ? lt_bio_remaining(this) : 0, 0);
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
	if (unlikely(may_be_over(atomic_read(&report_of(event)->ends))))
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
			visit_bio(tracker, bio, count_end, bio);
			return;
		}
		visit_bio(tracker, bio, end_event, bio);
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
	.on = true,
};
module_param_cb(bios, &lt_stage_ops, &bio_stage, 0644);
MODULE_PARM_DESC(bios, "Track bios, too: what waits before it is a request, and devices without requests (default Y)");

/*
 * Nothing sleeps between submission and admission, so a task that has slept since has
 * left the bio behind. One that is gone has, too.
 */
static bool is_held(const struct lt_block_report *report)
{
	const struct task_struct *task;
	bool held;

	rcu_read_lock();
	task = lt_task_alive(READ_ONCE(report->bio.submitter), report->pid);
	held = !task || (u16)task->nvcsw != READ_ONCE(report->bio.switches);
	rcu_read_unlock();
	return held;
}

/* How much of the @ns since its admission the submitter has slept, if it sleeps. */
static u64 asleep(const struct lt_block_report *report, u64 ns)
{
	const struct lt_block_stamps *bio = &report->bio;
	const struct task_struct *task;
	u64 slept = 0;

	rcu_read_lock();
	task = lt_task_alive(READ_ONCE(bio->submitter), report->pid);
	if (task && lt_task_state(task) != TASK_RUNNING &&
	    (u16)task->nvcsw != READ_ONCE(bio->switches))
		slept = less(ns, run_delay_of(task) - READ_ONCE(bio->run_delay));
	rcu_read_unlock();
	return slept;
}

/* One that is pending and has no request. */
static void account_pending(const struct latency_tracker_verdict *verdict,
			    struct lt_block_times *times, u64 admitted)
{
	const struct lt_block_report *report = verdict->priv;

	if (!admitted) {
		if (is_held(report))
			times->throttled = verdict->delay_ns;
	} else if (report->bio.has_requests) {
		times->getrq = asleep(report, verdict->start_ns +
					      verdict->delay_ns - admitted);
	}
}

/* Empty, it is nothing but a flush. */
static bool waits_for_flush(const struct lt_block_report *report)
{
	return report->opf & (REQ_PREFLUSH | REQ_FUA) &&
	       (report->bio.issued || !report->bytes);
}

static void account_ended(const struct latency_tracker_verdict *verdict,
			  struct lt_block_times *times, u64 admitted)
{
	const struct lt_block_report *report = verdict->priv;
	const struct lt_block_stamps *bio = &report->bio;
	u64 end = verdict->start_ns + verdict->delay_ns;
	u64 completed, issued, got, first;

	if (!bio->got)
		return;
	/* Of pieces, the one that completed last may not have come last. */
	completed = bio->issued ? bio->completed : bio->got;
	issued = bio->issued ?: completed;
	got = min(bio->got, issued);
	first = got;
	if (report->opf & REQ_PREFLUSH && bio->issued)
		first = max(got, bio->first);
	if (bio->slept && admitted < got)
		times->getrq = less(got - admitted, bio->delayed);
	times->device = completed - issued;
	times->queue = issued - first;
	times->flush = first - got;
	if (waits_for_flush(report))
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
 * it was late, or it is what goes on. With a threshold of 0, all that have ended.
 */
bool bio_is_wanted(const struct latency_tracker_verdict *verdict)
{
	const struct lt_block_report *report = verdict->priv;
	const struct lt_block_stamps *bio = &report->bio;
	u64 told;

	if (verdict->flag != LATENCY_TRACKER_ENDED)
		return !READ_ONCE(bio->got);
	if (!bio->issued || !verdict->threshold_ns)
		return true;
	told = max(bio->completed - bio->issued, bio->issued - bio->first);
	return told < verdict->threshold_ns ||
	       verdict->delay_ns - min(told, verdict->delay_ns) >
		       div_u64(verdict->delay_ns, 20);
}

/* It may have ended, and wait for the next bio of its address. */
bool bio_is_doubtful(const struct latency_tracker_verdict *verdict)
{
	const struct lt_block_report *report = verdict->priv;

	return verdict->flag != LATENCY_TRACKER_ENDED &&
	       may_be_over(atomic_read(&report->ends));
}
