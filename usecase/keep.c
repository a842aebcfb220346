// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of reports: the probes of a tracker on its own trace events.
 */
#include <linux/minmax.h>

#include "usecase/keep.h"
#include "usecase/probe.h"

/* Of the longest record. */
u16 lt_keep_size(const struct lt_usecase *usecase)
{
	unsigned int i;
	u16 size = 0;

	for (i = 0; i < usecase->nr_keeps; i++)
		size = max(size, usecase->keeps[i].size);
	return size;
}

/* On return none of the first @nr runs, nor will. */
void lt_keep_unregister(struct lt_usecase *usecase, unsigned int nr)
{
	while (nr--)
		lt_probe_unregister(usecase, &usecase->keeps[nr].probe, 1);
}

/* All of them, or none and an error. */
int lt_keep_register(struct lt_usecase *usecase)
{
	unsigned int i;
	int err;

	for (i = 0; i < usecase->nr_keeps; i++) {
		err = lt_probe_register(usecase, &usecase->keeps[i].probe, 1);
		if (err) {
			lt_keep_unregister(usecase, i);
			return err;
		}
	}
	return 0;
}
