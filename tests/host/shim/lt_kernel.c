// SPDX-License-Identifier: GPL-2.0-only
/* What all kernels in user space share. See lt_kernel.h. */
#include <stdarg.h>

#include "core/control.h"
#include "core/pool_size.h"
#include "lt_kernel.h"

unsigned int host_nodes_offline, host_cpus_offline;
long host_alloc_left = -1;
long host_allocated;

void host_bug(const char *file, int line, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fflush(NULL);	/* what was printed before it, first */
	fprintf(stderr, "# BUG at %s:%d: %s\n", file, line, text);
	abort();
}

static bool fails(void)
{
	if (host_alloc_left < 0 || host_alloc_left--)
		return false;
	host_alloc_left = 0;
	return true;
}

void *host_alloc(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes) || fails())
		return NULL;
	/* The exact size, for AddressSanitizer to see what is beyond. */
	if (posix_memalign(&p, SMP_CACHE_BYTES, bytes))
		return NULL;
	memset(p, 0, bytes);
	__atomic_fetch_add(&host_allocated, 1, __ATOMIC_RELAXED);
	return p;
}

void host_free(const void *p)
{
	if (p)
		__atomic_fetch_sub(&host_allocated, 1, __ATOMIC_RELAXED);
	free((void *)p);
}

#ifndef HOST_NATIVE
bool need_resched(void)
{
	return !(host_random() % 32);
}
#endif

/* ---- in the place of core/control.c ---- */

int lt_control_init(void)
{
	return 0;
}

void lt_control_exit(void)
{
}

int lt_control_add(struct latency_tracker *tracker)
{
	/* The name is taken. */
	return fails() ? -EEXIST : 0;
}

void lt_control_del(struct latency_tracker *tracker)
{
}

/* ---- CPUs that come ---- */

static int (*cpu_up)(unsigned int cpu, struct hlist_node *node);

int cpuhp_setup_state_multi(enum cpuhp_state state, const char *name,
			    int (*up)(unsigned int cpu, struct hlist_node *node),
			    int (*down)(unsigned int cpu, struct hlist_node *node))
{
	cpu_up = up;
	return 0;
}

int cpuhp_state_add_instance(enum cpuhp_state state, struct hlist_node *node)
{
	unsigned int cpu;
	int err = 0;

	for (cpu = 0; cpu < num_online_cpus() && !err; cpu++)
		err = cpu_up(cpu, node);
	return err;
}

int host_cpu_comes(struct hlist_node *node)
{
	return cpu_up(host_nr_cpus - host_cpus_offline--, node);
}

/* The module is loaded. */
static void __attribute__((constructor)) load(void)
{
	BUG_ON(lt_pool_setup());
}
