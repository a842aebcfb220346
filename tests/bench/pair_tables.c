// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same begin and end around several hash tables: what is the table's part of it?
 *
 * What is around the table is what the tracker has, too, in short: a read-side
 * section, an item from the pool, a key of 8 bytes, two clock reads, a threshold,
 * a counter for each, and the item retired until a grace period has passed. It has no
 * references, no private data and no timeout. Pool, reclaim and rculfhash are the
 * product's own sources, compiled into this module.
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
#include "core/reclaim.h"
#include "latency_tracker.h"
#include "pair.h"
#include "pair_trace.h"
#include "rculfhash/rculfhash.h"

#define BUCKETS_BITS	13	/* as many as events */

/**
 * struct item - what is between a begin and its end
 * @item: the pool's
 * @lfht: in rculfhash
 * @rhash: in an rhashtable
 * @hlist: in the table with locks
 * @start_ns: begin
 * @key: as given
 * @key_len: of @key
 */
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

/**
 * struct table - a hash table
 * @add: adds an item
 * @replace: adds an item in the place of one with the same key, which is returned
 * @take: removes an item
 */
struct table {
	void (*add)(struct item *item, unsigned long hash);
	struct item *(*replace)(struct item *item, unsigned long hash);
	struct item *(*take)(const struct lt_key *key, unsigned long hash);
};

static struct lt_pool pool;
static struct lt_reclaim reclaim;
static struct lt_counters __percpu *counters;
static bool on = true;

static __always_inline bool is_of(const struct item *item,
				  const struct lt_key *key)
{
	return lt_key_equal(key, &item->key, item->key_len);
}

/* rculfhash */

static struct lfht *lfht;

static __always_inline bool lfht_match(const struct lfht_node *node,
				       const void *key)
{
	return is_of(container_of(node, struct item, lfht), key);
}

static __always_inline void lfht_table_add(struct item *item,
					   unsigned long hash)
{
	lfht_add(lfht, hash, &item->lfht);
}

static __always_inline struct item *lfht_table_replace(struct item *item,
						       unsigned long hash)
{
	struct lt_key key = { .bytes = &item->key, .len = item->key_len };
	struct lfht_node *old;

	old = lfht_add_replace(lfht, hash, lfht_match, &key, &item->lfht);
	return old ? container_of(old, struct item, lfht) : NULL;
}

static __always_inline struct item *lfht_table_take(const struct lt_key *key,
						    unsigned long hash)
{
	struct lfht_node *node = lfht_take(lfht, hash, lfht_match, key);

	return node ? container_of(node, struct item, lfht) : NULL;
}

static const struct table lfht_table = {
	lfht_table_add, lfht_table_replace, lfht_table_take,
};

/* rhashtable, with its own hash function */

static struct rhashtable rhash;

static const struct rhashtable_params rhash_params = {
	.key_len = sizeof(u64),
	.key_offset = offsetof(struct item, key),
	.head_offset = offsetof(struct item, rhash),
	.nelem_hint = 3 * EVENTS / 4,	/* EVENTS buckets */
	.min_size = EVENTS,
};

static __always_inline void rhash_table_add(struct item *item,
					    unsigned long hash)
{
	rhashtable_insert_fast(&rhash, &item->rhash, rhash_params);
}

static __always_inline struct item *rhash_table_replace(struct item *item,
							unsigned long hash)
{
	struct item *old;

	for (;;) {
		old = rhashtable_lookup_get_insert_fast(&rhash, &item->rhash,
							rhash_params);
		if (IS_ERR_OR_NULL(old))
			return NULL;
		if (!rhashtable_replace_fast(&rhash, &old->rhash, &item->rhash,
					     rhash_params))
			return old;
	}
}

static __always_inline struct item *rhash_table_take(const struct lt_key *key,
						     unsigned long hash)
{
	struct item *item = rhashtable_lookup_fast(&rhash, key->bytes,
						   rhash_params);

	if (!item || rhashtable_remove_fast(&rhash, &item->rhash, rhash_params))
		return NULL;
	return item;
}

static const struct table rhash_table = {
	rhash_table_add, rhash_table_replace, rhash_table_take,
};

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

static __always_inline struct item *find_locked(struct bucket *bucket,
						const struct lt_key *key)
{
	struct item *item;

	hlist_for_each_entry(item, &bucket->head, hlist) {
		if (is_of(item, key))
			return item;
	}
	return NULL;
}

static __always_inline void lock_table_add(struct item *item,
					   unsigned long hash)
{
	struct bucket *bucket = bucket_of(hash);
	unsigned long flags;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_add_head(&item->hlist, &bucket->head);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
}

