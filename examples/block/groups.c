// SPDX-License-Identifier: GPL-2.0-only
/*
 * To which groups an operation belongs: disk, operation and stage, and the control group of
 * the task that began it.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/string.h>

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

int block_group_name(u64 id, char *name)
{
	dev_t dev = id >> (OP_BITS + STAGE_BITS);
	char disk[DISK_NAME_LEN];
	int err;

	err = name_of_disk(dev, disk, sizeof(disk));
	if (err)
		return err;
	snprintf(name, LATENCY_TRACKER_GROUP_NAME, "%s %s %s", disk,
		 ops[id >> STAGE_BITS & (BIT(OP_BITS) - 1)],
		 stages[id & (BIT(STAGE_BITS) - 1)]);
	return 0;
}

/* OP and STAGE of "DISK OP STAGE", without which all of them are meant. */
static int find_words(char *words, struct lt_threshold *found)
{
	char *word = strsep(&words, " ");
	int n;

	if (!word)
		return 1;
	n = match_string(ops, ARRAY_SIZE(ops), word);
	if (n < 0)
		return -EINVAL;
	found->id |= (u64)n << STAGE_BITS;
	found->mask = ~0ULL << STAGE_BITS;
	if (!words)
		return 1;
	n = match_string(stages, ARRAY_SIZE(stages), words);
	if (n < 0)
		return -EINVAL;
	found->id |= n;
	found->mask = ~0ULL;
	return 1;
}

int block_threshold_find(const char *text, struct lt_threshold *found)
{
	char copy[LATENCY_TRACKER_GROUP_NAME], *words = copy;
	struct lt_disk disk;
	int err;

	if (strscpy(copy, text, sizeof(copy)) < 0)
		return -EINVAL;
	err = lt_disk_find(strsep(&words, " "), &disk);
	if (err || !disk.name[0] || disk.is_part)
		return -EINVAL;
	found->id = (u64)disk.dev << (OP_BITS + STAGE_BITS);
	found->mask = ~0ULL << (OP_BITS + STAGE_BITS);
	snprintf(found->name, sizeof(found->name), "%s%s%s", disk.name,
		 words ? " " : "", words ?: "");
	return find_words(words, found);
}

/* A hidden disk that is a path of one with a threshold has that one's. */
static u64 as_whole(u64 id, const char *path)
{
	const struct lt_threshold_table *table = READ_ONCE(block_usecase.thresholds);
	char name[LATENCY_TRACKER_GROUP_NAME];
	unsigned int i;

	for (i = 0; table && i < table->nr; i++) {
		strscpy(name, table->entry[i].name, sizeof(name));
		name[strcspn(name, " ")] = '\0';
		if (lt_disk_is_path_of(name, path))
			return (table->entry[i].id & ~0ULL << (OP_BITS + STAGE_BITS)) |
			       (id & (BIT(OP_BITS + STAGE_BITS) - 1));
	}
	return id;
}

void block_belongs(const struct latency_tracker_verdict *verdict,
		   struct lt_belongs *to)
{
	const struct lt_block_report *report = verdict->priv;
	u64 id[LATENCY_TRACKER_DIMENSIONS];

	block_group_ids(verdict->key, report, verdict->out_data, id);
	to->id = as_whole(id[0], report->disk);
	to->cgroup_ns = report->cgroup_ns;
}
