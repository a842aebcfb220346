/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the kernel's API that rculfhash and core use, for programs in user
 * space. All headers in linux/ that they include are made by shim.mk and lead here.
 *
 * Atomics are compiler builtins with the weakest order that the kernel's
 * operation has, so that ThreadSanitizer sees what the code may rely on, and
 * not what this machine happens to give. The one exception is the address
 * dependency of rcu_dereference_raw(), for which an acquire stands in.
 *
 * There are three kernels. Each brings CPUs, sections and RCU; the two that run a
 * whole tracker also bring a clock and a thread for it:
 *
 *	host.c		threads and signals, for the stress tests
 *	fuzz/fuzz.c	one thread, where the input decides; HOST_FUZZ
 *	tests/bench/native/native.c
 *			per-CPU data as in the kernel; HOST_NATIVE
 *
 * What they share is in lt_kernel.c.
 */
#ifndef LT_HOST_KERNEL_H
#define LT_HOST_KERNEL_H

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef unsigned int gfp_t;

#define HOST_MAX_CPUS		16
#define HOST_MAX_THREADS	32
#define HOST_PERCPU_STRIDE	8192

/* ---- what the tests use ---- */

#ifdef __SANITIZE_THREAD__
#define HOST_TSAN		true
#else
#define HOST_TSAN		false
#endif

extern unsigned int host_nr_cpus;	/* possible CPUs */
extern unsigned int host_nr_nodes;	/* possible memory nodes, CPUs go round */
extern unsigned int host_nodes_offline;	/* so many of the last ones are off line */
extern unsigned int host_cpus_offline;	/* the same of CPUs */

void host_init(unsigned int nr_cpus, unsigned int nr_nodes);
/* The calling thread joins RCU; cpu >= 0: it alone runs on that CPU. */
void host_thread_enter(int cpu);
void host_thread_leave(void);
/* How many more allocations succeed before one fails; negative: all. */
extern long host_alloc_left;
extern long host_allocated;		/* allocations not freed yet */
/*
 * Grace periods: one has passed for what was retired at snap = host_gp_snap()
 * when host_gp_passed(snap).
 */
unsigned long host_gp_snap(void);
bool host_gp_passed(unsigned long snap);
/* A signal in the place of an NMI, for threads that are bound to a CPU. */
#define HOST_NMI		SIGUSR1
void host_set_nmi(void (*handler)(void));
bool host_in_nmi(void);
u32 host_random(void);			/* per thread, seeded by host_seed */
extern u64 host_seed;
void host_perturb_slow(void);

/* A promise was broken: say which, and end. What other threads do then may well crash. */
__attribute__((format(printf, 3, 4)))
_Noreturn void host_bug(const char *file, int line, const char *fmt, ...);

#define EXPECT(cond, fmt, ...) do {					\
	if (!(cond))							\
		host_bug(__FILE__, __LINE__, "expected %s: " fmt,	\
			 #cond, ##__VA_ARGS__);				\
} while (0)
#define EXPECT_EQ(a, b) do {						\
	long a_ = (long)(a), b_ = (long)(b);				\
	if (a_ != b_)							\
		host_bug(__FILE__, __LINE__, "%s is %ld, not %s = %ld",	\
			 #a, a_, #b, b_);				\
} while (0)

/* Give way now and then where a race window opens. */
#ifdef HOST_PERTURB
extern __thread u32 host_perturb_count;
static inline void host_perturb(u32 weight)
{
	host_perturb_count += weight;
	if (__builtin_expect(host_perturb_count >= 4096, 0))
		host_perturb_slow();
}
#elif defined(HOST_FUZZ)
void host_perturb(u32 weight);
#else
static inline void host_perturb(u32 weight) { (void)weight; }
#endif

/* ---- compiler.h, kernel.h, bits.h, log2.h, overflow.h, minmax.h ---- */

