// SPDX-License-Identifier: GPL-2.0-only
/*
 * To which groups an operation belongs: disk, operation and stage, and the control group of
 * the task that began it.
 */
#include <linux/bits.h>
#include <linux/kdev_t.h>

#include "examples/block/block.h"
#include "usecase/disk.h"

/* An id: the number of the disk, operation, stage. */
#define OP_BITS		3
#define STAGE_BITS	2

enum op {
	READ_OP,
	WRITE_OP,
	FLUSH_OP,
	DISCARD_OP,
	OTHER_OP,
};

static enum op op_of(lt_opf_t opf)
{
	switch (opf & REQ_OP_MASK) {
	case REQ_OP_READ:
		return READ_OP;
	case REQ_OP_WRITE:
		return opf & REQ_PREFLUSH ? FLUSH_OP : WRITE_OP;
	case REQ_OP_FLUSH:
		return FLUSH_OP;
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
		return DISCARD_OP;
	default:
		return OTHER_OP;
	}
}

void block_group_ids(const void *key, const void *priv, const void *out_data,
		     u64 *id)
{
	const struct block_key *of = key;
	const struct lt_block_report *report = priv;

	id[0] = ((u64)report->dev << OP_BITS | op_of(report->opf)) << STAGE_BITS |
		of->stage;
	id[1] = report->cgroup_id;
}

int block_group_name(u64 id, char *name)
{
	static const char *const ops[] = {
		[READ_OP] = "read",
		[WRITE_OP] = "write",
		[FLUSH_OP] = "flush",
		[DISCARD_OP] = "discard",
		[OTHER_OP] = "other",
	};
	static const char *const stages[] = {
		[LT_BLOCK_QUEUE] = "queue",
		[LT_BLOCK_DEVICE] = "device",
		[LT_BLOCK_REQUEST] = "request",
		[LT_BLOCK_BIO] = "bio",
	};
	dev_t dev = id >> (OP_BITS + STAGE_BITS);
	char text[LT_DISK_TEXT_LEN];
	struct lt_disk disk;

	snprintf(text, sizeof(text), "%u:%u", MAJOR(dev), MINOR(dev));
	if (lt_disk_find(text, &disk) || !disk.name[0])
		return -ENOENT;
	snprintf(name, LATENCY_TRACKER_GROUP_NAME, "%s %s %s", disk.name,
		 ops[id >> STAGE_BITS & (BIT(OP_BITS) - 1)],
		 stages[id & (BIT(STAGE_BITS) - 1)]);
	return 0;
}
