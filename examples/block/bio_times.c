// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of a bio went, by the stamps that bio.c has put into its event.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "examples/block/block.h"
#include "usecase/task.h"
#include "wrapper/sched.h"

static u64 less(u64 ns, u32 run_delay)
{
	return ns - min(ns, (u64)run_delay << 10);
}

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
		slept = less(ns, bio_run_delay(task) - READ_ONCE(bio->run_delay));
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
