// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of table, pool and reclaim: the input is a sequence of operations,
 * each of which may be interrupted at any point by another one. A list that is
 * kept beside the table says what each must answer: what is interrupted must
 * have happened either before or after what interrupted it.
 */
#include <linux/err.h>
#include <stdio.h>

#include "core/pool.h"
#include "core/reclaim.h"
#include "rculfhash/rculfhash.h"
#include "shim.h"

#define MAX_ITEMS	512
#define MAX_BUCKETS	64
#define MAX_OPS		256

enum state { HOME, OWNED, IN_TABLE, RETIRED };

struct item {
	struct lt_pool_item pool;
	struct lfht_node node;
	enum state state;
	u8 key;
};

/* The table as it should be: nodes of one order key in their order. */
struct model {
	struct item *item[MAX_ITEMS];
	unsigned int nr;
};

enum code {
	ADD, ADD_UNIQUE, ADD_REPLACE, LOOKUP, DEL, REPLACE, UNUSED,
	CODES_NESTED,	/* what may interrupt */
	RESIZE = CODES_NESTED, GROW, RECLAIM, GRACE_PERIOD, NEXT_CPU,
	READER_LOOKUP, READER_FIRST, READER_NEXT, READER_DUPLICATE,
	READER_LEAVE, DUPLICATES, CLEAR, WALK,
	CODES
};

static const char * const names[CODES] = {
	"add", "add_unique", "add_replace", "lookup", "del", "replace",
	"unused", "resize", "grow", "reclaim", "grace_period", "next_cpu",
	"reader_lookup", "reader_first", "reader_next", "reader_duplicate",
	"reader_leave", "duplicates", "clear", "walk",
};

struct op {
	u8 code;
	u8 arg;
	struct item *handle;	/* what DEL and REPLACE work on */
	struct item *item;	/* what was taken from the pool */
	struct item *found;
	int ret;
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
static struct lfht_iter reader_iter;
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
	default:
		return (unsigned long)key << 60;
	}
}

/* ---- pool and reclaim ---- */

static void on_low(struct lt_pool *p)
{
	EXPECT(lt_pool_is_low(p) || p->dry, "told to be low for nothing");
}

static struct item *get(u8 key)
{
	bool outer = in_get;
	struct item *item;

	/* A batch of the interrupted get is on its way, or stays in the cache. */
	if (outer)
		slack += pool.batch;
	in_get = true;
	item = (struct item *)lt_pool_get(&pool);
	in_get = outer;
	if (!item) {
		int out = (int)pool.total - home;

		EXPECT(out + (int)slack >= (int)pool.capacity,
		       "dry with %d of %u items out", out, pool.capacity);
		return NULL;
	}
	EXPECT(item->state == HOME, "the pool gave an item in state %d",
	       item->state);
	home--;
	item->state = OWNED;
	item->key = key;
	return item;
}

static void retire(struct item *item, enum state from)
{
	EXPECT(item->state == from, "retired from state %d", item->state);
	item->state = RETIRED;
	lt_retire(&reclaim, &item->pool);
}

static void take(struct item *item)
{
	if (fuzz_reader())
		reader_last = item;
	retire(item, IN_TABLE);
}

static void on_done(struct lt_reclaim *r)
{
	EXPECT(!r->busy, "done and busy");
}

/* What waits comes home with the next call that gives it. */
static unsigned int come_home(void)
{
	struct lt_pool_item *batch;
	struct llist_node *node;
	unsigned int n = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		batch = per_cpu_ptr(reclaim.retired, cpu)->waiting;
		for (; batch; batch = batch->next_batch)
			for (node = &batch->link; node; node = node->next, n++) {
				struct item *item = container_of(node, struct item,
								 pool.link);

				EXPECT(item->state == RETIRED,
				       "state %d in a batch", item->state);
				item->state = HOME;
			}
	}
	return n;
}

static void do_reclaim(bool start)
{
	bool had = reclaim.waiting, waits = fuzz_grace_period_waits();
	unsigned int coming = had && !waits ? come_home() : 0;
	enum lt_reclaim_did did = lt_reclaim(&reclaim, start);

	home += coming;
	if (waits)
		EXPECT(did == LT_RECLAIM_WAITING, "%d in a grace period", did);
	else if (had)
		EXPECT(did == LT_RECLAIM_GAVE, "%d with a batch", did);
	else
		EXPECT(did == LT_RECLAIM_IDLE ||
		       (start && did == LT_RECLAIM_STARTED), "%d", did);
	EXPECT(!start || did != LT_RECLAIM_STARTED || fuzz_grace_period_waits(),
	       "started no grace period");
}

