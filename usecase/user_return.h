/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The moment at which a task is back in user space, for modules that ask for it. Where the kernel
 * does not tell, lt_user_return_watch() is false each time.
 */
#ifndef _LT_USECASE_USER_RETURN_H
#define _LT_USECASE_USER_RETURN_H

#include <linux/types.h>

#include "wrapper/user_return.h"

/**
 * struct lt_user_return - what wants to know
 * @returned: the current task is on its last steps to user space, for which some user has watched:
 *	it may be another one's task. Interrupts are off.
 * @node: in the list of all of them
 * @is_on: it may watch
 *
 * The first one is the module's to set.
 */
struct lt_user_return {
	void (*returned)(void);
	struct hlist_node node;
	bool is_on;
};

#ifdef LT_HAVE_USER_RETURN
int lt_user_return_start(struct lt_user_return *user);
void lt_user_return_stop(struct lt_user_return *user);
bool lt_user_return_watch(const struct lt_user_return *user);
#else
static inline int lt_user_return_start(struct lt_user_return *user)
{
	return 0;
}

static inline void lt_user_return_stop(struct lt_user_return *user) {}

static inline bool lt_user_return_watch(const struct lt_user_return *user)
{
	return false;
}
#endif

#endif /* _LT_USECASE_USER_RETURN_H */
