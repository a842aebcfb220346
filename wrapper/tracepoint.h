/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes of the kernel's own tracepoints, whatever arguments they have here.
 *
 * A tracepoint whose arguments differ between kernels gets, in the wrapper of
 * its subsystem, one probe per known list of arguments, and lt_pick_probe()
 * takes the one that this kernel's header asks for. That is a feature test: it
 * holds for backports, too, and an unknown list breaks the build.
 */
#ifndef _LT_WRAPPER_TRACEPOINT_H
#define _LT_WRAPPER_TRACEPOINT_H

#include <linux/build_bug.h>
#include <linux/tracepoint.h>

/* Whether @probe is of exactly the type that tracepoint @event calls. */
#define lt_probe_fits(event, probe)					\
	__builtin_types_compatible_p(					\
		typeof(check_trace_callback_type_##event),		\
		void(typeof(probe) *))

#define lt_pick_probe(event, probe, otherwise)				\
	__builtin_choose_expr(lt_probe_fits(event, probe), probe, otherwise)

/* The address of @probe; does not compile unless the probe fits. */
#define lt_typed_probe(event, probe)					\
	((void *)(probe) + 0 * sizeof(struct {				\
		static_assert(lt_probe_fits(event, probe),		\
			      #probe "() is not of the type that tracepoint " \
			      #event " has in this kernel");		\
		int unused;						\
	}))

/*
 * The function that calls the probes of a tracepoint that has several.
 *
 * 5.10 (d25e37d89dd2, "tracepoint: Optimize using static_call()") made it a
 * function of its own; before, the loop was inline.
 */
static inline unsigned long lt_tracepoint_iterator(const struct tracepoint *tp)
{
	return (unsigned long)tp->iterator;
}

#endif /* _LT_WRAPPER_TRACEPOINT_H */
