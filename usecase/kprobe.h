/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kprobes of a tracker module, where there is no tracepoint.
 */
#ifndef _LT_USECASE_KPROBE_H
#define _LT_USECASE_KPROBE_H

struct kprobe;
struct kretprobe;
struct lt_usecase;

int lt_kprobe_register(const struct lt_usecase *usecase, struct kprobe *kp,
		       unsigned int nr);
void lt_kprobe_unregister(struct kprobe *kp, unsigned int nr);
unsigned long lt_kprobe_missed(const struct kprobe *kp, unsigned int nr);
int lt_kretprobe_register(const struct lt_usecase *usecase,
			  struct kretprobe *rp, unsigned int nr);
void lt_kretprobe_unregister(struct kretprobe *rp, unsigned int nr);
unsigned long lt_kretprobe_missed(const struct kretprobe *rp, unsigned int nr);

#endif /* _LT_USECASE_KPROBE_H */
