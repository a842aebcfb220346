// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_tracker_selftest: checks the API of the core as its users see it.
 *
 * Runs when it is loaded and prints KTAP to the kernel log. Loading succeeds
 * if all cases passed and fails with EIO if one did not.
 */
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "selftest.h"

#define ST_FAILS_MAX	8

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "run only the cases whose name contains this");

static int fails;
static char fail_text[ST_FAILS_MAX][160];
static char note[80];
static const char *skipped;

void st_fail(const char *file, int line, const char *what, long long got,
	     long long want)
{
	if (fails < ST_FAILS_MAX)
		snprintf(fail_text[fails], sizeof(fail_text[0]),
			 "%s:%d: %s is %lld, expected %lld",
			 kbasename(file), line, what, got, want);
	fails++;
}

void st_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(note, sizeof(note), fmt, args);
	va_end(args);
}

void st_skip(const char *reason)
{
	skipped = reason;
}

void st_callback(const struct latency_tracker_verdict *verdict)
{
	struct st_log *log = latency_tracker_data(verdict->tracker);
	int n = atomic_inc_return(&log->calls) - 1;
	struct st_seen *seen;

	if (n >= ST_SEEN_MAX)
		return;
	seen = &log->seen[n];
	seen->v = *verdict;
	/* Not counted: the kernel is never preempted, this context included. */
	seen->atomic = !IS_ENABLED(CONFIG_PREEMPT_COUNT) || in_atomic();
	if (verdict->priv)
		seen->priv = *(const struct st_priv *)verdict->priv;
	memcpy(&seen->key, verdict->key, min(verdict->key_len, 8U));
	/* Full barrier; pairs with the read in st_wait_calls(). */
	atomic_inc_return(&log->complete);
}

void st_callback_other(const struct latency_tracker_verdict *verdict)
{
	st_callback(verdict);
	if (verdict->out_data)
		*(int *)verdict->out_data += 1;
}

struct latency_tracker_config st_config(struct st_log *log)
{
	return (struct latency_tracker_config) {
		.name = "selftest",
		.callback = st_callback,
		.data = log,
		.threshold_ns = LATENCY_TRACKER_NEVER,
		.max_events = 64,
		.key_size = 16,
		.priv_size = sizeof(struct st_priv),
	};
}

struct latency_tracker *st_create(const struct latency_tracker_config *config)
{
	struct latency_tracker *tracker = latency_tracker_create(config);

	if (!IS_ERR(tracker))
		return tracker;
	st_fail(__FILE__, __LINE__, "latency_tracker_create()",
		PTR_ERR(tracker), 0);
	return NULL;
}

struct latency_tracker_counts st_counts(struct latency_tracker *tracker)
{
	struct latency_tracker_counts counts;

	latency_tracker_snapshot(tracker, &counts);
	return counts;
}

void st_destroy(struct latency_tracker *tracker)
{
	struct latency_tracker_counts c;

	if (!tracker)
		return;
	c = st_counts(tracker);
	ST_EQ(c.finished + c.collected + c.cleared + c.pending, c.started);
	ST_EQ(c.unwatched, 0);
	latency_tracker_destroy(tracker);
}

int st_in(struct latency_tracker *tracker, u64 key, u32 flags,
	  const struct latency_tracker_in *in)
{
	return latency_tracker_event_in(tracker, &key, sizeof(key), flags, in);
}

int st_out(struct latency_tracker *tracker, u64 key)
{
	return latency_tracker_event_out(tracker, &key, sizeof(key), 0, NULL,
					 0);
}

bool st_wait_calls(struct st_log *log, int calls)
{
	int i;

	/* Acquire: pairs with st_callback(). */
	for (i = 0; i < 500; i++) {
		if (atomic_read_acquire(&log->complete) >= calls)
			return true;
		msleep(20);
	}
	return false;
}

static const struct st_case *const suites[] = {
	st_args, st_misuse, st_match, st_timeout, st_pool, st_race, st_context,
};

static bool wanted(const struct st_case *c)
{
	return strstr(c->name, only);
}

static int run_case(const struct st_case *c, int number)
{
	int i;

	fails = 0;
	note[0] = '\0';
	skipped = NULL;
	c->run();
	for (i = 0; i < min(fails, ST_FAILS_MAX); i++)
		pr_info("# %s\n", fail_text[i]);
	pr_info("%s %d - %s%s%s%s%s\n", fails ? "not ok" : "ok", number,
		c->name, note[0] ? ": " : "", note, skipped ? " # SKIP " : "",
		skipped ?: "");
	return fails ? 1 : 0;
}

static int __init selftest_init(void)
{
	const struct st_case *c;
	int i, cases = 0, failed = 0;

	for (i = 0; i < ARRAY_SIZE(suites); i++)
		for (c = suites[i]; c->name; c++)
			cases += wanted(c);
	pr_info("KTAP version 1\n");
	pr_info("1..%d\n", cases);
	cases = 0;
	for (i = 0; i < ARRAY_SIZE(suites); i++)
		for (c = suites[i]; c->name; c++)
			if (wanted(c))
				failed += run_case(c, ++cases);
	pr_info("# %d of %d failed\n", failed, cases);
	return failed ? -EIO : 0;
}

static void __exit selftest_exit(void)
{
}

module_init(selftest_init);
module_exit(selftest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Checks the API of latency_tracker");
MODULE_AUTHOR("The latency-tracker authors");
