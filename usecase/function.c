// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of the kernel: where they begin and end, to tell a frame of a stack.
 * All look-ups of symbols are here, at load; a probe only compares addresses.
 */
#include <linux/export.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "usecase/function.h"

/**
 * lt_function_at() - tell the function that an address belongs to
 * @function: where to put start and size; size is 0 without symbols
 * @addr: an address of the kernel's own code, not of a module
 *
 * Context: Task.
 */
void lt_function_at(struct lt_function *function, unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN];
	unsigned long offset, size;
	char *plus, *slash;

	sprint_symbol(text, addr);	/* name+offset/size */
	function->size = 0;
	plus = strrchr(text, '+');
	slash = plus ? strchr(plus, '/') : NULL;
	if (!slash)
		return;
	*slash = 0;
	if (kstrtoul(plus + 1, 16, &offset) || kstrtoul(slash + 1, 16, &size))
		return;
	function->start = addr - offset;
	function->size = size;
}

#ifdef CONFIG_KPROBES
/*
 * The kernel exports no look-up by name, but a kprobe looks its symbol up when
 * it is registered. A disabled one changes no code.
 */
static unsigned long address_of(const char *name)
{
	struct kprobe kp = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	unsigned long addr;

	if (register_kprobe(&kp))
		return 0;
	addr = (unsigned long)kp.addr;
	unregister_kprobe(&kp);
	return addr;
}
#else
static unsigned long address_of(const char *name)
{
	return 0;
}
#endif

/**
 * lt_function_find() - find functions of the kernel by their names
 * @functions: what to find; one that this kernel lacks gets the size 0
 * @nr: number of @functions
 *
 * Context: Task; may sleep.
 * Return: how many were found; none without CONFIG_KPROBES.
 */
unsigned int lt_function_find(struct lt_function *functions, unsigned int nr)
{
	unsigned int i, found = 0;

	for (i = 0; i < nr; i++) {
		unsigned long addr = address_of(functions[i].name);

		functions[i].size = 0;
		if (addr)
			lt_function_at(&functions[i], addr);
		found += functions[i].size > 0;
	}
	return found;
}
EXPORT_SYMBOL_GPL(lt_function_find);
