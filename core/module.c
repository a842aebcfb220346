// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading.
 */
#include <linux/module.h>

#include "core/clock.h"
#include "core/control.h"
#include "core/pool_size.h"

static int __init latency_tracker_init(void)
{
	int err = lt_pool_setup();

	if (err)
		return err;
	err = lt_clock_start();
	if (err)
		goto err_pool;
	err = lt_control_init();
	if (err)
		goto err_clock;
	return 0;

err_clock:
	lt_clock_stop();
err_pool:
	lt_pool_teardown();
	return err;
}

static void __exit latency_tracker_exit(void)
{
	lt_control_exit();
	lt_clock_stop();
	lt_pool_teardown();
}

module_init(latency_tracker_init);
module_exit(latency_tracker_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Catch slow operations in the act");
MODULE_AUTHOR("The latency-tracker authors");
