/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kprobes: the ends of a packet that pass no tracepoint.
 */
#ifndef _LT_NETWORK_KPROBES_H
#define _LT_NETWORK_KPROBES_H

#include "examples/network/missed.h"

struct latency_tracker;

int hook_all(void);
void hooks_begin(struct latency_tracker *tracker);
void unhook_all(void);

#endif /* _LT_NETWORK_KPROBES_H */
