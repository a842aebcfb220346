/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel for the tracker in a benchmark, in the place of what lt_kernel.h has for
 * other programs: what a probe uses costs what it costs in the kernel, instruction by
 * instruction where that is possible.
 *
 * - Per-CPU data is reached through %gs, as in the kernel, without a bus lock.
 *   A CPU is a thread that called bench_cpu().
 * - Preemption off is a counter in per-CPU data; so is the idle task.
 * - RCU is liburcu's QSBR, which waits for the quiescent states that the benchmark
 *   announces between pairs: a read-side section costs nothing more, as in the kernel.
 * - The thread of a tracker is a thread, and irq_work wakes it directly.
 */
#ifndef LT_NATIVE_H
#define LT_NATIVE_H

#include <pthread.h>

#include "bench.h"

#define NATIVE_MAX_CPUS		1024
#define NATIVE_AREA		(160 << 10)	/* for 1000 trackers: one each for 512 threads */

/* ---- percpu.h ---- */

/* The start of each per-CPU area. */
struct native_cpu {
	char *area;
	int preempt_count;
	unsigned int nr;
	bool idle;
} __aligned(SMP_CACHE_BYTES);

extern char *native_areas[NATIVE_MAX_CPUS];
size_t native_percpu(size_t size, size_t align);

#define __alloc_percpu(size, align)	((void *)native_percpu(size, align))
#define alloc_percpu(type) \
	((type *)native_percpu(sizeof(type), __alignof__(type)))
#define free_percpu(p)		((void)(p))
#define per_cpu_ptr(p, cpu) \
	((typeof(p))(native_areas[cpu] + (size_t)(p)))
#define this_cpu_ptr(p) \
	((typeof(p))(this_cpu(area) + (size_t)(p)))

#define native_at(p) \
	((__seg_gs typeof(*(p)) *)(size_t)(p))
#define this_cpu(member) \
	(((struct native_cpu __seg_gs *)0)->member)
#define this_cpu_inc(pcp) \
	__asm__ __volatile__("incq %0" : "+m" (*native_at(&(pcp))))
#define this_cpu_add(pcp, v) \
	__asm__ __volatile__("addq %1, %0" : "+m" (*native_at(&(pcp))) : "r" ((u64)(v)))
#define this_cpu_read(pcp)	(*native_at(&(pcp)))
#define this_cpu_inc_return(pcp)	({ this_cpu_inc(pcp); this_cpu_read(pcp); })
#define this_cpu_cmpxchg(pcp, o, n) ({					\
	typeof(pcp) old_ = (o);						\
	__asm__ __volatile__("cmpxchgq %2, %1"				\
			     : "+a" (old_), "+m" (*native_at(&(pcp)))	\
			     : "r" (n) : "memory");			\
	old_; })

#define smp_processor_id()	this_cpu(nr)

/* ---- preempt.h, rcupdate.h ---- */

#define preempt_disable() \
	do { this_cpu(preempt_count)++; barrier(); } while (0)
#define preempt_enable() \
	do { barrier(); this_cpu(preempt_count)--; } while (0)
#define RCU_LOCKDEP_WARN(c, s)		do { } while (0)
#define might_sleep()			do { } while (0)
#define host_preempt_off()		(this_cpu(preempt_count) > 0)
#define need_resched()			false
#define rcu_is_watching()		likely(!this_cpu(idle))

/* ---- ktime.h, jiffies.h, sched.h, kthread.h, hrtimer.h ---- */

#define ktime_get_mono_fast_ns()	bench_clock()
#define LT_CLOCK_TRY(now_ns)		(*(now_ns) = bench_clock(), true)

struct task_struct {
	int (*fn)(void *data);
	void *data;
	bool running;		/* or to be: sleeps no more */
	bool started;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

extern __thread struct task_struct *current;
#define set_current_state(s) \
	__atomic_store_n(&current->running, s, __ATOMIC_SEQ_CST)
#define sched_set_fifo_low(t)	bench_helper()
#define put_task_struct(t)	((void)(t))

#endif /* LT_NATIVE_H */
