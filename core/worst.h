/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records as user space reads them.
 */
#ifndef _LT_CORE_WORST_H
#define _LT_CORE_WORST_H

#include <linux/types.h>

#include "core/places.h"

struct latency_tracker;

#define LT_RECORD_MAGIC		0x53434552544cULL	/* LTRECS */
#define LT_RECORD_VERSION	1
#define LT_RECORD_BYTES		4096
/* The window of those in "last". */
#define LT_RECORD_LAST		LT_PROFILE_WINDOWS

/**
 * struct lt_record_field - a field of a record
 * @name: its name, ends with a 0
 * @kind: enum latency_tracker_kind
 * @size: bytes of the value
 * @at: where it is, from the begin of the record
 * @text: where its name is, if the value has one; it ends with a 0. Else 0.
 */
struct lt_record_field {
	char name[24];
	__u16 kind;
	__u16 size;
	__u16 at;
	__u16 text;
};

/**
 * struct lt_record - a record, for user space
 * @magic: LT_RECORD_MAGIC
 * @version: LT_RECORD_VERSION
 * @size: bytes that are used, from @magic on
 * @window: enum lt_profile_window, or LT_RECORD_LAST
 * @rank: 0 is the slowest of the window; in "last", the place
 * @generation: of the window: records of the same one do not contradict each other
 * @begin_ns: the window begins, CLOCK_MONOTONIC; 0 in total and in "last"
 * @end_ns: the moment of the read
 * @nr: of the report, the higher the later; 0: there is none, and so it is with all below
 * @at_ns: when it was made
 * @start_ns: the operation began
 * @delay_ns: and took so long, or did so far
 * @flag: enum latency_tracker_flag
 * @nr_fields: how many there are
 * @fields: where they are, an array of struct lt_record_field
 * @asked: 1: it was reported by latency_tracker_report_pending()
 * @event: name of the event, ends with a 0
 * @rest: fields, values, names
 *
 * It is part of the ABI, see Documentation/ABI/sysfs.
 */
struct lt_record {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u32 window;
	__u32 rank;
	__u64 generation;
	__u64 begin_ns;
	__u64 end_ns;
	__u64 nr;
	__u64 at_ns;
	__u64 start_ns;
	__u64 delay_ns;
	__u32 flag;
	__u32 nr_fields;
	__u32 fields;
	__u32 asked;
	char event[32];
	__u64 rest[(LT_RECORD_BYTES - 128) / 8];
};

#define LT_RECORDS_WORST	(LT_PROFILE_WINDOWS * LT_PLACES_WORST)

int lt_record_of_last(struct latency_tracker *tracker, unsigned int nr,
		      struct lt_record *record);
int lt_record_of_worst(struct latency_tracker *tracker, unsigned int nr,
		       struct lt_record *record);
u64 lt_records_lost(const struct latency_tracker *tracker);

#endif /* _LT_CORE_WORST_H */
