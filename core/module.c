// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading.
 */
#include <linux/module.h>

#include "core/control.h"
#include "core/pool_size.h"

static int __init latency_tracker_init(void)
{
	int err = lt_pool_setup();

	if (err)
		return err;
	err = lt_control_init();
	if (err)
		lt_pool_teardown();
	return err;
}

static void __exit latency_tracker_exit(void)
{
	lt_control_exit();
	lt_pool_teardown();
}

module_init(latency_tracker_init);
module_exit(latency_tracker_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Catch slow operations in the act");
MODULE_AUTHOR("The latency-tracker authors");
