/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Non-maskable interrupts on request, for tests.
 */
#ifndef _LT_WRAPPER_NMI_H
#define _LT_WRAPPER_NMI_H

#if defined(CONFIG_X86_LOCAL_APIC)
#include <asm/apic.h>
#include <asm/nmi.h>
#include <linux/cpumask.h>

#define LT_HAVE_NMI	1

/* Returns what register_nmi_handler() does; once per file that uses it. */
#define lt_register_nmi(handler)	\
	register_nmi_handler(NMI_LOCAL, handler, 0, KBUILD_MODNAME)

static inline void lt_unregister_nmi(void)
{
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
}

static inline void lt_send_nmi(int cpu)
{
	apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
}
#endif

#endif /* _LT_WRAPPER_NMI_H */
