/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency-tracker: catch slow operations in the act.
 *
 * Model
 * -----
 * A tracker matches the begin of an operation with its end by a key, an array
 * of bytes that the caller chooses: latency_tracker_event_in() begins,
 * latency_tracker_event_out() ends. An event is what is kept of an operation
 * between the two. An
 * event that took at least the threshold is late, and the callback of the
 * tracker (or of the event) runs in the context of its end. An event that is
 * still pending past its timeout is reported once while it is pending, from
 * the tracker's own thread.
 *
 * By default an event comes from a pool, and goes back there. In a tracker with slots
 * (latency_tracker_config.slots) it stays with its key, for the next operation of that
 * key: with preemption off, latency_tracker_slot_begin(), write the private bytes,
 * latency_tracker_slot_publish(); latency_tracker_slot_end(); and, when the key is
 * gone, latency_tracker_slot_free(). All other functions work as well.
 *
 * Guarantees
 * ----------
 * - Exactly one verdict ends an event: of concurrent ends, replacements,
 *   collections and clears of one event, one wins; the others do not see it.
 *   The timeout is not a verdict: it fires at most once per event, and the
 *   callback of a late end that follows says so (latency_tracker_verdict.timed_out);
 *   an end in time has no callback, then neither. The callback of the end may run
 *   while the callback of the timeout still runs. What is pending is reported on
 *   request as well, any number of times: latency_tracker_report_pending().
 * - Accounting, for a tracker at rest:
 *       started == finished + collected + cleared + pending
 *   A begin that found no free event is skipped and counted, and has no end:
 *   it never becomes a false latency.
 * - Nothing is allocated, locked, woken or printed by a function of the "any"
 *   row below. Its work is bounded by the length of a hash chain, a key having
 *   LATENCY_TRACKER_DUPLICATES_MAX events at most, and, when the free list of
 *   the CPU is empty, by the number of CPUs and memory nodes. It waits for none:
 *   what begins again does so since another CPU has changed that very chain.
 * - One clock, that of ktime_get_mono_fast_ns(): comparable with CLOCK_MONOTONIC. A
 *   delay is never negative; when the clock stepped back it is 0 and counted.
 * - When latency_tracker_destroy() has returned, no callback runs or will run.
 *
 * Context
 * -------
 *                                  NMI  hardirq  softirq  task  may sleep
 *   event_in, event_out, event_end  x      x        x       x      no
 *   slot_begin, slot_publish,       x      x        x       x      no
 *   slot_try_begin,
 *   slot_publish_begun,
 *   slot_end, slot_try_end,
 *   slot_end_in_time, slot_visit,
 *   slot_priv, slot_free
 *   event_whole, whole_begin,       x      x        x       x      no
 *   whole_begin_other, whole_in_time,
 *   whole_may_be_late, whole_many,
 *   whole_is_plain, whole_count
 *   event_cancel, for_each_event    x      x        x       x      no
 *   get_event, hold_event,          x      x        x       x      no
 *   put_event
 *   set_threshold, get_threshold,   x      x        x       x      no
 *   get_timeout, get_profile, clock,
 *   get_groups, get_least_threshold,
 *   set_own_least, is_late,
 *   get_per_minute, get_tracking
 *   record_begin, record_end,       x      x        x       x      no
 *   wait_publish, wait_late,
 *   end_last, end_name_is_valid
 *   create, destroy, clear,         -      -        -       x      yes
 *   set_timeout, set_collect,
 *   set_tracking, set_profile,
 *   set_groups, set_per_minute, snapshot,
 *   report_pending, waits_open,
 *   waits_close, waits_set_least,
 *   ends_provide, ends_withdraw,
 *   ends_want
 *
 * "Any" includes a run-queue lock held, a tracepoint probe, PREEMPT_RT. The
 * functions open their own RCU read-side section with preemption off and rely
 * on none of the caller's; but slot_begin, slot_publish, slot_end, slot_try_end and
 * slot_end_in_time are for callers with preemption off.
 *
 * Where RCU is not watching (deep in the idle loop) they change nothing, count that, and
 * return -EAGAIN, get_event NULL. hold_event and whole_in_time need no RCU.
 *
 * The caller makes sure that no call on a tracker is running or can begin when
 * it calls latency_tracker_destroy(): unregister the probes and wait for them
 * (tracepoint_synchronize_unregister()) first.
 */
