/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stage of a tracker that a parameter switches on and off. While it is off, none
 * of its probes is registered, so it costs nothing.
 */
#ifndef _LT_USECASE_STAGE_H
#define _LT_USECASE_STAGE_H

#include <linux/moduleparam.h>

#include "usecase/data.h"

/* For module_param_cb(); the argument is the address of the struct lt_stage. */
extern const struct kernel_param_ops lt_stage_ops;

int lt_stage_start(struct lt_stage *stage);
void lt_stage_stop(struct lt_stage *stage);

#endif /* _LT_USECASE_STAGE_H */
