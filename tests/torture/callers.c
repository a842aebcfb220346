// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a caller does, the same in each context.
 */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/string.h>

#include "torture.h"

/* Numbers of keys: below 2^24 those that all share. */
#define KEY_BITS	24
#define OWN_KEYS	16

/* At most so many ends that only make room. */
#define DRAIN_MAX	64

/*
 * The hash of a key of 8 bytes is its product with the golden ratio, and its
 * top bits are the bucket. With tt_buckets the keys are such that they fall
 * into so few of them, however large the table is.
 */
u64 tt_key(u64 number)
{
	u64 inverse = GOLDEN_RATIO_64, part;
	u32 rest;
	int i;

	if (!tt_buckets)
		return number;
	/* Newton's method; each step doubles the bits that are right, from 3. */
	for (i = 0; i < 5; i++)
		inverse *= 2 - GOLDEN_RATIO_64 * inverse;
	part = div_u64(U64_MAX, tt_buckets);
	div_u64_rem(number, tt_buckets, &rest);
	return (rest * part + number) * inverse;
}

/* Marsaglia, "Xorshift RNGs" (2003). */
u32 tt_random(struct tt_caller *c)
{
	u64 x = c->seed;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	c->seed = x;
	return x >> 32;
}

static bool one_in(struct tt_caller *c, u32 n)
{
	return !(tt_random(c) & (n - 1));
}

static u64 shared_key(struct tt_caller *c)
{
	return tt_key(tt_random(c) % tt_keys);
}

static u64 own_key(struct tt_caller *c)
{
	return tt_key((u64)(c->index + 1) << KEY_BITS |
		      (tt_random(c) % OWN_KEYS));
}

static const u32 kinds[8] = {
	LATENCY_TRACKER_DUPLICATE, LATENCY_TRACKER_DUPLICATE, 0, 0,
	LATENCY_TRACKER_KEEP, LATENCY_TRACKER_START, LATENCY_TRACKER_THRESHOLD,
	LATENCY_TRACKER_START | LATENCY_TRACKER_TIMEOUT,
};

static u32 kind(struct tt_caller *c)
{
	u32 flags = kinds[tt_random(c) % ARRAY_SIZE(kinds)];

	return tt_slots ? flags & ~LATENCY_TRACKER_DUPLICATE : flags;
}

static void count_begin(struct tt_caller *c, u32 flags, int ret)
{
	if (!ret)
		c->count.begun++;
	else if (ret == -ENOBUFS)
		c->count.skipped++;
	else if (ret == -EEXIST &&
		 flags & (LATENCY_TRACKER_KEEP | LATENCY_TRACKER_DUPLICATE))
		c->count.kept++;
	else if (ret == -ESHUTDOWN && tt_change & TT_CHANGE_TRACKING)
		c->count.off++;
	else
		tt_fail(TT_COUNTS, "a begin with flags %llx returns %lld", flags,
			ret);
}

/* Fills @priv and @in with what the event carries. */
static void fill(struct tt_caller *c, u64 key, u32 flags, struct tt_priv *priv,
		 struct latency_tracker_in *in)
{
	*priv = (struct tt_priv) { .key = key, .threshold_ns = TT_DEFAULT };
	*in = (struct latency_tracker_in) {
		.priv = priv, .priv_len = sizeof(*priv),
	};
	if (flags & LATENCY_TRACKER_START) {
		in->start_ns = latency_tracker_clock();
		priv->start_ns = in->start_ns;
	}
	if (flags & LATENCY_TRACKER_THRESHOLD) {
		in->threshold_ns = tt_thresholds[tt_random(c) % TT_TIMES];
		priv->threshold_ns = in->threshold_ns;
	}
	if (flags & LATENCY_TRACKER_TIMEOUT)
		in->timeout_ns = one_in(c, 2) ? 0 : tt_random(c) % 4000000;
	tt_ledger_begin(c, priv);
}

