// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of table, pool and reclaim: the input is a sequence of operations,
 * each of which may be interrupted at any point by another one. A list that is
 * kept beside the table says what each must answer: what is interrupted must
 * have happened either before or after what interrupted it.
 */
#include <linux/err.h>

#include "checks.h"
#include "core/reclaim.h"
#include "fuzz.h"

#define MAX_ITEMS	512
#define MAX_BUCKETS	64

enum state { HOME, OWNED, IN_TABLE, RETIRED };

struct item {
	struct lt_pool_item pool;
	struct lfht_node node;
	enum state state;
	unsigned int seq;	/* place in the table; a replacement takes that of the old one */
	unsigned int visits;
	u8 key;
};

/* The table as it should be, in its order. */
struct model {
	struct item *item[MAX_ITEMS];
	unsigned int nr;
};

/* What may interrupt another operation; then what may not. */
enum code { ADD, ADD_UNIQUE, ADD_REPLACE, LOOKUP, DEL, TAKE, UNUSED, CODES_NESTED };

struct op {
	u8 code;
	u8 arg;
	struct item *handle;	/* what DEL works on */
	struct item *item;	/* what was taken from the pool */
	struct item *found;
};

static struct lfht *ht;
static struct lt_pool pool;
static struct lt_reclaim reclaim;
static struct model model;
static struct op nested;
static bool did_nest;
static bool in_get;
static int home;		/* items that should be in the pool */
static unsigned int slack;	/* and may be out of reach, see pool.h */
static unsigned int hash_mode;
static unsigned int next_seq;
static unsigned int lows, dones;
static struct lfht_iter reader_iter;
static unsigned int reader_seq;	/* the reader does not know of what was added later */
static struct item *reader_last; /* removed while there was a reader */

static struct item *to_item(const struct lfht_node *node)
{
	return node ? container_of(node, struct item, node) : NULL;
}

static bool match(const struct lfht_node *node, const void *key)
{
	return to_item(node)->key == *(const u8 *)key;
}

static unsigned long hash_of(u8 key)
{
	switch (hash_mode) {
	case 0:
		return key * 0x9e3779b97f4a7c15UL;
	case 1:
		return ~0UL;
	case 2:
		return (key & 3) * 0x9e3779b97f4a7c15UL;
	default:	/* the first and the last one of a bucket */
		return ((unsigned long)(key + 1) / 2 << 61) - (key & 1);
	}
}

/* ---- pool and reclaim ---- */

/* Items in the batches of the pool. */
static int in_batches(void)
{
	int nid, n = 0;

	for_each_online_node(nid)
		n += atomic_read(&pool.depots[nid].free);
	return n;
}

/* Its own, or that of what it took. */
static bool node_is_low(const struct item *item)
{
	return lt_pool_depot_is_low(&pool.depots[lt_pool_nid(fuzz_cpu)]) ||
	       lt_pool_depot_is_low(&pool.depots[item->pool.nid]);
}

static void on_low(struct lt_pool *p)
{
	EXPECT(lt_pool_is_low(p) || p->dry, "told to be low for nothing");
	lows++;
}

static struct item *get(u8 key)
{
	unsigned int lows_before = lows;
	int free = in_batches(), out;
	bool outer = in_get;
	struct item *item;

	/* A batch of the interrupted get is on its way, or stays in the cache. */
	if (outer)
		slack += pool.batch;
	in_get = true;
	item = (struct item *)lt_pool_get(&pool);
	in_get = outer;
	EXPECT(lt_pool_ran_dry(&pool) == !item, "running dry is told wrongly");
	EXPECT(!lt_pool_ran_dry(&pool), "running dry is told twice");
	if (!did_nest)
		EXPECT(lows - lows_before == (!item || (free != in_batches() && node_is_low(item))),
		       "low() was called %u times", lows - lows_before);
	if (!item) {
		out = (int)pool.total - home;
		EXPECT(out + (int)slack >= (int)pool.capacity, "dry with %d of %u items out", out,
		       pool.capacity);
		return NULL;
	}
	EXPECT(item->state == HOME, "the pool gave an item in state %d", item->state);
	EXPECT((uintptr_t)item % SMP_CACHE_BYTES == 0, "an item that is not aligned");
	home--;
	item->state = OWNED;
	item->key = key;
	return item;
}

static void retire(struct item *item)
{
	EXPECT(item->state == IN_TABLE, "retired from state %d", item->state);
	item->state = RETIRED;
	lt_retire(&reclaim, &item->pool);
}

static void on_done(struct lt_reclaim *r)
{
	EXPECT(!r->busy, "done and busy");
	dones++;
}

