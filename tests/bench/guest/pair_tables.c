// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same begin and end around several hash tables: what is the table's part of it? The
 * rest is what the tracker has, without references, private data and timeout. Pool, reclaim
 * and rculfhash are the product's own sources, compiled into this module.
 *
 * rhashtable and the table with locks are for comparison only: in an NMI, or in a
 * probe under a lock of the scheduler, both can deadlock.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "core/counters.h"
#include "core/key.h"
#include "core/pool.h"
#include "core/pool_size.h"
#include "core/reclaim.h"
#include "latency_tracker.h"
#include "pair.h"
#include "pair_trace.h"
#include "rculfhash/rculfhash.h"

#define BUCKETS_BITS	13	/* as many as events */

/* What is between a begin and its end. */
struct item {
	struct lt_pool_item item;
	union {
		struct lfht_node lfht;
		struct rhash_head rhash;
		struct hlist_node hlist;
	};
	u64 start_ns;
	u64 key;
	u8 key_len;
};

static struct lt_pool pool;
static struct lt_reclaim reclaim;
static struct lt_counters __percpu *counters;
static bool on = true;

static __always_inline bool is_of(const struct item *item, const struct lt_key *key)
{
	return lt_key_equal(key, &item->key, item->key_len);
}

/*
 * Of each table: put() adds an item; if @unique, in the place of one with the same key,
 * which is returned. take() removes an item.
 */
typedef struct item *(*table_put)(struct item *item, unsigned long hash, bool unique);
typedef struct item *(*table_take)(const struct lt_key *key, unsigned long hash);

/* rculfhash */

static struct lfht *lfht;

static __always_inline bool lfht_match(const struct lfht_node *node, const void *key)
{
	return is_of(container_of(node, struct item, lfht), key);
}

static __always_inline struct item *lfht_table_put(struct item *item, unsigned long hash,
						   bool unique)
{
	struct lt_key key = { .bytes = &item->key, .len = item->key_len };
	struct lfht_node *old = NULL;

	if (unique)
		old = lfht_add_replace(lfht, hash, lfht_match, &key, &item->lfht);
	else
		lfht_add(lfht, hash, &item->lfht);
	return old ? container_of(old, struct item, lfht) : NULL;
}

static __always_inline struct item *lfht_table_take(const struct lt_key *key, unsigned long hash)
{
	struct lfht_node *node = lfht_take(lfht, hash, lfht_match, key);

	return node ? container_of(node, struct item, lfht) : NULL;
}

/* rhashtable, with its own hash function */

static struct rhashtable rhash;

static const struct rhashtable_params rhash_params = {
	.key_len = sizeof(u64),
	.key_offset = offsetof(struct item, key),
	.head_offset = offsetof(struct item, rhash),
	.nelem_hint = 3 * EVENTS / 4,	/* EVENTS buckets */
	.min_size = EVENTS,
};

static __always_inline struct item *rhash_table_put(struct item *item, unsigned long hash,
						    bool unique)
{
	struct item *old;

	if (!unique) {
		rhashtable_insert_fast(&rhash, &item->rhash, rhash_params);
		return NULL;
	}
	do {
		old = rhashtable_lookup_get_insert_fast(&rhash, &item->rhash, rhash_params);
		if (IS_ERR_OR_NULL(old))
			return NULL;
	} while (rhashtable_replace_fast(&rhash, &old->rhash, &item->rhash, rhash_params));
	return old;
}

static __always_inline struct item *rhash_table_take(const struct lt_key *key, unsigned long hash)
{
	struct item *item = rhashtable_lookup_fast(&rhash, key->bytes, rhash_params);

	if (!item || rhashtable_remove_fast(&rhash, &item->rhash, rhash_params))
		return NULL;
	return item;
}

/* A lock for each bucket */

struct bucket {
	raw_spinlock_t lock;	/* @head */
	struct hlist_head head;
};

static struct bucket *buckets;

static __always_inline struct bucket *bucket_of(unsigned long hash)
{
	return &buckets[hash >> (BITS_PER_LONG - BUCKETS_BITS)];
}

static __always_inline struct item *find_locked(struct bucket *bucket, const struct lt_key *key)
{
	struct item *item;

	hlist_for_each_entry(item, &bucket->head, hlist) {
		if (is_of(item, key))
			return item;
	}
	return NULL;
}

static __always_inline struct item *lock_table_put(struct item *item, unsigned long hash,
						   bool unique)
{
	struct lt_key key = { .bytes = &item->key, .len = item->key_len };
	struct bucket *bucket = bucket_of(hash);
	struct item *old = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	if (unique)
		old = find_locked(bucket, &key);
	if (old)
		hlist_del(&old->hlist);
	hlist_add_head(&item->hlist, &bucket->head);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return old;
}

static __always_inline struct item *lock_table_take(const struct lt_key *key, unsigned long hash)
{
	struct bucket *bucket = bucket_of(hash);
	unsigned long flags;
	struct item *item;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	item = find_locked(bucket, key);
	if (item)
		hlist_del(&item->hlist);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return item;
}

