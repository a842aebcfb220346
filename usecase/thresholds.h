/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Thresholds of groups of operations: NAME:TIME,NAME:TIME... as a parameter. What
 * a name is, the tracker says: it makes an id of it, by which a probe looks.
 */
#ifndef _LT_USECASE_THRESHOLDS_H
#define _LT_USECASE_THRESHOLDS_H

#include <linux/compiler.h>
#include <linux/moduleparam.h>
#include <linux/types.h>

struct lt_usecase;

#define LT_THRESHOLDS_MAX	32
#define LT_THRESHOLD_NAME_LEN	32

/**
 * struct lt_threshold_table - what a probe sees: never changed while it may be
 * @nr: number of entries
 * @id: of each
 * @ns: its threshold
 * @name: its name, as the kernel has it
 */
struct lt_threshold_table {
	unsigned int nr;
	u64 id[LT_THRESHOLDS_MAX];
	u64 ns[LT_THRESHOLDS_MAX];
	char name[LT_THRESHOLDS_MAX][LT_THRESHOLD_NAME_LEN];
};

/**
 * struct lt_thresholds - the parameter
 * @live: the table that counts; NULL if there is no entry
 * @table: two of them: the one that is not live may be filled
 * @usecase: the tracker
 * @find: makes an id of @text and puts the name as it reads back into @name, of
 *	LT_THRESHOLD_NAME_LEN bytes; returns 0 or a negative errno
 */
struct lt_thresholds {
	const struct lt_threshold_table *live;
	struct lt_threshold_table table[2];
	struct lt_usecase *usecase;
	int (*find)(const char *text, u64 *id, char *name);
};

/* For module_param_cb(); the argument is the address of the struct lt_thresholds. */
extern const struct kernel_param_ops lt_thresholds_ops;

/*
 * The table, or NULL. For a probe of a tracepoint, as long as it runs; the address
 * dependency pairs with the smp_store_release() of lt_thresholds_ops.
 */
static __always_inline const struct lt_threshold_table *
lt_thresholds_live(const struct lt_thresholds *thresholds)
{
	return READ_ONCE(thresholds->live);
}

/* The number of the entry with an id; -1 if there is none. */
static inline int lt_threshold_by_id(const struct lt_threshold_table *table,
				     u64 id)
{
	unsigned int i;

	for (i = 0; i < table->nr; i++) {
		if (table->id[i] == id)
			return i;
	}
	return -1;
}

#endif /* _LT_USECASE_THRESHOLDS_H */
