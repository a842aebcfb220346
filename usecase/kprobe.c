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

static void cant_probe(const struct lt_usecase *usecase, const char *symbol,
		       int err)
{
	pr_err("%s: can't probe %s(): %d; the kernel needs CONFIG_KPROBES, and the function in /proc/kallsyms\n",
	       module_name(usecase->owner), symbol, err);
}

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
			cant_probe(usecase, kp[i].symbol_name, err);
			kp[i].addr = NULL;
			lt_kprobe_unregister(kp, i);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(lt_kprobe_register);

/**
 * lt_kprobe_missed() - how often a function was called within another probe, and not seen
 * @kp: the kprobes
 * @nr: number of @kp
 *
 * Context: Any.
 * Return: of all of them together.
 */
unsigned long lt_kprobe_missed(const struct kprobe *kp, unsigned int nr)
{
	unsigned long missed = 0;

	while (nr--)
		missed += READ_ONCE(kp[nr].nmissed);
	return missed;
}
EXPORT_SYMBOL_GPL(lt_kprobe_missed);

/**
 * lt_kretprobe_unregister() - unregister kretprobes and wait for them
 * @rp: the kretprobes; those without an address are not registered
 * @nr: number of @rp
 *
 * On return none of their handlers runs, nor will. Calls that have not returned yet go on.
 *
 * Context: Task; may sleep.
 */
void lt_kretprobe_unregister(struct kretprobe *rp, unsigned int nr)
{
	while (nr--) {
		if (rp[nr].kp.addr)
			unregister_kretprobe(&rp[nr]);
		rp[nr].kp.addr = NULL;
	}
}
EXPORT_SYMBOL_GPL(lt_kretprobe_unregister);

/**
 * lt_kretprobe_register() - register kretprobes, all or none
 * @usecase: whose kretprobes they are
 * @rp: the kretprobes, each with the name of its function
 * @nr: number of @rp
 *
 * Context: Task; may sleep.
 * Return: 0 or an error of register_kretprobe(); the kernel's log tells which.
 */
int lt_kretprobe_register(const struct lt_usecase *usecase,
			  struct kretprobe *rp, unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = register_kretprobe(&rp[i]);
		if (err) {
			cant_probe(usecase, rp[i].kp.symbol_name, err);
			rp[i].kp.addr = NULL;
			lt_kretprobe_unregister(rp, i);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(lt_kretprobe_register);

/**
 * lt_kretprobe_missed() - how many calls or returns were not seen
 * @rp: the kretprobes
 * @nr: number of @rp
 *
 * Context: Any.
 * Return: for want of memory for calls, or within another probe.
 */
unsigned long lt_kretprobe_missed(const struct kretprobe *rp, unsigned int nr)
{
	unsigned long missed = 0;

	while (nr--)
		missed += READ_ONCE(rp[nr].nmissed) +
			  READ_ONCE(rp[nr].kp.nmissed);
	return missed;
}
EXPORT_SYMBOL_GPL(lt_kretprobe_missed);
