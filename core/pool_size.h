/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many items a pool has: see pool.h for the guarantee.
 */
#ifndef _LT_CORE_POOL_SIZE_H
#define _LT_CORE_POOL_SIZE_H

#include <linux/types.h>

struct lt_pool;

int lt_pool_setup(void);
void lt_pool_teardown(void);

int lt_pool_init(struct lt_pool *pool, size_t item_size, unsigned int capacity,
		 void (*low)(struct lt_pool *pool));
void lt_pool_destroy(struct lt_pool *pool);
int lt_pool_grow(struct lt_pool *pool, unsigned int more);

#endif /* _LT_CORE_POOL_SIZE_H */