/* What waits comes home with the next call that gives it. */
static unsigned int come_home(void)
{
	struct lt_pool_item *batch;
	struct llist_node *node;
	unsigned int i, n = 0;

	for (i = 0; i < host_nr_cpus * host_nr_nodes; i++) {
		batch = per_cpu_ptr(reclaim.retired, i / host_nr_nodes)[i % host_nr_nodes].waiting;
		for (; batch; batch = batch->next_batch)
			for (node = &batch->link; node; node = node->next, n++) {
				struct item *item = container_of(node, struct item, pool.link);

				EXPECT(item->state == RETIRED, "state %d in a batch", item->state);
				item->state = HOME;
			}
	}
	return n;
}

static void do_reclaim(u8 arg)
{
	bool start = arg & 1;
	bool had = reclaim.waiting, waits = fuzz_grace_period_waits();
	unsigned int coming = had && !waits ? come_home() : 0;
	enum lt_reclaim_did did = lt_reclaim(&reclaim, start);

	home += coming;
	if (waits)
		EXPECT(did == LT_RECLAIM_WAITING, "%d in a grace period", did);
	else if (had)
		EXPECT(did == LT_RECLAIM_GAVE, "%d with a batch", did);
	else
		EXPECT(did == LT_RECLAIM_IDLE || (start && did == LT_RECLAIM_STARTED), "%d", did);
	EXPECT(!start || did != LT_RECLAIM_STARTED || fuzz_grace_period_waits(),
	       "started no grace period");
}

/* ---- the table ---- */

static void run_table(struct op *op)
{
	unsigned long hash = hash_of(op->arg & 15);
	struct lfht_node *node = NULL;
	u8 key = op->arg & 15;
	struct lfht_iter iter;
	int ret;

	if (op->item)
		op->item->state = IN_TABLE;
	switch (op->code) {
	case ADD:
		lfht_add(ht, hash, &op->item->node);
		break;
	case ADD_UNIQUE:
		node = lfht_add_unique(ht, hash, match, &key, &op->item->node);
		if (node != &op->item->node)
			retire(op->item);
		break;
	case ADD_REPLACE:
		node = lfht_add_replace(ht, hash, match, &key, &op->item->node);
		break;
	case LOOKUP:
		lfht_lookup(ht, hash, match, &key, &iter);
		node = iter.node;
		break;
	case DEL:
		ret = lfht_del(ht, &op->handle->node);
		EXPECT(!ret || ret == -ENOENT, "del: %d", ret);
		node = ret ? NULL : &op->handle->node;
		break;
	case TAKE:
		node = lfht_take(ht, hash, match, &key);
		break;
	case UNUSED:
		retire(op->item);
		break;
	}
	op->found = to_item(node);
	if (node && (op->code == ADD_REPLACE || op->code == DEL || op->code == TAKE)) {
		retire(op->found);
		if (fuzz_reader)
			reader_last = op->found;
	}
}

static bool wants_item(const struct op *op)
{
	return op->code <= ADD_REPLACE || op->code == UNUSED;
}

/* Which node DEL is about; false: none. */
static bool choose(struct op *op)
{
	if (op->code != DEL)
		return true;
	if (op->arg & 0x80 && reader_last)
		op->handle = reader_last;
	else if (model.nr)
		op->handle = model.item[op->arg % model.nr];
	return op->handle;
}

static void run(struct op *op)
{
	host_preempt_disable();
	if (wants_item(op))
		op->item = get(op->arg & 15);
	if (!wants_item(op) || op->item)
		run_table(op);
	host_preempt_enable();
}

/* The oldest of @key, or if there is an @item, that one; -1: it is not there. */
static int index_of(const struct model *m, const struct item *item, u8 key)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		if (item ? m->item[i] == item : m->item[i]->key == key)
			return i;
	return -1;
}

static void take_out(struct model *m, int at)
{
	memmove(m->item + at, m->item + at + 1, (--m->nr - at) * sizeof(m->item[0]));
}

/* Behind all of its order key. */
static void insert(struct model *m, struct item *item)
{
	unsigned int at = m->nr;

	while (at && m->item[at - 1]->node.order_key > item->node.order_key)
		at--;
	memmove(m->item + at + 1, m->item + at, (m->nr++ - at) * sizeof(m->item[0]));
	m->item[at] = item;
	item->seq = ++next_seq;
}

