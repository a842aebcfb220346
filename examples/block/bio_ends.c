// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which end of a bio is the last?
 *
 * A bio that was split waits for several ends. bio_endio() is entered for each of them,
 * where the hook looks, and counts down afterwards. The last one sees 1 left. But if two
 * CPUs enter it at once, both may see 2, and none sees that it is the last.
 *
 * So the event counts, too, of a bio and its pieces, and theirs: how many ends were
 * seen, and how many there are at least. Once as many were seen, the last of them may
 * have been the last one: the bio is a suspect, and a work item looks some milliseconds
 * later at the memory of the bio, which may be freed by then. The kernel takes the mark
 * that a bio waits for more than one end away with the last of them, so what was freed
 * does not have it, unless it is used for something else, and by chance: then the next
 * look will tell, or the next bio of that address. The event ends with the time of the
 * end that was seen last.
 *
 * Ordering: bio_count_end() writes the stamps of that end, then the count, with
 * atomic_try_cmpxchg(), which is a full barrier; settle() reads the count, then the
 * stamps, with atomic_read_acquire().
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/workqueue.h>

#include "examples/block/block.h"

/*
 * The ends of struct lt_block_report, three numbers of ENDS_BITS: how many ends were
 * seen, how many there are at least, and how often the bio was split. Each split makes
 * for one more end, and no fewer than are left at one of them.
 */
#define ENDS_BITS	10
#define ENDS_MAX	((1 << ENDS_BITS) - 1)

#define SUSPECTS	64
#define FIRST_LOOK_MS	10
#define LOOK_MAX_MS	640U

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

/* How many events there are of which that is true. */
static atomic_t unsettled;

/* Their bios; only to compare, and to be looked at with care. */
static const void *suspects[SUSPECTS];

static void look(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look);
static unsigned int look_ms;

/* With no place for it, the next bio of its address tells. */
static void suspect(const struct latency_tracker_event *event)
{
	const struct block_key *key = latency_tracker_event_key(event);
	unsigned int n;

	for (n = 0; n < SUSPECTS; n++)
		if (!READ_ONCE(suspects[n]) &&
		    !cmpxchg(&suspects[n], NULL, key->of))
			break;
	/* Not as late as was planned for the others. */
	if (xchg(&look_ms, FIRST_LOOK_MS) > FIRST_LOOK_MS)
		cancel_delayed_work(&look_work);
	schedule_delayed_work(&look_work, msecs_to_jiffies(FIRST_LOOK_MS));
}

static int add_ends(int old, int seen, int least, int splits)
{
	splits = min(splits_of(old) + splits, ENDS_MAX);
	least = max3(least_of(old), least, splits + 1);
	return min(seen_of(old) + seen, ENDS_MAX) |
	       min(least, ENDS_MAX) << ENDS_BITS | splits << 2 * ENDS_BITS;
}

/* Is it one of which may_be_over() has become true? */
static bool set_ends(struct latency_tracker_event *event, int seen, int least,
		     int splits)
{
	atomic_t *ends = &bio_report(event)->ends;
	int old = atomic_read(ends), new;

	do {
		new = add_ends(old, seen, least, splits);
	} while (!atomic_try_cmpxchg(ends, &old, new));
	if (may_be_over(new) == may_be_over(old))
		return false;
	atomic_add(may_be_over(new) ? 1 : -1, &unsettled);
	return may_be_over(new);
}

/* It waits for one end more than before. */
void bio_count_split(struct latency_tracker_event *event)
{
	set_ends(event, 0, 0, 1);
}

/* An end that does not see that it is the last one, of the bio or a piece of it. */
void bio_count_end(struct latency_tracker_event *event, struct bio *piece)
{
	struct lt_block_stamps *stamps = &bio_report(event)->bio;

	WRITE_ONCE(stamps->error, (s16)blk_status_to_errno(piece->bi_status));
	WRITE_ONCE(stamps->ended, latency_tracker_clock());
	if (set_ends(event, 1, lt_bio_remaining(piece), 0))
		suspect(event);
}

