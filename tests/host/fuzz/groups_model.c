// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the profiles of groups should say: all operations are kept, one by one.
 */
#include "model.h"

#define MAX_OPS		1024
#define IDS		8
#define OTHER		IDS
#define STEP_NS		(19 * (u64)NSEC_PER_SEC)
#define MINUTE		4	/* steps */

struct op {
	u64 ns;
	unsigned int group[LATENCY_TRACKER_DIMENSIONS];
	unsigned int step;
	bool taken;
};

bool grouping;

static struct op ops[MAX_OPS];
static unsigned int nr_ops, step;
static u64 step_ns;
static bool known[LATENCY_TRACKER_DIMENSIONS][IDS];
static u8 gone;			/* ids of the first dimension */
static int open_groups;
/* Memory was short: what should be in a group may be in another one. */
static bool is_vague;
/* In the last tick, so that something may be left for the next. */
static bool is_owed;

/* The first dimension is the key, the second is what the event carries. */
static unsigned int group_of(const struct model_event *e, unsigned int dimension)
{
	return dimension ? priv_byte(e, 0) % 5 : e->key;
}

static void ids(const void *key, const void *priv, const void *out_data, u64 *id)
{
	EXPECT(ending && out_data == &ending, "an end that nobody has asked for");
	EXPECT(!memcmp(key, key_of(ending->key), len_of(ending->key)), "another key");
	id[0] = ending->key;
	id[1] = (ending->priv_len ? *(const u8 *)priv : 0) % 5;
}

static void *open_group(void *data, unsigned int dimension, u64 id, char *name)
{
	EXPECT(data == &tracker && dimension < 2 && id < IDS, "%llu", (unsigned long long)id);
	EXPECT(is_vague || !known[dimension][id], "%llu is known", (unsigned long long)id);
	if (!dimension && gone & 1 << id)
		return ERR_PTR(-ENOENT);
	open_groups++;
	snprintf(name, LATENCY_TRACKER_GROUP_NAME, "%c%u", "kp"[dimension], (unsigned int)id);
	return (void *)(id + 1);
}

static bool is_gone(void *data, unsigned int dimension, u64 id, const char *name,
		    void *handle)
{
	EXPECT_EQ(handle, id + 1);
	EXPECT(name[0] == "kp"[dimension] && name[1] == '0' + (int)id, "another name");
	return !dimension && gone & 1 << id;
}

static void close_group(void *data, unsigned int dimension, void *handle)
{
	open_groups--;
}

const struct latency_tracker_grouping fuzz_grouping = {
	.dimension = { "key", "private" },
	.ids = ids, .open = open_group, .is_gone = is_gone, .close = close_group,
};

void forget_groups(void)
{
	nr_ops = step = 0;
	step_ns = fuzz_clock;
	memset(known, 0, sizeof(known));
	gone = 0;
	is_vague = is_owed = false;
	EXPECT_EQ(open_groups, 0);
}

/* They are switched on for the first time. */
void begin_groups(void)
{
	step_ns = fuzz_clock;
}

void note_group(const struct model_event *e, u64 delay_ns)
{
	if (!grouping)
		return;
	EXPECT(nr_ops < MAX_OPS, "full");
	ops[nr_ops++] = (struct op){ .ns = delay_ns, .group = { group_of(e, 0), group_of(e, 1) } };
}

void groups_are_vague(long allocations)
{
	host_alloc_left = allocations;
	is_vague = true;
}

static void take_op(struct op *op)
{
	unsigned int i;

	op->taken = true;
	op->step = step;
	for (i = 0; i < LATENCY_TRACKER_DIMENSIONS; i++) {
		if (!known[i][op->group[i]] && !i && gone & 1 << op->group[0])
			op->group[0] = OTHER;
		else
			known[i][op->group[i]] = true;
	}
}

static void fold_gone(void)
{
	unsigned int i;

	for (i = 0; i < nr_ops; i++)
		if (ops[i].taken && ops[i].group[0] != OTHER && gone & 1 << ops[i].group[0])
			ops[i].group[0] = OTHER;
	for (i = 0; i < IDS; i++)
		known[0][i] &= !(gone & 1 << i);
}

static void tick(u64 after_ns)
{
	unsigned int i;

	fuzz_clock += after_ns;
	is_owed = host_alloc_left >= 0;
	is_vague |= is_owed;
	if (fuzz_delayed_run(&tracker->groups.tick)) {
		for (i = 0; i < nr_ops; i++)
			if (!ops[i].taken)
				take_op(&ops[i]);
		if (fuzz_clock - step_ns >= STEP_NS) {
			step++;
			step_ns = fuzz_clock;
			fold_gone();
		}
	}
	host_alloc_left = -1;
}

