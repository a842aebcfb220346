// SPDX-License-Identifier: GPL-2.0-only
/* The clock and the thread of a tracker. */
#include "core/tracker.h"
#include "shim.h"

u64 fuzz_clock;
bool fuzz_rcu_is_watching = true;
struct task_struct fuzz_task;

struct task_struct *fuzz_kthread_create(int (*fn)(void *data), void *data)
{
	if (host_alloc_left >= 0 && host_alloc_left-- == 0) {
		host_alloc_left = 0;
		return ERR_PTR(-ENOMEM);
	}
	fuzz_task = (struct task_struct){ .fn = fn, .data = data };
	return &fuzz_task;
}

/*
 * The thread keeps nothing over a sleep, so that its function may end there,
 * and begin anew when it wakes.
 */
bool kthread_should_stop(void)
{
	return fuzz_task.stop || fuzz_task.asleep;
}

void schedule_hrtimeout(ktime_t *delta, int mode)
{
	might_sleep();
	EXPECT(*delta >= 0, "a sleep of %lld ns", (long long)*delta);
	fuzz_task.asleep = true;
	fuzz_task.wake_ns = fuzz_clock + *delta;
}

void fuzz_worker_run(void)
{
	unsigned int turns = 0;

	while (fuzz_task.fn && (fuzz_task.runs || fuzz_clock >= fuzz_task.wake_ns)) {
		EXPECT(++turns < 100, "the worker does not come to rest");
		fuzz_task.runs = false;
		fuzz_task.asleep = false;
		fuzz_task.fn(fuzz_task.data);
		EXPECT(fuzz_task.asleep, "the worker ended");
	}
}

void kthread_stop(struct task_struct *task)
{
	task->stop = true;
	task->fn(task->data);
	task->fn = NULL;
}

/* In the place of core/control.c. */
int lt_control_init(void)
{
	return 0;
}

void lt_control_exit(void)
{
}

int lt_control_add(struct latency_tracker *tracker)
{
	/* The name is taken. */
	return host_alloc_left >= 0 && host_alloc_left-- == 0 ? -EEXIST : 0;
}

void lt_control_del(struct latency_tracker *tracker)
{
}
