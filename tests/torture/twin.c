// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken twins: does an oracle object when the core is wrong?
 *
 * latency_tracker_twin is the same torture on a core of its own, compiled from
 * the same files. Where they are included here, some functions have another
 * name, and do what they should not when a parameter says so. Nothing of that
 * is in the modules for users, nor in their sources.
 */
#include <linux/build_bug.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core/event.h"
#include "core/reclaim.h"
#include "wrapper/call_rcu.h"

/* Ahead of the functions that are inline: leak, twice. */
static bool twin_drop(struct latency_tracker_event *event, long flags);
static void twin_retire(struct lt_reclaim *reclaim, struct lt_pool_item *item);
#define lt_event_drop twin_drop
#define lt_retire twin_retire
#include "core/outcome.h"
#include "torture.h"
#undef lt_event_drop
#undef lt_retire

/* What is broken. */
static bool grace;
module_param(grace, bool, 0444);
MODULE_PARM_DESC(grace, "there is no grace period (N)");
static bool twice;
module_param(twice, bool, 0444);
MODULE_PARM_DESC(twice, "events are retired twice (N)");
static bool leak;
module_param(leak, bool, 0444);
MODULE_PARM_DESC(leak, "references are not dropped (N)");
static bool armed;
module_param(armed, bool, 0444);
MODULE_PARM_DESC(armed, "timeouts fire after destroy() (N)");
static bool two;
module_param(two, bool, 0444);
MODULE_PARM_DESC(two, "of two ends both win (N)");
static bool reuse;
module_param(reuse, bool, 0444);
MODULE_PARM_DESC(reuse, "a slot is filled in while others hold it (N)");

static atomic_t turns;

/* Broken, but not always, and not before the torture has begun. */
static bool turn_of(bool broken, int period)
{
	return broken && READ_ONCE(tt.began_ns) &&
	       atomic_inc_return(&turns) % period == 0;
}

/* Nothing is exported, and there is one module_init(). */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(symbol)	static_assert(1)
#undef module_init
#define module_init(function)		static_assert(1)
#undef module_exit
#define module_exit(function)		static_assert(1)
/* It ends after a failed beginning, too. */
#undef __exit
#define __exit
#undef MODULE_LICENSE
#define MODULE_LICENSE(text)		static_assert(1)
#undef MODULE_DESCRIPTION
#define MODULE_DESCRIPTION(text)	static_assert(1)
#undef MODULE_AUTHOR
#define MODULE_AUTHOR(text)		static_assert(1)

/* --- grace: what is retired is given back at once ---------------------------- */

static void twin_call_rcu(struct rcu_head *rcu, rcu_callback_t func)
{
	if (grace)
		func(rcu);
	else
		lt_call_rcu(rcu, func);
}

#undef lt_call_rcu
#define lt_call_rcu twin_call_rcu
#include "core/reclaim.c"

/* --- twice: an event is retired twice ------------------------------------------ */

/* The detector: set as long as an event is not in use. */
#define TWIN_RETIRED	((long)BIT(23))
static_assert(!(TWIN_RETIRED & (LT_EVENT_OPEN | LT_EVENT_TIMED_OUT |
				LT_EVENT_BUSY | LT_EVENT_COUNT)));

static void retire_once(struct lt_reclaim *reclaim, struct lt_pool_item *item)
{
	struct latency_tracker_event *event = lt_event_of_item(item);
	struct tt_priv *priv = lt_event_priv(event);

	/* A list with one item twice is a circle: it is not made. */
	if (atomic_long_fetch_or(TWIN_RETIRED, &event->refs) & TWIN_RETIRED)
		tt_fail(TT_RETIRED, "event %llx is retired twice", priv->serial,
			0);
	else
		lt_retire(reclaim, item);
}

static void twin_retire(struct lt_reclaim *reclaim, struct lt_pool_item *item)
{
	retire_once(reclaim, item);
	if (turn_of(twice, 256))
		retire_once(reclaim, item);
}

/* --- leak: a reference is not dropped -------------------------------------------- */

/* Found again by destroy(), which else would wait for ever. */
static LLIST_HEAD(lost);

static bool twin_drop(struct latency_tracker_event *event, long flags)
{
	if (!turn_of(leak, 4096))
		return lt_event_drop(event, flags);
	atomic_long_sub(flags, &event->refs);
	llist_add(&event->item.link, &lost);
	return false;
}

static void find_lost(struct latency_tracker *tracker)
{
	struct lt_pool_item *item, *next;

	preempt_disable();
	llist_for_each_entry_safe(item, next, llist_del_all(&lost), link)
		if (lt_event_drop(lt_event_of_item(item), 0))
			lt_retire(&tracker->reclaim, item);
	preempt_enable();
}

#define lt_event_drop twin_drop
#define lt_retire twin_retire
#include "core/outcome.c"

/* --- armed: destroy() does not wait for the worker ----------------------------- */

/* By then all callers have ended. */
#define GIVE_UP_NS	(8 * (u64)NSEC_PER_SEC)

/*
 * Of two and reuse, references may be lost, which destroy() would wait for; and then the module
 * would stay, and no other twin could come. Once one is caught, it need not.
 */
