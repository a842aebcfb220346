// SPDX-License-Identifier: GPL-2.0-only
/*
 * RCU, virtual CPUs and NMIs for the core in user space.
 *
 * RCU: a section stores the number of the current grace period in a word of its
 * thread; a grace period raises the number and waits until each word is 0 or
 * has a number at least as high.  Plain C atomics: ThreadSanitizer sees that
 * the end of a section comes before the end of the grace period.
 *
 * CPUs: a thread is bound to a CPU of its own, or takes any free one for each
 * preemption-off section, as tasks do that the scheduler moves about.
 *
 * NMIs: signals.  The handler runs in a preemption-off section on the CPU that
 * it interrupts, at any instruction.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

#include "lt_kernel.h"

struct host_thread {
	unsigned long gp;	/* number of the section's grace period, or 0 */
	bool used;
	bool bound;
	int cpu;
	int depth;
	u32 random;
} __aligned(128);

unsigned int host_nr_cpus = 1;
unsigned int host_nr_nodes = 1;
u64 host_seed = 1;

static struct host_thread threads[HOST_MAX_THREADS];
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static bool cpu_taken[HOST_MAX_CPUS];
static __thread struct host_thread *self;
static __thread int in_nmi;
#ifdef HOST_PERTURB
__thread u32 host_perturb_count;
#endif

static unsigned long gp_started = 1;
static unsigned long gp_done = 1;
static pthread_mutex_t gp_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t cb_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cb_cond = PTHREAD_COND_INITIALIZER;
static struct rcu_head *cb_waiting;	/* the product has one at a time */
static bool cb_runs;

u32 host_random(void)
{
	u32 x = self->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	self->random = x;
	return x;
}

void host_perturb_slow(void)
{
#ifdef HOST_PERTURB
	/* An NMI does not wait for others; a program without threads neither. */
	host_perturb_count = self ? host_random() % 2048 : 0;
	if (!in_nmi)
		sched_yield();
#endif
}

/* ---- CPUs and sections ---- */

static void cpu_take(struct host_thread *t)
{
	unsigned int tries = 0;

	if (!(host_random() % 16))
		t->cpu = host_random() % host_nr_cpus;
	while (__atomic_exchange_n(&cpu_taken[t->cpu], true, __ATOMIC_ACQUIRE)) {
		t->cpu = (t->cpu + 1) % host_nr_cpus;
		if (!(++tries % host_nr_cpus))
			sched_yield();
	}
}

