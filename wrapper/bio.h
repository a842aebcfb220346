/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bios: their tracepoints, their device, and whether they have begun and ended.
 */
#ifndef _LT_WRAPPER_BIO_H
#define _LT_WRAPPER_BIO_H

#include <linux/bio.h>
#include <linux/kdev_t.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "wrapper/block.h"

/*
 * LT_DEFINE_PROBE_BIO(event, handler) defines the probe of a tracepoint that is
 * about a bio; it calls handler(void *data, struct bio *bio).
 *
 * 5.11 (e8a676d61c07, "block: simplify and extend the block_bio_merge tracepoint
 * class") dropped the queue and, of some, the request or the direction.
 */
#define LT_DEFINE_PROBE_BIO(event, handler)				\
static void __maybe_unused						\
probe_##event##_bio(void *data, struct bio *bio)			\
{									\
	handler(data, bio);						\
}									\
static void __maybe_unused						\
probe_##event##_q(void *data, struct request_queue *q, struct bio *bio)	\
{									\
	handler(data, bio);						\
}									\
static void __maybe_unused						\
probe_##event##_q_rq(void *data, struct request_queue *q,		\
		     struct request *rq, struct bio *bio)		\
{									\
	handler(data, bio);						\
}									\
static void __maybe_unused						\
probe_##event##_q_rw(void *data, struct request_queue *q,		\
		     struct bio *bio, int rw)				\
{									\
	handler(data, bio);						\
}

#define lt_pick_probe_bio(event)					\
	lt_pick_probe(event, probe_##event##_bio,			\
	lt_pick_probe(event, probe_##event##_q,				\
	lt_pick_probe(event, probe_##event##_q_rq, probe_##event##_q_rw)))

#define probe_block_bio_queue		lt_pick_probe_bio(block_bio_queue)
#define probe_block_getrq		lt_pick_probe_bio(block_getrq)
#define probe_block_bio_backmerge	lt_pick_probe_bio(block_bio_backmerge)
#define probe_block_bio_frontmerge	lt_pick_probe_bio(block_bio_frontmerge)

/*
 * LT_DEFINE_PROBE_BIO_SPLIT(handler) defines that of block_split; it calls handler(void
 * *data, struct bio *bio). @bio is the first part, which the rest waits for, or with
 * device mapper the whole.
 */
#define LT_DEFINE_PROBE_BIO_SPLIT(handler)				\
static void __maybe_unused						\
probe_block_split_bio(void *data, struct bio *bio, unsigned int sector)	\
{									\
	handler(data, bio);						\
}									\
static void __maybe_unused						\
probe_block_split_q(void *data, struct request_queue *q,		\
		    struct bio *bio, unsigned int sector)		\
{									\
	handler(data, bio);						\
}

#define probe_block_split						\
	lt_pick_probe(block_split, probe_block_split_bio,		\
		      probe_block_split_q)

/*
 * The whole disk that it is for; its partition, 0 if there is none; and its first sector
 * on the disk. The last two with preemption off, before it is passed on.
 *
 * 5.12 (309dca309fc3, "block: store a block_device pointer in struct bio"); before,
 * the partition is a number of the disk.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 12, 0)
static inline const struct gendisk *lt_bio_disk(const struct bio *bio)
{
	return bio->bi_bdev ? bio->bi_bdev->bd_disk : NULL;
}

static inline dev_t lt_bio_part_dev(const struct bio *bio)
{
	return bio->bi_bdev->bd_dev;
}

static inline sector_t lt_bio_sector(struct bio *bio)
{
	sector_t start = bio_flagged(bio, BIO_REMAPPED) ?
				 0 : get_start_sect(bio->bi_bdev);

	return bio->bi_iter.bi_sector + start;
}
#else
static inline const struct gendisk *lt_bio_disk(const struct bio *bio)
{
	return bio->bi_disk;
}

static inline struct hd_struct *lt_bio_part(const struct bio *bio)
{
	const struct disk_part_tbl *table;

	table = rcu_dereference_sched(bio->bi_disk->part_tbl);
	if (!bio->bi_partno || bio->bi_partno >= table->len)
		return NULL;
	return rcu_dereference_sched(table->part[bio->bi_partno]);
}

static inline dev_t lt_bio_part_dev(const struct bio *bio)
{
	struct hd_struct *part = lt_bio_part(bio);

	return part ? part_devt(part) : 0;
}

static inline sector_t lt_bio_sector(struct bio *bio)
{
	const struct hd_struct *part = lt_bio_part(bio);

	return bio->bi_iter.bi_sector + (part ? part->start_sect : 0);
}
#endif

/* Does the disk have requests, or does it pass bios on? */
static inline bool lt_disk_has_requests(const struct gendisk *disk)
{
	return queue_is_mq(disk->queue);
}

/*
 * Does submit_bio_noacct() see it for the first time? Not what is left of a bio that
 * was split, nor one that is passed on to another device.
 *
 * 5.18 (3f98c753717c, "block: don't check bio in blk_throtl_dispatch_work_fn"): before,
 * a bio that was throttled comes once more.
 */
static inline bool lt_bio_is_new(struct bio *bio)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 18, 0)
	if (bio_flagged(bio, BIO_THROTTLED))
		return false;
#endif
	return !bio_flagged(bio, BIO_TRACE_COMPLETION);
}

/* In bio_endio(): does it wait for more ends than its own, or did until this one? */
static inline bool lt_bio_waits(struct bio *bio)
{
	return bio_flagged(bio, BIO_CHAIN);
}

/* In bio_endio(): how many ends it waits for, with this one. */
static inline int lt_bio_remaining(struct bio *bio)
{
	if (!lt_bio_waits(bio))
		return 1;
	return atomic_read(&bio->__bi_remaining);
}

/*
 * Has a bio got its last end that has waited for more than one? It may be freed then,
 * or its memory used again; no other way to know that is left once bio_endio() is over.
 */
static inline bool lt_bio_is_over(const struct bio *bio)
{
	unsigned short flags;

	return copy_from_kernel_nofault(&flags, &bio->bi_flags, sizeof(flags)) ||
	       !(flags & 1U << BIO_CHAIN);
}

#endif /* _LT_WRAPPER_BIO_H */