static int begin_in_slot(u64 key, u32 flags, const struct tt_priv *priv)
{
	struct tt_priv *to;

	preempt_disable_notrace();
	to = latency_tracker_slot_begin(tt.main.tracker, key,
					flags & LATENCY_TRACKER_KEEP);
	if (!IS_ERR_OR_NULL(to)) {
		*to = *priv;
		latency_tracker_slot_publish(tt.main.tracker, to, priv->start_ns);
	}
	preempt_enable_notrace();
	return PTR_ERR_OR_ZERO(to);
}

static int begin(struct tt_caller *c, u64 key, u32 flags, struct tt_priv *priv)
{
	struct latency_tracker_in in;
	int ret;

	fill(c, key, flags, priv, &in);
	if (tt_slots && one_in(c, 2) &&
	    !(flags & (LATENCY_TRACKER_THRESHOLD | LATENCY_TRACKER_TIMEOUT)))
		ret = begin_in_slot(key, flags, priv);
	else
		ret = latency_tracker_event_in(tt.main.tracker, &key,
					       sizeof(key), flags, &in);
	count_begin(c, flags, ret);
	if (ret)
		tt_ledger_void(c, priv);
	return ret;
}

static struct tt_out make_out(struct tt_caller *c)
{
	return (struct tt_out) {
		.magic = TT_OUT_MAGIC, .id = tt_random(c), .caller = c,
	};
}

/* What an end says, and what the callback has seen of it. */
static int ended(struct tt_caller *c, const struct tt_out *out, int ret)
{
	bool late = ret == 1;

	if (out->calls != late)
		tt_fail(TT_VERDICT, "an end returns %lld, but the callback ran %lld times",
			ret, out->calls);
	if (ret >= 0) {
		c->count.finished++;
		c->count.pairs++;
		c->count.late += late;
	} else if (ret != -ENOENT) {
		tt_fail(TT_COUNTS, "an end returns %lld", ret, 0);
	}
	return ret;
}

static int end(struct tt_caller *c, u64 key)
{
	struct tt_out out = make_out(c);
	u64 now_ns = one_in(c, 2) ? latency_tracker_clock() : 0;
	int ret;

	if (tt_slots && one_in(c, 2)) {
		out.id = 0;
		preempt_disable_notrace();
		ret = latency_tracker_slot_end(tt.main.tracker, key, &out, now_ns);
		preempt_enable_notrace();
	} else {
		ret = latency_tracker_event_out(tt.main.tracker, &key,
						sizeof(key), out.id, &out,
						now_ns);
	}
	c->count.unmatched += ret == -ENOENT;
	return ended(c, &out, ret);
}

static int cancel(struct tt_caller *c, u64 key)
{
	int ret = latency_tracker_event_cancel(tt.main.tracker, &key, sizeof(key));

	c->count.cancelled += !ret;
	c->count.unmatched += ret == -ENOENT;
	return ret;
}

/* Others may begin meanwhile, which is against the rules, but must not break anything. */
static void free_slot(u64 key)
{
	int ret = latency_tracker_slot_free(tt.main.tracker, key);

	if (ret && ret != -ENOENT && ret != -EBUSY)
		tt_fail(TT_COUNTS, "a slot can't be freed: %lld", ret, 0);
}

/* Nothing was, nor could have been, cleared since tt.clears was @before. */
static bool none_cleared(unsigned long before)
{
	/* After what was found; pairs with the barriers in control.c. */
	smp_rmb();
	return !(before & 1) && READ_ONCE(tt.clears) == before &&
	       !(tt_change & TT_CHANGE_COLLECT);
}

/*
 * What the oldest event of the key carries must be @priv, or, if @over, there is
 * none.
 */
