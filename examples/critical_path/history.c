// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits of one task in a time, out of those that all trackers have published.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "examples/critical_path/path.h"

/* Waits of tasks with the same hash, which are chained, that are looked at. */
#define LOOKS	4096

/*
 * It is of the time, or it is the first one behind that, which tells what was before it. They
 * come from the last one on; of those behind the time the last that comes stays.
 */
static void keep(struct path_history *history,
		 const struct latency_tracker_wait *wait, u64 to)
{
	bool behind = wait->begin_ns >= to;

	if (behind && wait->kind != LATENCY_TRACKER_WAIT_OFFCPU)
		return;
	/* Those that began behind the time come first. */
	if (behind && history->nr && history->waits[0].begin_ns >= to) {
		history->waits[0] = *wait;
		return;
	}
	if (history->nr == ARRAY_SIZE(history->waits)) {
		history->is_cut = true;
		return;
	}
	history->waits[history->nr++] = *wait;
}

/**
 * path_history_read() - the waits of a task in a time
 * @history: result: the last one first; one may be behind the time
 * @pid: of the task
 * @from: begin of the time
 * @to: its end
 *
 * Context: Task.
 */
void path_history_read(struct path_history *history, pid_t pid, u64 from, u64 to)
{
	struct latency_tracker_wait wait;
	unsigned int looks;
	u64 next = latency_tracker_wait_last(pid);
	int err = 0;

	history->nr = 0;
	history->is_cut = false;
	for (looks = 0; !history->is_cut; looks++) {
		if (looks == LOOKS) {
			history->is_cut = true;
			break;
		}
		err = latency_tracker_wait_read(next, &wait, &next);
		if (err)
			break;
		/* These are no waits of a task, and were over before they were published. */
		if (wait.pid != pid || wait.kind == LATENCY_TRACKER_WAIT_DISK ||
		    wait.kind == LATENCY_TRACKER_WAIT_RAISED ||
		    wait.kind == LATENCY_TRACKER_WAIT_WORK)
			continue;
		/* What comes now was over before. */
		if (wait.end_ns <= from)
			break;
		keep(history, &wait, to);
	}
	history->is_lost = err == -ESTALE;
}
