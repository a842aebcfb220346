// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments of the time in which a task had a CPU, or waited for one.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "examples/critical_path/walk.h"
#include "usecase/off_cpu.h"

/* The handlers that had interrupted the task in that time, which is in what it ran. */
static u64 interrupts_in(const struct path_history *history, u64 from, u64 to)
{
	unsigned int i;
	u64 ns = 0;

	for (i = 0; i < history->nr; i++) {
		if (history->waits[i].kind == LATENCY_TRACKER_WAIT_INTERRUPT)
			ns += path_overlap(history->waits[i].begin_ns,
					   history->waits[i].end_ns, from, to);
	}
	return ns;
}

static u64 less(u64 from, u64 ns)
{
	return from > ns ? from - ns : 0;
}

/* @part of @whole ns was something: of @ns of these at least so much, wherever the others were. */
static u64 least_of(u64 part, u64 whole, u64 ns)
{
	return less(part, less(whole, ns));
}

/* Of one that is not known in full, it is more than any time is long. */
void path_count_ticks(struct hop *hop, u8 user, u8 system)
{
	hop->user += user == U8_MAX ? U16_MAX << 8 : user;
	hop->system += system == U8_MAX ? U16_MAX << 8 : system;
}

static bool is_running(const struct hop *hop, const struct lt_path_segment *segment)
{
	return segment->hop == hop->hop && segment->cause == LT_PATH_RUNNING;
}

/*
 * The segments of a task from @first on in which it had a CPU: where? Ticks that came before or
 * behind this time are among those that are known. So it was in one of the two if all that
 * hit the other one are few in what it has run here.
 */
void path_name_running(struct hop *hop, u32 first)
{
	struct lt_path_segment *segment = &hop->path->segments[first];
	struct lt_path_segment *end = &hop->path->segments[hop->path->nr];
	const char *mode;
	u64 ran = 0;

	for (; segment < end; segment++)
		ran += is_running(hop, segment) ? segment->delay : 0;
	ran >>= 22;
	if (ran < PATH_TICKS || max(hop->user, hop->system) < PATH_TICKS)
		return;
	if (hop->system <= ran / 8)
		mode = "user";
	else if (hop->user <= ran / 8)
		mode = "kernel";
	else
		return;
	for (segment = &hop->path->segments[first]; segment < end; segment++) {
		if (is_running(hop, segment))
			strscpy_pad(segment->name, mode, LT_PATH_NAME);
	}
}

/* The next of the time, until @end. In all of a time of @whole ns the task ran for @ran ns. */
static void mixed(struct hop *hop, u64 end, u64 whole, u64 ran)
{
	u64 ns, least, most, handlers;

	end = min(end, hop->to);
	if (end <= hop->next)
		return;
	ns = end - hop->next;
	ran = min(ran, whole);
	most = min(ran, ns);
	least = least_of(ran, whole, ns);
	handlers = min(interrupts_in(hop->history, hop->next, end), least);
	path_add(hop, least - handlers, LT_PATH_RUNNING);
	path_add(hop, handlers, LT_PATH_INTERRUPT);
	path_add(hop, ns - most, LT_PATH_SHORT);
	path_add_until(hop, end, LT_PATH_UNKNOWN);
}

/* It ran at both ends, and may have waited shortly in the middle. */
void path_between(struct hop *hop, const struct between *between)
{
	u64 whole = less(between->end, between->begin), first, last;

	first = min(between->first, whole);
	last = min(between->last, whole - first);
	mixed(hop, between->begin + first, first, first);
	mixed(hop, between->end - last, whole - first - last,
	      less(between->ran, first + last));
	mixed(hop, between->end, last, last);
}

/* Of all waits of that kind, the one that has most of the time; or NULL. */
const struct latency_tracker_wait *
path_longest(const struct path_history *history,
	     enum latency_tracker_wait_kind kind, u64 from, u64 to)
{
	const struct latency_tracker_wait *found = NULL;
	u64 ns, most = 0;
	unsigned int i;

	for (i = 0; i < history->nr; i++) {
		if (history->waits[i].kind != kind)
			continue;
		ns = path_overlap(history->waits[i].begin_ns,
				  history->waits[i].end_ns, from, to);
		if (ns > most) {
			most = ns;
			found = &history->waits[i];
		}
	}
	return found;
}

/* enum latency_tracker_wait_cause */
static enum lt_path_cause cause_of_cpu(u8 cause)
{
	static const u8 causes[] = {
		LT_PATH_UNKNOWN, LT_PATH_CPU, LT_PATH_THROTTLED,
		LT_PATH_RT_THROTTLED, LT_PATH_DL_SERVER, LT_PATH_STEAL,
	};

	return cause < ARRAY_SIZE(causes) ? causes[cause] : LT_PATH_UNKNOWN;
}

/*
 * The next of the time, until @end, the task has waited for a CPU. Which task had it, and for how
 * long, is known of all of that wait; of a part of it that is within bounds.
 */
void path_without_cpu(struct hop *hop, u64 end, u8 state)
{
	const struct latency_tracker_wait *why;
	struct lt_path_segment *segment;
	u64 ns, whole, part, had;

	end = min(end, hop->to);
	if (end <= hop->next)
		return;
	ns = end - hop->next;
	why = path_longest(hop->history, LATENCY_TRACKER_WAIT_CPU, hop->next, end);
	/* The two clocks of the begin are not read at the same moment. */
	if (!why || path_overlap(why->begin_ns, why->end_ns, hop->next, end) < ns - ns / 8) {
		path_add(hop, ns, state == OFFCPU_THROTTLED ? LT_PATH_THROTTLED :
			     state == OFFCPU_YIELDED ? LT_PATH_YIELDED : LT_PATH_CPU);
		return;
	}
	whole = why->end_ns - why->begin_ns;
	/*
	 * The scheduler reads its clock before the tracker reads ours, and a CPU may pause in
	 * between: no task had it for longer than the wait.
	 */
	had = least_of(min(why->ready_ns, whole), whole, ns);
	part = least_of(min(why->part_ns, whole), whole, ns);
	/* When in the wait each was, is not known: one after the other. */
	segment = path_add(hop, had, LT_PATH_CPU);
	if (segment)
		path_name_by(segment, why->by_comm, why->by_pid);
	/* The task that had it longest is one of those that had it. */
	if (why->cause == LATENCY_TRACKER_CAUSE_CPU)
		part = less(part, had);
	segment = path_add(hop, min(part, ns - had), cause_of_cpu(why->cause));
	if (segment)
		segment->cgroup = why->where;
	path_add_until(hop, end, LT_PATH_UNKNOWN);
}
