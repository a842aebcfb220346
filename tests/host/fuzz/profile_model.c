// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the profile should say: all delays are kept, one by one.
 */
#include "model.h"

#define MAX_DELAYS	1024
#define STEPS		15

struct delay {
	u64 ns;
	unsigned int tick;	/* how many there were before it */
};

bool has_profile, profiling;

static struct delay delays[MAX_DELAYS];
static unsigned int nr_delays, ticks;

void forget_delays(void)
{
	nr_delays = 0;
	ticks = 0;
}

void note_delay(u64 delay_ns)
{
	if (!profiling)
		return;
	EXPECT(nr_delays < MAX_DELAYS, "full");
	delays[nr_delays++] = (struct delay){ delay_ns, ticks };
}

void profile_ticks(u8 arg)
{
	unsigned int n;

	for (n = 0; n <= arg / 4U && fuzz_delayed_run(&tracker->profile.tick); n++)
		ticks++;
}

static int is_longer(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Of @nr delays, sorted; @share in 10,000; what a profile says of it. */
static void check_quantile(const u64 *of, unsigned int nr, unsigned int share, u64 told)
{
	u64 is = of[(nr * share + 9999) / 10000 - 1], max = of[nr - 1];

	if (is < 64)
		EXPECT(told == 63 || told == max, "p%u is %llu", share, (unsigned long long)told);
	else if (is > 68000000000ULL)
		EXPECT(told >= 68000000000ULL && told <= max, "p%u", share);
	else
		EXPECT(told >= is && told <= max && told <= is + is / 45,
		       "p%u of %llu is %llu", share, (unsigned long long)is,
		       (unsigned long long)told);
}

/* Of one sum, and no operation twice. */
static void check_records(enum lt_profile_window window, u64 count)
{
	static struct lt_profile_record record;
	unsigned int half, i;

	for (half = 0; half < 2; half++) {
		lt_profile_fill(&tracker->profile, 2 * window + half, &record);
		EXPECT_EQ(record.window, window);
		EXPECT_EQ(record.generation, ticks);
		EXPECT_EQ(record.index, (int)record.first - 766);
		for (i = 0; i < record.nr; i++)
			count -= record.count[i];
	}
	EXPECT_EQ(count, 0);
}

static void check_window(enum lt_profile_window window, unsigned int since)
{
	static const unsigned int shares[] = { 5000, 9000, 9900, 9990, 9999 };
	static u64 of[MAX_DELAYS];
	struct lt_profile_stats have;
	unsigned int i, nr = 0;
	u64 sum = 0;

	for (i = 0; i < nr_delays; i++) {
		/* What is behind the last sum is not told yet. */
		if (delays[i].tick < since || delays[i].tick == ticks)
			continue;
		sum += delays[i].ns;
		of[nr++] = delays[i].ns;
	}
	qsort(of, nr, sizeof(*of), is_longer);
	lt_profile_read(&tracker->profile, window, &have);
	EXPECT(have.count == nr, "window %d: %llu of %u since tick %u of %u", window,
	       (unsigned long long)have.count, nr, since, ticks);
	EXPECT_EQ(have.sum_ns, sum);
	EXPECT_EQ(have.max_ns, nr ? of[nr - 1] : 0);
	for (i = 0; i < LT_PROFILE_QUANTILES && nr; i++)
		check_quantile(of, nr, shares[i], have.quantile_ns[i]);
	check_records(window, nr);
}

/* A window begins with a step, and has the last fifteen of them, and what there was since. */
void check_profile(void)
{
	static const unsigned int step[] = { 2, 10, 120 };
	unsigned int i;

	check_window(LT_PROFILE_TOTAL, 0);
	for (i = 0; i < ARRAY_SIZE(step); i++)
		check_window(i, ticks / step[i] > STEPS ? (ticks / step[i] - STEPS) * step[i] : 0);
}
