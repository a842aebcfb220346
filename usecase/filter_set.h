/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters that let several numbers pass, by their names; and those that are on or
 * off.
 */
#ifndef _LT_USECASE_FILTER_SET_H
#define _LT_USECASE_FILTER_SET_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/moduleparam.h>
#include <linux/types.h>

struct lt_usecase;

/**
 * struct lt_set - a filter that lets the numbers of a set pass
 * @mask: bit N is number N
 * @usecase: whose filter it is
 * @names: of the numbers from 0 on; NULL for one that can't be chosen
 * @nr_names: number of @names, at most 32
 */
struct lt_set {
	u32 mask;
	struct lt_usecase *usecase;
	const char *const *names;
	unsigned int nr_names;
};

/**
 * struct lt_toggle - a filter that is on or off
 * @on: which
 * @usecase: whose filter it is
 */
struct lt_toggle {
	bool on;
	struct lt_usecase *usecase;
};

/* For module_param_cb(); the argument is the address of the filter. */
extern const struct kernel_param_ops lt_set_ops;
extern const struct kernel_param_ops lt_toggle_ops;

int lt_parse_toggle(const char *val, bool *on);

/* Does one of @numbers, bits, pass? */
static __always_inline bool lt_set_passes(const struct lt_set *set,
					  u32 numbers)
{
	return READ_ONCE(set->mask) & numbers;
}

#endif /* _LT_USECASE_FILTER_SET_H */
