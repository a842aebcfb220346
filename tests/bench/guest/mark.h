/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tells the plugin of the emulator (plugin.c) where something begins and ends: a
 * no-operation with a number in it, in kernel or user space. It does nothing on any other
 * machine than an emulated x86-64 with that plugin.
 */
#ifndef LT_BENCH_MARK_H
#define LT_BENCH_MARK_H

#define NS_PER_INSN	2	/* of the guest's clock: vm-run --icount */

#define MARK_MAGIC	0x17ac0000
#define MARK_ARM	1	/* count from soon on: until then everything is fast */
#define MARK_GROUP	2	/* what is counted from here on, is something else */
#define MARK_BEGIN	3
#define MARK_END	4

static __always_inline void mark(int what)
{
#ifdef __x86_64__
	/* nopl MARK_MAGIC + what(%rax) */
	__asm__ __volatile__(".byte 0x0f, 0x1f, 0x80\n\t.long %c0"
			     : : "i" (MARK_MAGIC + what) : "memory");
#endif
}

#endif /* LT_BENCH_MARK_H */
