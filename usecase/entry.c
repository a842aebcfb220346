// SPDX-License-Identifier: GPL-2.0-only
/*
 * The entry of a function of the kernel, where there is no tracepoint: a callback of
 * ftrace. Other than a kprobe, it is not lost in an interrupt of another one.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "usecase/data.h"
#include "usecase/entry.h"

static void notrace on_entry(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, lt_ftrace_regs *regs)
{
	const struct lt_entry *entry = container_of(ops, struct lt_entry, ops);

	preempt_disable_notrace();
	entry->func(lt_ftrace_arg(regs));
	preempt_enable_notrace();
}

/* Only newer kernels export ftrace_free_filter(). */
static void free_filter(struct ftrace_ops *ops)
{
	ftrace_set_filter(ops, NULL, 0, 1);
}

/* On return none of the callbacks runs, nor will. The last one goes first. */
void lt_entry_unregister(struct lt_entry *entries, unsigned int nr)
{
	while (nr--) {
		unregister_ftrace_function(&entries[nr].ops);
		free_filter(&entries[nr].ops);
	}
}

static int register_one(struct lt_entry *entry)
{
	struct ftrace_ops *ops = &entry->ops;
	int err;

	*ops = (struct ftrace_ops) {
		.func = on_entry,
		.flags = LT_FTRACE_FLAGS,
	};
	err = ftrace_set_filter(ops, (unsigned char *)entry->function,
				strlen(entry->function), 0);
	if (!err)
		err = register_ftrace_function(ops);
	if (err)
		free_filter(ops);
	return err;
}

/* All entries, or none and an error. */
int lt_entry_register(const struct lt_usecase *usecase,
		      struct lt_entry *entries, unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = register_one(&entries[i]);
		if (err) {
			pr_err("%s: can't trace %s(): %d; the kernel needs the function in available_filter_functions of tracefs, and kernel.ftrace_enabled=1\n",
			       module_name(usecase->owner), entries[i].function,
			       err);
			lt_entry_unregister(entries, i);
			return err;
		}
	}
	return 0;
}