static void find(const struct tt_priv *priv, bool over, unsigned long clears)
{
	struct latency_tracker_event *event =
		latency_tracker_get_event(tt.main.tracker, &priv->key,
					  sizeof(priv->key));
	const struct tt_priv *found;

	if (!event) {
		if (!over && none_cleared(clears))
			tt_fail(TT_OWNER, "event %llx is pending, but is not found",
				priv->serial, 0);
		return;
	}
	found = latency_tracker_event_priv(event);
	if (over)
		tt_fail(TT_OWNER, "event %llx is over, but %llx is found",
			priv->serial, found->serial);
	else if (memcmp(found, priv, sizeof(*priv)))
		tt_fail(TT_OWNER, "event %llx is expected, but %llx is found",
			priv->serial, found->serial);
	latency_tracker_put_event(tt.main.tracker, event);
}

/* The key is of this caller alone, so it is known what is to be found. */
static void own_pair(struct tt_caller *c)
{
	/* Pairs with the barriers in control.c. */
	unsigned long clears = smp_load_acquire(&tt.clears);
	struct tt_priv priv;
	u64 key = own_key(c);
	int ret;

	ret = begin(c, key, kind(c), &priv);
	if (ret == -EEXIST)
		tt_fail(TT_OWNER, "key %llx has an event, but none was begun",
			key, 0);
	if (ret)
		return;
	if (one_in(c, 8))
		find(&priv, false, clears);
	ret = one_in(c, 32) ? cancel(c, key) : end(c, key);
	if (ret >= 0)
		tt_ledger_end(&priv, ret == 1);
	else if (none_cleared(clears))
		tt_fail(TT_OWNER, "event %llx is pending, but its end returns %lld",
			priv.serial, ret);
	if (one_in(c, 16))
		find(&priv, true, 0);
}

/* Begin and end in one call: no look-up ever finds it. */
static void whole_pair(struct tt_caller *c)
{
	u32 flags = LATENCY_TRACKER_START |
		    (one_in(c, 2) ? LATENCY_TRACKER_THRESHOLD : 0);
	struct tt_out out = make_out(c);
	struct latency_tracker_in in;
	struct tt_priv priv;
	u64 key = own_key(c);
	int ret;

	fill(c, key, flags, &priv, &in);
	ret = latency_tracker_event_whole(tt.main.tracker, &key, sizeof(key),
					  flags, &in, out.id, &out, 0);
	count_begin(c, flags, min(ret, 0));
	if (ret < 0) {
		tt_ledger_void(c, &priv);
	} else {
		ended(c, &out, ret);
		tt_ledger_end(&priv, ret == 1);
		c->count.whole++;
	}
	if (one_in(c, 16))
		find(&priv, true, 0);
}

/* Many callers have events of the key; an end may find any of them. */
static void shared_pairs(struct tt_caller *c)
{
	u32 i, n = 1 + tt_random(c) % tt_duplicates;
	u64 key = shared_key(c), other = one_in(c, 4) ? shared_key(c) : key;
	struct tt_priv priv;

	for (i = 0; i < n; i++)
		begin(c, key, kind(c), &priv);
	for (i = 0; i < n; i++)
		end(c, other);
	if (one_in(c, 64))
		cancel(c, key);
	if (tt_slots && one_in(c, 64))
		free_slot(key);
	/* What was begun for one key and ended for another piles up. */
	if (one_in(c, 128))
		for (i = 0; i < DRAIN_MAX && end(c, key) >= 0; i++)
			;
}

/* Some look at an event for longer than it may take to be used again. */
static void dwell(struct tt_caller *c)
{
	u64 until_ns;

	if (c->context != TT_TASK)
		until_ns = one_in(c, 256) ? 2000 : 0;
	else if (one_in(c, 1024))
		until_ns = 500000;
	else
		until_ns = one_in(c, 16) ? 5000 : 0;
	if (!until_ns)
		return;
	until_ns += latency_tracker_clock();
	while (latency_tracker_clock() < until_ns && !READ_ONCE(tt.stop))
		cpu_relax();
}

struct look {
	struct tt_caller *c;
	u64 key;
};

