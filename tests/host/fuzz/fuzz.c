// SPDX-License-Identifier: GPL-2.0-only
/*
 * RCU, CPUs, interruptions, the clock and the thread of a tracker for the fuzzers: nothing
 * is left to chance.
 */
#include <signal.h>
#include <time.h>

#include "fuzz.h"

#define MAX_OPS		256

unsigned int host_nr_cpus = FUZZ_CPUS;
unsigned int host_nr_nodes = 2;
u64 host_seed;
u64 fuzz_clock;
u64 fuzz_starve_ns;
bool fuzz_rcu_is_watching = true;
struct task_struct fuzz_task;
unsigned int fuzz_cpu;
unsigned int fuzz_nest_at;
void (*fuzz_nest)(void);
bool fuzz_trace;
bool fuzz_reader;

static int depth;
static struct rcu_head *callback;	/* the product has one at a time */
static struct work_struct *queued;	/* likewise */
static bool may_run;			/* it was queued, and not cancelled since */
static struct delayed_work *delayed[2];	/* likewise, two */
static bool before_reader;		/* it was queued before the reader came */
static u32 random_state;
static const u8 *input;
static size_t left;

u8 fuzz_byte(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/*
 * FUZZ_TIME seconds of this process, not of the clock on the wall: what else this machine does
 * takes nothing away. Then libFuzzer is asked to end.
 */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *seconds = getenv("FUZZ_TIME");
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec time = { };
	timer_t timer;

	if (!seconds)
		return 0;
	time.it_value.tv_sec = atoi(seconds);
	EXPECT(!timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) &&
	       !timer_settime(timer, 0, &time, NULL), "there is no timer");
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	unsigned int ops = 0;

	EXPECT(!depth && !fuzz_reader && !callback && !may_run && !delayed[0] && !delayed[1],
	       "an input left something behind");
	input = data;
	left = size;
	fuzz_trace = getenv("FUZZ_TRACE");
	fuzz_cpu = 0;
	fuzz_nest_at = 0;
	fuzz_clock = 1ULL << 32;
	fuzz_starve_ns = 0;
	host_alloc_left = -1;
	random_state = 1;
	if (!fuzz_begin())
		return 0;
	while (left && ops++ < MAX_OPS)
		fuzz_op();
	fuzz_end();
	EXPECT_EQ(host_allocated, 0);
	return 0;
}

u32 host_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

/* Like an NMI: to its end, within whatever is being done. */
void host_perturb(u32 weight)
{
	if (fuzz_nest_at && !--fuzz_nest_at)
		fuzz_nest();
}

/* Another thread may have the CPU for long. */
void host_resched(void)
{
	might_sleep();
	fuzz_clock += fuzz_starve_ns;
	fuzz_starve_ns = 0;
}

/* ---- CPUs and sections ---- */

void host_preempt_disable(void)
{
	depth++;
}

void host_preempt_enable(void)
{
	BUG_ON(--depth < 0);
}

bool host_preempt_off(void)
{
	return depth;
}

void fuzz_next_cpu(u8 arg)
{
	fuzz_cpu = (fuzz_cpu + 1) % FUZZ_CPUS;
}

unsigned int host_cpu(void)
{
	BUG_ON(!depth);
	return fuzz_cpu;
}

/* ---- RCU ---- */

void fuzz_reader_enter(void)
{
	fuzz_reader = true;
	before_reader = callback;
}

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	EXPECT(!callback, "a second one");
	head->func = func;
	callback = head;
	before_reader = false;
}

bool fuzz_grace_period_waits(void)
{
	return callback;
}

bool fuzz_grace_period(void)
{
	struct rcu_head *head = callback;

	might_sleep();
	if (!head || (fuzz_reader && !before_reader))
		return false;
	callback = NULL;
	head->func(head);
	return true;
}

void synchronize_rcu(void)
{
	BUG_ON(fuzz_reader);
	fuzz_grace_period();
}

void rcu_barrier(void)
{
	BUG_ON(fuzz_reader);
	fuzz_grace_period();
}

/* ---- the thread, and a work item ---- */

void queue_work(void *wq, struct work_struct *work)
{
	EXPECT(!queued, "a second one");
	queued = work;
	may_run = true;
}

void cancel_work_sync(struct work_struct *work)
{
	queued = NULL;
	may_run = false;
}

void queue_delayed_work(void *wq, struct delayed_work *work, unsigned long delay)
{
	bool at = delayed[0];

	EXPECT(!delayed[at] && delayed[0] != work, "a third one, or a second time");
	delayed[at] = work;
}

static bool delayed_take(const struct delayed_work *work)
{
	bool at = delayed[1] == work;

	if (delayed[at] != work)
		return false;
	delayed[at] = NULL;
	return true;
}

void cancel_delayed_work_sync(struct delayed_work *work)
{
	delayed_take(work);
}

bool fuzz_delayed_run(struct delayed_work *work)
{
	bool is_queued = delayed_take(work);

	if (is_queued)
		work->work.func(&work->work);
	return is_queued;
}

static bool run_work(void)
{
	struct work_struct *work = queued;

	queued = NULL;
	if (work)
		work->func(work);
	return work;
}

struct task_struct *host_kthread_create(int (*fn)(void *data), void *data)
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
	/* While something else has the CPU, there is none for a work item. */
	bool starves = fuzz_starve_ns;
	unsigned int turns = 0;

	do {
		while (fuzz_task.fn && (fuzz_task.runs || fuzz_clock >= fuzz_task.wake_ns)) {
			EXPECT(++turns < 100, "the worker does not come to rest");
			fuzz_task.runs = false;
			fuzz_task.asleep = false;
			fuzz_task.fn(fuzz_task.data);
			EXPECT(fuzz_task.asleep, "the worker ended");
		}
	} while (!starves && run_work());
}

void wait_for_completion(struct completion *c)
{
	might_sleep();
	fuzz_worker_run();
	EXPECT(c->done, "the worker does not do what is waited for");
}

void wake_up_process(struct task_struct *task)
{
	task->runs = true;
}

void kthread_stop(struct task_struct *task)
{
	task->stop = true;
	task->fn(task->data);
	task->fn = NULL;
}
