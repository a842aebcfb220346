// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wake-up latency: from the moment a task is woken until it runs.
 *
 * Default threshold: 10 ms. An event wakeup_latency tells who waited, who woke
 * it, and who held the CPU, with the kernel stack of the latter: at the end, the
 * task that is switched from; at a timeout, the one that is running there.
 * Between a hog and the one that waits for it often some short kernel thread
 * runs, so the event also tells who had the CPU for most of the wait.
 *
 * What is not a wake-up latency:
 *
 * - A task may be woken that is not asleep: it has just said that it will, but
 *   is still running, or was preempted on its way. Then it is not switched to
 *   because of that, and its next switch, whenever, must not be taken for the
 *   end. sched_wakeup comes under the lock of its run queue and sees it on a
 *   CPU if so; a task that slept is on none there. A preempted one that waits
 *   for a CPU anyway has been made runnable at that moment: this is a wake-up.
 * - A preemption between the wake-up and the switch: possible only until
 *   sched_wakeup has cancelled the event, if the waker is slow. The count of
 *   preemptions of the task tells.
 *
 * A second wake-up of a task that has not run since the first is not traced:
 * the first one has left it in state TASK_RUNNING, which nobody wakes, until it
 * runs and sets another. So if a begin finds an event of the same task, that
 * one is stale, and is replaced.
 */
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "wrapper/preempt.h"
#include "wrapper/sched.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_wakeup.h>

#define TRK_NAME		"wakeup"
#define TRK_USEC_THRESHOLD	10000
#define TRK_MAX_EVENTS		1024
#define TRK_GROW_LIMIT		65536
#define TRK_TASK_FILTER
#define TRK_FALSE_ALARM		was_preempted
#include "examples/tracker.h"

/**
 * struct wakeup - private data of an event
 * @preempted: how often the task had been preempted when it was woken
 * @pid: of the task
 * @waker_pid: who woke it
 * @waker_comm: likewise
 */
struct wakeup {
	unsigned long preempted;
	pid_t pid;
	pid_t waker_pid;
	char waker_comm[TASK_COMM_LEN];
};

struct wakeup_end {
	struct task_struct *prev;
	struct task_struct *next;
};

#define HISTORY	32

/**
 * struct stint - a task was on a CPU, until the next stint began
 * @arrival: when it got the CPU, ns of lt_sched_clock(); 0 if it is not known
 * @ran: of its task, in all stints; find_holder()'s, in the last stint of the task
 * @used: there was a task
 * @idle: it was the idle task
 * @pid: of the task
 * @prio: likewise
 * @comm: likewise
 */
struct stint {
	u64 arrival;
	u64 ran;
	bool used;
	bool idle;
	pid_t pid;
	int prio;
	char comm[TASK_COMM_LEN];
};

/**
 * struct history - the last stints of a CPU, changed by it with interrupts off
 * @next: index, modulo HISTORY, of the next stint
 * @stints: a ring
 */
struct history {
	unsigned int next;
	struct stint stints[HISTORY];
};

static DEFINE_PER_CPU(struct history, histories);

/* The stint of @task on this CPU is over. */
static void record(const struct task_struct *task)
{
	struct history *history = this_cpu_ptr(&histories);
	struct stint *stint = &history->stints[history->next++ % HISTORY];

	stint->arrival = lt_sched_arrival(task);
	stint->used = true;
	stint->idle = is_idle_task(task);
	stint->pid = task->pid;
	stint->prio = task->prio;
	memcpy(stint->comm, task->comm, TASK_COMM_LEN);
}

/*
 * When did @stint begin, that ended at @end? Nobody writes that down for the
 * idle task. It is not chosen while another task is queued, so if the stint
 * before it began before @queued, it was on its way out by then.
 */
static u64 begin_of(const struct stint *stint, const struct stint *older,
		    u64 queued, u64 end)
{
	if (!stint->idle)
		return min(stint->arrival, end);
	return older->arrival <= queued ? queued : end;
}