static void gp_enter(struct host_thread *t)
{
	unsigned long gp = __atomic_load_n(&gp_started, __ATOMIC_ACQUIRE);

	/* A full barrier: what follows sees what was taken out before a scan. */
	__atomic_exchange_n(&t->gp, gp, __ATOMIC_SEQ_CST);
#ifndef __SANITIZE_THREAD__
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

void host_preempt_disable(void)
{
	struct host_thread *t = self;

	if (t->depth++)
		return;
	barrier();
	if (!t->bound)
		cpu_take(t);
	gp_enter(t);
}

void host_preempt_enable(void)
{
	struct host_thread *t = self;

	if (--t->depth)
		return;
	barrier();
	__atomic_store_n(&t->gp, 0, __ATOMIC_RELEASE);
	if (!t->bound)
		__atomic_store_n(&cpu_taken[t->cpu], false, __ATOMIC_RELEASE);
}

bool host_preempt_off(void)
{
	return self->depth;
}

unsigned int host_cpu(void)
{
	BUG_ON(!self->depth);
	return self->cpu;
}

void host_thread_enter(int cpu)
{
	struct host_thread *t;
	unsigned int i;

	pthread_mutex_lock(&threads_lock);
	for (i = 0; i < HOST_MAX_THREADS && threads[i].used; i++)
		;
	BUG_ON(i == HOST_MAX_THREADS);
	t = &threads[i];
	t->used = true;
	t->bound = cpu >= 0;
	t->cpu = t->bound ? cpu : (int)(i % host_nr_cpus);
	t->depth = 0;
	t->random = (u32)(host_seed * 2654435761u + i * 40503u) | 1;
	if (t->bound)
		BUG_ON(__atomic_exchange_n(&cpu_taken[cpu], true, __ATOMIC_ACQUIRE));
	self = t;
	pthread_mutex_unlock(&threads_lock);
}

void host_thread_leave(void)
{
	struct host_thread *t = self;

	BUG_ON(t->depth);
	pthread_mutex_lock(&threads_lock);
	if (t->bound)
		__atomic_store_n(&cpu_taken[t->cpu], false, __ATOMIC_RELEASE);
	t->used = false;
	self = NULL;
	pthread_mutex_unlock(&threads_lock);
}

/* ---- RCU ---- */

void synchronize_rcu(void)
{
	unsigned long gp, word;
	unsigned int i;

	if (self)
		might_sleep();
	pthread_mutex_lock(&gp_lock);
	gp = __atomic_add_fetch(&gp_started, 1, __ATOMIC_SEQ_CST);
#ifndef __SANITIZE_THREAD__
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	for (i = 0; i < HOST_MAX_THREADS; i++) {
#ifdef HOST_BREAK_GP
		break;
#endif
		for (;;) {
			word = __atomic_load_n(&threads[i].gp, __ATOMIC_SEQ_CST);
			if (!word || word >= gp)
				break;
			sched_yield();
		}
	}
	__atomic_store_n(&gp_done, gp, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&gp_lock);
}

unsigned long host_gp_snap(void)
{
	return __atomic_load_n(&gp_started, __ATOMIC_SEQ_CST);
}

bool host_gp_passed(unsigned long snap)
{
	/* The first one that began after the snapshot must have ended. */
	return __atomic_load_n(&gp_done, __ATOMIC_SEQ_CST) > snap;
}

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	head->func = func;
	pthread_mutex_lock(&cb_lock);
	EXPECT(!cb_waiting, "a second one");
	cb_waiting = head;
	pthread_cond_broadcast(&cb_cond);
	pthread_mutex_unlock(&cb_lock);
}

void rcu_barrier(void)
{
	might_sleep();
	pthread_mutex_lock(&cb_lock);
	while (cb_waiting || cb_runs)
		pthread_cond_wait(&cb_cond, &cb_lock);
	pthread_mutex_unlock(&cb_lock);
}

static void *rcu_thread(void *arg)
{
	struct rcu_head *head;

	host_thread_enter(-1);
	pthread_mutex_lock(&cb_lock);
	for (;;) {
		while (!cb_waiting)
			pthread_cond_wait(&cb_cond, &cb_lock);
		head = cb_waiting;
		cb_waiting = NULL;
		cb_runs = true;
		pthread_mutex_unlock(&cb_lock);
		synchronize_rcu();
		head->func(head);
		pthread_mutex_lock(&cb_lock);
		cb_runs = false;
		pthread_cond_broadcast(&cb_cond);
	}
	return arg;
}

/* ---- NMIs ---- */

static void (*nmi_handler)(void);

bool host_in_nmi(void)
{
	return in_nmi;
}

static void on_signal(int sig)
{
	struct host_thread *t = self;
	int saved_errno = errno, depth;
	unsigned long gp;

	if (!t)
		return;
	/*
	 * The interrupted code may stand anywhere between "not in a section"
	 * and "in one": put back exactly what was there.
	 */
	depth = t->depth;
	gp = __atomic_load_n(&t->gp, __ATOMIC_RELAXED);
	in_nmi++;
	t->depth = depth + 1;
	if (!gp)
		gp_enter(t);
	nmi_handler();
	if (!gp)
		__atomic_store_n(&t->gp, 0, __ATOMIC_RELEASE);
	t->depth = depth;
	in_nmi--;
	errno = saved_errno;
}

void host_set_nmi(void (*handler)(void))
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	nmi_handler = handler;
	sigaction(HOST_NMI, &sa, NULL);
}

void host_init(unsigned int nr_cpus, unsigned int nr_nodes)
{
	pthread_t thread;

	BUG_ON(nr_cpus > HOST_MAX_CPUS || !nr_nodes);
	host_nr_cpus = nr_cpus;
	host_nr_nodes = nr_nodes;
	BUG_ON(pthread_create(&thread, NULL, rcu_thread, NULL));
	pthread_detach(thread);
	host_thread_enter(-1);
}
