/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model of the tracker: a list of the events that should be there, and the
 * counters. Each call of the tracker is told to the model, and then all must be the same.
 * The calls, in calls.c, have arguments of the input.
 */
#ifndef LT_FUZZ_MODEL_H
#define LT_FUZZ_MODEL_H

#include "core/tracker.h"
#include "fuzz.h"
#include "latency_tracker.h"

#define MAX_EVENTS	640
#define KEY_SIZE	16
#define PRIV_SIZE	16
#define FUZZ_KEYS	8

struct model_event {
	struct latency_tracker_event *event;
	unsigned int id;
	unsigned int key;
	u32 flags;
	u32 priv_len;
	u64 start_ns;
	u64 threshold_ns;
	u64 timeout_ns;
	bool other_callback;
	bool pending;
	bool timed_out;
	bool asked;
	unsigned int holds;
};

extern struct latency_tracker *tracker;
extern struct latency_tracker_counts want;
extern struct model_event events[MAX_EVENTS];
extern unsigned int nr_events;	/* in the order of the table */
extern bool tracking, slots;
extern struct latency_tracker_event *slot_of[FUZZ_KEYS];
extern u64 threshold_ns, least_ns, timeout_ns, collect_ns;
/* The threshold of the keys whose bit is set. */
extern u64 own_ns;
extern u8 own_keys;
extern u32 per_minute;
extern u32 max_capacity;

u64 add_ns(u64 a, u64 b);
const void *key_of(unsigned int key);
unsigned int len_of(unsigned int key);
u8 priv_byte(const struct model_event *e, unsigned int i);
void sync_threshold(void);
u64 threshold_of(const struct model_event *e);
bool may_be_late(const struct model_event *e, u64 delay_ns);
u64 own_threshold(const struct latency_tracker_verdict *v);
u64 timeout_of(const struct model_event *e);
u64 delay_of(const struct model_event *e, u64 now_ns);
bool is_due(const struct model_event *e, u64 span_ns, u64 now_ns);

/* The oldest of a key that is pending; the n-th that is held; what an event is. */
struct model_event *first_of(unsigned int key);
struct model_event *held(unsigned int n);
struct model_event *model_of(const struct latency_tracker_event *event);
void sweep(void);
void forget(struct model_event *e);
void forget_slots(void);
/* How many events the pool misses: those that are pending or held, and idle slots. */
unsigned int nr_out(void);

void check_event(const struct model_event *e);
void check_counters(void);
extern bool has_profile, profiling;
void note_delay(u64 delay_ns);
void forget_delays(void);
void check_profile(void);
void profile_ticks(u8 arg);

extern bool grouping;
extern const struct latency_tracker_grouping fuzz_grouping;
void forget_groups(void);
void begin_groups(void);
void note_group(const struct model_event *e, u64 delay_ns);
void check_groups(void);
void groups_ticks(u8 arg);
/* That is what a tracker allocates for groups, before the cells of its CPUs. */
#define HOST_GROUPS_ALLOCS	(2 + LATENCY_TRACKER_DIMENSIONS * (1 + LT_GROUP_OCTAVES))
void groups_are_vague(long allocations);
/* ---- ask_model.c ---- */

/* It is reported since that was asked for. */
void note_asked(struct model_event *e);
void do_ask(u8 arg);

/* ---- waits_model.c ---- */

void waited(const struct latency_tracker_verdict *v);
bool is_told(u64 delay_ns);
void note_wait(u64 delay_ns);
void forget_waits(void);
void check_waits(void);
void do_waits(u8 arg);

/* ---- records_model.c ---- */

/* A report was made, of the operation of a key. */
void keep_report(const struct latency_tracker_verdict *v, unsigned int key);
void forget_reports(void);
u16 size_of_record(void);
void check_reports(u8 arg);
void check_all_reports(void);
void do_reports(u8 arg);
void do_stalled(u8 arg);
void do_later(u8 arg);

/* ---- callbacks.c ---- */

/* The callback of an end that is expected; the event is a new one of event_whole(). */
extern struct model_event *ending;
extern bool ending_whole;
extern u64 ending_ns;
extern u32 ending_id;
/* A callback runs, for which the tracker holds the event. */
extern bool telling;

extern unsigned int calls;	/* of callbacks */
extern u8 callback_does;	/* in the next one: 1 hold, 2 begin, of key >> 5 */

void callback(const struct latency_tracker_verdict *v);
void other_callback(const struct latency_tracker_verdict *v);

/* ---- calls.c ---- */

#define NR_SPANS	10
extern const u64 spans_ns[NR_SPANS];
extern unsigned int next_id;	/* of events */

u64 span(void);

/* Each with a byte of the input; its low bits are the key. */
void do_begin(u8 arg);
void do_end(u8 arg);
void do_end_event(u8 arg);
void do_whole(u8 arg);
void do_cancel(u8 arg);
/* With slots. */
void do_slot_begin(u8 arg);
void do_slot_end(u8 arg);
void do_slot_free(u8 arg);
void do_get(u8 arg);
void do_put(u8 arg);
void look_who_is_late(void);
void do_bad_put(u8 arg);
void do_for_each(u8 arg);
void do_clear(u8 arg);
void do_set_tracking(u8 arg);
void do_unwatched(u8 arg);
void do_bad_args(u8 arg);

#endif /* LT_FUZZ_MODEL_H */