/* Some steps may begin; a group may be gone or be there again; memory may be short once. */
void groups_ticks(u8 arg)
{
	unsigned int n;

	if (arg & 0x80)
		gone ^= 1 << (arg >> 4 & 7);
	else if (arg & 0x40)
		host_alloc_left = arg >> 4 & 3;
	for (n = 0; n <= (arg & 7); n++)
		tick((arg & 8 ? 11 : 2) * (u64)NSEC_PER_SEC);
	check_groups();
}

/* What is in a group, or in all of a dimension. */
struct sum {
	u64 count[LT_CELLS_BUCKETS], minute[LT_CELLS_BUCKETS];
	u64 sum_ns, max_ns, minute_sum_ns, minute_max_ns;
};

static void add_op(struct sum *to, const struct op *op)
{
	/* The upper bounds of schema 3, by another way than the product's. */
	unsigned int bucket = 0;
	long double s = op->ns / 1e9L, bound = 0.0650320925L / 1e6L;

	for (; bucket < LT_CELLS_BUCKETS - 1 && s > bound; bucket++)
		bound *= 1.0905077326652576592L;
	to->count[bucket]++;
	to->sum_ns += op->ns;
	to->max_ns = max(to->max_ns, op->ns);
	if (op->step + MINUTE <= step)
		return;
	to->minute[bucket]++;
	to->minute_sum_ns += op->ns;
	to->minute_max_ns = max(to->minute_max_ns, op->ns);
}

static void add_record(struct sum *to, const struct lt_groups_record *r)
{
	unsigned int i;

	for (i = 0; i < LT_CELLS_BUCKETS; i++) {
		to->count[i] += r->count[i];
		to->minute[i] += r->minute[i];
	}
	to->sum_ns += r->sum_ns;
	to->max_ns = max(to->max_ns, r->max_ns);
	to->minute_sum_ns += r->minute_sum_ns;
	to->minute_max_ns = max(to->minute_max_ns, r->minute_max_ns);
}

static void check_sum(const struct sum *is, struct sum *told, const char *of)
{
	unsigned int i;

	/* What came late is in another minute. */
	if (is_vague) {
		memcpy(told->minute, is->minute, sizeof(is->minute));
		told->minute_sum_ns = is->minute_sum_ns;
		told->minute_max_ns = is->minute_max_ns;
	}
	for (i = 0; i < LT_CELLS_BUCKETS; i++)
		EXPECT(is->count[i] == told->count[i] && is->minute[i] == told->minute[i],
		       "%s: bucket %u: %llu of %llu, minute %llu of %llu", of, i,
		       (unsigned long long)told->count[i], (unsigned long long)is->count[i],
		       (unsigned long long)told->minute[i], (unsigned long long)is->minute[i]);
	EXPECT(!memcmp(is, told, sizeof(*is)),
	       "%s: sum %llu of %llu, max %llu of %llu, minute %llu of %llu", of,
	       (unsigned long long)told->sum_ns, (unsigned long long)is->sum_ns,
	       (unsigned long long)told->max_ns, (unsigned long long)is->max_ns,
	       (unsigned long long)told->minute_sum_ns, (unsigned long long)is->minute_sum_ns);
}

static void check_record(const struct lt_groups_record *r, unsigned int *nr_known)
{
	struct sum is = { }, told = { };
	unsigned int i, id = r->is_other ? OTHER : r->id;

	if (!r->is_other) {
		EXPECT(known[r->dimension][id] && r->name[1] == '0' + (int)id, "%u", id);
		++*nr_known;
	}
	for (i = 0; i < nr_ops; i++)
		if (ops[i].taken && ops[i].group[r->dimension] == id)
			add_op(&is, &ops[i]);
	add_record(&told, r);
	check_sum(&is, &told, r->name);
}

/* Each group, if there was memory; and all of them in each dimension. */
void check_groups(void)
{
	static struct lt_groups_record r;
	struct sum is = { }, told[LATENCY_TRACKER_DIMENSIONS] = { };
	unsigned int i, nr_known = 0, nr_records = 0, is_known = 0;

	for (i = 0; lt_groups_fill(&tracker->groups, i, &r); i++) {
		add_record(&told[r.dimension], &r);
		nr_records = r.groups;
		if (!is_vague)
			check_record(&r, &nr_known);
	}
	EXPECT_EQ(i, nr_records);
	for (i = 0; i < 2 * IDS; i++)
		is_known += known[i / IDS][i % IDS];
	EXPECT(is_vague || is_known == nr_known, "%u groups, not %u", nr_known, is_known);
	for (i = 0; i < nr_ops; i++)
		if (ops[i].taken)
			add_op(&is, &ops[i]);
	for (i = 0; i < LATENCY_TRACKER_DIMENSIONS && nr_records && !is_owed; i++)
		check_sum(&is, &told[i], "all");
}
