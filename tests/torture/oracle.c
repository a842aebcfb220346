// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must be true of each event, in every context.
 */
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/string.h>

#include "torture.h"

/*
 * A word of the ledger: the number of the event, the grace period in which its
 * end was written down, and what is known of it. A later event of the same
 * caller takes the place of one that is TT_LEDGER older.
 */
#define L_NUMBER_SHIFT	24
#define L_GP_SHIFT	8
#define L_LIVE		BIT(0)	/* begun */
#define L_DONE		BIT(1)	/* had its verdict */
#define L_VOID		BIT(2)	/* the begin was refused */
#define L_TIMED_OUT	BIT(3)	/* the callback of its timeout ran */
#define L_TIMED_END	BIT(4)	/* its verdict said that there was a timeout */

#define SERIAL_SHIFT	40

/* Any value that a default threshold can have. */
const u64 tt_thresholds[TT_TIMES] = { 0, 20000, LATENCY_TRACKER_NEVER };

/* The first one counts. Any context. */
void tt_fail(enum tt_oracle oracle, const char *why, u64 a, u64 b)
{
	if (atomic_cmpxchg(&tt.failed, TT_SILENT, oracle) != TT_SILENT)
		return;
	tt.why = why;
	tt.args[0] = a;
	tt.args[1] = b;
	/* Pairs with twin_count_free(). */
	WRITE_ONCE(tt.failed_ns, latency_tracker_clock());
	/* Pairs with the smp_load_acquire() in main.c. */
	smp_store_release(&tt.stop, true);
}

static u64 check_of(const struct tt_priv *priv)
{
	return (priv->serial * GOLDEN_RATIO_64) ^ priv->key ^
	       (priv->start_ns << 1) ^ (priv->threshold_ns << 7);
}

void tt_seal(struct tt_priv *priv)
{
	priv->check = check_of(priv);
}

bool tt_priv_is_good(const struct tt_priv *priv, u64 key)
{
	return priv->check == check_of(priv) && priv->key == key &&
	       priv->serial >> SERIAL_SHIFT < tt.nr_callers;
}

static u64 number_of(const struct tt_priv *priv)
{
	return priv->serial & (BIT_ULL(SERIAL_SHIFT) - 1);
}

static atomic64_t *word_of(const struct tt_priv *priv)
{
	struct tt_caller *c = &tt.callers[priv->serial >> SERIAL_SHIFT];

	return &c->ledger[priv->serial & (TT_LEDGER - 1)];
}

static u64 make_word(const struct tt_priv *priv, u64 flags)
{
	return number_of(priv) << L_NUMBER_SHIFT | flags;
}

static bool is_of(u64 word, const struct tt_priv *priv)
{
	return word >> L_NUMBER_SHIFT == number_of(priv);
}

/* A new number, and an entry before anybody can find the event. */
void tt_ledger_begin(struct tt_caller *c, struct tt_priv *priv)
{
	priv->serial = (u64)c->index << SERIAL_SHIFT | ++c->number;
	tt_seal(priv);
	atomic64_set(word_of(priv), make_word(priv, L_LIVE));
}

void tt_ledger_void(struct tt_caller *c, const struct tt_priv *priv)
{
	if (atomic64_read(word_of(priv)) != make_word(priv, L_LIVE))
		tt_fail(TT_VERDICT, "event %llx: its begin was refused, but it has an end",
			priv->serial, 0);
	atomic64_set(word_of(priv), make_word(priv, L_VOID));
}

/* An event has its one verdict; the table does not have it any more. */
static void write_end(const struct tt_priv *priv, u64 flags)
{
	atomic64_t *word = word_of(priv);
	u64 old = atomic64_read(word), new;

	do {
		if (!is_of(old, priv))
			return;
		if (old & (L_DONE | L_VOID)) {
			tt_fail(TT_VERDICT, "event %llx has a second verdict; of the first: %llx",
				priv->serial, old & 0xff);
			return;
		}
		if ((old & L_TIMED_OUT) && !(flags & L_TIMED_END)) {
			tt_fail(TT_VERDICT, "event %llx: its verdict knows nothing of its timeout",
				priv->serial, 0);
			return;
		}
		/* After the removal, by its full barrier: see tt_check_age(). */
		new = make_word(priv, (old & 0xff) | flags | L_DONE) |
		      (u64)(u16)READ_ONCE(tt.gp) << L_GP_SHIFT;
	} while (!atomic64_try_cmpxchg(word, (s64 *)&old, new));
}

/*
 * The caller has ended the event. If it was late, the callback has written
 * that down already; if not, only the caller knows.
 */
void tt_ledger_end(const struct tt_priv *priv, bool late)
{
	u64 word = atomic64_read(word_of(priv));

	if (late && is_of(word, priv) && !(word & L_DONE))
		tt_fail(TT_OWNER, "event %llx was ended, but the callback was told of another",
			priv->serial, 0);
	/* Nor does anybody know whether its timeout is just being told. */
	if (!late)
		write_end(priv, L_TIMED_END);
}

static void write_timeout(const struct tt_priv *priv)
{
	atomic64_t *word = word_of(priv);
	u64 old = atomic64_read(word);

	do {
		if (!is_of(old, priv))
			return;
		if (old & (L_TIMED_OUT | L_VOID)) {
			tt_fail(TT_VERDICT, "event %llx has a second timeout",
				priv->serial, 0);
			return;
		}
	} while (!atomic64_try_cmpxchg(word, (s64 *)&old, old | L_TIMED_OUT));
	if ((old & (L_DONE | L_TIMED_END)) == L_DONE)
		tt_fail(TT_VERDICT, "event %llx has a timeout after an end without",
			priv->serial, 0);
}