/* ---- the table ---- */

static void run_table(struct op *op)
{
	unsigned long hash = hash_of(op->arg & 15);
	u8 key = op->arg & 15;
	struct lfht_node *old;
	struct lfht_iter iter;

	switch (op->code) {
	case ADD:
		op->item->state = IN_TABLE;
		lfht_add(ht, hash, &op->item->node);
		break;
	case ADD_UNIQUE:
		op->item->state = IN_TABLE;
		old = lfht_add_unique(ht, hash, match, &key, &op->item->node);
		op->found = to_item(old);
		if (op->found != op->item)
			retire(op->item, IN_TABLE);
		break;
	case ADD_REPLACE:
		op->item->state = IN_TABLE;
		old = lfht_add_replace(ht, hash, match, &key, &op->item->node);
		op->found = to_item(old);
		if (old)
			take(op->found);
		break;
	case LOOKUP:
		lfht_lookup(ht, hash, match, &key, &iter);
		op->found = to_item(iter.node);
		break;
	case DEL:
		op->ret = lfht_del(ht, &op->handle->node);
		if (!op->ret)
			take(op->handle);
		break;
	case REPLACE:
		op->item->state = IN_TABLE;
		op->ret = lfht_replace(ht, &op->handle->node, &op->item->node);
		if (op->ret)
			retire(op->item, IN_TABLE);
		else
			take(op->handle);
		break;
	case UNUSED:
		retire(op->item, OWNED);
		break;
	}
}

static bool wants_item(const struct op *op)
{
	return op->code <= ADD_REPLACE || op->code == REPLACE ||
	       op->code == UNUSED;
}

/* Which node DEL and REPLACE are about; false: none. */
static bool choose(struct op *op)
{
	if (op->code != DEL && op->code != REPLACE)
		return true;
	if (op->arg & 0x80 && reader_last)
		op->handle = reader_last;
	else if (model.nr)
		op->handle = model.item[op->arg % model.nr];
	return op->handle;
}

static void run(struct op *op)
{
	u8 key = op->code == REPLACE ? op->handle->key : op->arg & 15;

	host_preempt_disable();
	if (wants_item(op))
		op->item = get(key);
	if (!wants_item(op) || op->item)
		run_table(op);
	host_preempt_enable();
}

static int first_of(const struct model *m, u8 key)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		if (m->item[i]->key == key)
			return i;
	return -1;
}

static int index_of(const struct model *m, const struct item *item)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		if (m->item[i] == item)
			return i;
	return -1;
}

/* Would the model have answered as the table did? It changes as it should. */
static bool agrees(struct model *m, const struct op *op)
{
	int first = first_of(m, op->arg & 15), at = index_of(m, op->handle);
	struct item *oldest = first < 0 ? NULL : m->item[first];

	if (wants_item(op) && !op->item)
		return true;
	switch (op->code) {
	case ADD:
		m->item[m->nr++] = op->item;
		return true;
	case ADD_UNIQUE:
		if (!oldest)
			m->item[m->nr++] = op->item;
		return op->found == (oldest ?: op->item);
	case ADD_REPLACE:
		m->item[oldest ? (unsigned int)first : m->nr++] = op->item;
		return op->found == oldest;
	case LOOKUP:
		return op->found == oldest;
	case DEL:
		if (at < 0)
			return op->ret == -ENOENT;
		memmove(m->item + at, m->item + at + 1,
			(--m->nr - at) * sizeof(m->item[0]));
		return !op->ret;
	case REPLACE:
		if (at < 0)
			return op->ret == -ENOENT;
		m->item[at] = op->item;
		return !op->ret;
	}
	return true;
}

/* The table is what the model is, and nothing removed is left in it. */
static void check_table(void)
{
	bool seen[MAX_ITEMS] = { };
	struct lfht_node *node;
	unsigned long last = 0;
	unsigned int i, n = 0;

	for (node = ht->base; node; node = lfht_clear_flag(node->next)) {
		EXPECT(!lfht_is_removed(node->next), "removed and still linked");
		EXPECT(node->order_key >= last, "the list is not sorted");
		last = node->order_key;
		if (!(node->order_key & 1))
			continue;
		for (i = 0; i < model.nr; i++)
			if (!seen[i] &&
			    model.item[i]->node.order_key == node->order_key)
				break;
		EXPECT(i < model.nr && model.item[i] == to_item(node),
		       "a node is in the table that should not be there");
		EXPECT(to_item(node)->state == IN_TABLE, "state %d in the table",
		       to_item(node)->state);
		seen[i] = true;
		n++;
	}
	EXPECT(n == model.nr, "%u nodes instead of %u", n, model.nr);
}

