/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel for the tracker in a benchmark: what a probe uses costs what it
 * costs in the kernel, instruction by instruction where that is possible.
 * Included by force, before lt_host.h's of the same name are used.
 *
 * - Per-CPU data is reached through %gs, as in the kernel, without a bus lock.
 *   A CPU is a thread that joined with native_enter().
 * - Preemption off is a counter in per-CPU data; so is the idle task.
 * - RCU waits for a quiescent state of each CPU, which the benchmark announces
 *   between pairs: a read-side section costs nothing more, as in the kernel.
 * - The thread of a tracker is a thread, and irq_work wakes it directly.
 *
 * What differs: the clock is clock_gettime()'s, there are no huge pages and no
 * mitigations, and a grace period is over in well under a millisecond.
 */
#ifndef LT_NATIVE_H
#define LT_NATIVE_H

#include <pthread.h>
#include <time.h>

#include "bench.h"
#include "lt_module.h"

#define NATIVE_MAX_CPUS		1024
/* Two on top of those of the benchmark: the main thread, the helpers. */
#define NATIVE_HELPER_CPUS	2
#define NATIVE_AREA		(160 << 10)	/* for 1000 trackers: one each for 512 threads */

/* ---- percpu.h ---- */

/* The start of each per-CPU area. */
struct native_cpu {
	char *area;
	int preempt_count;
	unsigned int nr;
	bool idle;
	unsigned long qs;	/* grace period seen, 0: nothing is read here */
} __aligned(SMP_CACHE_BYTES);

extern char *native_areas[NATIVE_MAX_CPUS];
size_t native_percpu(size_t size);

#undef alloc_percpu
#undef free_percpu
#undef per_cpu_ptr
#undef this_cpu_ptr
#undef this_cpu_inc
#undef this_cpu_add
#undef this_cpu_cmpxchg
#undef smp_processor_id
#undef raw_smp_processor_id

#define alloc_percpu(type) \
	((type *)native_percpu(sizeof(type)))
#define free_percpu(p)		((void)(p))
#define per_cpu_ptr(p, cpu) \
	((typeof(p))(native_areas[cpu] + (size_t)(p)))
#define this_cpu_ptr(p) \
	((typeof(p))(this_cpu(area) + (size_t)(p)))

#ifdef __x86_64__
#define native_at(p) \
	((__seg_gs typeof(*(p)) *)(size_t)(p))
#define this_cpu(member) \
	(((struct native_cpu __seg_gs *)0)->member)
#define this_cpu_inc(pcp) \
	__asm__ __volatile__("incq %0" : "+m" (*native_at(&(pcp))))
#define this_cpu_cmpxchg(pcp, o, n) ({					\
	typeof(pcp) old_ = (o);						\
	__asm__ __volatile__("cmpxchgq %2, %1"				\
			     : "+a" (old_), "+m" (*native_at(&(pcp)))	\
			     : "r" (n) : "memory");			\
	old_; })
#else
extern __thread struct native_cpu *native_self;
#define this_cpu(member)	(native_self->member)
#define this_cpu_inc(pcp) \
	((void)__atomic_fetch_add(this_cpu_ptr(&(pcp)), 1, __ATOMIC_RELAXED))
#define this_cpu_cmpxchg(pcp, o, n) \
	host_cmpxchg(this_cpu_ptr(&(pcp)), o, n, __ATOMIC_RELAXED)
#endif

/* For what others write or read meanwhile. */
#define native_this_cpu()	((struct native_cpu *)this_cpu(area))

#define smp_processor_id()	this_cpu(nr)
#define raw_smp_processor_id()	this_cpu(nr)

/* The calling thread is this CPU until it leaves. */
void native_enter(unsigned int cpu);
void native_leave(void);

/* ---- preempt.h, rcupdate.h ---- */

#undef preempt_disable
#undef preempt_enable
#undef preempt_disable_notrace
#undef preempt_enable_notrace
#undef rcu_read_lock_sched
#undef rcu_read_unlock_sched
#undef rcu_read_lock_sched_notrace
#undef rcu_read_unlock_sched_notrace
#undef RCU_LOCKDEP_WARN
#undef might_sleep

#define preempt_disable() \
	do { this_cpu(preempt_count)++; barrier(); } while (0)
#define preempt_enable() \
	do { barrier(); this_cpu(preempt_count)--; } while (0)
#define preempt_disable_notrace()	preempt_disable()
#define preempt_enable_notrace()	preempt_enable()
#define rcu_read_lock_sched()		preempt_disable()
#define rcu_read_unlock_sched()		preempt_enable()
#define rcu_read_lock_sched_notrace()	preempt_disable()
#define rcu_read_unlock_sched_notrace()	preempt_enable()
#define RCU_LOCKDEP_WARN(c, s)		do { } while (0)
#define might_sleep()			do { } while (0)
#define rcu_is_watching()		likely(!this_cpu(idle))

extern unsigned long native_gp;
void native_tell(void);

/* Between pairs: nothing of before is used any more. */
static inline void native_quiescent(void)
{
	unsigned long gp = READ_ONCE(native_gp);

	if (likely(READ_ONCE(native_this_cpu()->qs) == gp))
		return;
	/* Pairs with that of synchronize_rcu(). */
	smp_mb();
	WRITE_ONCE(native_this_cpu()->qs, gp);
	native_tell();
}

/* ---- ktime.h, jiffies.h ---- */

#define ktime_get_mono_fast_ns()	bench_clock()
#define HZ				100
#define jiffies	((unsigned long)(bench_clock() / (NSEC_PER_SEC / HZ)))
#define time_after(a, b)		((long)((b) - (a)) < 0)

/* ---- mutex.h ---- */

struct mutex { pthread_mutex_t lock; };

#define mutex_init(m)		pthread_mutex_init(&(m)->lock, NULL)
#define mutex_lock(m)		pthread_mutex_lock(&(m)->lock)
#define mutex_unlock(m)		pthread_mutex_unlock(&(m)->lock)
#define mutex_destroy(m)	pthread_mutex_destroy(&(m)->lock)

/* ---- irq_work.h ---- */

struct irq_work { void (*func)(struct irq_work *work); };
#define IRQ_WORK_INIT_HARD(fn)	(struct irq_work){ .func = fn }
#define irq_work_queue(w)	((w)->func(w))
#define irq_work_sync(w)	((void)(w))

/* ---- sched.h, kthread.h, hrtimer.h ---- */

struct task_struct {
	int (*fn)(void *data);
	void *data;
	bool stop;
	bool running;		/* or to be: sleeps no more */
	bool started;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

extern __thread struct task_struct *current;
#define TASK_RUNNING		1
#define TASK_IDLE		0
#define set_current_state(s) \
	__atomic_store_n(&current->running, s, __ATOMIC_SEQ_CST)
#define __set_current_state(s)	set_current_state(s)
#define sched_set_fifo_low(t)	bench_helper()
#define get_task_struct(t)	((void)(t))
#define put_task_struct(t)	native_task_free(t)
#define kthread_create(f, d, ...)	native_task_new(f, d)
struct task_struct *native_task_new(int (*fn)(void *data), void *data);
void native_task_free(struct task_struct *task);
void wake_up_process(struct task_struct *task);
bool kthread_should_stop(void);
void kthread_stop(struct task_struct *task);
void schedule_hrtimeout(ktime_t *delta, int mode);

#endif /* LT_NATIVE_H */