static unsigned int twin_count_free(struct lt_pool *pool)
{
	u64 failed_ns = READ_ONCE(tt.failed_ns);

	if ((two || reuse) && failed_ns &&
	    latency_tracker_clock() - failed_ns > GIVE_UP_NS)
		return pool->total;
	return lt_pool_count_free(pool);
}

static void twin_really_destroy(struct latency_tracker *tracker);
#define latency_tracker_destroy twin_really_destroy
#define lt_pool_count_free twin_count_free
#include "core/lifecycle.c"
#undef lt_pool_count_free
#undef latency_tracker_destroy
#include "core/settings.c"
#include "core/snapshot.c"

struct late_destroy {
	struct delayed_work work;
	struct latency_tracker *tracker;
};

static struct workqueue_struct *late_queue;
static atomic_t late_destroys;

static void destroy_late(struct work_struct *work)
{
	struct late_destroy *late = container_of(to_delayed_work(work),
						 struct late_destroy, work);

	twin_really_destroy(late->tracker);
	kfree(late);
	atomic_dec(&late_destroys);
}

void latency_tracker_destroy(struct latency_tracker *tracker)
{
	struct late_destroy *late = NULL;

	find_lost(tracker);
	if (armed)
		late = kzalloc(sizeof(*late), GFP_KERNEL);
	if (!late) {
		twin_really_destroy(tracker);
		return;
	}
	atomic_inc(&late_destroys);
	late->tracker = tracker;
	INIT_DELAYED_WORK(&late->work, destroy_late);
	queue_delayed_work(late_queue, &late->work, HZ / 10);
}

/* --- two: of two ends both win ----------------------------------------------------- */

/* The second one drops a reference and a flag, too, so it gets them. */
static int twin_del(struct lfht *ht, struct lfht_node *node)
{
	struct latency_tracker_event *event = lt_event_of_node(node);
	int err = lfht_del(ht, node);

	if (err && two && lt_event_ref(event, 0)) {
		atomic_long_or(LT_EVENT_OPEN, &event->refs);
		err = 0;
	}
	return err;
}

static __always_inline struct lfht_node *
twin_take(struct lfht *ht, unsigned long hash, lfht_match_fn match,
	  const void *key)
{
	struct lfht_iter iter;

	if (!two)
		return lfht_take(ht, hash, match, key);
	do {
		lfht_lookup(ht, hash, match, key, &iter);
	} while (iter.node && twin_del(ht, iter.node));
	return iter.node;
}

/* --- reuse: a slot is filled in while others hold it ------------------------------ */

static struct latency_tracker_event *
twin_claim(struct latency_tracker *tracker, u64 key, u32 flags)
{
	struct latency_tracker_event *event = lt_slot_find(tracker, key);
	long refs = event ? atomic_long_read(&event->refs) : 0;

	if (reuse && READ_ONCE(tracker->tracking_on) && refs & LT_EVENT_COUNT &&
	    !(refs & (LT_EVENT_OPEN | LT_EVENT_BUSY)) &&
	    atomic_long_cmpxchg(&event->refs, refs,
				(refs | LT_EVENT_BUSY) + LT_EVENT_STEP) == refs)
		return event;
	return lt_slot_claim(tracker, key, flags);
}

#define lfht_del twin_del
#define lfht_take twin_take
#define lt_slot_claim twin_claim
#define lt_slot_claim_other twin_claim
#include "core/begin.c"
#include "latency_tracker.c"
#include "latency_tracker_any.c"
#include "latency_tracker_slots.c"
#include "latency_tracker_whole.c"
#include "latency_tracker_word.c"

/* --- the rest of the core, as it is ------------------------------------------- */

#undef lfht_del
#undef lfht_take
#undef lt_slot_claim
#undef lt_slot_claim_other

/* Not in the place of the other core. */
#define kset_create_and_add(name, ops, parent)				\
	kset_create_and_add(name "_twin", ops, parent)

#ifdef LT_DEBUG
#include "core/alloc_debug.c"
#else
#include "core/alloc.c"
#endif
#include "core/ask.c"
#include "core/cells.c"
#include "core/clock.c"
#include "core/control.c"
#include "core/control_profile.c"
#include "core/crossings.c"
#include "core/ends.c"
#include "core/group.c"
#include "core/groups.c"
#include "core/kick.c"
#include "core/pending.c"
#include "core/pool.c"
#include "core/pool_size.c"
#include "core/per_minute.c"
#include "core/profile.c"
#include "core/records.c"
#include "core/slot.c"
#include "core/timeout.c"
#include "core/waits.c"
#include "core/worker.c"
#include "core/worst.c"
#include "rculfhash/rculfhash.c"

/* --- the beginning and the end ------------------------------------------------------ */

#include "core/module.c"

int __init tt_twin_init(void)
{
	int err;

	late_queue = alloc_ordered_workqueue("tt_twin", 0);
	if (!late_queue)
		return -ENOMEM;
	err = latency_tracker_init();
	if (err)
		destroy_workqueue(late_queue);
	return err;
}

void tt_twin_settle(void)
{
	while (atomic_read(&late_destroys))
		msleep(20);
	/* destroy_late() has done its last, but may not have returned. */
	flush_workqueue(late_queue);
}

void tt_twin_exit(void)
{
	destroy_workqueue(late_queue);
	latency_tracker_exit();
}
