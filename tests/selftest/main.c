// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_tracker_selftest: checks the API of the core as its users see it.
 *
 * Runs when it is loaded and prints KTAP to the kernel log. Loading succeeds
 * if all cases passed and fails with EIO if one did not.
 */
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "selftest.h"

#define ST_FAILS_MAX	8

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "run only the cases whose name contains this");

struct st_log st_log;
struct latency_tracker *st_tracker;

static int fails;
static char fail_text[ST_FAILS_MAX][160];
static char note[80];
static const char *skipped;
static const struct st_case *running;

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
	int n = atomic_inc_return(&st_log.calls) - 1;
	struct st_seen *seen;

	if (n >= ST_SEEN_MAX)
		return;
	seen = &st_log.seen[n];
	seen->v = *verdict;
	/* Not counted: the kernel is never preempted, this context included. */
	seen->atomic = !IS_ENABLED(CONFIG_PREEMPT_COUNT) || in_atomic();
	if (verdict->priv)
		seen->priv = *(const struct st_priv *)verdict->priv;
	memcpy(&seen->key, verdict->key, min(verdict->key_len, 8U));
	/* Full barrier; pairs with the read in st_wait_calls(). */
	atomic_inc_return(&st_log.complete);
}

struct latency_tracker_config st_config(void)
{
	return (struct latency_tracker_config) {
		.name = "selftest",
		.callback = st_callback,
		.data = &st_log,
		.threshold_ns = LATENCY_TRACKER_NEVER,
		.max_events = 64,
		.key_size = 16,
		.priv_size = sizeof(struct st_priv),
	};
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

	if (IS_ERR_OR_NULL(tracker))
		return;
	c = st_counts(tracker);
	ST_EQ(c.finished + c.collected + c.cleared + c.pending, c.started);
	ST_EQ(c.unwatched, running->unwatched);
	if (tracker == st_tracker)
		st_tracker = NULL;
	latency_tracker_destroy(tracker);
}

int st_calls(void)
{
	return atomic_read(&st_log.calls);
}

bool st_ignore_event(struct latency_tracker_event *event, void *arg)
{
	return true;
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

bool st_wait_calls(int calls)
{
	int i;

	/* Acquire: pairs with st_callback(). */
	for (i = 0; i < 500; i++) {
		if (atomic_read_acquire(&st_log.complete) >= calls)
			return true;
		msleep(20);
	}
	return false;
}

static const struct st_case *const suites[] = {
	st_api, st_misuse, st_timeout, st_race, st_context,
};

static bool wanted(const struct st_case *c)
{
	return strstr(c->name, only);
}

static int run_case(const struct st_case *c, int number)
{
	struct latency_tracker_config config = c->config, others = st_config();
	int i;

	fails = 0;
	note[0] = '\0';
	skipped = NULL;
	running = c;
	memset(&st_log, 0, sizeof(st_log));
	config.name = others.name;
	config.callback = config.callback ?: others.callback;
	config.data = others.data;
	config.max_events = config.max_events ?: others.max_events;
	config.key_size = config.slots ? sizeof(u64) : others.key_size;
	config.priv_size = others.priv_size;
	st_tracker = latency_tracker_create(&config);
	ST_EQ(PTR_ERR_OR_ZERO(st_tracker), 0);
	if (!IS_ERR(st_tracker))
		c->run(st_tracker);
	st_destroy(st_tracker);
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
