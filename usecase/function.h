/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the kernel: where they begin and end, to tell a frame of a stack.
 */
#ifndef _LT_USECASE_FUNCTION_H
#define _LT_USECASE_FUNCTION_H

#include <linux/types.h>

/**
 * struct lt_function - a function of the kernel
 * @name: its symbol
 * @start: its address, set by lt_function_find()
 * @size: likewise its bytes; 0 if the kernel does not tell
 */
struct lt_function {
	const char *name;
	unsigned long start;
	unsigned long size;
};

/* Is @ip in @function? A return address is behind the call. */
static inline bool lt_function_has(const struct lt_function *function,
				   unsigned long ip)
{
	return ip - function->start < function->size;
}

void lt_function_at(struct lt_function *function, unsigned long addr);
unsigned int lt_function_find(struct lt_function *functions, unsigned int nr);

#endif /* _LT_USECASE_FUNCTION_H */