/* The @n-th last stint, from 0 on. */
static struct stint *stint_at(struct history *history, unsigned int n)
{
	return &history->stints[(history->next - 1 - n) % HISTORY];
}

/* Who had this CPU for the longest time since @queued? Interrupts are off. */
static void find_holder(struct lt_wakeup_holder *holder, u64 queued)
{
	struct history *history = this_cpu_ptr(&histories);
	const struct stint *best = NULL;
	u64 end = lt_sched_clock(), start;
	unsigned int i, n;

	for (n = 0; n < HISTORY && queued && end > queued; n++) {
		struct stint *stint = stint_at(history, n), *last;

		if (!stint->used || (!stint->arrival && !stint->idle))
			break;
		start = begin_of(stint, stint_at(history, n + 1), queued, end);
		stint->ran = 0;
		for (i = 0; stint_at(history, i)->pid != stint->pid; i++)
			;
		last = stint_at(history, i);
		last->ran += end - max(start, queued);
		if (!best || last->ran > holder->ran) {
			best = last;
			holder->ran = last->ran;
		}
		end = start;
	}
	if (!best)
		return;
	holder->pid = best->pid;
	holder->prio = best->prio;
	memcpy(holder->comm, best->comm, TASK_COMM_LEN);
}

static void begin(struct latency_tracker *tracker, struct task_struct *task)
{
	struct wakeup wakeup;
	struct latency_tracker_in in = {
		.priv = &wakeup,
		.priv_len = sizeof(wakeup),
	};

	if (!trk_wants(task))
		return;
	wakeup.preempted = READ_ONCE(task->nivcsw);
	wakeup.pid = task->pid;
	wakeup.waker_pid = current->pid;
	memcpy(wakeup.waker_comm, current->comm, TASK_COMM_LEN);
	latency_tracker_event_in(tracker, &task, sizeof(task),
				 LATENCY_TRACKER_UNIQUE, &in);
}

static void probe_sched_waking(void *data, struct task_struct *task)
{
	if (task != current)	/* else it is not asleep */
		begin(data, task);
}

static void probe_sched_wakeup_new(void *data, struct task_struct *task)
{
	begin(data, task);
}

/* Under the lock of the run queue of @task. */
static void probe_sched_wakeup(void *data, struct task_struct *task)
{
	if (unlikely(lt_task_on_cpu(task)) && task != current &&
	    trk_wants(task))
		trk_forget(data, task);
}

static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	struct wakeup_end end = { .prev = prev, .next = next };

	record(prev);
	if (is_idle_task(next) || !trk_wants(next))
		return;
	latency_tracker_event_out(data, &next, sizeof(next), 0, &end, 0);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_sched_switch)

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	trk_forget(data, task);
}

static struct trk_probe probes[] = {
	TRK_PROBE(sched_process_free),
	TRK_PROBE(sched_switch),
	TRK_PROBE(sched_wakeup),
	TRK_PROBE(sched_waking),
	TRK_PROBE(sched_wakeup_new),
};

/* The holder is @task, too, as long as nobody knows better. */
static void describe(struct lt_wakeup_prev *prev,
		     struct lt_wakeup_holder *holder,
		     const struct task_struct *task)
{
	prev->pid = task->pid;
	prev->tgid = task->tgid;
	prev->prio = task->prio;
	memcpy(prev->comm, task->comm, TASK_COMM_LEN);
	holder->ran = 0;
	holder->pid = task->pid;
	holder->prio = task->prio;
	memcpy(holder->comm, task->comm, TASK_COMM_LEN);
}

/* Between the wake-up and the switch: then it is not the end of a wait. */
static bool was_preempted(const struct latency_tracker_verdict *verdict)
{
	const struct wakeup *wakeup = verdict->priv;
	const struct wakeup_end *end = verdict->out_data;

	return end && READ_ONCE(end->next->nivcsw) != wakeup->preempted;
}