/* ---- the reader ---- */

static void check_reader(u8 key, bool any)
{
	struct item *item = to_item(reader_iter.node);

	if (!item)
		return;
	EXPECT(item->state == IN_TABLE || item->state == RETIRED,
	       "the reader stands on an item in state %d", item->state);
	EXPECT(any || item->key == key, "key %u found for %u", item->key, key);
}

static void run_reader(const struct op *op)
{
	u8 key = op->arg & 15;

	if (!fuzz_reader()) {
		fuzz_reader_enter();
		reader_iter.node = NULL;
	}
	host_preempt_disable();
	switch (op->code) {
	case READER_LOOKUP:
		lfht_lookup(ht, hash_of(key), match, &key, &reader_iter);
		break;
	case READER_FIRST:
		lfht_first(ht, &reader_iter);
		break;
	case READER_NEXT:
		if (reader_iter.node)
			lfht_next(ht, &reader_iter);
		break;
	case READER_DUPLICATE:
		if (!reader_iter.node)
			break;
		key = to_item(reader_iter.node)->key;
		lfht_next_duplicate(ht, match, &key, &reader_iter);
		break;
	}
	check_reader(key, op->code != READER_LOOKUP &&
			  op->code != READER_DUPLICATE);
	host_preempt_enable();
	if (op->code == READER_LEAVE) {
		fuzz_reader_leave();
		reader_last = NULL;
	}
}

/* ---- the rest ---- */

static void run_duplicates(u8 key)
{
	struct lfht_iter iter;
	unsigned int i = 0;

	host_preempt_disable();
	lfht_lookup(ht, hash_of(key), match, &key, &iter);
	for (; iter.node; lfht_next_duplicate(ht, match, &key, &iter)) {
		while (i < model.nr && model.item[i]->key != key)
			i++;
		EXPECT(i < model.nr && model.item[i] == to_item(iter.node),
		       "a wrong duplicate of key %u", key);
		i++;
	}
	while (i < model.nr && model.item[i]->key != key)
		i++;
	EXPECT(i == model.nr, "a duplicate of key %u was left out", key);
	host_preempt_enable();
}

struct walk {
	unsigned int visits;
	bool clear;
	struct op op;
};

static void visit(struct lfht_node *node, void *arg)
{
	struct walk *w = arg;

	w->visits++;
	if (!w->clear)
		return;
	w->op = (struct op){ .code = DEL, .handle = to_item(node) };
	run_table(&w->op);
	EXPECT(agrees(&model, &w->op), "clear did not get a node");
}

static void run_walk(u8 arg, bool clear)
{
	struct walk w = { .clear = clear };
	unsigned int nr = model.nr;
	unsigned long cursor = 0;
	bool more;

	do {
		host_preempt_disable();
		more = lfht_walk(ht, &cursor, arg % 8, visit, &w);
		host_preempt_enable();
	} while (more);
	EXPECT(w.visits == nr, "%u visits of %u nodes", w.visits, nr);
}

/* From any order key on, every node is found. */
static void check_seek(u8 arg)
{
	unsigned long from = hash_of(arg & 15) + (arg >> 4 & 3);
	unsigned int i, n = 0;
	struct lfht_iter iter;

	for (i = 0; i < model.nr; i++)
		n += model.item[i]->node.order_key >= from;
	host_preempt_disable();
	EXPECT(lfht_seek(ht, from, &iter) == !!n, "seek");
	for (; iter.node; lfht_next(ht, &iter))
		n--;
	host_preempt_enable();
	EXPECT(!n, "a wrong number of nodes behind an order key");
}

static void run_resize(u8 arg)
{
	unsigned long size = lfht_size(ht);
	int ret;

	if (arg & 0x80)
		host_alloc_left = arg % 2;
	ret = lfht_resize(ht, arg % (MAX_BUCKETS * 2));
	EXPECT(!ret || ret == -EINVAL || (ret == -ENOMEM && arg & 0x80),
	       "resize: %d", ret);
	EXPECT((ret == -EINVAL) == (arg % (MAX_BUCKETS * 2) > 1UL << ht->max_order),
	       "resize to %u: %d", arg % (MAX_BUCKETS * 2), ret);
	EXPECT(lfht_size(ht) >= size, "resize made it smaller");
	host_alloc_left = -1;
}