#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define noinline		__attribute__((__noinline__))
#define notrace
#define fallthrough		__attribute__((__fallthrough__))
#define __percpu
#define __aligned(x)		__attribute__((__aligned__(x)))
#if __SIZEOF_LONG__ == 8
#define BITS_PER_LONG		64
#else
#define BITS_PER_LONG		32
#endif
#define SMP_CACHE_BYTES		64
#define ____cacheline_aligned_in_smp	__aligned(SMP_CACHE_BYTES)

#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define ALIGN(x, a)		(((x) + (a) - 1) & ~((typeof(x))(a) - 1))
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define min(a, b)		({ typeof(a) a_ = (a); typeof(b) b_ = (b); \
				   a_ < b_ ? a_ : b_; })
#define max(a, b)		({ typeof(a) a_ = (a); typeof(b) b_ = (b); \
				   a_ > b_ ? a_ : b_; })
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)
#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof(*(p)->member) * (size_t)(n))
#define __ffs(x)		((unsigned int)__builtin_ctzl(x))
#define __fls(x)		(63 - (unsigned long)__builtin_clzl(x))
#define mul_u64_u64_shr(a, b, n)	((u64)((__uint128_t)(a) * (b) >> (n)))
#define div_u64(a, b)		((u64)(a) / (u32)(b))
#define div64_u64(a, b)		((u64)(a) / (u64)(b))
#define div_u64_rem(a, b, rest)	(*(rest) = (u64)(a) % (u32)(b), (u64)(a) / (u32)(b))

static inline unsigned int order_base_2(unsigned long n)
{
	return n > 1 ? BITS_PER_LONG - __builtin_clzl(n - 1) : 0;
}

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return 1UL << order_base_2(n);
}

#define BUG_ON(c) \
	do { if (c) host_bug(__FILE__, __LINE__, "%s", #c); } while (0)
#define WARN_ON(c)	({ bool c_ = !!(c); BUG_ON(c_); c_; })
#define BUILD_BUG_ON(c)	_Static_assert(!(c), #c)
#define EXPORT_SYMBOL_GPL(sym)

/* ---- err.h ---- */

#define MAX_ERRNO		4095
#define IS_ERR_VALUE(x)		((unsigned long)(x) >= (unsigned long)-MAX_ERRNO)
static inline void *ERR_PTR(long err) { return (void *)err; }
static inline long PTR_ERR(const void *p) { return (long)p; }
static inline bool IS_ERR(const void *p) { return IS_ERR_VALUE(p); }
static inline int PTR_ERR_OR_ZERO(const void *p) { return IS_ERR(p) ? PTR_ERR(p) : 0; }

/* ---- atomic.h, barrier.h ---- */

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define lockdep_assert_held(lock)	((void)(lock))
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
/* Between the two, what was read may have been written. */
#define cpu_relax()		((void)0)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_rmb()	\
	do { __atomic_thread_fence(__ATOMIC_ACQUIRE); host_perturb(1); } while (0)
/* Likewise. */
#define data_race(x)		({ x; host_perturb(1); })
#define barrier()		__asm__ __volatile__("" : : : "memory")

#define host_cmpxchg(p, o, n, order) ({					\
	typeof(*(p)) o_ = (o);						\
	host_perturb(16);						\
	__atomic_compare_exchange_n(p, &o_, n, false, order,		\
				    __ATOMIC_RELAXED);			\
	o_; })
#define cmpxchg(p, o, n)	host_cmpxchg(p, o, n, __ATOMIC_SEQ_CST)
#define cmpxchg_relaxed(p, o, n) host_cmpxchg(p, o, n, __ATOMIC_RELAXED)
#define xchg(p, v)		({ __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); })

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
#define atomic_read(v)		__atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define atomic_set(v, i)	__atomic_store_n(&(v)->counter, i, __ATOMIC_RELAXED)
#define atomic_dec_return(v)	__atomic_sub_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_add(i, v)	((void)__atomic_fetch_add(&(v)->counter, i, __ATOMIC_RELAXED))
#define atomic_sub_return(i, v)	__atomic_sub_fetch(&(v)->counter, i, __ATOMIC_SEQ_CST)

