/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The block layer: its tracepoints, and the fields of a request.
 */
#ifndef _LT_WRAPPER_BLOCK_H
#define _LT_WRAPPER_BLOCK_H

#include <linux/version.h>

/*
 * 5.16 (24b83deb29b7, "block: move struct request to blk-mq.h") took it out of
 * blkdev.h.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/blktrace_api.h>
#include <trace/events/block.h>

#include "wrapper/tracepoint.h"

/*
 * LT_DEFINE_PROBE_BLOCK_RQ(event, handler) defines the probe of a tracepoint
 * of class block_rq; it calls handler(void *data, struct request *rq).
 *
 * 5.11 (a54895fa057c, "block: remove the request_queue to argument request
 * based tracepoints") dropped the queue.
 */
#define LT_DEFINE_PROBE_BLOCK_RQ(event, handler)			\
static void __maybe_unused						\
probe_##event##_rq(void *data, struct request *rq)			\
{									\
	handler(data, rq);						\
}									\
static void __maybe_unused						\
probe_##event##_q(void *data, struct request_queue *q,			\
		  struct request *rq)					\
{									\
	handler(data, rq);						\
}

#define probe_block_rq_insert						\
	lt_pick_probe(block_rq_insert, probe_block_rq_insert_rq,	\
		      probe_block_rq_insert_q)
#define probe_block_rq_issue						\
	lt_pick_probe(block_rq_issue, probe_block_rq_issue_rq,		\
		      probe_block_rq_issue_q)
#define probe_block_rq_merge						\
	lt_pick_probe(block_rq_merge, probe_block_rq_merge_rq,		\
		      probe_block_rq_merge_q)
#define probe_block_rq_requeue						\
	lt_pick_probe(block_rq_requeue, probe_block_rq_requeue_rq,	\
		      probe_block_rq_requeue_q)

/*
 * LT_DEFINE_PROBE_BLOCK_RQ_COMPLETE(handler) defines probe_block_rq_complete,
 * which calls handler(void *data, struct request *rq, int error,
 * unsigned int nr_bytes) with a negative errno.
 *
 * 5.16 (8a7d267b4a2c, "block: don't call blk_status_to_errno in
 * blk_update_request") passes the blk_status_t; before, it was an errno.
 */
#define LT_DEFINE_PROBE_BLOCK_RQ_COMPLETE(handler)			\
static void __maybe_unused						\
probe_block_rq_complete_status(void *data, struct request *rq,		\
			       blk_status_t error, unsigned int nr_bytes) \
{									\
	handler(data, rq, blk_status_to_errno(error), nr_bytes);	\
}									\
static void __maybe_unused						\
probe_block_rq_complete_errno(void *data, struct request *rq,		\
			      int error, unsigned int nr_bytes)		\
{									\
	handler(data, rq, error, nr_bytes);				\
}

#define probe_block_rq_complete						\
	lt_pick_probe(block_rq_complete, probe_block_rq_complete_status, \
		      probe_block_rq_complete_errno)

/*
 * The whole disk that a request is for, NULL if it has none.
 *
 * 5.17 (f3fa33acca9f, "block: remove the ->rq_disk field in struct request")
 * left the disk to the queue.
 */
static inline struct gendisk *lt_rq_disk(const struct request *rq)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
	return rq->q->disk;
#else
	return rq->rq_disk;
#endif
}

/* No device node has its number: a path of native multipath of NVMe. */
static inline bool lt_disk_is_hidden(const struct gendisk *disk)
{
	return disk->flags & GENHD_FL_HIDDEN;
}

/* Its number, 0 if it has none or is NULL. */
static inline dev_t lt_disk_dev(const struct gendisk *disk)
{
	return disk ? disk_devt((struct gendisk *)disk) : 0;
}

/*
 * The partition of that disk that the first bio is for, 0 if it is for all of it or
 * there is none.
 *
 * 5.12 (309dca309fc3, "block: store a block_device pointer in struct bio")
 * keeps the partition in the bio. Before, the request has it, where the disk
 * has statistics.
 */
static inline dev_t lt_rq_part_dev(const struct request *rq)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 12, 0)
	const struct block_device *bdev = rq->bio ? rq->bio->bi_bdev : NULL;

	/* The bio of a clone may be that of a device above. */
	return bdev && bdev->bd_disk == lt_rq_disk(rq) ? bdev->bd_dev : 0;
#else
	return rq->part ? part_devt(rq->part) : 0;
#endif
}

/* 0 where there is none: commands, flushes. */
static inline sector_t lt_rq_sector(struct request *rq)
{
	return blk_rq_trace_sector(rq);
}

/*
 * Is it a clone that request-based device mapper has made for a disk below it?
 * Only those have an end_io and a bio and do not take part in a flush. A clone
 * that the disk does not take is freed without a completion, and the request
 * that it was cloned from is requeued.
 */
static inline bool lt_rq_is_clone(struct request *rq)
{
	return rq->end_io && !(rq->rq_flags & RQF_FLUSH_SEQ) &&
	       !blk_rq_is_passthrough(rq);
}

/* Was it allocated after @ns? Not known, so false, where nobody accounts it. */
static inline bool lt_rq_is_newer(const struct request *rq, u64 ns)
{
	return rq->start_time_ns > ns;
}

/* 6.0 (342a72a33407, "block: Introduce the type blk_opf_t"): a bitwise type. */
#define lt_opf_t typeof(((struct request *)NULL)->cmd_flags)

/*
 * The operation in letters, as blktrace has it; @rwbs is RWBS_LEN bytes.
 *
 * 5.12 ("block: remove superfluous param in blk_fill_rwbs()") dropped a third
 * argument, the number of bytes.
 */
static inline void lt_fill_rwbs(char *rwbs, lt_opf_t opf)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 12, 0)
	blk_fill_rwbs(rwbs, opf);
#else
	blk_fill_rwbs(rwbs, opf, 0);
#endif
}

#endif /* _LT_WRAPPER_BLOCK_H */
