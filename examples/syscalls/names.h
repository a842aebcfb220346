/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls by name: for the events, and the filter "calls".
 */
#ifndef _LT_SYSCALLS_NAMES_H
#define _LT_SYSCALLS_NAMES_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <trace/events/latency_tracker_syscalls.h>

/* Numbers of each table are below this; the rest has no name. */
#define CALLS_MAX	1024

/**
 * struct calls_filter - which calls to track
 * @on: some only; else all
 * @others: those that are in no table pass
 * @native: those that pass
 * @compat: likewise, of the 32-bit table
 *
 * A probe may see half of a change; lt_filter_changed() forgets what that let in.
 */
struct calls_filter {
	bool on;
	bool others;
	DECLARE_BITMAP(native, CALLS_MAX);
	DECLARE_BITMAP(compat, CALLS_MAX);
};

struct lt_threshold;

extern struct calls_filter calls_filter;
extern struct lt_usecase syscalls_usecase;

void call_name(char name[LT_SYSCALL_NAME_LEN], long nr, bool compat);
u64 call_group(long nr, bool compat);
int call_group_name(u64 id, char *name);
int call_threshold_find(const char *text, struct lt_threshold *found);
bool calls_pass_some(long nr, bool compat);
int calls_init(void);

/* Are there calls that do not pass? */
static __always_inline bool calls_are_filtered(void)
{
	return READ_ONCE(calls_filter.on);
}

/* Does it surely pass? That is all to be known of most calls. */
static __always_inline bool calls_pass_surely(unsigned long nr, bool compat)
{
	return !calls_are_filtered() ||
	       (!compat && nr < CALLS_MAX && test_bit(nr, calls_filter.native));
}

static __always_inline bool calls_pass(long nr, bool compat)
{
	return !calls_are_filtered() || calls_pass_some(nr, compat);
}

#endif /* _LT_SYSCALLS_NAMES_H */