/*
 * Grace periods since the end of @priv: 0 if it has not ended, -ENOENT if the
 * ledger has forgotten.
 *
 * tt.gp counts grace periods as they end. One that ends after the removal was
 * written down may have begun before it; the next one has not. So two of them
 * hold a whole one.
 */
int tt_age(const struct tt_priv *priv)
{
	u64 word = atomic64_read(word_of(priv));

	if (!is_of(word, priv))
		return -ENOENT;
	if (word & L_VOID)
		tt_fail(TT_OWNER, "event %llx is in the table, but its begin was refused",
			priv->serial, 0);
	if (!(word & L_DONE))
		return 0;
	return (u16)((u16)READ_ONCE(tt.gp) - (u16)(word >> L_GP_SHIFT));
}

/*
 * @priv was found in the table; still in the read-side section in which it was.
 * If a whole grace period had passed since its removal, it would have ended
 * before this section, which could not have found it, or waited for its end.
 */
void tt_check_age(struct tt_caller *c, const struct tt_priv *priv)
{
	int age = tt_age(priv);

	c->count.looked_up++;
	if (age < 0)
		return;
	if (atomic64_read(word_of(priv)) & L_DONE)
		c->count.ended++;
	if (age > 1)
		tt_fail(TT_REMOVED, "event %llx is found %lld grace periods after its removal",
			priv->serial, age);
}

static bool threshold_is_known(u64 ns)
{
	unsigned int i;

	for (i = 0; i < TT_TIMES; i++)
		if (tt_thresholds[i] == ns)
			return true;
	return false;
}

static void check_times(const struct latency_tracker_verdict *v,
			const struct tt_priv *priv)
{
	u64 delay_ns = v->now_ns >= v->start_ns ? v->now_ns - v->start_ns : 0;

	if (v->delay_ns != delay_ns)
		tt_fail(TT_CONTENT, "a delay is %lld, but from begin to end it was %lld",
			v->delay_ns, delay_ns);
	if (priv->start_ns ? v->start_ns != priv->start_ns :
			     v->start_ns < tt.began_ns)
		tt_fail(TT_CONTENT, "a begin is at %lld, not at %lld",
			v->start_ns, priv->start_ns);
	if (priv->threshold_ns == TT_DEFAULT ?
		    !threshold_is_known(v->threshold_ns) :
		    v->threshold_ns != priv->threshold_ns)
		tt_fail(TT_CONTENT, "a threshold is %lld, not %lld",
			v->threshold_ns, priv->threshold_ns);
}

static void check_end(const struct latency_tracker_verdict *v)
{
	struct tt_out *out = v->out_data;

	if (v->flag != LATENCY_TRACKER_ENDED) {
		if (out || v->out_id)
			tt_fail(TT_CONTENT, "there is no end, but a callback has its data %llx",
				(unsigned long)out, 0);
	} else if (!out || out->magic != TT_OUT_MAGIC || out->id != v->out_id) {
		tt_fail(TT_CONTENT, "a callback was not told what the end gave: %llx",
			(unsigned long)out, 0);
	} else {
		out->calls++;
	}
}

/* Whatever is told must be what was put in. */
static bool check_content(const struct latency_tracker_verdict *v,
			  const struct tt_life *life)
{
	const struct tt_priv *priv = v->priv;
	u64 key = 0;

	if (v->tracker != life->tracker || v->key_len != sizeof(key)) {
		tt_fail(TT_CONTENT, "a callback is told of another tracker, or a key of %lld bytes",
			v->key_len, 0);
		return false;
	}
	memcpy(&key, v->key, sizeof(key));
	if (!tt_priv_is_good(priv, key)) {
		tt_fail(TT_CONTENT, "a callback finds bad private data: serial %llx, key %llx",
			priv->serial, key);
		return false;
	}
	check_times(v, priv);
	if (v->flag == LATENCY_TRACKER_ENDED && v->delay_ns < v->threshold_ns)
		tt_fail(TT_CONTENT, "a callback ran at %lld ns, below the threshold of %lld",
			v->delay_ns, v->threshold_ns);
	if (v->flag == LATENCY_TRACKER_PENDING && !v->timed_out && !v->asked)
		tt_fail(TT_CONTENT, "a timeout says that there was none", 0, 0);
	return true;
}

/* Of all events of all trackers. */
void tt_callback(const struct latency_tracker_verdict *v)
{
	struct tt_life *life = latency_tracker_data(v->tracker);

	if (!READ_ONCE(life->alive)) {
		tt_fail(TT_DESTROY, "a callback runs, with flag %lld, after destroy() has returned",
			v->flag, 0);
		return;
	}
	check_end(v);
	if (!check_content(v, life) || life->other)
		return;
	switch (v->flag) {
	case LATENCY_TRACKER_COLLECTED:
		atomic64_inc(&tt.collected);
		fallthrough;
	case LATENCY_TRACKER_ENDED:
		write_end(v->priv, v->timed_out ? L_TIMED_END : 0);
		break;
	case LATENCY_TRACKER_PENDING:
		if (v->asked)
			break;
		write_timeout(v->priv);
		atomic64_inc(&tt.timeouts);
		break;
	}
}
