// SPDX-License-Identifier: GPL-2.0-only
/*
 * To which group an interrupt belongs: its line, or its vector and stage.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "examples/irq/filter.h"
#include "examples/irq/irq.h"
#include "examples/irq/key.h"
#include "usecase/thresholds.h"

void irq_group_ids(const void *key, const void *priv, const void *out_data,
		   u64 *id)
{
	const struct irq_key *of = key;
	const struct lt_irq_handler *handler = priv;

	id[0] = (u64)of->stage << 32 |
		(of->stage == LT_IRQ_RUN ? (u32)handler->irq : of->vec);
}

/* What a line is for, /proc/interrupts tells. */
int irq_group_name(u64 id, char *name)
{
	u32 nr = id;

	switch (id >> 32) {
	case LT_IRQ_RUN:
		snprintf(name, LATENCY_TRACKER_GROUP_NAME, "irq %u", nr);
		return 0;
	case LT_SOFTIRQ_RAISE:
	case LT_SOFTIRQ_RUN:
		snprintf(name, LATENCY_TRACKER_GROUP_NAME, "softirq %s %s",
			 nr < vector_filter.nr_names ? vector_filter.names[nr] :
						       "-",
			 id >> 32 == LT_SOFTIRQ_RUN ? "run" : "raise");
		return 0;
	default:
		return -ENOENT;
	}
}

/* Of thresholds: the number above the stage, so that a vector is both of its stages. */
#define STAGE_BITS	2
#define NR_BITS		32

static u64 threshold_id(enum lt_irq_stage stage, u32 nr)
{
	return (u64)(stage == LT_IRQ_RUN) << (NR_BITS + STAGE_BITS) |
	       (u64)nr << STAGE_BITS | stage;
}

static int find_line(const char *nr_text, struct lt_threshold *found)
{
	u32 nr;

	/* kstrtou32() takes a sign, too. */
	if (!isdigit(*nr_text) || kstrtou32(nr_text, 10, &nr))
		return -EINVAL;
	found->id = threshold_id(LT_IRQ_RUN, nr);
	found->mask = ~0ULL;
	snprintf(found->name, sizeof(found->name), "irq %u", nr);
	return 1;
}

static int find_vector(char *words, struct lt_threshold *found)
{
	static const char *const stages[] = {
		[LT_SOFTIRQ_RAISE] = "raise",
		[LT_SOFTIRQ_RUN] = "run",
	};
	int vec, stage = -1;
	const char *vector = strsep(&words, " ");

	vec = match_string(vector_filter.names, vector_filter.nr_names, vector);
	if (words)
		stage = match_string(stages, ARRAY_SIZE(stages), words);
	if (vec < 0 || (words && stage < 0))
		return -EINVAL;
	found->id = threshold_id(words ? stage : 0, vec);
	found->mask = words ? ~0ULL : ~0ULL << STAGE_BITS;
	snprintf(found->name, sizeof(found->name), "softirq %s%s%s", vector,
		 words ? " " : "", words ?: "");
	return 1;
}

int irq_threshold_find(const char *text, struct lt_threshold *found)
{
	char copy[LATENCY_TRACKER_GROUP_NAME];

	if (strscpy(copy, text, sizeof(copy)) < 0)
		return -EINVAL;
	if (str_has_prefix(copy, "irq "))
		return find_line(copy + strlen("irq "), found);
	if (str_has_prefix(copy, "softirq "))
		return find_vector(copy + strlen("softirq "), found);
	return -EINVAL;
}

void irq_belongs(const struct latency_tracker_verdict *verdict,
		 struct lt_belongs *to)
{
	const struct irq_key *key = verdict->key;
	const struct lt_irq_handler *handler = verdict->priv;

	to->id = threshold_id(key->stage, key->stage == LT_IRQ_RUN ?
						  (u32)handler->irq : key->vec);
}