typedef struct { long counter; } atomic_long_t;
#define atomic_long_read	atomic_read
#define atomic_long_set		atomic_set
#define atomic_long_sub_return	atomic_sub_return
#define atomic_long_inc(v)	((void)__atomic_fetch_add(&(v)->counter, 1, __ATOMIC_RELAXED))
#define atomic_long_inc_return(v)	__atomic_add_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_long_read_acquire(v)	smp_load_acquire(&(v)->counter)
#define atomic_long_set_release(v, i)	smp_store_release(&(v)->counter, i)
#define atomic_long_cmpxchg(v, o, n)	cmpxchg(&(v)->counter, o, n)
#define atomic_long_fetch_andnot(i, v) \
	__atomic_fetch_and(&(v)->counter, ~(long)(i), __ATOMIC_SEQ_CST)
#define atomic_long_try_cmpxchg(v, o, n) ({				\
	long was_ = *(o);						\
	*(o) = atomic_long_cmpxchg(v, was_, n);				\
	*(o) == was_; })

/* local64.h: for one CPU. */
typedef atomic64_t local64_t;
#define local64_read		atomic_read
#define local64_inc(v)		atomic_add(1, v)
#define local64_add(i, v)	atomic_add(i, v)
#define local64_cmpxchg(v, o, n) \
	((u64)cmpxchg_relaxed(&(v)->counter, (s64)(o), (s64)(n)))

#define prefetchw(p)		__builtin_prefetch(p, 1)

/* ---- preempt.h, rcupdate.h, percpu.h: of which kernel ---- */

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};

void synchronize_rcu(void);
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));
void rcu_barrier(void);
bool need_resched(void);

#ifdef HOST_NATIVE
#include "native.h"
#else
void host_preempt_disable(void);
void host_preempt_enable(void);
bool host_preempt_off(void);
unsigned int host_cpu(void);

#define preempt_disable()	host_preempt_disable()
#define preempt_enable()	host_preempt_enable()
#define RCU_LOCKDEP_WARN(c, s)	\
	do { if (c) host_bug(__FILE__, __LINE__, s); } while (0)
#define might_sleep()		BUG_ON(host_preempt_off())

#define smp_processor_id()	host_cpu()
void *host_alloc(size_t n, size_t size);

static inline void *__alloc_percpu(size_t size, size_t align)
{
	return size > HOST_PERCPU_STRIDE ? NULL : host_alloc(host_nr_cpus, HOST_PERCPU_STRIDE);
}

#define alloc_percpu(type) \
	__alloc_percpu(sizeof(type), 1)
#define free_percpu(p)		host_free(p)
#define per_cpu_ptr(p, cpu) \
	((typeof(p))((char *)(p) + (size_t)(cpu) * HOST_PERCPU_STRIDE))
#define this_cpu_ptr(p)		per_cpu_ptr(p, host_cpu())
/* The kernel's need no section of the caller. */
#define this_cpu_add(pcp, v)	do {					\
	host_preempt_disable();						\
	__atomic_fetch_add(this_cpu_ptr(&(pcp)), v, __ATOMIC_RELAXED);	\
	host_preempt_enable();						\
} while (0)
#define this_cpu_inc(pcp)	this_cpu_add(pcp, 1)
#define this_cpu_inc_return(pcp)	({ host_preempt_disable();		\
	typeof(pcp) v_ = __atomic_add_fetch(this_cpu_ptr(&(pcp)), 1, __ATOMIC_RELAXED); \
	host_preempt_enable(); v_; })
#define this_cpu_read(pcp)	({ host_preempt_disable();		\
	typeof(pcp) v_ = READ_ONCE(*this_cpu_ptr(&(pcp)));		\
	host_preempt_enable(); v_; })
