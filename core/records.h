/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of reports: those of the last, and of the slowest operations of some windows,
 * for a person who comes after the fact. Part of latency_tracker.h.
 *
 * What a report says is written to a place, in any context, whether or not anybody
 * traces: no lock, no allocation. A tracker has records while its profile is on, if
 * record_size of its configuration is not 0. See places.h and records.c.
 */
#ifndef _LT_CORE_RECORDS_H
#define _LT_CORE_RECORDS_H

#include "core/types.h"

struct lt_place;

/* Bytes of the values of an event, at most. */
#define LATENCY_TRACKER_RECORD_MAX	1024

/**
 * enum latency_tracker_kind - what a value of a record is
 * @LATENCY_TRACKER_UNSIGNED: a number
 * @LATENCY_TRACKER_SIGNED: a number
 * @LATENCY_TRACKER_NAMED: an unsigned number that stands for a name
 * @LATENCY_TRACKER_ADDRESS: of the kernel
 * @LATENCY_TRACKER_TEXT: it ends with a 0, or with the value
 * @LATENCY_TRACKER_STACK: return addresses, innermost first; it ends with a 0, or with
 *	the value
 *
 * They are part of the ABI, see Documentation/ABI/sysfs.
 */
enum latency_tracker_kind {
	LATENCY_TRACKER_UNSIGNED = 1,
	LATENCY_TRACKER_SIGNED,
	LATENCY_TRACKER_NAMED,
	LATENCY_TRACKER_ADDRESS,
	LATENCY_TRACKER_TEXT,
	LATENCY_TRACKER_STACK,
};

/**
 * struct latency_tracker_field - a field of an event
 * @name: its name, at most 23 characters
 * @names: of LATENCY_TRACKER_NAMED: lines NUMBER=NAME; else NULL
 * @kind: enum latency_tracker_kind
 * @size: bytes of the value
 * @offset: where it is
 */
struct latency_tracker_field {
	const char *name;
	const char *names;
	u16 kind;
	u16 size;
	u16 offset;
};

/**
 * struct latency_tracker_record_event - what the values of a record are
 * @name: of the event, at most 31 characters
 * @fields: in their order
 * @nr_fields: how many
 * @size: bytes of all values, at most record_size of the configuration
 *
 * It lives longer than the tracker.
 */
struct latency_tracker_record_event {
	const char *name;
	const struct latency_tracker_field *fields;
	u16 nr_fields;
	u16 size;
};

/**
 * struct latency_tracker_record - a record that is being written; opaque
 * @verdict: of the report
 * @place: in the ring of the last ones
 * @owner: of @place, before
 * @nr: of the report
 */
struct latency_tracker_record {
	const struct latency_tracker_verdict *verdict;
	struct lt_place *place;
	unsigned long owner;
	u64 nr;
};

void *
latency_tracker_record_begin(struct latency_tracker_record *record,
			     const struct latency_tracker_verdict *verdict,
			     const struct latency_tracker_record_event *event);
void latency_tracker_record_end(struct latency_tracker_record *record);

int lt_records_make(struct latency_tracker *tracker);
void lt_records_free(struct latency_tracker *tracker);

#endif /* _LT_CORE_RECORDS_H */
