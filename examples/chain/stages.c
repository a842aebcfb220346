// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profiles of the stages: each is that of a tracker of its own, in which nothing is ever
 * pending or late. What a chain has spent in each is counted when it ends.
 */
#include <linux/err.h>
#include <linux/kernel.h>

#include "examples/chain/chain.h"
#include "latency_tracker.h"

enum stage {
	RAISE,
	HANDLING,
	WAITING,
	RETURNING,
	WORKING,
	NR_STAGES,
};

static const char *const names[NR_STAGES] = {
	[RAISE] = "chain_raise",
	[HANDLING] = "chain_handling",
	[WAITING] = "chain_waiting",
	[RETURNING] = "chain_returning",
	[WORKING] = "chain_working",
};

static struct latency_tracker *stages[NR_STAGES];

/* Nothing reaches the threshold. */
static void never(const struct latency_tracker_verdict *verdict)
{
}

int chain_stages_start(void)
{
	struct latency_tracker_config config = {
		.callback = never,
		.threshold_ns = LATENCY_TRACKER_NEVER,
		.max_events = 1,
		.key_size = sizeof(u64),
		.profile = true,
	};
	int i, err;

	for (i = 0; i < NR_STAGES; i++) {
		config.name = names[i];
		stages[i] = latency_tracker_create(&config);
		err = PTR_ERR_OR_ZERO(stages[i]);
		if (err) {
			stages[i] = NULL;
			chain_stages_stop();
			return err;
		}
	}
	return 0;
}

/* No probe counts any more. */
void chain_stages_stop(void)
{
	int i;

	for (i = NR_STAGES - 1; i >= 0; i--) {
		latency_tracker_destroy(stages[i]);
		stages[i] = NULL;
	}
}

static void count(enum stage stage, u64 from, u64 to)
{
	latency_tracker_whole_in_time(stages[stage], from, max(from, to), NULL, NULL);
}

/*
 * A chain has ended. When a line was raised is not known; nor, of some tasks, when they were back
 * in user space: then all behind the switch is their work.
 */
void chain_stages_count(const struct lt_chain *chain, u64 end_ns)
{
	if (!latency_tracker_get_profile(chain_usecase.tracker))
		return;
	if (chain->origin.irq < 0)
		count(RAISE, chain->origin.start_ns, chain->origin.handler_ns);
	count(HANDLING, chain->origin.handler_ns, chain->waking_ns);
	count(WAITING, chain->waking_ns, chain->ran_ns);
	if (chain->is_watched)
		count(RETURNING, chain->ran_ns, min(chain->user_ns ?: end_ns, end_ns));
	if (!lt_chain_is_returning(chain))
		count(WORKING, chain->user_ns ?: chain->ran_ns, end_ns);
}
