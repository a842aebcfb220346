/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters: what is common to all, and the filter of one number out of several.
 */
#ifndef _LT_USECASE_FILTER_H
#define _LT_USECASE_FILTER_H

#include <linux/compiler.h>
#include <linux/moduleparam.h>
#include <linux/types.h>

struct lt_usecase;

void lt_filter_changed(struct lt_usecase *usecase);

#define LT_CHOICE_ALL	-1
#define LT_CHOICE_NONE	-2

/**
 * struct lt_choice - a filter that lets one number pass, or all, or none
 * @value: the only one, or LT_CHOICE_ALL, or LT_CHOICE_NONE. 0 is a number like
 *	all others.
 * @usecase: whose filter it is
 * @is_valid: can this number, not negative, come at all? NULL: any can
 * @names: of the numbers from 0 on, or NULL
 * @nr_names: number of @names
 * @none: LT_CHOICE_NONE may be chosen
 */
struct lt_choice {
	int value;
	struct lt_usecase *usecase;
	bool (*is_valid)(int value);
	const char *const *names;
	int nr_names;
	bool none;
};

/* For module_param_cb(); the argument is the address of the struct lt_choice. */
extern const struct kernel_param_ops lt_choice_ops;

static __always_inline bool lt_choice_passes(const struct lt_choice *choice,
					     int value)
{
	int only = READ_ONCE(choice->value);

	return only == LT_CHOICE_ALL || only == value;
}

#endif /* _LT_USECASE_FILTER_H */