static bool visit(struct latency_tracker_event *event, void *arg)
{
	const struct tt_priv *priv = latency_tracker_event_priv(event);
	struct look *look = arg;
	struct tt_priv before = *priv;

	if (!tt_priv_is_good(&before, look->key)) {
		tt_fail(TT_REUSED, "a reader of key %llx finds an event of key %llx",
			look->key, before.key);
		return false;
	}
	dwell(look->c);
	barrier();
	if (memcmp(priv, &before, sizeof(before))) {
		tt_fail(TT_REUSED, "event %llx becomes %llx under a reader",
			before.serial, priv->serial);
		return false;
	}
	tt_check_age(look->c, &before);
	return !one_in(look->c, 8);
}

static void look_up(struct tt_caller *c)
{
	struct look look = { .c = c, .key = shared_key(c) };
	int ret = latency_tracker_for_each_event(tt.main.tracker, &look.key,
						 sizeof(look.key), visit,
						 &look);

	if (ret < 0)
		tt_fail(TT_COUNTS, "a look-up returns %lld", ret, 0);
}

/* What was held did not change; it may have ended long ago. */
void tt_let_go(struct tt_caller *c)
{
	struct latency_tracker_event *event = c->held;
	const struct tt_priv *priv;
	struct tt_out out;
	int ret;

	if (!event)
		return;
	c->held = NULL;
	priv = latency_tracker_event_priv(event);
	if (memcmp(priv, &c->held_priv, sizeof(*priv))) {
		tt_fail(TT_REUSED, "event %llx becomes %llx while it is held",
			c->held_priv.serial, priv->serial);
		return;
	}
	if (tt_age(&c->held_priv) > 1)
		c->count.outlived++;
	if (one_in(c, 2)) {
		out = make_out(c);
		ret = latency_tracker_event_end(tt.main.tracker, event, out.id,
						&out, 0);
		if (ended(c, &out, ret) >= 0)
			tt_ledger_end(&c->held_priv, ret == 1);
	}
	if (latency_tracker_put_event(tt.main.tracker, event))
		tt_fail(TT_REUSED, "event %llx was held, but its reference is gone",
			c->held_priv.serial, 0);
}

static void hold(struct tt_caller *c)
{
	u64 key = shared_key(c);

	if (c->held) {
		if (!c->rounds--)
			tt_let_go(c);
		return;
	}
	c->held = latency_tracker_get_event(tt.main.tracker, &key, sizeof(key));
	if (!c->held)
		return;
	c->count.held++;
	c->held_priv = *(struct tt_priv *)latency_tracker_event_priv(c->held);
	c->rounds = tt_random(c) % (c->context == TT_TASK ? 2048 : 128);
	if (!tt_priv_is_good(&c->held_priv, key))
		tt_fail(TT_REUSED, "key %llx is asked for, but an event of key %llx is found",
			key, c->held_priv.key);
}

/* The other trackers: used in a section, as probes do. */
static void other_pair(struct tt_caller *c)
{
	struct tt_out out = make_out(c);
	struct tt_life *life;
	u64 key = own_key(c);

	preempt_disable_notrace();
	/* Acquire: pairs with the release in control.c. */
	life = smp_load_acquire(&tt.other);
	if (life) {
		tt_begin_other(life->tracker, (u64)c->index << 40, key, 0);
		/* Some are left to their timeout, or to destroy(). */
		if (!one_in(c, 4) &&
		    latency_tracker_event_out(life->tracker, &key, sizeof(key),
					      out.id, &out, 0) >= 0)
			c->count.other_pairs++;
	}
	preempt_enable_notrace();
}

static void (*const rounds[16])(struct tt_caller *c) = {
	own_pair, own_pair, own_pair, own_pair, own_pair, own_pair, own_pair,
	whole_pair,
	shared_pairs, shared_pairs, shared_pairs, shared_pairs, shared_pairs,
	hold, look_up, other_pair,
};

void tt_round(struct tt_caller *c)
{
	rounds[tt_random(c) % ARRAY_SIZE(rounds)](c);
}
