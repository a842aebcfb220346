// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading.
 */
#include <linux/module.h>

#include "core/control.h"

static int __init latency_tracker_init(void)
{
	return lt_control_init();
}

static void __exit latency_tracker_exit(void)
{
	lt_control_exit();
}

module_init(latency_tracker_init);
module_exit(latency_tracker_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Catch slow operations in the act");
MODULE_AUTHOR("The latency-tracker authors");