#define this_cpu_cmpxchg(pcp, o, n)	cmpxchg_relaxed(this_cpu_ptr(&(pcp)), o, n)
#endif

#define lockdep_assert_preemption_disabled()	BUG_ON(!host_preempt_off())
#define preempt_disable_notrace()	preempt_disable()
#define preempt_enable_notrace()	preempt_enable()
#define rcu_read_lock_sched()		preempt_disable()
#define rcu_read_unlock_sched()		preempt_enable()
#define rcu_read_lock_sched_notrace()	preempt_disable()
#define rcu_read_unlock_sched_notrace()	preempt_enable()
#define rcu_read_lock_sched_held()	host_preempt_off()
#ifdef HOST_FUZZ
void host_resched(void);
#define cond_resched()			host_resched()
#else
#define cond_resched()			might_sleep()
#endif
#define raw_smp_processor_id()		smp_processor_id()

/* What was read may be old by the time it is used. */
#define rcu_dereference_raw(p)	({					\
	typeof(p) v_ = __atomic_load_n(&(p), __ATOMIC_ACQUIRE);		\
	host_perturb(1);						\
	v_; })

/* ---- slab.h, mm.h ---- */

#define PAGE_SHIFT		12
static inline long si_mem_available(void) { return LONG_MAX; }

#define GFP_KERNEL		0u
#define __GFP_NOWARN		0u

void *host_alloc(size_t n, size_t size);
void host_free(const void *p);

#define kzalloc(size, gfp)		((void)(gfp), host_alloc(1, size))
#define kcalloc(n, size, gfp)		((void)(gfp), host_alloc(n, size))
#define kvzalloc(size, gfp)		((void)(gfp), host_alloc(1, size))
#define kvcalloc(n, size, gfp)		((void)(gfp), host_alloc(n, size))
#define kvzalloc_node(size, gfp, nid)	((void)(nid), kvzalloc(size, gfp))
#define kfree(p)			host_free(p)
#define kvfree(p)			host_free(p)

/* ---- cpumask.h, topology.h, nodemask.h ---- */

#define NUMA_NO_NODE		(-1)
#define nr_node_ids		host_nr_nodes
#define num_online_nodes()	(host_nr_nodes - host_nodes_offline)
#define num_possible_cpus()	host_nr_cpus
#define num_online_cpus()	(host_nr_cpus - host_cpus_offline)
#define first_online_node	0
#define node_online(nid)	((unsigned int)(nid) < num_online_nodes())
#define cpu_to_node(cpu)	((int)((unsigned int)(cpu) % host_nr_nodes))
#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (cpu) < (int)host_nr_cpus; (cpu)++)
#define cpu_online(cpu)		((unsigned int)(cpu) < num_online_cpus())
#define for_each_node(nid) \
	for ((nid) = 0; (nid) < (int)host_nr_nodes; (nid)++)
#define for_each_online_node(nid) \
	for ((nid) = 0; (nid) < (int)num_online_nodes(); (nid)++)

/* ---- list.h, hashtable.h, cpuhotplug.h ---- */

struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
#define hlist_entry(p, type, member)	container_of(p, type, member)

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define hash_init(table)	memset(table, 0, sizeof(table))
#define hash_bucket(table, key) \
	(&(table)[((u64)(key) * GOLDEN_RATIO_64 >> 32) % ARRAY_SIZE(table)])
#define hash_add(table, node, key)	hlist_add_head(node, hash_bucket(table, key))
#define hash_for_each_possible(table, obj, member, key)			\
	for (struct hlist_node *n_ = hash_bucket(table, key)->first;	\
	     n_ && ((obj) = hlist_entry(n_, typeof(*(obj)), member), true);	\
	     n_ = n_->next)

