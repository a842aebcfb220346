/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_block know of each other.
 */
#ifndef _LT_BLOCK_BLOCK_H
#define _LT_BLOCK_BLOCK_H

#include <linux/types.h>

#include "usecase/usecase.h"
#include "wrapper/bio.h"
#include "wrapper/ftrace.h"
#include "wrapper/sched.h"
#include <trace/events/latency_tracker_block.h>

/* Of a stage of a request or bio. Two longs: no padding, which would be part of the key. */
struct block_key {
	const void *of;
	unsigned long stage;
};

/* For the report of an end. */
struct block_end {
	struct request *rq;	/* NULL if it is a bio's */
	int error;
};

extern struct lt_usecase block_usecase;

/* disk.c */
bool wants_disk(const struct gendisk *disk, dev_t part);
void describe(struct lt_block_report *report, const struct gendisk *disk);
int name_of_disk(dev_t dev, char *name, size_t len);

/* groups.c */
void block_group_ids(const void *key, const void *priv, const void *out_data,
		     u64 *id);
int block_group_name(u64 id, char *name);
int block_threshold_find(const char *text, struct lt_threshold *found);
void block_belongs(const struct latency_tracker_verdict *verdict,
		   struct lt_belongs *to);

/* request.c */
extern struct lt_probe block_probes[];
extern const unsigned int block_nr_probes;
void request_collected(const struct request *rq);

static inline struct lt_block_report *
bio_report(struct latency_tracker_event *event)
{
	return latency_tracker_event_priv(event);
}

/* For how long it has waited for a CPU, in all, in units of 1024 ns, modulo 2^32. */
static inline u32 bio_run_delay(const struct task_struct *task)
{
	return lt_sched_run_delay(task) >> 10;
}

/* bio.c */
#ifdef LT_HAVE_FUNCTION_ENTRY
extern struct lt_stage bio_stage;
#define BIO_STAGE	(&bio_stage)

static inline bool bios_are_tracked(void)
{
	return READ_ONCE(bio_stage.on);
}

void bio_find_functions(void);
void bios_complete(struct latency_tracker *tracker, const struct request *rq,
		   unsigned int nr_bytes);

/* bio_ends.c */
void bio_count_split(struct latency_tracker_event *event);
void bio_count_end(struct latency_tracker_event *event, struct bio *piece);
bool bio_end(struct latency_tracker *tracker,
	     struct latency_tracker_event *event, struct block_end *end,
	     u64 now);
void bio_settle_former(struct latency_tracker *tracker, const struct bio *bio);
void bio_ends_stop(void);
bool bio_is_doubtful(const struct latency_tracker_verdict *verdict);

/* bio_times.c */
void bio_account(const struct latency_tracker_verdict *verdict,
		 struct lt_block_times *times);
bool bio_is_wanted(const struct latency_tracker_verdict *verdict);
#else
#define BIO_STAGE	NULL

static inline bool bios_are_tracked(void)
{
	return false;
}

static inline void bio_find_functions(void)
{
}

static inline void bios_complete(struct latency_tracker *tracker,
				 const struct request *rq,
				 unsigned int nr_bytes)
{
}

static inline void bio_account(const struct latency_tracker_verdict *verdict,
			       struct lt_block_times *times)
{
}

static inline bool bio_is_wanted(const struct latency_tracker_verdict *verdict)
{
	return true;
}

static inline bool
bio_is_doubtful(const struct latency_tracker_verdict *verdict)
{
	return false;
}
#endif

#endif /* _LT_BLOCK_BLOCK_H */
