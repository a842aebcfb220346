/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model of the tracker: a list of the events that should be there, and the
 * counters. Who calls the tracker says so here, and then all must be the same.
 */
#ifndef LT_FUZZ_MODEL_H
#define LT_FUZZ_MODEL_H

#include "core/tracker.h"
#include "shim.h"

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
	unsigned int holds;
};

extern const u8 key_len[FUZZ_KEYS];

extern struct latency_tracker *tracker;
extern struct latency_tracker_counts want;
extern struct model_event events[MAX_EVENTS];
extern unsigned int nr_events;	/* in the order of the table */
extern bool tracking;
extern u64 threshold_ns, timeout_ns, collect_ns;
extern u32 max_capacity;

u64 add_ns(u64 a, u64 b);
const void *key_of(unsigned int key);
u8 priv_byte(const struct model_event *e, unsigned int i);
u64 threshold_of(const struct model_event *e);
u64 timeout_of(const struct model_event *e);
u64 delay_of(const struct model_event *e, u64 now_ns);
bool is_due(const struct model_event *e, u64 span_ns, u64 now_ns);

/* The oldest of a key that is pending; the n-th that is held; what an event is. */
struct model_event *first_of(unsigned int key);
struct model_event *held(unsigned int n);
struct model_event *model_of(const struct latency_tracker_event *event);
void sweep(void);
void forget(struct model_event *e);

void check_event(const struct model_event *e);
void check_counters(void);

#endif /* LT_FUZZ_MODEL_H */