#ifndef _LATENCY_TRACKER_H
#define _LATENCY_TRACKER_H

#include "core/ask.h"
#include "core/clock.h"
#include "core/ends.h"
#include "core/lifecycle.h"
#include "core/records.h"
#include "core/settings.h"
#include "core/snapshot.h"
#include "core/types.h"
#include "core/waits.h"
#include "latency_tracker_any.h"
#include "latency_tracker_slots.h"
#include "latency_tracker_whole.h"
#include "latency_tracker_word.h"
#include "wrapper/unaligned.h"

/* The hot path. What may sleep is in the headers above. */
int latency_tracker_event_end(struct latency_tracker *tracker,
			      struct latency_tracker_event *event, u32 out_id,
			      void *out_data, u64 end_ns);
int latency_tracker_event_cancel(struct latency_tracker *tracker,
				 const void *key, u32 key_len);

struct latency_tracker_event *
latency_tracker_get_event(struct latency_tracker *tracker, const void *key,
			  u32 key_len);
bool latency_tracker_is_late(struct latency_tracker *tracker,
			     struct latency_tracker_event *event, u64 now_ns);
bool latency_tracker_hold_event(struct latency_tracker_event *event);
int latency_tracker_put_event(struct latency_tracker *tracker,
			      struct latency_tracker_event *event);
int latency_tracker_for_each_event(struct latency_tracker *tracker,
				   const void *key, u32 key_len,
				   latency_tracker_visit visit, void *arg);

u64 latency_tracker_event_start(const struct latency_tracker_event *event);
const void *latency_tracker_event_key(const struct latency_tracker_event *event);
void *latency_tracker_event_priv(struct latency_tracker_event *event);

/**
 * latency_tracker_event_in() - an operation begins
 * @tracker: the tracker
 * @key: the end gives the same
 * @key_len: bytes at @key, 1 to the key_size of the configuration
 * @flags: LATENCY_TRACKER_* flags, 0 for none. If the key has an event, which then
 *	has missed its end, the new one replaces it, but for KEEP, which refuses, and
 *	DUPLICATE: then ends take the oldest first. A lost end shifts all that follow
 *	it. Not with slots.
 * @in: optional arguments, or NULL
 *
 * Context: Any.
 * Return: 0; -EINVAL for arguments outside of their bounds; -ESHUTDOWN if
 * tracking is off; -ENOBUFS if no event is free (counted as skipped; an event
 * that would be replaced is removed all the same); -EEXIST with KEEP if the key
 * has an event, with DUPLICATE if it has LATENCY_TRACKER_DUPLICATES_MAX;
 * -EAGAIN if RCU is not watching.
 */
static __always_inline int
latency_tracker_event_in(struct latency_tracker *tracker, const void *key,
			 u32 key_len, u32 flags,
			 const struct latency_tracker_in *in)
{
	if (__builtin_constant_p(key_len) && key_len == sizeof(u64) &&
	    __builtin_constant_p(flags) && !flags && likely(key))
		return latency_tracker_word_in(tracker,
					       get_unaligned((const u64 *)key), in);
	return latency_tracker_event_in_any(tracker, key, key_len, flags, in);
}

/**
 * latency_tracker_event_out() - an operation ends
 * @tracker: the tracker
 * @key: as given to latency_tracker_event_in()
 * @key_len: bytes at @key
 * @out_id: which of several ends it is, for the callback
 * @out_data: for the callback
 * @end_ns: when it ended, ns of latency_tracker_clock(); 0 is now
 *
 * Ends the oldest event of the key.
 *
 * Context: Any. The callback runs in it, with preemption off.
 * Return: 1 if the event was late and the callback ran; 0 if it was in time;
 * -ENOENT if the key has no event; -EINVAL for arguments outside of their
 * bounds; -EAGAIN if RCU is not watching.
 */
static __always_inline int
latency_tracker_event_out(struct latency_tracker *tracker, const void *key,
			  u32 key_len, u32 out_id, void *out_data, u64 end_ns)
{
	if (__builtin_constant_p(key_len) && key_len == sizeof(u64) && likely(key))
		return latency_tracker_word_out(tracker,
						get_unaligned((const u64 *)key),
						out_id, out_data, end_ns);
	return latency_tracker_event_out_any(tracker, key, key_len, out_id,
					     out_data, end_ns);
}

#endif /* _LATENCY_TRACKER_H */