static inline void hlist_add_head(struct hlist_node *n, struct hlist_head *head)
{
	n->next = head->first;
	n->pprev = &head->first;
	if (n->next)
		n->next->pprev = &n->next;
	head->first = n;
}

static inline void hash_del(struct hlist_node *n)
{
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
}

enum cpuhp_state { CPUHP_BP_PREPARE_DYN };
int cpuhp_setup_state_multi(enum cpuhp_state state, const char *name,
			    int (*up)(unsigned int cpu, struct hlist_node *node),
			    int (*down)(unsigned int cpu, struct hlist_node *node));
int cpuhp_state_add_instance(enum cpuhp_state state, struct hlist_node *node);
#define cpuhp_setup_state_nocalls_cpuslocked(state, name, up, down)	((void)(up), 0)
#define cpus_read_lock()			((void)0)
#define cpus_read_unlock()			((void)0)
#define for_each_online_cpu(cpu)					\
	for ((cpu) = 0; (unsigned int)(cpu) < num_online_cpus(); (cpu)++)
#define cpuhp_remove_state_nocalls(state)	((void)(state))
#define cpuhp_state_remove_instance_nocalls(state, node)	((void)(node))
#define cpuhp_remove_multi_state(state)		((void)(state))
/* The next CPU that is off line comes, of which the owner of @node is told. */
int host_cpu_comes(struct hlist_node *node);

/* ---- llist.h ---- */

struct llist_node { struct llist_node *next; };
struct llist_head { struct llist_node *first; };
#define llist_entry(p, type, member)	container_of(p, type, member)

/* ---- for a whole tracker: kernel.h, module.h, string.h, unaligned.h, hash.h ---- */

#define S64_MAX		((s64)(~0ULL >> 1))
#define U64_MAX			(~0ULL)
#define NSEC_PER_SEC		1000000000L
#define NSEC_PER_MSEC		1000000L
#define MSEC_PER_SEC		1000L
#define __init
#define __exit
#define pr_warn(...)		do { } while (0)
#define __acquire(x)		((void)0)
#define __release(x)		((void)0)
#define IS_ERR_OR_NULL(p)	(!(p) || IS_ERR(p))
#define min3(a, b, c)		min(min(a, b), c)
#define module_init(fn)		int (*const lt_module_init)(void) = fn
#define module_exit(fn)		void (*const lt_module_exit)(void) = fn
#define MODULE_LICENSE(s)
#define MODULE_DESCRIPTION(s)
#define MODULE_AUTHOR(s)
#define GOLDEN_RATIO_64		0x61C8864680B583EBull
#define get_unaligned(p)	({ typeof(*(p) + 0) v_;			\
				   memcpy(&v_, p, sizeof(v_)); v_; })

static inline u64 ror64(u64 word, unsigned int shift)
{
	return word >> shift | word << (64 - shift);
}

static inline void strscpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
}

/* ---- completion.h, kobject.h, kernfs.h, sysfs.h: there are no files ---- */

struct completion { bool done; };
struct kobject { int unused; };

#define init_completion(c)		((c)->done = false)
#define reinit_completion(c)		init_completion(c)
#define complete(c)			((c)->done = true)
/* The worker runs until it is done. */
void wait_for_completion(struct completion *c);
#define sysfs_get_dirent(dir, name)	((struct kernfs_node *)NULL)
#define sysfs_put(file)			((void)(file))
#define kernfs_notify(file)		((void)(file))

/* ---- mutex.h: locked twice is a bug, as is the end of one that is locked ---- */

struct mutex { pthread_mutex_t lock; };

#define mutex_init(m)	\
	((m)->lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP)
#define mutex_lock(m)	\
	do { might_sleep(); BUG_ON(pthread_mutex_lock(&(m)->lock)); } while (0)
#define mutex_unlock(m)		BUG_ON(pthread_mutex_unlock(&(m)->lock))
#define mutex_destroy(m)	BUG_ON(pthread_mutex_destroy(&(m)->lock))

