// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stacks of long waits: the last ones, the oldest is overwritten. A stack has a number, which
 * is also in its place while it is there whole, as in core/waits.c.
 */
#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "examples/critical_path/path.h"

#define STACKS	1024

struct kept {
	u32 number;
	u32 nr;
	unsigned long ip[LT_STACK_MAX];
};

static struct kept *stacks;
static atomic_t next;

/* Its number, never 0. */
static u32 keep(const struct lt_stack *stack)
{
	u32 number = atomic_inc_return(&next) ?: atomic_inc_return(&next);
	struct kept *kept = &stacks[number % STACKS];
	u32 nr = min_t(u32, stack->nr, LT_STACK_MAX);

	WRITE_ONCE(kept->number, 0);
	smp_wmb();	/* pairs with the smp_rmb() of path_stack_get() */
	kept->nr = nr;
	memcpy(kept->ip, stack->ip + stack->first, nr * sizeof(*kept->ip));
	/* The stack comes first; pairs with path_stack_get(). */
	smp_store_release(&kept->number, number);
	return number;
}

/* That of a task which is switched to, where it was switched from. */
u32 path_stack_keep(struct task_struct *task)
{
	struct lt_stack stack;

	lt_stack_of_next(&stack, task);
	return keep(&stack);
}

/* That of a task that sleeps; the caller holds a reference. Task. */
u32 path_stack_asleep(struct task_struct *task)
{
	struct lt_stack stack;

	/* A stack that is given up meanwhile stays for a section like this. */
	preempt_disable();
	rcu_read_lock();
	lt_stack_of_other(&stack, task);
	rcu_read_unlock();
	preempt_enable();
	return keep(&stack);
}

/* An empty one if it was overwritten, or if there is none. */
void path_stack_get(u32 number, struct lt_stack *stack)
{
	const struct kept *kept = &stacks[number % STACKS];

	stack->first = 0;
	stack->nr = 0;
	/* Pairs with the release of path_stack_keep(). */
	if (!number || smp_load_acquire(&kept->number) != number)
		return;
	/* It is thrown away if it changes meanwhile. */
	stack->nr = min_t(u32, data_race(kept->nr), LT_STACK_MAX);
	/* Likewise. */
	data_race(memcpy(stack->ip, kept->ip, stack->nr * sizeof(stack->ip[0])));
	smp_rmb();	/* pairs with the smp_wmb() of path_stack_keep() */
	if (READ_ONCE(kept->number) != number)
		stack->nr = 0;
}

int path_stacks_start(void)
{
	stacks = vzalloc(STACKS * sizeof(*stacks));
	return stacks ? 0 : -ENOMEM;
}

void path_stacks_stop(void)
{
	vfree(stacks);
	stacks = NULL;
}
