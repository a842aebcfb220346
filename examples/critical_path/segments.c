// SPDX-License-Identifier: GPL-2.0-only
/*
 * The segments of a path.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "examples/critical_path/walk.h"

/*
 * What is a thousandth of the operation goes to the segment before it, or to the first one; but no
 * segment is longer than it was by more than that. What else is too short is told together.
 */
static bool is_too_short(struct hop *hop, u64 ns)
{
	struct path_told *path = hop->path;

	if (ns > path->least_ns)
		return false;
	hop->next += ns;
	if (hop->skipped + ns > path->of.total / PATH_PARTS) {
		hop->rest += ns;
		return true;
	}
	hop->skipped += ns;
	if (hop->last >= 0)
		path->segments[hop->last].delay += ns;
	return true;
}

static struct lt_path_segment *
add_segment(struct hop *hop, u64 ns, enum lt_path_cause cause)
{
	struct path_told *path = hop->path;
	struct lt_path_segment *segment = &path->segments[path->nr];
	u64 before = hop->last < 0 ? hop->skipped : 0;

	if (path->nr == PATH_SEGMENTS) {
		path->is_cut = true;
		return NULL;
	}
	*segment = (struct lt_path_segment) {
		.start = hop->next - before,
		.delay = ns + before,
		.cause = cause,
		.hop = hop->hop,
		.parent = hop->parent,
		.pid = hop->pid,
		.by_pid = -1,
		.by_comm = "-",
		.name = "-",
	};
	memcpy(segment->comm, hop->comm, TASK_COMM_LEN);
	hop->last = path->nr++;
	hop->skipped = before;
	hop->next += ns;
	return segment;
}

/*
 * The next @ns of the time are of this kind. Returns the segment, NULL if there is none: the
 * path is full, or it is too short to tell.
 */
struct lt_path_segment *path_add(struct hop *hop, u64 ns,
				 enum lt_path_cause cause)
{
	ns = min(ns, hop->to - hop->next);
	if (!ns || is_too_short(hop, ns))
		return NULL;
	return add_segment(hop, ns, cause);
}

/*
 * What was too short, together, unless that is too short, too; if nothing else is known, nothing is
 * told.
 */
void path_add_rest(struct hop *hop)
{
	struct path_told *path = hop->path;

	if (hop->last < 0)
		hop->rest += hop->skipped;
	if (!hop->rest || (hop->last < 0 && hop->hop))
		return;
	if (hop->last >= 0 && hop->rest <= path->of.total / PATH_PARTS) {
		path->segments[hop->last].delay += hop->rest;
		return;
	}
	if (hop->last < 0)
		hop->skipped = 0;
	hop->next = hop->to - hop->rest;
	add_segment(hop, hop->rest, LT_PATH_CUT);
}

/* The time until @end is of this kind. */
void path_add_until(struct hop *hop, u64 end, enum lt_path_cause cause)
{
	if (end > hop->next)
		path_add(hop, end - hop->next, cause);
}

/* Which task had the CPU, or the lock, or woke that of the segment. */
void path_name_by(struct lt_path_segment *segment, const char *comm, pid_t pid)
{
	segment->by_pid = pid;
	memcpy(segment->by_comm, comm, TASK_COMM_LEN);
}
