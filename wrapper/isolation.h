/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that are kept free of what others cause.
 */
#ifndef _LT_WRAPPER_ISOLATION_H
#define _LT_WRAPPER_ISOLATION_H

#include <linux/sched/isolation.h>
#include <linux/tick.h>
#include <linux/version.h>

/*
 * isolcpus=, nohz_full=, and from 6.8 on (3232e7aad11e, "cgroup/cpuset: Include
 * isolated cpuset CPUs in cpu_is_isolated() check") an isolated partition of
 * cpusets.
 *
 * 5.18 (04d4e665a609, "sched/isolation: Use single feature type while referring
 * to housekeeping cpumask") made numbers of the flags.
 */
static inline bool lt_cpu_is_isolated(int cpu)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	return cpu_is_isolated(cpu) || tick_nohz_full_cpu(cpu);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
	return !housekeeping_cpu(cpu, HK_TYPE_DOMAIN) ||
	       tick_nohz_full_cpu(cpu);
#else
	return !housekeeping_cpu(cpu, HK_FLAG_DOMAIN) ||
	       tick_nohz_full_cpu(cpu);
#endif
}

#endif /* _LT_WRAPPER_ISOLATION_H */
