/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel stacks in trace events: taken, cut and printed alike everywhere.
 */
#ifndef _LT_USECASE_STACK_H
#define _LT_USECASE_STACK_H

#include <linux/string.h>
#include <linux/types.h>

struct lt_usecase;
struct pt_regs;
struct task_struct;
struct trace_seq;

/* Frames of an event. */
#define LT_STACK_MAX	32
/* Frames of tracker and tracepoint that are taken and cut off again. */
#define LT_STACK_OWN	9

/**
 * struct lt_stack - a stack, to live on the stack of a probe
 * @first: index of the innermost frame
 * @nr: number of frames, at most LT_STACK_MAX
 * @ip: return addresses, innermost first; set from @first to @first + @nr
 */
struct lt_stack {
	unsigned int first;
	unsigned int nr;
	unsigned long ip[LT_STACK_OWN + LT_STACK_MAX];
};

static inline unsigned int lt_stack_bytes(const struct lt_stack *stack)
{
	return stack->nr * sizeof(stack->ip[0]);
}

/* For TP_fast_assign(); @to has room for lt_stack_bytes(). */
static inline void lt_stack_copy(void *to, const struct lt_stack *stack)
{
	memcpy(to, stack->ip + stack->first, lt_stack_bytes(stack));
}

/* For a record; @to has room for LT_STACK_MAX. A 0 is behind the last one, if there is room. */
static inline void lt_stack_keep(unsigned long *to, const struct lt_stack *stack)
{
	lt_stack_copy(to, stack);
	if (stack->nr < LT_STACK_MAX)
		to[stack->nr] = 0;
}

void lt_stack_of_current(struct lt_stack *stack,
			 const struct lt_usecase *usecase, unsigned int drop);
void lt_stack_at(struct lt_stack *stack, struct pt_regs *regs);
void lt_stack_of_interrupted(struct lt_stack *stack);
void lt_stack_of_next(struct lt_stack *stack, struct task_struct *next);
void lt_stack_of_other(struct lt_stack *stack, struct task_struct *task);
const char *lt_stack_print(struct trace_seq *p, const unsigned long *ip,
			   unsigned int bytes);

#endif /* _LT_USECASE_STACK_H */
