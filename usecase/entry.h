/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entry of a function of the kernel, where there is no tracepoint.
 */
#ifndef _LT_USECASE_ENTRY_H
#define _LT_USECASE_ENTRY_H

#include <linux/errno.h>

#include "wrapper/ftrace.h"

struct lt_entry;
struct lt_usecase;

#ifdef LT_HAVE_FUNCTION_ENTRY
/**
 * struct lt_entry - called at each entry of a function
 * @function: its symbol
 * @func: gets the function's first argument, a pointer; with preemption off
 * @ops: of ftrace
 */
struct lt_entry {
	const char *function;
	void (*func)(void *arg);
	struct ftrace_ops ops;
};

int lt_entry_register(const struct lt_usecase *usecase,
		      struct lt_entry *entries, unsigned int nr);
void lt_entry_unregister(struct lt_entry *entries, unsigned int nr);
#else
static inline int lt_entry_register(const struct lt_usecase *usecase,
				    struct lt_entry *entries, unsigned int nr)
{
	return nr ? -EOPNOTSUPP : 0;
}

static inline void lt_entry_unregister(struct lt_entry *entries, unsigned int nr)
{
}
#endif

#endif /* _LT_USECASE_ENTRY_H */