static void run_grow(u8 arg)
{
	unsigned int total = pool.total;

	if (total + arg % 16 > MAX_ITEMS)
		return;
	if (arg & 0x80)
		host_alloc_left = arg % 2;
	lt_pool_grow(&pool, arg % 16);
	host_alloc_left = -1;
	home += pool.total - total;
}

static void run_other(const struct op *op)
{
	switch (op->code) {
	case RESIZE:
		run_resize(op->arg);
		break;
	case GROW:
		run_grow(op->arg);
		break;
	case RECLAIM:
		do_reclaim(op->arg & 1);
		break;
	case GRACE_PERIOD:
		fuzz_grace_period();
		break;
	case NEXT_CPU:
		fuzz_cpu = (fuzz_cpu + 1) % FUZZ_CPUS;
		break;
	case DUPLICATES:
		run_duplicates(op->arg & 15);
		break;
	case CLEAR:
		run_walk(op->arg, true);
		break;
	case WALK:
		run_walk(op->arg, false);
		check_seek(op->arg);
		break;
	default:
		run_reader(op);
	}
}

/* ---- the sequence ---- */

static void run_nested(void)
{
	did_nest = true;
	trace("  interrupted by %s %u\n", names[nested.code], nested.arg);
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

static void one_op(struct fuzz_input *in)
{
	u8 byte = fuzz_byte(in);
	struct op op = { .code = (byte & 0x7f) % CODES, .arg = fuzz_byte(in) };
	bool nest = byte & 0x80 && op.code != CLEAR && op.code != DUPLICATES;

	trace("%s %u\n", names[op.code], op.arg);
	did_nest = false;
	if (nest) {
		fuzz_nest_at = 1 + fuzz_byte(in) % 32;
		byte = fuzz_byte(in);
		nested = (struct op){ .code = byte % CODES_NESTED,
				      .arg = fuzz_byte(in) };
		/* A walk need not see what comes meanwhile. */
		if (!choose(&nested) || op.code == WALK)
			fuzz_nest_at = 0;
	}
	if (!choose(&op)) {
		fuzz_nest_at = 0;
		return;
	}
	if (op.code < CODES_NESTED)
		run(&op);
	else
		run_other(&op);
	fuzz_nest_at = 0;
	if (op.code == CLEAR)
		op.code = UNUSED;	/* the model knows */
	if (did_nest)
		EXPECT(in_one_order(&nested, &op) || in_one_order(&op, &nested),
		       "no order of %s and %s gives these answers",
		       names[op.code], names[nested.code]);
	else
		EXPECT(agrees(&model, &op), "a wrong answer of %s",
		       names[op.code]);
	check_table();
}

static void begin(struct fuzz_input *in)
{
	u8 a = fuzz_byte(in), b = fuzz_byte(in);

	fuzz_reset();
	fuzz_nest = run_nested;
	memset(&model, 0, sizeof(model));
	hash_mode = a & 3;
	slack = 0;
	reader_last = NULL;
	EXPECT(!lt_pool_init(&pool, sizeof(struct item), 1 + (a >> 2), on_low),
	       "no pool");
	EXPECT(!lt_reclaim_init(&reclaim, &pool, on_done), "no reclaim");
	ht = lfht_new(1 + b % 8, MAX_BUCKETS);
	EXPECT(!IS_ERR(ht), "no table");
	home = pool.total;
}

/* Everything comes home, and nothing else is left. */
static void end(void)
{
	if (fuzz_reader())
		fuzz_reader_leave();
	if (model.nr)
		EXPECT(lfht_destroy(ht) == -EBUSY, "a full table was destroyed");
	run_walk(3, true);
	check_table();
	lt_reclaim_drain(&reclaim);
	EXPECT(lt_pool_count_free(&pool) == pool.total, "%u of %u came home",
	       lt_pool_count_free(&pool), pool.total);
	EXPECT(!lfht_destroy(ht), "the table is not empty");
	lt_reclaim_destroy(&reclaim);
	lt_pool_destroy(&pool);
	EXPECT(!host_allocated, "%ld allocations are left", host_allocated);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_input in = { .data = data, .left = size };
	unsigned int ops = 0;

	begin(&in);
	while (in.left && ops++ < MAX_OPS)
		one_op(&in);
	end();
	return 0;
}
