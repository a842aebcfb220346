// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block latency, in stages. Of a request: in the queue, from insert to issue; in the
 * device, from issue to completion; and if it is requeued, all of it, from its first
 * insert or issue to its completion. Of a bio: from its submission to its end, with
 * where the time went.
 *
 * Default threshold: 100 ms for each stage. An event block_latency tells of an
 * operation that was longer in one.
 *
 * The files: disk.c has the filter, groups.c the groups and their thresholds, request.c the
 * stages of requests, bio.c that of bios.
 */
#include "examples/block/block.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_block.h>

LT_KEEP_EVENT(block_latency, BLOCK_LATENCY)

static struct lt_keep keeps[] = {
	LT_KEEP(block_latency),
};

#define USEC_THRESHOLD	100000
/* Two at once for each request: that of the bio and that of a stage. */
#define MAX_EVENTS	8192
#define GROW_LIMIT	65536
/* No operation of a healthy device takes that long. */
#define COLLECT_NS	(600 * (u64)NSEC_PER_SEC)

static void callback(const struct latency_tracker_verdict *verdict)
{
	const struct block_key *key = verdict->key;
	const struct block_end *end = verdict->out_data;
	struct lt_block_report *report = verdict->priv;
	struct lt_block_times times = {};
	char rwbs[RWBS_LEN] = {};

	if (key->stage == LT_BLOCK_REQUEST &&
	    verdict->flag == LATENCY_TRACKER_COLLECTED)
		request_collected(key->of);
	if (!trace_block_latency_enabled())
		return;
	/* In the queue, bios are added to a request at both ends. */
	if (end && key->stage == LT_BLOCK_QUEUE) {
		report->sector = lt_rq_sector(end->rq);
		report->bytes = blk_rq_bytes(end->rq);
	}
	if (key->stage == LT_BLOCK_BIO)
		bio_account(verdict, &times);
	lt_fill_rwbs(rwbs, report->opf);
	lt_trace(block_latency, verdict, report, rwbs, key->stage,
		 end ? end->error : 0, &times);
}

static bool is_wanted(const struct latency_tracker_verdict *verdict)
{
	const struct block_key *key = verdict->key;

	return key->stage != LT_BLOCK_BIO || bio_is_wanted(verdict);
}

static bool is_doubtful(const struct latency_tracker_verdict *verdict)
{
	const struct block_key *key = verdict->key;

	return key->stage == LT_BLOCK_BIO && bio_is_doubtful(verdict);
}

LT_GROUPING(grouping, block_group_ids, "disk", "cgroup");

struct lt_usecase block_usecase = {
	.name = "block",
	.owner = THIS_MODULE,
	.probes = block_probes,
	LT_KEEPS(keeps),
	.stage = BIO_STAGE,
	.report = callback,
	.is_wanted = is_wanted,
	.is_false_alarm = is_doubtful,
	.usec_threshold = USEC_THRESHOLD,
	.collect_ns = COLLECT_NS,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct block_key),
	.priv_size = sizeof(struct lt_block_report),
	.grouping = &grouping,
	.group_name = block_group_name,
	.threshold_names = "a disk, as in sda, sda read, sda read device, or a path of a cgroup",
	.threshold_find = block_threshold_find,
	.belongs = block_belongs,
};

LT_USECASE_PARAMS(block_usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_DOUBTFUL_PARAM(block_usecase);

static int __init block_init(void)
{
	block_usecase.nr_probes = block_nr_probes;
	bio_find_functions();
	return lt_usecase_start(&block_usecase);
}
module_init(block_init);

static void __exit block_exit(void)
{
	lt_usecase_stop(&block_usecase);
}
module_exit(block_exit);

MODULE_DESCRIPTION("Latency of block requests, in the queue, in the device and until a retry succeeds, and of bios");
MODULE_LICENSE("GPL");
