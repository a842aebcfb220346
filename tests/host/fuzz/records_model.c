// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the records should say: all reports are kept, one by one.
 */
#include "core/places.h"
#include "core/records.h"
#include "core/worst.h"
#include "model.h"

#define MAX_REPORTS	1024
#define NR_FRAMES	4

/* One of each kind; all can be told from the number of the report. */
struct values {
	u64 serial;
	int minus;
	u16 named;
	char text[12];
	const void *address;
	unsigned long stack[NR_FRAMES];
};

#define FIELD(_name, _kind, _names) {					\
	.name = #_name, .kind = LATENCY_TRACKER_##_kind, .names = _names, \
	.size = sizeof(((struct values *)NULL)->_name),			\
	.offset = offsetof(struct values, _name),			\
}

static const struct latency_tracker_field fields[] = {
	FIELD(serial, UNSIGNED, NULL),
	FIELD(minus, SIGNED, NULL),
	FIELD(named, NAMED, "0=none\n7=seven\n10=ten\n"),
	FIELD(text, TEXT, NULL),
	FIELD(address, ADDRESS, NULL),
	FIELD(stack, STACK, NULL),
};

static const struct latency_tracker_record_event event = {
	.name = "fuzz_latency", .fields = fields, .nr_fields = ARRAY_SIZE(fields),
	.size = sizeof(struct values),
};

struct report {
	u64 nr, at_ns, start_ns, delay_ns;
	unsigned int key;
	u32 flag;
	bool asked;
};

static const char *const named[] = { "none", "seven", "ten", NULL };
static const u16 numbers[] = { 0, 7, 10, 9 };
static struct report reports[MAX_REPORTS];
static unsigned int nr_reports;
static u64 lost;
/* Something was lost that may be among the slowest. */
static bool is_doubtful[LT_PROFILE_WINDOWS];

void forget_reports(void)
{
	nr_reports = 0;
	lost = 0;
	memset(is_doubtful, 0, sizeof(is_doubtful));
}

u16 size_of_record(void)
{
	return sizeof(struct values);
}

static void fill_values(struct values *values, u64 serial)
{
	unsigned int i;

	values->serial = serial;
	values->minus = -(int)serial;
	values->named = numbers[serial % 4];
	memset(values->text, 0, sizeof(values->text));
	memset(values->text, 'a' + serial % 26, serial % 13);
	values->address = (void *)(serial << 8);
	for (i = 0; i < serial % (NR_FRAMES + 1); i++)
		values->stack[i] = serial * 8 + i + 1;
	if (i < NR_FRAMES)
		values->stack[i] = 0;
}

static void keep(const struct latency_tracker_verdict *v, unsigned int key)
{
	struct latency_tracker_record record;
	struct values *values = latency_tracker_record_begin(&record, v, &event);

	if (!profiling) {
		EXPECT(!values, "a record without a profile");
		return;
	}
	EXPECT(values && !((unsigned long)values & 7), "no place");
	EXPECT(nr_reports < MAX_REPORTS, "full");
	reports[nr_reports++] = (struct report){
		.nr = record.nr, .at_ns = fuzz_clock, .start_ns = v->start_ns,
		.delay_ns = v->delay_ns, .key = key, .flag = v->flag, .asked = v->asked,
	};
	fill_values(values, record.nr);
	latency_tracker_record_end(&record);
	EXPECT(!nr_reports || record.nr, "no number");
}

static void keep_made_up(u64 start_ns, u64 delay_ns, unsigned int key)
{
	const struct latency_tracker_verdict v = {
		.tracker = tracker, .key = key_of(key), .key_len = len_of(key),
		.start_ns = start_ns, .delay_ns = delay_ns,
	};

	keep(&v, key);
}

static u8 nested_byte;

/* In the middle of another one, or of a read: of any operation, maybe the same one. */
static void keep_nested(void)
{
	struct report same = { .start_ns = fuzz_clock - nested_byte, .delay_ns = nested_byte };

	if (nr_reports && nested_byte & 1)
		same = reports[nr_reports - 1];
	keep_made_up(same.start_ns, same.delay_ns + (nested_byte >> 1 & 1), same.key);
}

static void nest(u8 byte)
{
	nested_byte = fuzz_byte();
	fuzz_nest = keep_nested;
	fuzz_nest_at = 1 + byte % 128;
}

void keep_report(const struct latency_tracker_verdict *v, unsigned int key)
{
	u8 byte;

	if (!has_profile || nr_reports > MAX_REPORTS - 8)
		return;
	byte = fuzz_byte();
	if (byte & 0x80 && profiling)
		nest(byte);
	keep(v, key);
	fuzz_nest_at = 0;
}

