// SPDX-License-Identifier: GPL-2.0-only
/* What a pair of add and del costs, in ns and, with one thread, no contention. */
#include <stdio.h>
#include <time.h>

#include "objs.h"

#define OBJS	1024
#define ROUNDS	2000

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void measure(unsigned long init, unsigned long size, unsigned int load)
{
	static struct obj o[OBJS];
	struct lfht *ht = lfht_new(init, size);
	unsigned long key, hits = 0;
	struct lfht_iter iter;
	double start, ns;
	unsigned int i, r;

	memset(o, 0, sizeof(o));
	BUG_ON(IS_ERR(ht) || lfht_resize(ht, size));
	rcu_read_lock_sched();
	for (i = 0; i < load; i++) {
		o[i].key = i;
		lfht_add(ht, mix(i), &o[i].node);
	}
	start = now();
	for (r = 0; r < ROUNDS; r++)
		for (i = load; i < OBJS; i++) {
			key = i;
			o[i].key = key;
			lfht_add_unique(ht, mix(key), obj_match, &key,
					&o[i].node);
			lfht_lookup(ht, mix(key), obj_match, &key, &iter);
			hits += !!iter.node;
			lfht_del(ht, &o[i].node);
		}
	ns = (now() - start) / ROUNDS / (OBJS - load);
	BUG_ON(hits != (unsigned long)ROUNDS * (OBJS - load));
	printf("%6lu buckets (%s), %4u nodes: add_unique + lookup + del %.1f ns\n",
	       size, init == size ? "one array" : "grown", load, ns);
	for (i = 0; i < load; i++)
		lfht_del(ht, &o[i].node);
	rcu_read_unlock_sched();
	BUG_ON(lfht_destroy(ht));
}

int main(void)
{
	host_init(1, 1);
	measure(1024, 1024, 0);
	measure(1024, 1024, 512);
	measure(1, 1024, 0);
	measure(1, 1024, 512);
	measure(65536, 65536, 512);
	return 0;
}
