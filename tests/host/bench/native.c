// SPDX-License-Identifier: GPL-2.0-only
/* CPUs, memory, RCU and threads of the kernel, see native.h. */
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif

#include "cells.h"
#include "core/tracker.h"

#define MAX_HELPERS	256

unsigned int host_nr_cpus;
unsigned int host_nr_nodes = 1;

char *native_areas[NATIVE_MAX_CPUS];
unsigned long native_gp = 1;
__thread struct task_struct *current;
#ifndef __x86_64__
__thread struct native_cpu *native_self;
#endif

static size_t percpu_used = sizeof(struct native_cpu);

void host_bug(const char *file, int line, const char *what)
{
	fprintf(stderr, "BUG at %s:%d: %s\n", file, line, what);
	abort();
}

bool need_resched(void)
{
	return false;
}

void msleep(unsigned int ms)
{
	usleep(ms * 1000);
}

/* ---- memory ---- */

void *host_alloc(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes) ||
	    posix_memalign(&p, SMP_CACHE_BYTES, bytes))
		return NULL;
	memset(p, 0, bytes);
	return p;
}

void host_free(const void *p)
{
	free((void *)p);
}

/* Never given back: a benchmark makes a few trackers, and ends. */
size_t native_percpu(size_t size)
{
	size_t at = percpu_used;

	percpu_used += ALIGN(size, 8);
	BUG_ON(percpu_used > NATIVE_AREA);
	return at;
}

/* ---- CPUs ---- */

static struct native_cpu *cpu_of(unsigned int nr)
{
	return (struct native_cpu *)native_areas[nr];
}

/*
 * Threads of the kernel share an area: they only use it to be in a section. The
 * main thread walks over tables at rest only, so RCU need not know of it.
 */
static void use_area(unsigned int cpu)
{
#ifdef __x86_64__
	BUG_ON(syscall(SYS_arch_prctl, ARCH_SET_GS, native_areas[cpu]));
#else
	native_self = cpu_of(cpu);
#endif
}

void bench_machine(unsigned int threads)
{
	unsigned int i;

	host_nr_cpus = threads + NATIVE_HELPER_CPUS;
	BUG_ON(host_nr_cpus > NATIVE_MAX_CPUS);
	for (i = 0; i < host_nr_cpus; i++) {
		native_areas[i] = host_alloc(1, NATIVE_AREA);
		BUG_ON(!native_areas[i]);
		cpu_of(i)->area = native_areas[i];
		cpu_of(i)->nr = i;
	}
	use_area(threads);
}

void native_enter(unsigned int cpu)
{
	use_area(cpu);
	WRITE_ONCE(native_this_cpu()->qs, READ_ONCE(native_gp));
	/* Pairs with that of synchronize_rcu(). */
	smp_mb();
}

void native_leave(void)
{
	/* Pairs with that of synchronize_rcu(). */
	smp_mb();
	WRITE_ONCE(native_this_cpu()->qs, 0);
	native_tell();
}

/* ---- threads that help ---- */

static pthread_mutex_t helpers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t helpers[MAX_HELPERS];
static unsigned int nr_helpers;
static cpu_set_t helpers_cpus;
static bool no_realtime;

void bench_confine(const cpu_set_t *cpus)
{
	unsigned int i;

	pthread_mutex_lock(&helpers_lock);
	helpers_cpus = *cpus;
	for (i = 0; i < nr_helpers; i++)
		pthread_setaffinity_np(helpers[i], sizeof(*cpus), cpus);
	pthread_mutex_unlock(&helpers_lock);
}

/* The calling thread is one. Like the tracker's, it goes before all others. */
void bench_helper(void)
{
	struct sched_param param = { .sched_priority = BENCH_PRIORITY + 1 };

	pthread_mutex_lock(&helpers_lock);
	BUG_ON(nr_helpers == MAX_HELPERS);
	helpers[nr_helpers++] = pthread_self();
	if (CPU_COUNT(&helpers_cpus))
		pthread_setaffinity_np(pthread_self(), sizeof(helpers_cpus),
				       &helpers_cpus);
	/* Who was told to stay behind others stays there. */
	if ((sched_getscheduler(0) != SCHED_OTHER &&
	     sched_getscheduler(0) != SCHED_FIFO) ||
	    pthread_setschedparam(pthread_self(), SCHED_FIFO, &param))
		no_realtime = true;
	pthread_mutex_unlock(&helpers_lock);
	prctl(PR_SET_TIMERSLACK, 1);
}

