// SPDX-License-Identifier: GPL-2.0-only
/* CPUs, memory, RCU and threads of the kernel, see native.h. No tracker is ever destroyed. */
#include <asm/prctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/tracker.h"

#define MAX_HELPERS	2048

unsigned int host_nr_cpus;
unsigned int host_nr_nodes = 1;

char *native_areas[NATIVE_MAX_CPUS];
__thread struct task_struct *current;

static size_t percpu_used = sizeof(struct native_cpu);

void msleep(unsigned int ms)
{
	usleep(ms * 1000);
}

size_t native_percpu(size_t size, size_t align)
{
	size_t at = ALIGN(percpu_used, align);

	percpu_used = at + ALIGN(size, 8);
	BUG_ON(percpu_used > NATIVE_AREA);
	return at;
}

/* ---- CPUs, and one that all helpers share: they only use it to be in a section ---- */

void bench_cpu(unsigned int nr)
{
	BUG_ON(syscall(SYS_arch_prctl, ARCH_SET_GS, native_areas[nr]));
}

void bench_machine(unsigned int cpus)
{
	const char *nodes = getenv("BENCH_NODES");
	struct native_cpu *cpu;
	unsigned int i;

	host_nr_nodes = nodes ? strtoul(nodes, NULL, 10) : 1;
	host_nr_cpus = cpus + 1;
	BUG_ON(host_nr_cpus > NATIVE_MAX_CPUS);
	for (i = 0; i < host_nr_cpus; i++) {
		native_areas[i] = host_alloc(1, NATIVE_AREA);
		BUG_ON(!native_areas[i]);
		cpu = (struct native_cpu *)native_areas[i];
		cpu->area = native_areas[i];
		cpu->nr = i;
	}
	bench_cpu(0);
}

/* ---- threads that help ---- */

static pthread_mutex_t helpers_lock = PTHREAD_MUTEX_INITIALIZER;
static clockid_t helpers[MAX_HELPERS];
static unsigned int nr_helpers;

/* The calling thread is one. Like the tracker's, it goes before all others. */
void bench_helper(void)
{
	struct sched_param param = { .sched_priority = 1 };

	pthread_mutex_lock(&helpers_lock);
	BUG_ON(nr_helpers == MAX_HELPERS);
	BUG_ON(pthread_getcpuclockid(pthread_self(), &helpers[nr_helpers++]));
	/* A process of a lower class stays there. */
	if ((sched_getscheduler(0) != SCHED_OTHER ||
	     pthread_setschedparam(pthread_self(), SCHED_FIFO, &param)) && nr_helpers == 1)
		fprintf(stderr, "lt_bench: no right to real-time priority: threads that bring "
			"memory back may come late\n");
	pthread_mutex_unlock(&helpers_lock);
	prctl(PR_SET_TIMERSLACK, 1);
}

/* Not by the clock of the process, which learns of other CPUs at their next tick. */
double bench_helpers_ns(void)
{
	struct timespec ts;
	double ns = 0;
	unsigned int i;

	pthread_mutex_lock(&helpers_lock);
	for (i = 0; i < nr_helpers; i++) {
		BUG_ON(clock_gettime(helpers[i], &ts));
		ns += ts.tv_sec * 1e9 + ts.tv_nsec;
	}
	pthread_mutex_unlock(&helpers_lock);
	return ns;
}

struct task_struct *host_kthread_create(int (*fn)(void *data), void *data)
{
	struct task_struct *task = host_alloc(1, sizeof(*task));

	if (!task)
		return ERR_PTR(-ENOMEM);
	task->fn = fn;
	task->data = data;
	pthread_mutex_init(&task->lock, NULL);
	pthread_cond_init(&task->wake, NULL);
	return task;
}

static void *task_main(void *arg)
{
	current = arg;
	bench_cpu(host_nr_cpus - 1);
	current->fn(current->data);
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
	return false;
}

void kthread_stop(struct task_struct *task)
{
	BUG_ON("no tracker is destroyed here");
}

void schedule_hrtimeout(ktime_t *delta, int mode)
{
	u64 until = bench_clock() + *delta;
	struct timespec ts = {
		.tv_sec = until / NSEC_PER_SEC, .tv_nsec = until % NSEC_PER_SEC,
	};

	pthread_mutex_lock(&current->lock);
	while (!READ_ONCE(current->running))
		if (pthread_cond_clockwait(&current->wake, &current->lock, CLOCK_MONOTONIC, &ts))
			break;
	pthread_mutex_unlock(&current->lock);
}

/* Nothing here asks about what is pending. */
void wait_for_completion(struct completion *c)
{
	abort();
}

/* ---- RCU ---- */

void synchronize_rcu(void)
{
	urcu_qsbr_synchronize_rcu();
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