#define DEFINE_MUTEX(m)	struct mutex m = { PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP }

/* ---- list.h, hash.h, log2.h, sched.h: for waits.c ---- */

#define TASK_COMM_LEN		16

struct list_head { struct list_head *next, *prev; };
#define LIST_HEAD(name)		struct list_head name = { &(name), &(name) }
#define INIT_LIST_HEAD(l)	((l)->next = (l)->prev = (l))
#define list_for_each_entry(pos, head, member)				\
	for (struct list_head *l_ = (head)->next; l_ != (head) &&		\
	     ((pos) = container_of(l_, typeof(*(pos)), member), 1); l_ = l_->next)

static inline void list_add(struct list_head *l, struct list_head *head)
{
	l->next = head->next;
	l->prev = head;
	head->next->prev = l;
	head->next = l;
}

static inline void list_del_init(struct list_head *l)
{
	l->next->prev = l->prev;
	l->prev->next = l->next;
	INIT_LIST_HEAD(l);
}

static inline u32 hash_32(u32 value, unsigned int bits)
{
	return value * 0x61C88647u >> (32 - bits);
}

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

/* ---- irq_work.h: at once, as with interrupts on ---- */

struct irq_work { void (*func)(struct irq_work *work); };
#define IRQ_WORK_INIT_HARD(fn)	(struct irq_work){ .func = fn }
#define irq_work_queue(w)	((w)->func(w))
#define init_irq_work(w, fn)	(*(w) = IRQ_WORK_INIT_HARD(fn))
#define irq_work_sync(w)	((void)(w))

/* ---- workqueue.h: at once, unless the fuzzer says otherwise ---- */

struct work_struct { void (*func)(struct work_struct *work); };
#define INIT_WORK(w, fn)	((w)->func = (fn))
#define system_unbound_wq	NULL
struct delayed_work { struct work_struct work; };
/* It is on its way, or soon is. */
#define mod_delayed_work(wq, w, n)	((void)(w))
#define INIT_DELAYED_WORK(w, fn)	INIT_WORK(&(w)->work, fn)
#ifdef HOST_FUZZ
void queue_work(void *wq, struct work_struct *work);
void cancel_work_sync(struct work_struct *work);
void queue_delayed_work(void *wq, struct delayed_work *work, unsigned long delay);
void cancel_delayed_work_sync(struct delayed_work *work);
#else
#define queue_work(wq, w)	((void)(wq), (w)->func(w))
#define cancel_work_sync(w)	((void)(w))
/* Never. */
#define queue_delayed_work(wq, w, n)	((void)(w))
#define cancel_delayed_work_sync(w)	((void)(w))
#endif

/* ---- ktime.h, jiffies.h, sched.h, kthread.h, hrtimer.h: of which kernel ---- */

typedef s64 ktime_t;
#define ns_to_ktime(ns)		((ktime_t)(ns))
#define HRTIMER_MODE_REL	0
#define HZ			100
#define round_jiffies_relative(n)	(n)
#define msecs_to_jiffies(n)	((n) * HZ / 1000)
#define jiffies	((unsigned long)(ktime_get_mono_fast_ns() / (NSEC_PER_SEC / HZ)))
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define TASK_IDLE		0
#define TASK_RUNNING		1
#define __set_current_state(s)	set_current_state(s)
#define get_task_struct(t)	((void)(t))
#define kthread_create(f, d, ...)	host_kthread_create(f, d)

struct task_struct;
struct task_struct *host_kthread_create(int (*fn)(void *data), void *data);
void wake_up_process(struct task_struct *task);
bool kthread_should_stop(void);
void kthread_stop(struct task_struct *task);
void schedule_hrtimeout(ktime_t *delta, int mode);
void msleep(unsigned int ms);

#ifdef HOST_FUZZ
#include "fuzz.h"
#endif

#endif /* LT_HOST_KERNEL_H */