void bench_helper_ends(void)
{
	unsigned int i;

	pthread_mutex_lock(&helpers_lock);
	for (i = 0; !pthread_equal(helpers[i], pthread_self()); i++)
		;
	helpers[i] = helpers[--nr_helpers];
	pthread_mutex_unlock(&helpers_lock);
}

double bench_helpers_ns(void)
{
	double ns = 0;
	unsigned int i;

	pthread_mutex_lock(&helpers_lock);
	for (i = 0; i < nr_helpers; i++)
		ns += bench_cpu_ns(helpers[i]);
	pthread_mutex_unlock(&helpers_lock);
	return ns;
}

bool bench_realtime(void)
{
	return !no_realtime;
}

struct task_struct *native_task_new(int (*fn)(void *data), void *data)
{
	struct task_struct *task = host_alloc(1, sizeof(*task));
	pthread_condattr_t attr;

	if (!task)
		return ERR_PTR(-ENOMEM);
	task->fn = fn;
	task->data = data;
	pthread_mutex_init(&task->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&task->wake, &attr);
	return task;
}

void native_task_free(struct task_struct *task)
{
	host_free(task);
}

static void *task_main(void *arg)
{
	current = arg;
	use_area(host_nr_cpus - 1);
	current->fn(current->data);
	bench_helper_ends();
	return NULL;
}

void wake_up_process(struct task_struct *task)
{
	pthread_mutex_lock(&task->lock);
	WRITE_ONCE(task->running, true);
	if (!task->started) {
		task->started = true;
		BUG_ON(pthread_create(&task->thread, NULL, task_main, task));
	}
	pthread_cond_signal(&task->wake);
	pthread_mutex_unlock(&task->lock);
}

bool kthread_should_stop(void)
{
	return READ_ONCE(current->stop);
}

void kthread_stop(struct task_struct *task)
{
	WRITE_ONCE(task->stop, true);
	wake_up_process(task);
	pthread_join(task->thread, NULL);
}

void schedule_hrtimeout(ktime_t *delta, int mode)
{
	u64 until = bench_clock() + *delta;
	struct timespec ts = {
		.tv_sec = until / NSEC_PER_SEC, .tv_nsec = until % NSEC_PER_SEC,
	};

	pthread_mutex_lock(&current->lock);
	while (!READ_ONCE(current->running))
		if (pthread_cond_timedwait(&current->wake, &current->lock, &ts))
			break;
	pthread_mutex_unlock(&current->lock);
}

/* ---- RCU ---- */

static int gp_waits;	/* a futex: 1 while somebody waits for a CPU */

static bool gp_passed(unsigned int cpu)
{
	unsigned long qs = READ_ONCE(cpu_of(cpu)->qs);

	return !qs || qs == native_gp;
}

/* As liburcu's QSBR does it: a timer would cost more, and come late. */
void synchronize_rcu(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	unsigned int i;

	pthread_mutex_lock(&lock);
	/* Both pair with those of native_quiescent(), enter and leave. */
	smp_mb();
	WRITE_ONCE(native_gp, native_gp + 1);
	smp_mb();
	for (i = 0; i < host_nr_cpus; i++)
		while (!gp_passed(i)) {
			/* Pairs with that of native_tell(). */
			xchg(&gp_waits, 1);
			if (!gp_passed(i))
				syscall(SYS_futex, &gp_waits, FUTEX_WAIT_PRIVATE,
					1, NULL, NULL, 0);
		}
	smp_mb();
	pthread_mutex_unlock(&lock);
}

/* A CPU has passed, and that is to be seen. */
void native_tell(void)
{
	/* Pairs with the xchg() of synchronize_rcu(). */
	smp_mb();
	if (!READ_ONCE(gp_waits))
		return;
	WRITE_ONCE(gp_waits, 0);
	syscall(SYS_futex, &gp_waits, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Only the thread of a tracker calls it, and has nothing else to do. */
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	synchronize_rcu();
	func(head);
}

void rcu_barrier(void)
{
}

/* ---- in the place of core/control.c ---- */

int lt_control_init(void)
{
	return 0;
}

void lt_control_exit(void)
{
}

int lt_control_add(struct latency_tracker *tracker)
{
	return 0;
}

void lt_control_del(struct latency_tracker *tracker)
{
}
