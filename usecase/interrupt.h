/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a CPU is just doing, besides its task: in which context it is, which interrupt or timer
 * it serves, and what has been completed in that.
 */
#ifndef _LT_USECASE_INTERRUPT_H
#define _LT_USECASE_INTERRUPT_H

#include <linux/types.h>

struct latency_tracker_wait;

/* "-" of LT_VALUES_SOFTIRQ. */
#define OFFCPU_NO_SOFTIRQ	255

/* Named by LT_VALUES_OFFCPU_CONTEXT; the numbers are part of the ABI. */
enum offcpu_context {
	OFFCPU_CONTEXT_UNKNOWN,
	OFFCPU_CONTEXT_TASK,
	OFFCPU_CONTEXT_SOFTIRQ,
	OFFCPU_CONTEXT_HARDIRQ,
	OFFCPU_CONTEXT_NMI,
};

/* What an interrupt has completed, and what it waited for before; each is noted apart. */
enum lt_doing {
	LT_DOING_DISK,
	LT_DOING_RAISED,
	NR_LT_DOING,
};

/* Of the vectors, as in /proc/softirqs. */
#define LT_SOFTIRQ_NAMES	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK",	\
				"IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"

enum offcpu_context lt_context(void);
int lt_interrupt_line(void);
u32 lt_interrupt_softirq(void);
const char *lt_softirq_name(u32 vector);
bool lt_interrupt_is_timer(void);

int lt_interrupts_get(void);
void lt_interrupts_put(void);
int lt_timers_get(void);
void lt_timers_put(void);

void lt_doing_note(enum lt_doing what, const struct latency_tracker_wait *wait);
void lt_doing_nothing(enum lt_doing what);
bool lt_doing_is(enum lt_doing what, struct latency_tracker_wait *wait);

#endif /* _LT_USECASE_INTERRUPT_H */
