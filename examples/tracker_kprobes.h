/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kprobes of a use-case module, where there is no tracepoint.
 */
#ifndef _LT_EXAMPLES_TRACKER_KPROBES_H
#define _LT_EXAMPLES_TRACKER_KPROBES_H

#include <linux/kernel.h>
#include <linux/module.h>

#include "wrapper/kprobes.h"

/* On return none of the @nr kprobes at @kp runs, nor will. */
static void trk_unhook(struct kprobe *kp, unsigned int nr)
{
	while (nr--) {
		if (kp[nr].addr)
			unregister_kprobe(&kp[nr]);
		kp[nr].addr = NULL;
	}
}

/* All of the @nr kprobes at @kp, or none and an error. */
static int trk_hook(struct kprobe *kp, unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = register_kprobe(&kp[i]);
		if (err) {
			pr_err("%s: can't probe %s(): %d; the kernel needs CONFIG_KPROBES, and the function in /proc/kallsyms\n",
			       KBUILD_MODNAME, kp[i].symbol_name, err);
			kp[i].addr = NULL;
			trk_unhook(kp, i);
			return err;
		}
	}
	return 0;
}

#endif /* _LT_EXAMPLES_TRACKER_KPROBES_H */
