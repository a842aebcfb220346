/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes of the kernel's own tracepoints.
 */
#ifndef _LT_USECASE_PROBE_H
#define _LT_USECASE_PROBE_H

#include "usecase/data.h"
#include "wrapper/tracepoint.h"

/* The probe of tracepoint @event is probe_@event, of exactly its type. */
#define LT_PROBE(event)							\
	{ .name = #event, .func = lt_typed_probe(event, probe_##event) }

#define LT_FIRST_PROBE(event)						\
	{ .name = #event, .func = lt_typed_probe(event, probe_##event),	\
	  .first = true }

/* For struct lt_usecase. */
#define LT_PROBES(table)						\
	.probes = table, .nr_probes = ARRAY_SIZE(table)

int lt_probe_find(const struct lt_usecase *usecase, struct lt_probe *probes,
		  unsigned int nr);
int lt_probe_register(const struct lt_usecase *usecase, struct lt_probe *probes,
		      unsigned int nr);
void lt_probe_unregister(const struct lt_usecase *usecase,
			 struct lt_probe *probes, unsigned int nr);
bool lt_probe_is_own(const struct lt_usecase *usecase, unsigned long ip);

#endif /* _LT_USECASE_PROBE_H */
