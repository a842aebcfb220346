/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_tracker_bad does what the detectors of debug kernels are to find: see main.c.
 */
#ifndef _BAD_H
#define _BAD_H

/* memory.c */
int bad_use_after_free(void);
int bad_out_of_bounds(void);
int bad_stale_event(void);
int bad_state(void);
int bad_leak(void);
int bad_lost_event(void);
int bad_failslab(void);
int bad_fail_page(void);

/* locks.c */
int bad_active_timer(void);
int bad_rcu(void);
int bad_sleep(void);
int bad_inversion(void);

/* races.c */
int bad_race(void);
int bad_barrier(void);
int bad_ordered(void);

#endif /* _BAD_H */
