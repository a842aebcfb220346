/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * More of the kernel for the whole tracker in user space: the clock, the thread,
 * irq_work. Included by force; the headers that the sources name are empty.
 *
 * A thread is a function that is called when it is to run: see fuzz_worker_run().
 */
#ifndef LT_FUZZ_KERNEL_H
#define LT_FUZZ_KERNEL_H

#include "lt_module.h"

/* ---- rcupdate.h ---- */

extern bool fuzz_rcu_is_watching;
#define rcu_is_watching()	fuzz_rcu_is_watching

/* ---- percpu.h ---- */

/* The kernel's needs no section of the caller. */
#undef this_cpu_inc
#define this_cpu_inc(pcp)	\
	do { host_preempt_disable(); this_cpu_add(pcp, 1);		\
	     host_preempt_enable(); } while (0)

/* ---- ktime.h, jiffies.h ---- */

extern u64 fuzz_clock;
#define ktime_get_mono_fast_ns()	fuzz_clock
#define HZ			100
#define jiffies			((unsigned long)(fuzz_clock / (NSEC_PER_SEC / HZ)))
#define time_after(a, b)	((long)((b) - (a)) < 0)

/* ---- mutex.h ---- */

struct mutex { bool locked; };

#define mutex_init(m)		((m)->locked = false)
#define mutex_lock(m)	\
	do { might_sleep(); BUG_ON((m)->locked); (m)->locked = true; } while (0)
#define mutex_unlock(m)	\
	do { BUG_ON(!(m)->locked); (m)->locked = false; } while (0)
#define mutex_destroy(m)	BUG_ON((m)->locked)

/* ---- irq_work.h: at once, as with interrupts on ---- */

struct irq_work { void (*func)(struct irq_work *work); };
#define IRQ_WORK_INIT_HARD(fn)	(struct irq_work){ .func = fn }
#define irq_work_queue(w)	((w)->func(w))
#define irq_work_sync(w)	((void)(w))

/* ---- sched.h, kthread.h, hrtimer.h: one thread ---- */

struct task_struct {
	int (*fn)(void *data);
	void *data;
	bool runs;		/* at the next opportunity */
	bool asleep;
	bool stop;
	u64 wake_ns;
};

extern struct task_struct fuzz_task;
#define current			(&fuzz_task)
#define TASK_IDLE		0
#define TASK_RUNNING		1
#define set_current_state(s)	((void)(s))
#define __set_current_state(s)	((void)(s))
#define sched_set_fifo_low(t)	((void)(t))
#define get_task_struct(t)	((void)(t))
#define put_task_struct(t)	((void)(t))
#define wake_up_process(t)	((void)((t)->runs = true))
#define kthread_create(f, d, ...)	fuzz_kthread_create(f, d)
struct task_struct *fuzz_kthread_create(int (*fn)(void *data), void *data);
bool kthread_should_stop(void);
void kthread_stop(struct task_struct *task);
void schedule_hrtimeout(ktime_t *delta, int mode);

/* Let the thread run until it sleeps. */
void fuzz_worker_run(void);

#endif /* LT_FUZZ_KERNEL_H */
