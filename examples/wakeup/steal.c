// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of a CPU's time had a hypervisor given to others when a task was queued there?
 *
 * The kernel counts that (lt_sched_steal()) at each tick and when the CPU is not idle any
 * more. A task may be queued in the middle of the time of another one, so the count is looked
 * at then, too; a CPU remembers the last periods in which it did not change. On a machine from
 * which nothing is taken it never changes, and nothing is remembered.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "examples/wakeup/steal.h"
#include "wrapper/sched.h"

#define PERIODS	32

/**
 * struct period - in which the count of a CPU was the same
 * @from: when a task was queued there with this count first, ns of lt_sched_queued(); 0:
 *	there is no such period
 * @to: when one was queued last
 * @count: ns
 */
struct period {
	u64 from;
	u64 to;
	u64 count;
};

/**
 * struct periods - of a CPU; the lock of its run queue is held
 * @last: index, modulo PERIODS, of the last one
 * @of: a ring
 */
struct periods {
	unsigned int last;
	struct period of[PERIODS];
};

static DEFINE_PER_CPU(struct periods, periods);

bool steal_counts;

/* The count of a CPU is not what it was. */
void steal_changed(void)
{
	if (!READ_ONCE(steal_counts))
		WRITE_ONCE(steal_counts, true);
}

/* Before there are probes. */
void steal_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (lt_sched_steal(cpu))
			steal_changed();
	}
}

/* @task was put on the run queue of a CPU, whose lock is held. */
void steal_queued(const struct task_struct *task)
{
	int cpu = task_cpu(task);
	struct periods *mine = per_cpu_ptr(&periods, cpu);
	struct period *period = &mine->of[mine->last % PERIODS];
	u64 count = lt_sched_steal(cpu), queued = lt_sched_queued(task);

	/* Of a task that was on the run queue before the wake-up, this is no news. */
	if (queued < period->to)
		return;
	if (!period->from || period->count != count) {
		period = &mine->of[++mine->last % PERIODS];
		period->from = queued;
		period->count = count;
	}
	period->to = queued;
}

/*
 * The count of this CPU when a task was put on its run queue, whose lock is held. False if it
 * is not known.
 */
bool steal_at(u64 queued, u64 *count)
{
	const struct periods *mine = this_cpu_ptr(&periods);
	unsigned int i;

	for (i = 0; i < PERIODS; i++) {
		const struct period *period = &mine->of[i];

		if (period->from && period->from <= queued && queued <= period->to) {
			*count = period->count;
			return true;
		}
	}
	return false;
}