/* Many, fast, to fill the places; of a byte of the input. */
void do_reports(u8 arg)
{
	u32 seed = fuzz_byte();
	unsigned int i;
	u64 delay_ns;

	if (!has_profile || nr_reports > MAX_REPORTS - 80)
		return;
	for (i = 0; i < arg % 64U; i++) {
		seed = seed * 1664525 + 1013904223;
		delay_ns = seed >> 20;
		keep_made_up(fuzz_clock - delay_ns, delay_ns, seed % FUZZ_KEYS);
	}
}

/* Was that operation reported before? Then it has a place of its own. */
static bool is_reported(u64 start_ns, unsigned int key)
{
	unsigned int i;

	for (i = 0; i < nr_reports; i++)
		if (reports[i].start_ns == start_ns && reports[i].key == key)
			return true;
	return false;
}

/* Writers that have begun, and do not go on: so many places at the begin of a set. */
void do_stalled(u8 arg)
{
	struct lt_place *place;
	unsigned int i, window = arg & 3, n = arg >> 2 & 7;
	unsigned int full = 0;
	u64 step, before, delay_ns;
	bool known;

	if (!has_profile || !profiling || nr_reports > MAX_REPORTS - 8)
		return;
	if (arg & 0x80) {
		struct latency_tracker_record record;
		const struct latency_tracker_verdict v = {
			.tracker = tracker, .key = key_of(0), .key_len = len_of(0),
		};

		for (i = 0; i < LT_PLACES_LAST; i++)
			tracker->records->place[i].owner++;
		EXPECT(!latency_tracker_record_begin(&record, &v, &event), "a place that is taken");
		for (i = 0; i < LT_PLACES_LAST; i++)
			tracker->records->place[i].owner--;
		lost++;
		EXPECT_EQ(lt_records_lost(tracker), lost);
		return;
	}
	step = lt_place_step(window, fuzz_clock);
	place = &tracker->records->place[lt_place_set(window, step)];
	for (i = 0; i < LT_PLACES_SET; i++)
		full += place[i].turn == step + 1;
	for (i = 0; i < n; i++)
		place[i].owner++;
	before = lt_records_lost(tracker);
	delay_ns = (fuzz_byte() << 4) + 1;
	known = is_reported(fuzz_clock - delay_ns, 1);
	keep_made_up(fuzz_clock - delay_ns, delay_ns, 1);
	for (i = 0; i < n; i++)
		place[i].owner--;
	if (lt_records_lost(tracker) != before) {
		EXPECT(n > LT_PLACES_SPARE && full == LT_PLACES_SET, "lost, though there is room");
		is_doubtful[window] = true;
		lost++;
	} else {
		EXPECT(n <= LT_PLACES_SPARE || full < LT_PLACES_SET || known, "not lost");
	}
	EXPECT_EQ(lt_records_lost(tracker), lost);
}

/* So that windows slide. What was pending has ended, or is pending yet. */
void do_later(u8 arg)
{
	static const u64 seconds[] = { 6, 11, 12, 13, 59, 61, 73, 300, 361, 719, 3599, 4321 };

	unsigned int i, n = nr_reports;

	if (!has_profile)
		return;
	fuzz_clock += seconds[arg % ARRAY_SIZE(seconds)] * NSEC_PER_SEC;
	if (!(arg & 0x80) || n > MAX_REPORTS - 80)
		return;
	for (i = n > 12 ? n - 12 : 0; i < n; i++)
		keep_made_up(reports[i].start_ns, reports[i].delay_ns + (arg >> 6 & 1),
			     reports[i].key);
}

/* ---- what is read ---- */

static const struct lt_record_field *field_of(const struct lt_record *record, unsigned int i,
					      const char *name, u16 kind, u16 size)
{
	const struct lt_record_field *field =
		(const void *)((const char *)record + record->fields);

	field += i;
	EXPECT(!strcmp(field->name, name) && field->kind == kind && field->size == size &&
	       field->at + field->size <= record->size, "field %s", name);
	return field;
}

static void check_values(const struct lt_record *record)
{
	const struct lt_record_field *field;
	struct values want_values;
	u64 serial = record->nr;
	unsigned int i;

	fill_values(&want_values, serial);
	EXPECT(!strcmp(record->event, "fuzz_latency") && record->nr_fields == ARRAY_SIZE(fields),
	       "event");
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		u16 size = i == 5 ? serial % (NR_FRAMES + 1) * 8 : fields[i].size;

		field = field_of(record, i, fields[i].name, fields[i].kind, size);
		EXPECT(!memcmp((const char *)record + field->at,
			       (const char *)&want_values + fields[i].offset, size),
		       "%s of report %llu", field->name, (unsigned long long)serial);
		if (i == 2 && named[serial % 4])
			EXPECT(!strcmp((const char *)record + field->text, named[serial % 4]),
			       "its name");
		else
			EXPECT(!field->text, "a name");
	}
}

