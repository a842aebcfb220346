// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retired items wait here for a grace period. See reclaim.h.
 */
#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>

#include "core/reclaim.h"
#include "wrapper/call_rcu.h"

/**
 * lt_reclaim_init() - set up the lists of retired items
 * @reclaim: to be set up
 * @pool: where retired items go
 * @done: called when a grace period has ended and lt_reclaim() has work; in
 *	softirq or task context, must not sleep
 *
 * Context: Task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int lt_reclaim_init(struct lt_reclaim *reclaim, struct lt_pool *pool,
		    void (*done)(struct lt_reclaim *reclaim))
{
	memset(reclaim, 0, sizeof(*reclaim));
	reclaim->pool = pool;
	reclaim->done = done;
	reclaim->retired = __alloc_percpu(nr_node_ids * sizeof(struct lt_retired),
					  __alignof__(struct lt_retired));
	return reclaim->retired ? 0 : -ENOMEM;
}

/**
 * lt_reclaim_destroy() - free the lists
 * @reclaim: after lt_reclaim_drain(), or never used
 *
 * Context: Task, may sleep.
 */
void lt_reclaim_destroy(struct lt_reclaim *reclaim)
{
	free_percpu(reclaim->retired);
	reclaim->retired = NULL;
}

/* Each list stays apart: to join two, the end of one would have to be found. */
static bool take(struct lt_retired *retired)
{
	if (!READ_ONCE(retired->head))
		return false;
	/* Full barrier; pairs with the cmpxchg() in lt_retire(). */
	retired->waiting = xchg(&retired->head, NULL);
	return true;
}

static bool take_all(struct lt_reclaim *reclaim)
{
	bool any = false;
	int cpu, nid;

	for_each_possible_cpu(cpu) {
		for_each_node(nid)
			any |= take(&per_cpu_ptr(reclaim->retired, cpu)[nid]);
	}
	return any;
}

static void give_all(struct lt_reclaim *reclaim)
{
	struct lt_retired *retired;
	int cpu, nid;

	for_each_possible_cpu(cpu) {
		for_each_node(nid) {
			retired = &per_cpu_ptr(reclaim->retired, cpu)[nid];
			lt_pool_put_batches(reclaim->pool, cpu, retired->waiting);
			retired->waiting = NULL;
		}
	}
}

static void grace_period_ended(struct rcu_head *rcu)
{
	struct lt_reclaim *reclaim = container_of(rcu, struct lt_reclaim, rcu);

	/* Pairs with the smp_load_acquire() of lt_reclaim(). */
	smp_store_release(&reclaim->busy, false);
	reclaim->done(reclaim);
}

/**
 * lt_reclaim() - move retired items on
 * @reclaim: the retired items
 * @start: start a grace period for the items retired since the last one; each
 *	disturbs all CPUs a little, so only if the items are needed
 *
 * Gives the batches whose grace period has ended to the pool.
 *
 * Context: Task; the caller serialises.
 * Return: what was done; with @start, any value but LT_RECLAIM_IDLE means that
 * more items may come.
 */
enum lt_reclaim_did lt_reclaim(struct lt_reclaim *reclaim, bool start)
{
	enum lt_reclaim_did did = LT_RECLAIM_IDLE;

	/* Pairs with the smp_store_release() of grace_period_ended(). */
	if (smp_load_acquire(&reclaim->busy))
		return LT_RECLAIM_WAITING;
	if (reclaim->waiting) {
		reclaim->waiting = false;
		give_all(reclaim);
		did = LT_RECLAIM_GAVE;
	}
	if (!start)
		return did;
	reclaim->waiting = take_all(reclaim);
	if (reclaim->waiting) {
		WRITE_ONCE(reclaim->busy, true);
		lt_call_rcu(&reclaim->rcu, grace_period_ended);
		if (!did)
			did = LT_RECLAIM_STARTED;
	}
	return did;
}

/**
 * lt_reclaim_drain() - bring all retired items home
 * @reclaim: the retired items; no other lt_reclaim() runs
 *
 * When it returns, nothing of @reclaim is queued with RCU.
 *
 * Context: Task, may sleep for grace periods.
 */
void lt_reclaim_drain(struct lt_reclaim *reclaim)
{
	while (lt_reclaim(reclaim, true))
		rcu_barrier();
	/* The last callback may have cleared busy, but not returned. */
	rcu_barrier();
}