static void report_end(const struct latency_tracker_verdict *verdict,
		       const struct wakeup *wakeup)
{
	const struct wakeup_end *end = verdict->out_data;
	struct lt_wakeup_report report = {
		.task = end->next,
		.waker_comm = wakeup->waker_comm,
		.waker_pid = wakeup->waker_pid,
		.cpu = raw_smp_processor_id(),
	};
	struct lt_wakeup_holder holder;
	struct lt_wakeup_prev prev;

	describe(&prev, &holder, end->prev);
	find_holder(&holder, lt_sched_queued(end->next));
	/* At sched_switch the previous task is still the current one. */
	lt_stack_of_current(&prev.stack, trk_is_own, 1);
	trk_trace(wakeup_latency, verdict, &report, &prev, &holder);
}

struct look {
	const struct latency_tracker_verdict *verdict;
	pid_t pid;
	struct lt_wakeup_prev prev;
	struct lt_wakeup_holder holder;
};

/* In an interrupt on the CPU that a task waits for. */
static void look_who_runs(void *data)
{
	struct task_struct *task;
	struct look *look = data;

	if (!lt_in_hardirq())
		return;		/* this is the worker itself, by chance */
	describe(&look->prev, &look->holder, current);
	lt_stack_of_interrupted(&look->prev.stack);
	rcu_read_lock();
	task = trk_find_task(look->verdict, look->pid);
	if (task && task_cpu(task) == raw_smp_processor_id()) {
		record(current);
		find_holder(&look->holder, lt_sched_queued(task));
		this_cpu_ptr(&histories)->next--;	/* it isn't over */
	}
	rcu_read_unlock();
}

static int cpu_of(const struct latency_tracker_verdict *verdict, pid_t pid)
{
	struct task_struct *task;
	int cpu = -1;

	rcu_read_lock();
	task = trk_find_task(verdict, pid);
	if (task)
		cpu = task_cpu(task);
	rcu_read_unlock();
	return cpu;
}

static void look_unknown(struct look *look)
{
	look->prev.pid = -1;
	look->prev.tgid = -1;
	look->prev.prio = -1;
	look->prev.stack.nr = 0;
	look->holder.ran = 0;
	look->holder.pid = -1;
	look->holder.prio = -1;
	strscpy_pad(look->prev.comm, "-", TASK_COMM_LEN);
	strscpy_pad(look->holder.comm, "-", TASK_COMM_LEN);
}

/* The end would tell who had the CPU last; now, look who has it. */
static void report_pending(const struct latency_tracker_verdict *verdict,
			   const struct wakeup *wakeup)
{
	struct lt_wakeup_report report = {
		.waker_comm = wakeup->waker_comm,
		.waker_pid = wakeup->waker_pid,
		.cpu = cpu_of(verdict, wakeup->pid),
	};
	struct look look = { .verdict = verdict, .pid = wakeup->pid };

	if (report.cpu < 0)
		return;
	look_unknown(&look);
	smp_call_function_single(report.cpu, look_who_runs, &look, 1);
	/* If it has run meanwhile, nobody knows whom it waited for. */
	if (!trk_is_pending(verdict))
		look_unknown(&look);
	rcu_read_lock();
	report.task = trk_find_task(verdict, wakeup->pid);
	if (report.task)
		trk_trace(wakeup_latency, verdict, &report, &look.prev,
			  &look.holder);
	rcu_read_unlock();
}

static void callback(const struct latency_tracker_verdict *verdict)
{
	if (!trace_wakeup_latency_enabled())
		return;
	if (verdict->flag == LATENCY_TRACKER_ENDED)
		report_end(verdict, verdict->priv);
	else
		report_pending(verdict, verdict->priv);
}

static int __init wakeup_init(void)
{
	struct latency_tracker_config config = {
		.callback = callback,
		.key_size = sizeof(struct task_struct *),
		.priv_size = sizeof(struct wakeup),
	};

	return trk_start(&config, probes, ARRAY_SIZE(probes));
}
module_init(wakeup_init);

static void __exit wakeup_exit(void)
{
	trk_stop();
}
module_exit(wakeup_exit);

MODULE_DESCRIPTION("Latency from wake-up to running, and who held the CPU");
MODULE_LICENSE("GPL");