/* Would the model have answered as the table did? It changes as it should. */
static bool agrees(struct model *m, const struct op *op)
{
	int at = index_of(m, op->handle, op->arg & 15);
	struct item *oldest = at < 0 ? NULL : m->item[at];

	if (wants_item(op) && !op->item)
		return true;
	switch (op->code) {
	case ADD:
		insert(m, op->item);
		return true;
	case ADD_UNIQUE:
		if (!oldest) {
			oldest = op->item;
			insert(m, oldest);
		}
		break;
	case ADD_REPLACE:
		if (oldest) {
			m->item[at] = op->item;
			op->item->seq = oldest->seq;
		} else {
			insert(m, op->item);
		}
		break;
	case DEL:
	case TAKE:
		if (oldest)
			take_out(m, at);
		break;
	case LOOKUP:
		break;
	default:
		return true;
	}
	return op->found == oldest;
}

/* @at: its place in the model. */
static void check_node(struct lfht_node *node, void *at)
{
	unsigned int i = (*(unsigned int *)at)++;

	EXPECT(i < model.nr && model.item[i] == to_item(node), "another node in place %u", i);
	EXPECT(to_item(node)->state == IN_TABLE, "state %d in the table", to_item(node)->state);
}

/* The table is what the model is. */
static void check_model(void)
{
	unsigned int nr = 0;

	check_table(ht, check_node, &nr);
	EXPECT_EQ(nr, model.nr);
	check_pool(&pool);
}

/* ---- the reader ---- */

/*
 * The reader comes from the place @after: it stands on the next one of the key, or on none
 * if that has been added since it last looked.
 */
static void check_reader(u8 key, unsigned int after)
{
	struct item *item = to_item(reader_iter.node), *next = NULL;
	unsigned int i;

	for (i = 0; i < model.nr && !next; i++)
		if (model.item[i]->key == key && model.item[i]->seq > after)
			next = model.item[i];
	if (!did_nest)
		EXPECT(item == next || (!item && after && next->seq > reader_seq),
		       "the reader is not where it should be");
	reader_seq = next_seq;
	if (item) {
		EXPECT(item->state == IN_TABLE || item->state == RETIRED,
		       "the reader stands on an item in state %d", item->state);
		EXPECT(item->key == key, "key %u found for %u", item->key, key);
	}
}

/* A lookup, or one step on from where the reader stands. */
static void run_reader(u8 arg)
{
	struct item *from;
	u8 key = arg & 15;

	if (!fuzz_reader) {
		fuzz_reader_enter();
		reader_iter.node = NULL;
	}
	from = to_item(reader_iter.node);
	host_preempt_disable();
	if (arg & 0x80) {
		lfht_lookup(ht, hash_of(key), match, &key, &reader_iter);
		check_reader(key, 0);
	} else if (from) {
		lfht_next_duplicate(ht, match, &from->key, &reader_iter);
		check_reader(from->key, from->seq);
	}
	host_preempt_enable();
}

static void run_reader_leave(u8 arg)
{
	fuzz_reader = false;
	reader_last = NULL;
}

/* ---- the rest ---- */

struct walk {
	unsigned int visits;	/* by this call, of @budget */
	unsigned int budget;
	unsigned long last;
	bool clear;
	struct op op;
};

static void visit(struct lfht_node *node, void *arg)
{
	struct walk *w = arg;

	EXPECT(w->visits < max(w->budget, 1U) || node->order_key == w->last,
	       "visit %u with a budget of %u", w->visits, w->budget);
	w->visits++;
	w->last = node->order_key;
	to_item(node)->visits++;
	if (!w->clear)
		return;
	w->op = (struct op){ .code = DEL, .handle = to_item(node) };
	run_table(&w->op);
	EXPECT(agrees(&model, &w->op), "clear did not get a node");
}

static void run_walk(u8 arg)
{
	struct walk w = { .budget = arg % 8, .clear = arg & 0x80 };
	struct model before = model;
	unsigned long cursor = 0;
	unsigned int i;
	bool more;

	for (i = 0; i < before.nr; i++)
		before.item[i]->visits = 0;
	do {
		host_preempt_disable();
		w.visits = 0;
		more = lfht_walk(ht, &cursor, w.budget, visit, &w);
		host_preempt_enable();
	} while (more);
	EXPECT_EQ(cursor, 0);
	for (i = 0; i < before.nr; i++)
		EXPECT_EQ(before.item[i]->visits, 1);
}

static void run_resize(u8 arg)
{
	unsigned long size = lfht_size(ht);
	int ret;

	if (arg & 0x80)
		host_alloc_left = arg % 2;
	ret = lfht_resize(ht, arg % (MAX_BUCKETS * 2));
	EXPECT(!ret || ret == -EINVAL || (ret == -ENOMEM && arg & 0x80), "resize: %d", ret);
	EXPECT((ret == -EINVAL) == (arg % (MAX_BUCKETS * 2) > 1UL << ht->max_order),
	       "resize to %u: %d", arg % (MAX_BUCKETS * 2), ret);
	EXPECT(lfht_size(ht) >= size, "resize made it smaller");
	host_alloc_left = -1;
}

