// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kprobes of a tracker module, where there is no tracepoint.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "usecase/data.h"
#include "usecase/kprobe.h"
#include "wrapper/kprobes.h"

/**
 * lt_kprobe_unregister() - unregister kprobes and wait for them
 * @kp: the kprobes; those without an address are not registered
 * @nr: number of @kp
 *
 * On return none of them runs, nor will.
 *
 * Context: Task; may sleep.
 */
void lt_kprobe_unregister(struct kprobe *kp, unsigned int nr)
{
	while (nr--) {
		if (kp[nr].addr)
			unregister_kprobe(&kp[nr]);
		kp[nr].addr = NULL;
	}
}
EXPORT_SYMBOL_GPL(lt_kprobe_unregister);

/**
 * lt_kprobe_register() - register kprobes, all or none
 * @usecase: whose kprobes they are
 * @kp: the kprobes, each with the name of its function
 * @nr: number of @kp
 *
 * Context: Task; may sleep.
 * Return: 0 or an error of register_kprobe(); the kernel's log tells which.
 */
int lt_kprobe_register(const struct lt_usecase *usecase, struct kprobe *kp,
		       unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = register_kprobe(&kp[i]);
		if (err) {
			pr_err("%s: can't probe %s(): %d; the kernel needs CONFIG_KPROBES, and the function in /proc/kallsyms\n",
			       module_name(usecase->owner), kp[i].symbol_name,
			       err);
			kp[i].addr = NULL;
			lt_kprobe_unregister(kp, i);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(lt_kprobe_register);
