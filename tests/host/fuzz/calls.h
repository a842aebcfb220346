/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One call of the API each, with arguments of the input, compared with the model.
 */
#ifndef LT_FUZZ_CALLS_H
#define LT_FUZZ_CALLS_H

#include "model.h"

#define NR_SPANS	10
extern const u64 spans_ns[NR_SPANS];

extern struct fuzz_input *input;
extern unsigned int calls;	/* of callbacks */
extern u8 callback_does;	/* in the next one: 1 hold, 2 begin, of key >> 5 */

void reset_calls(struct fuzz_input *in);
u64 span(void);
void callback(const struct latency_tracker_verdict *v);

void do_begin(u32 flags, unsigned int key);
void do_end(struct model_event *e, unsigned int key, bool by_key);
void do_whole(unsigned int key, u32 flags);
void do_cancel(unsigned int key);
void do_get(unsigned int key);
void do_put(struct model_event *e);
void do_bad_put(unsigned int key);
void do_for_each(unsigned int key, u8 max);
void do_clear_all(void);
void do_set_tracking(bool on);
void do_unwatched(unsigned int key);
void do_bad_args(void);

#endif /* LT_FUZZ_CALLS_H */
