// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rooms of the core in which the twins are broken, and a detector.
 */
#include <linux/build_bug.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "core/event.h"
#include "core/reclaim.h"
#include "core/tracker.h"
#include "torture.h"
#include "twin.h"
#include "wrapper/rcupdate.h"

static char *twin = "none";
module_param(twin, charp, 0444);
MODULE_PARM_DESC(twin,
		 "what is broken: none, grace (there is no grace period), twice (events are retired twice), leak (references are not dropped), armed (timeouts fire after destroy), two (of two ends both win) (none)");

enum twin {
	TWIN_NONE,
	TWIN_GRACE,
	TWIN_TWICE,
	TWIN_LEAK,
	TWIN_ARMED,
	TWIN_TWO,
};

static const char *const twins[] = {
	"none", "grace", "twice", "leak", "armed", "two",
};

static int broken;
static atomic_t turns;

/* This one is broken, not always, and not before the torture has begun. */
static bool turn_of(enum twin which, int period)
{
	return broken == which && READ_ONCE(tt.began_ns) &&
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
	if (broken == TWIN_GRACE)
		func(rcu);
	else
		lt_call_rcu(rcu, func);
}

#undef lt_call_rcu
#define lt_call_rcu twin_call_rcu
#include "core/reclaim.c"

/* --- twice: an event is retired twice ------------------------------------------ */

/* The detector: set as long as an event is not in use. */
#define TWIN_RETIRED	BIT(30)
static_assert(!(TWIN_RETIRED & (LT_EVENT_PENDING | LT_EVENT_TIMED_OUT |
				LT_EVENT_COUNT)));

static void retire_once(struct lt_reclaim *reclaim, struct lt_pool_item *item)
{
	struct latency_tracker_event *event = lt_event_of_item(item);
	struct tt_priv *priv = lt_event_priv(event);

	/* A list with one item twice is a circle: it is not made. */
	if (atomic_fetch_or(TWIN_RETIRED, &event->refs) & TWIN_RETIRED)
		tt_fail(TT_RETIRED, "event %llx is retired twice", priv->serial,
			0);
	else
		lt_retire(reclaim, item);
}

static void twin_retire(struct lt_reclaim *reclaim, struct lt_pool_item *item)
{
	retire_once(reclaim, item);
	if (turn_of(TWIN_TWICE, 256))
		retire_once(reclaim, item);
}

/* --- leak: a reference is not dropped -------------------------------------------- */

/* Found again by destroy(), which else would wait for ever. */
static LLIST_HEAD(lost);

static bool twin_drop(struct latency_tracker_event *event, int flags)
{
	if (!turn_of(TWIN_LEAK, 4096))
		return lt_event_drop(event, flags);
	atomic_sub(flags, &event->refs);
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
#include "core/event.c"
#include "core/verdict.c"

/* --- armed: destroy() does not wait for the worker ----------------------------- */

static void twin_really_destroy(struct latency_tracker *tracker);
#define latency_tracker_destroy twin_really_destroy
#include "core/lifecycle.c"
#undef latency_tracker_destroy

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
	if (broken == TWIN_ARMED)
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

	if (err && broken == TWIN_TWO && lt_event_ref(event, false)) {
		atomic_or(LT_EVENT_PENDING, &event->refs);
		err = 0;
	}
	return err;
}

static __always_inline struct lfht_node *
twin_take(struct lfht *ht, unsigned long hash, lfht_match_fn match,
	  const void *key)
{
	struct lfht_iter iter;

	if (broken != TWIN_TWO)
		return lfht_take(ht, hash, match, key);
	do {
		lfht_lookup(ht, hash, match, key, &iter);
	} while (iter.node && twin_del(ht, iter.node));
	return iter.node;
}

#define lfht_del twin_del
#define lfht_take twin_take
#include "latency_tracker.c"

/* --- the beginning and the end ------------------------------------------------------ */

int __init tt_twin_init(void)
{
	int err;

	broken = match_string(twins, ARRAY_SIZE(twins), twin);
	if (broken < 0) {
		pr_err("%s: there is no twin %s: see modinfo\n", KBUILD_MODNAME,
		       twin);
		return -EINVAL;
	}
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