/* What is around them */

static __always_inline void begin(table_put put, const void *bytes, u32 len, bool unique)
{
	struct lt_key key = { .bytes = bytes, .len = len };
	unsigned long hash = lt_key_hash(&key);
	struct lt_pool_item *free;
	struct item *item, *old;

	rcu_read_lock_sched_notrace();
	if (unlikely(!READ_ONCE(on)))
		goto out;
	free = lt_pool_get(&pool);
	if (unlikely(!free)) {
		lt_count(counters, LT_SKIPPED);
		goto out;
	}
	item = container_of(free, struct item, item);
	item->key_len = len;
	item->key = get_unaligned((const u64 *)bytes);
	item->start_ns = latency_tracker_clock();
	old = put(item, hash, unique);
	if (old) {
		lt_count(counters, LT_REPLACED);
		lt_retire(&reclaim, &old->item);
	}
	lt_count(counters, LT_STARTED);
out:
	rcu_read_unlock_sched_notrace();
}

static __always_inline int end(table_take take, const void *bytes, u32 len)
{
	struct lt_key key = { .bytes = bytes, .len = len };
	struct item *item;
	u64 delay_ns;
	int late = 0;

	rcu_read_lock_sched_notrace();
	item = take(&key, lt_key_hash(&key));
	if (item) {
		delay_ns = latency_tracker_clock() - item->start_ns;
		lt_count(counters, LT_FINISHED);
		if (unlikely(delay_ns >= READ_ONCE(pair_threshold_ns))) {
			trace_pair_latency(item->key, item->start_ns, delay_ns);
			lt_count(counters, LT_LATE);
			late = 1;
		}
		lt_retire(&reclaim, &item->item);
	} else {
		lt_count(counters, LT_UNMATCHED);
	}
	rcu_read_unlock_sched_notrace();
	return late;
}

#define DEFINE_VARIANTS(table)						\
static int table##_hit(u64 key)						\
{									\
	begin(table##_table_put, &key, sizeof(key), false);		\
	return end(table##_table_take, &key, sizeof(key));		\
}									\
static int table##_unique(u64 key)					\
{									\
	begin(table##_table_put, &key, sizeof(key), true);		\
	return end(table##_table_take, &key, sizeof(key));		\
}									\
static int table##_miss(u64 key)					\
{									\
	return end(table##_table_take, &key, sizeof(key));		\
}									\
static void table##_report(void)					\
{									\
	pair_report(table##_name ": hit", table##_hit);			\
	pair_report(table##_name ": unique", table##_unique);		\
	pair_report(table##_name ": miss", table##_miss);		\
}

#define lfht_name	"rculfhash alone"
#define rhash_name	"rhashtable"
#define lock_name	"lock per bucket"

DEFINE_VARIANTS(lfht)
DEFINE_VARIANTS(rhash)
DEFINE_VARIANTS(lock)

void pair_tables_report(void)
{
	lfht_report();
	rhash_report();
	lock_report();
	pair_set_late(true);
	pair_report(lfht_name ": late, event", lfht_hit);
	pair_report(rhash_name ": late, event", rhash_hit);
	pair_report(lock_name ": late, event", lock_hit);
	pair_set_late(false);
}

/* All items come home. */
void pair_tables_rest(void)
{
	lt_reclaim_drain(&reclaim);
}

static void nothing_low(struct lt_pool *low)
{
}

static void nothing_done(struct lt_reclaim *done)
{
}

int pair_tables_init(void)
{
	unsigned int i;

	counters = alloc_percpu(struct lt_counters);
	if (!counters)
		return -ENOMEM;
	if (lt_pool_setup())
		goto err_counters;
	if (lt_pool_init(&pool, sizeof(struct item), EVENTS, nothing_low))
		goto err_setup;
	if (lt_reclaim_init(&reclaim, &pool, nothing_done))
		goto err_pool;
	lfht = lfht_new(EVENTS, EVENTS);
	if (IS_ERR(lfht))
		goto err_reclaim;
	buckets = kvcalloc(1 << BUCKETS_BITS, sizeof(*buckets), GFP_KERNEL);
	if (!buckets || rhashtable_init(&rhash, &rhash_params))
		goto err_tables;
	for (i = 0; i < 1 << BUCKETS_BITS; i++)
		raw_spin_lock_init(&buckets[i].lock);
	return 0;

err_tables:
	kvfree(buckets);
	lfht_destroy(lfht);
err_reclaim:
	lt_reclaim_destroy(&reclaim);
err_pool:
	lt_pool_destroy(&pool);
err_setup:
	lt_pool_teardown();
err_counters:
	free_percpu(counters);
	return -ENOMEM;
}

void pair_tables_exit(void)
{
	lt_reclaim_drain(&reclaim);
	lfht_destroy(lfht);
	rhashtable_destroy(&rhash);
	kvfree(buckets);
	lt_reclaim_destroy(&reclaim);
	lt_pool_destroy(&pool);
	lt_pool_teardown();
	free_percpu(counters);
}