static void run_grow(u8 arg)
{
	unsigned int total = pool.total, capacity = pool.capacity, more = arg % 16;
	unsigned int batch = pool.batch;
	int ret;

	if (total + more > MAX_ITEMS)
		return;
	if (arg & 0x80)
		host_alloc_left = arg % 2;
	ret = lt_pool_grow(&pool, more);
	host_alloc_left = -1;
	EXPECT(!ret || (ret == -ENOMEM && arg & 0x80), "grow: %d", ret);
	EXPECT(pool.capacity - capacity == more || (ret && pool.capacity - capacity < more),
	       "%u more instead of %u", pool.capacity - capacity, more);
	if (!ret)
		EXPECT_EQ(pool.total - total,
			  pool.capacity - capacity + host_nr_cpus * (pool.batch - batch));
	home += pool.total - total;
}

static void run_grace_period(u8 arg)
{
	unsigned int before = dones;

	EXPECT_EQ(fuzz_grace_period(), dones - before);
}

/* Those without a function are run by run_table(). */
static const struct {
	const char *name;
	void (*run)(u8 arg);
} codes[] = {
	[ADD] = { "add", NULL },
	[ADD_UNIQUE] = { "add_unique", NULL },
	[ADD_REPLACE] = { "add_replace", NULL },
	[LOOKUP] = { "lookup", NULL },
	[DEL] = { "del", NULL },
	[TAKE] = { "take", NULL },
	[UNUSED] = { "unused", NULL },
	{ "resize", run_resize },
	{ "grow", run_grow },
	{ "reclaim", do_reclaim },
	{ "grace_period", run_grace_period },
	{ "next_cpu", fuzz_next_cpu },
	{ "reader", run_reader },
	{ "reader_leave", run_reader_leave },
	{ "walk", run_walk },
};

/* ---- the sequence ---- */

static void run_nested(void)
{
	did_nest = true;
	trace("  interrupted by %s %u\n", codes[nested.code].name, nested.arg);
	run(&nested);
}

static bool in_one_order(const struct op *a, const struct op *b)
{
	struct model m = model;

	if (!agrees(&m, a) || !agrees(&m, b))
		return false;
	model = m;
	return true;
}

void fuzz_op(void)
{
	u8 byte = fuzz_byte();
	struct op op = { .code = (byte & 0x7f) % ARRAY_SIZE(codes), .arg = fuzz_byte() };

	trace("%s %u\n", codes[op.code].name, op.arg);
	did_nest = false;
	if (!choose(&op))
		return;
	/* A walk need not see what comes meanwhile. */
	if (byte & 0x80 && codes[op.code].run != run_walk) {
		fuzz_nest_at = 1 + fuzz_byte() % 32;
		nested = (struct op){ .code = fuzz_byte() % CODES_NESTED };
		nested.arg = fuzz_byte();
		if (!choose(&nested))
			fuzz_nest_at = 0;
	}
	if (codes[op.code].run)
		codes[op.code].run(op.arg);
	else
		run(&op);
	fuzz_nest_at = 0;
	if (did_nest)
		EXPECT(in_one_order(&nested, &op) || in_one_order(&op, &nested),
		       "no order of %s and %s gives these answers", codes[op.code].name,
		       codes[nested.code].name);
	else
		EXPECT(agrees(&model, &op), "a wrong answer of %s", codes[op.code].name);
	check_model();
}

bool fuzz_begin(void)
{
	u8 a = fuzz_byte(), b = fuzz_byte();

	fuzz_nest = run_nested;
	memset(&model, 0, sizeof(model));
	hash_mode = a & 3;
	slack = 0;
	reader_last = NULL;
	EXPECT(!lt_pool_init(&pool, sizeof(struct item), 1 + (a >> 2), on_low), "no pool");
	EXPECT(!lt_reclaim_init(&reclaim, &pool, on_done), "no reclaim");
	ht = lfht_new(1 + b % 8, MAX_BUCKETS);
	EXPECT(!IS_ERR(ht), "no table");
	home = pool.total;
	return true;
}

/* Everything comes home, and nothing else is left. */
void fuzz_end(void)
{
	fuzz_reader = false;
	if (model.nr)
		EXPECT(lfht_destroy(ht) == -EBUSY, "a full table was destroyed");
	run_walk(0x83);
	check_model();
	lt_reclaim_drain(&reclaim);
	EXPECT(lt_pool_count_free(&pool) == pool.total, "%u of %u came home",
	       lt_pool_count_free(&pool), pool.total);
	EXPECT(!lfht_destroy(ht), "the table is not empty");
	lt_reclaim_destroy(&reclaim);
	lt_pool_destroy(&pool);
}
