// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known-bad cases, one for each detector of the debug kernels.
 *
 *	modprobe latency_tracker_bad which=NAME
 *
 * The kernel's log has all that the detector says between the two lines "bad:" of
 * the case. tests/detectors/run.sh knows what that has to be.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "bad.h"

static char *which = "";
module_param(which, charp, 0444);
MODULE_PARM_DESC(which, "what is to go wrong: see cases[] in the source");

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "use-after-free", bad_use_after_free },
	{ "out-of-bounds", bad_out_of_bounds },
	{ "stale-event", bad_stale_event },
	{ "state", bad_state },
	{ "leak", bad_leak },
	{ "lost-event", bad_lost_event },
	{ "failslab", bad_failslab },
	{ "fail-page", bad_fail_page },
	{ "active-timer", bad_active_timer },
	{ "rcu", bad_rcu },
	{ "sleep", bad_sleep },
	{ "inversion", bad_inversion },
	{ "race", bad_race },
	{ "barrier", bad_barrier },
	{ "ordered", bad_ordered },
};

/* None of this is __init: reports name functions, also later. */
static int bad_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (strcmp(which, cases[i].name))
			continue;
		pr_err("bad: begin %s\n", which);
		err = cases[i].run();
		pr_err("bad: end %s, %d\n", which, err);
		return err;
	}
	return -EINVAL;
}

static void bad_exit(void)
{
}

module_init(bad_init);
module_exit(bad_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What the detectors of debug kernels are to find");
