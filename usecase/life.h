/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Begin and end of a tracker module. The order, and what may run meanwhile, is
 * in usecase.h.
 */
#ifndef _LT_USECASE_LIFE_H
#define _LT_USECASE_LIFE_H

#include <linux/module.h>

#include "usecase/data.h"

int lt_usecase_start(struct lt_usecase *usecase);
void lt_usecase_stop(struct lt_usecase *usecase);

/* For a module whose only probes are those of @usecase. */
#define LT_USECASE_MODULE(usecase)					\
static int __init usecase##_module_init(void)				\
{									\
	return lt_usecase_start(&(usecase));				\
}									\
module_init(usecase##_module_init);					\
static void __exit usecase##_module_exit(void)				\
{									\
	lt_usecase_stop(&(usecase));					\
}									\
module_exit(usecase##_module_exit)

#endif /* _LT_USECASE_LIFE_H */