/* @now: 0, or when that was. Returns whether it had not ended yet. */
bool bio_end(struct latency_tracker *tracker,
	     struct latency_tracker_event *event, struct block_end *end,
	     u64 now)
{
	if (latency_tracker_event_end(tracker, event, LT_BLOCK_COMPLETED, end,
				      now) < 0)
		return false;
	if (unlikely(may_be_over(atomic_read(&bio_report(event)->ends))))
		atomic_dec(&unsettled);
	return true;
}

static void visit(struct latency_tracker *tracker, const struct bio *bio,
		  latency_tracker_visit visitor, void *arg)
{
	struct block_key key = { .of = bio, .stage = LT_BLOCK_BIO };

	latency_tracker_for_each_event(tracker, &key, sizeof(key), visitor,
				       arg);
}

/* The end of a bio that another one waits for was settled: one end of that one. */
static bool count_settled(struct latency_tracker_event *event, void *arg)
{
	struct lt_block_stamps *stamps = &bio_report(event)->bio;
	const struct lt_block_stamps *piece = arg;

	if (piece->error)
		WRITE_ONCE(stamps->error, piece->error);
	WRITE_ONCE(stamps->ended, max(READ_ONCE(stamps->ended), piece->ended));
	if (set_ends(event, 1, 0, 0))
		suspect(event);
	return false;
}

static bool settle(struct latency_tracker_event *event, void *tracker)
{
	struct lt_block_report *report = bio_report(event);
	struct lt_block_stamps stamps;
	struct block_end end = {};

	if (!may_be_over(atomic_read_acquire(&report->ends)))
		return false;
	stamps = report->bio;
	end.error = stamps.error;
	if (bio_end(tracker, event, &end, stamps.ended) && stamps.parent)
		visit(tracker, stamps.parent, count_settled, &stamps);
	return false;
}

/* Another bio begins at this address, or ends: what the former has left is over. */
void bio_settle_former(struct latency_tracker *tracker, const struct bio *bio)
{
	if (unlikely(atomic_read(&unsettled)))
		visit(tracker, bio, settle, tracker);
}

static bool is_suspect(struct latency_tracker_event *event, void *found)
{
	*(bool *)found = may_be_over(atomic_read(&bio_report(event)->ends));
	return false;
}

/* Must it be looked at once more? */
static bool look_at(struct latency_tracker *tracker, const struct bio *bio)
{
	bool found = false;

	visit(tracker, bio, is_suspect, &found);
	if (found && !lt_bio_is_over(bio))
		return true;
	if (found)
		visit(tracker, bio, settle, tracker);
	return false;
}

static void look(struct work_struct *work)
{
	struct latency_tracker *tracker = READ_ONCE(block_usecase.tracker);
	unsigned int ms = READ_ONCE(look_ms), n;
	bool again = false;

	for (n = 0; n < SUSPECTS; n++) {
		const struct bio *bio = READ_ONCE(suspects[n]);

		if (!bio)
			continue;
		if (look_at(tracker, bio))
			again = true;
		else
			WRITE_ONCE(suspects[n], NULL);
	}
	/* A new suspect has planned the next look already. */
	if (again && cmpxchg(&look_ms, ms, min(2 * ms, LOOK_MAX_MS)) == ms)
		schedule_delayed_work(&look_work, msecs_to_jiffies(ms));
}

/* Nothing begins or ends any more, and all events will be cleared. */
void bio_ends_stop(void)
{
	cancel_delayed_work_sync(&look_work);
	memset(suspects, 0, sizeof(suspects));
	atomic_set(&unsettled, 0);
}

/* It has ended, and will be settled. */
bool bio_is_doubtful(const struct latency_tracker_verdict *verdict)
{
	const struct lt_block_report *report = verdict->priv;
	const struct block_key *key = verdict->key;

	return verdict->flag != LATENCY_TRACKER_ENDED &&
	       may_be_over(atomic_read(&report->ends)) &&
	       lt_bio_is_over(key->of);
}