/* Which report it is. */
static const struct report *check_record(const struct lt_record *record, u32 window, u32 rank)
{
	unsigned int i;

	EXPECT(record->magic == LT_RECORD_MAGIC && record->version == 1 &&
	       record->window == window && record->rank == rank &&
	       record->end_ns == fuzz_clock, "head");
	if (!record->nr)
		return NULL;
	for (i = 0; i < nr_reports && reports[i].nr != record->nr; i++)
		;
	EXPECT(i < nr_reports, "report %llu was never made", (unsigned long long)record->nr);
	EXPECT(record->at_ns == reports[i].at_ns && record->start_ns == reports[i].start_ns &&
	       record->delay_ns == reports[i].delay_ns && record->flag == reports[i].flag &&
	       record->asked == reports[i].asked,
	       "another report");
	check_values(record);
	return &reports[i];
}

static bool is_same(const struct report *a, const struct report *b)
{
	return a->start_ns == b->start_ns && a->key == b->key;
}

static void check_last(bool nested)
{
	static struct lt_record record;
	const struct report *found;
	unsigned int i, slot;
	u64 nr;

	for (slot = 0; slot < LT_PLACES_LAST; slot++) {
		/* The place is written behind its copy. */
		if (nested && profiling && nr_reports < MAX_REPORTS - 8 && nr_reports &&
		    slot == (reports[nr_reports - 1].nr + 1) % LT_PLACES_LAST)
			nest(1);
		EXPECT_EQ(lt_record_of_last(tracker, slot, &record), 0);
		fuzz_nest_at = 0;
		found = check_record(&record, LT_RECORD_LAST, slot);
		for (nr = 0, i = 0; i < nr_reports; i++)
			if (reports[i].nr % LT_PLACES_LAST == slot)
				nr = max(nr, reports[i].nr);
		EXPECT((found ? found->nr : 0) == nr, "report %llu in place %u, not %llu",
		       (unsigned long long)(found ? found->nr : 0), slot, (unsigned long long)nr);
	}
}

static bool is_shorter(const struct report *a, const struct report *b)
{
	return a->delay_ns < b->delay_ns;
}

/* The slowest report of each operation in the window, the slowest first. */
static unsigned int slowest(const struct report **of, unsigned int window)
{
	static const u64 step_s[] = { 12, 60, 720 };
	u64 step_ns = window < 3 ? step_s[window] * NSEC_PER_SEC : U64_MAX;
	u64 now = fuzz_clock / step_ns;
	unsigned int i, j, n = 0;

	for (i = 0; i < nr_reports; i++) {
		u64 step = reports[i].at_ns / step_ns;

		if (step > now || step + 5 < now)
			continue;
		for (j = 0; j < n && !is_same(of[j], &reports[i]); j++)
			;
		if (j == n)
			n++;
		else if (is_shorter(&reports[i], of[j]))
			continue;
		of[j] = &reports[i];
	}
	for (i = 1; i < n; i++)
		for (j = i; j && is_shorter(of[j - 1], of[j]); j--) {
			const struct report *swap = of[j];

			of[j] = of[j - 1];
			of[j - 1] = swap;
		}
	return n;
}

static void check_worst(unsigned int window, bool nested)
{
	static const struct report *of[MAX_REPORTS];
	static struct lt_record record;
	const struct report *found[LT_PLACES_WORST];
	unsigned int rank, i, n = 0;
	u64 generation = 0;

	for (rank = 0; rank < LT_PLACES_WORST; rank++) {
		if (nested && profiling && nr_reports < MAX_REPORTS - 8)
			nest(fuzz_byte());
		EXPECT_EQ(lt_record_of_worst(tracker, window * LT_PLACES_WORST + rank, &record), 0);
		fuzz_nest_at = 0;
		found[rank] = check_record(&record, window, rank);
		if (is_doubtful[window])
			continue;
		if (!rank || nested)
			n = slowest(of, window);
		EXPECT(!found[rank] == (rank >= n), "%u of %u operations in window %u", rank, n,
		       window);
		if (!found[rank])
			continue;
		EXPECT(found[rank]->delay_ns == of[rank]->delay_ns, "%llu ns, not %llu",
		       (unsigned long long)found[rank]->delay_ns,
		       (unsigned long long)of[rank]->delay_ns);
		EXPECT(!rank || nested || generation == record.generation, "another generation");
		generation = record.generation;
		for (i = 0; i < rank && !nested; i++)
			EXPECT(!is_same(found[i], found[rank]), "an operation twice");
	}
}

void check_reports(u8 arg)
{
	if (!has_profile)
		return;
	if (!tracker->records) {
		static struct lt_record record;

		EXPECT_EQ(lt_record_of_worst(tracker, arg % 64, &record), 0);
		EXPECT(!record.nr && !nr_reports, "a record");
		return;
	}
	check_worst(arg & 3, arg & 4);
	if (!(arg & 0x18))
		check_last(arg & 4);
	EXPECT_EQ(lt_records_lost(tracker), lost);
}

void check_all_reports(void)
{
	unsigned int window;

	for (window = 0; window < LT_PROFILE_WINDOWS; window++)
		check_reports(window);
}
