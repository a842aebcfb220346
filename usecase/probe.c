// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of the kernel's own tracepoints: find the tracepoints, register and
 * unregister the probes. The only place that does.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "usecase/function.h"
#include "usecase/probe.h"

struct table {
	struct lt_probe *probes;
	unsigned int nr;
};

static void match(struct tracepoint *tp, void *priv)
{
	const struct table *table = priv;
	unsigned int i;

	for (i = 0; i < table->nr; i++) {
		if (!strcmp(tp->name, table->probes[i].name))
			table->probes[i].tp = tp;
	}
}

/**
 * lt_probe_find() - find the tracepoints of probes
 * @usecase: for messages
 * @probes: the probes, each with the name of its tracepoint
 * @nr: number of @probes
 *
 * The kernel does not export its tracepoints, so they are found by name.
 *
 * Context: Task; may sleep.
 * Return: 0; -ENOENT if this kernel lacks one: the kernel's log tells which.
 */
int lt_probe_find(const struct lt_usecase *usecase, struct lt_probe *probes,
		  unsigned int nr)
{
	struct table table = { .probes = probes, .nr = nr };
	unsigned int i;

	for_each_kernel_tracepoint(match, &table);
	for (i = 0; i < nr; i++) {
		struct lt_probe *probe = &probes[i];
		struct lt_function iterator;

		if (!probe->tp) {
			pr_err("%s: this kernel has no tracepoint %s\n",
			       module_name(usecase->owner), probe->name);
			return -ENOENT;
		}
		lt_function_at(&iterator, lt_tracepoint_iterator(probe->tp));
		probe->iterator_size = iterator.size;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(lt_probe_find);

/**
 * lt_probe_unregister() - unregister probes and wait for them
 * @usecase: whose they are
 * @probes: what lt_probe_register() has registered
 * @nr: number of @probes
 *
 * On return none of the probes runs, nor will.
 *
 * Context: Task; may sleep.
 */
void lt_probe_unregister(const struct lt_usecase *usecase,
			 struct lt_probe *probes, unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tp, probes[nr].func,
					    usecase->tracker);
	tracepoint_synchronize_unregister();
}
EXPORT_SYMBOL_GPL(lt_probe_unregister);

/**
 * lt_probe_register() - register probes, all or none
 * @usecase: whose they are; its tracker is their first argument
 * @probes: what lt_probe_find() has found, in the order in which they are registered
 * @nr: number of @probes
 *
 * Context: Task; may sleep.
 * Return: 0 or an error of the registration; the kernel's log tells which.
 */
int lt_probe_register(const struct lt_usecase *usecase, struct lt_probe *probes,
		      unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = tracepoint_probe_register_prio(probes[i].tp, probes[i].func,
						     usecase->tracker,
						     TRACEPOINT_DEFAULT_PRIO +
						     probes[i].first);
		if (err) {
			pr_err("%s: can't probe tracepoint %s: %d\n",
			       module_name(usecase->owner), probes[i].name,
			       err);
			lt_probe_unregister(usecase, probes, i);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(lt_probe_register);

/* Is @ip in the module, or in a function that calls its probes? */
bool lt_probe_is_own(const struct lt_usecase *usecase, unsigned long ip)
{
	unsigned int i;

	if (within_module(ip, usecase->owner))
		return true;
	for (i = 0; i < usecase->nr_probes; i++) {
		const struct lt_probe *probe = &usecase->probes[i];

		if (ip - lt_tracepoint_iterator(probe->tp) <
		    probe->iterator_size)
			return true;
	}
	return false;
}