static __always_inline struct item *lock_table_replace(struct item *item,
						       unsigned long hash)
{
	struct lt_key key = { .bytes = &item->key, .len = item->key_len };
	struct bucket *bucket = bucket_of(hash);
	unsigned long flags;
	struct item *old;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	old = find_locked(bucket, &key);
	if (old)
		hlist_del(&old->hlist);
	hlist_add_head(&item->hlist, &bucket->head);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return old;
}

static __always_inline struct item *lock_table_take(const struct lt_key *key,
						    unsigned long hash)
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

static const struct table lock_table = {
	lock_table_add, lock_table_replace, lock_table_take,
};

/* What is around them */

static __always_inline void begin(const struct table *table, const void *bytes,
				  u32 len, bool unique)
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
	if (unique) {
		old = table->replace(item, hash);
		if (old) {
			lt_count(counters, LT_REPLACED);
			lt_retire(&reclaim, &old->item);
		}
	} else {
		table->add(item, hash);
	}
	lt_count(counters, LT_STARTED);
out:
	rcu_read_unlock_sched_notrace();
}

static __always_inline int end(const struct table *table, const void *bytes,
			       u32 len)
{
	struct lt_key key = { .bytes = bytes, .len = len };
	struct item *item;
	u64 delay_ns;
	int late = 0;

	rcu_read_lock_sched_notrace();
	item = table->take(&key, lt_key_hash(&key));
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
	begin(&table##_table, &key, sizeof(key), false);		\
	return end(&table##_table, &key, sizeof(key));			\
}									\
static int table##_unique(u64 key)					\
{									\
	begin(&table##_table, &key, sizeof(key), true);			\
	return end(&table##_table, &key, sizeof(key));			\
}									\
static int table##_miss(u64 key)					\
{									\
	return end(&table##_table, &key, sizeof(key));			\
}

DEFINE_VARIANTS(lfht)
DEFINE_VARIANTS(rhash)
DEFINE_VARIANTS(lock)

static const struct pair_variant in_time[] = {
	{ "rculfhash alone: hit", lfht_hit },
	{ "rculfhash alone: unique", lfht_unique },
	{ "rculfhash alone: miss", lfht_miss },
	{ "rhashtable: hit", rhash_hit },
	{ "rhashtable: unique", rhash_unique },
	{ "rhashtable: miss", rhash_miss },
	{ "lock per bucket: hit", lock_hit },
	{ "lock per bucket: unique", lock_unique },
	{ "lock per bucket: miss", lock_miss },
};

static const struct pair_variant late[] = {
	{ "rculfhash alone: late, event", lfht_hit },
	{ "rhashtable: late, event", rhash_hit },
	{ "lock per bucket: late, event", lock_hit },
};

void pair_tables_report(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(in_time); i++)
		pair_report(&in_time[i]);
	pair_set_late(true);
	for (i = 0; i < ARRAY_SIZE(late); i++)
		pair_report(&late[i]);
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

static int tables_init(void)
{
	unsigned int i;

	lfht = lfht_new(EVENTS, EVENTS);
	if (IS_ERR(lfht))
		return PTR_ERR(lfht);
	buckets = kvcalloc(1 << BUCKETS_BITS, sizeof(*buckets), GFP_KERNEL);
	if (!buckets || rhashtable_init(&rhash, &rhash_params)) {
		kvfree(buckets);
		lfht_destroy(lfht);
		return -ENOMEM;
	}
	for (i = 0; i < 1 << BUCKETS_BITS; i++)
		raw_spin_lock_init(&buckets[i].lock);
	return 0;
}

int pair_tables_init(void)
{
	int err = -ENOMEM;

	counters = alloc_percpu(struct lt_counters);
	if (!counters)
		return err;
	err = lt_pool_init(&pool, sizeof(struct item), EVENTS, nothing_low);
	if (err)
		goto err_counters;
	err = lt_reclaim_init(&reclaim, &pool, nothing_done);
	if (err)
		goto err_pool;
	err = tables_init();
	if (err)
		goto err_reclaim;
	return 0;

err_reclaim:
	lt_reclaim_destroy(&reclaim);
err_pool:
	lt_pool_destroy(&pool);
err_counters:
	free_percpu(counters);
	return err;
}

void pair_tables_exit(void)
{
	lt_reclaim_drain(&reclaim);
	lfht_destroy(lfht);
	rhashtable_destroy(&rhash);
	kvfree(buckets);
	lt_reclaim_destroy(&reclaim);
	lt_pool_destroy(&pool);
	free_percpu(counters);
}
