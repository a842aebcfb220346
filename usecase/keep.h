/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of reports: a probe on the tracker's own trace event, which keeps what it says
 * whether or not anybody traces. Made of the same list of fields as the event: the macros
 * LT_KEPT(), LT_TELL() and LT_STORE() are in latency_tracker_format.h.
 *
 *	LT_KEEP_EVENT(block_latency, BLOCK_LATENCY)
 *
 *	static struct lt_keep keeps[] = { LT_KEEP(block_latency) };
 *
 * and LT_KEEPS(keeps) in the struct lt_usecase. The first argument of the event is the
 * verdict. From the start of the tracker to its stop, trace_block_latency_enabled() is true
 * then: there is always a probe to report to.
 */
#ifndef _LT_USECASE_KEEP_H
#define _LT_USECASE_KEEP_H

#include <linux/build_bug.h>
#include <linux/overflow.h>
#include <linux/stddef.h>

#include "usecase/data.h"
#include "wrapper/tracepoint.h"

/* A field with its longest value and name, in a page, behind its head. */
#define LT_KEPT_FITS(kept, fields)					\
	static_assert(128 + sizeof(kept) + ARRAY_SIZE(fields) * 64 <= 4096 && \
		      sizeof(kept) <= LATENCY_TRACKER_RECORD_MAX)

#define LT_KEEP_EVENT(event, EVENT)					\
struct lt_kept_##event {						\
	LT_FIELDS_##EVENT(LT_KEPT)					\
};									\
static void keep_##event(void *data, LT_PROTO_##EVENT)			\
{									\
	struct lt_kept_##event *kept;					\
	static const struct latency_tracker_field fields[] = {		\
		LT_FIELDS_##EVENT(LT_TELL)				\
	};								\
	static const struct latency_tracker_record_event kept_event = {	\
		.name = #event, .fields = fields,			\
		.nr_fields = ARRAY_SIZE(fields), .size = sizeof(*kept),	\
	};								\
	struct latency_tracker_record kept_record;			\
									\
	LT_KEPT_FITS(*kept, fields);					\
	kept = latency_tracker_record_begin(&kept_record, verdict,	\
					    &kept_event);		\
	if (!kept)							\
		return;							\
	LT_FIELDS_##EVENT(LT_STORE)					\
	latency_tracker_record_end(&kept_record);			\
}

/* For a table, behind LT_KEEP_EVENT(). */
#define LT_KEEP(event) {						\
	.probe = {							\
		.name = #event, .tp = &__tracepoint_##event,		\
		.func = lt_typed_probe(event, keep_##event),		\
	},								\
	.size = sizeof(struct lt_kept_##event),				\
}

/* For struct lt_usecase. */
#define LT_KEEPS(table)		.keeps = table, .nr_keeps = ARRAY_SIZE(table)

u16 lt_keep_size(const struct lt_usecase *usecase);
int lt_keep_register(struct lt_usecase *usecase);
void lt_keep_unregister(struct lt_usecase *usecase, unsigned int nr);

#endif /* _LT_USECASE_KEEP_H */
