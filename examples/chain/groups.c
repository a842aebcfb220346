// SPDX-License-Identifier: GPL-2.0-only
/*
 * To which groups a chain belongs: what has begun it, and the control group of its task.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "examples/chain/chain.h"
#include "usecase/usecase.h"

/* An id: 0 is a timer, else one more than the number of the line. */
static u64 id_of(const struct lt_chain *chain)
{
	return chain->origin.irq + 1;
}

void chain_group_ids(const void *key, const void *priv, const void *out_data,
		     u64 *id)
{
	const struct chain_ended *ended = out_data;

	id[0] = id_of(priv);
	id[1] = lt_group_of_task(ended->task);
}

int chain_group_name(u64 id, char *name)
{
	if (id)
		snprintf(name, LATENCY_TRACKER_GROUP_NAME, "irq %llu", id - 1);
	else
		strscpy(name, "timer", LATENCY_TRACKER_GROUP_NAME);
	return 0;
}

int chain_threshold_find(const char *text, struct lt_threshold *found)
{
	u32 nr;

	found->mask = ~0ULL;
	if (!strcmp(text, "timer")) {
		found->id = 0;
	} else {
		/* kstrtou32() takes a sign, too. */
		if (!str_has_prefix(text, "irq ") || !isdigit(text[4]) ||
		    kstrtou32(text + 4, 10, &nr))
			return -EINVAL;
		found->id = (u64)nr + 1;
	}
	chain_group_name(found->id, found->name);
	return 1;
}

void chain_belongs(const struct latency_tracker_verdict *verdict,
		   struct lt_belongs *to)
{
	const struct chain_ended *ended = verdict->out_data;
	const struct lt_chain *chain = verdict->priv;

	to->id = id_of(chain);
	to->task = ended ? ended->task : lt_task_find(verdict, chain->pid);
}
