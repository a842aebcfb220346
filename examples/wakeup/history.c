// SPDX-License-Identifier: GPL-2.0-only
/*
 * What became of the time in which a task waited for a CPU.
 *
 * Each CPU keeps its last stints: which task had it, from when on. The time from
 * when the task was queued on this CPU is split among them:
 *
 * - throttled: a control group of the task was out of its cpu.max.
 * - kept back: a task of a lower class or none had the CPU, while a real-time
 *   task was to wait. The scheduler does so if real-time tasks have used up their
 *   share: rt_throttled, and from 6.12 on dl_server. This is taken for true only
 *   of a stint that began while a real-time task that had been preempted was on
 *   this run queue, or the real-time task that waits. A stint that had begun before
 *   may just not have been preempted yet.
 * - steal: a hypervisor had the CPU. Its count is looked at when a stint begins, and
 *   when a task is queued.
 * - cpu: tasks had the CPU otherwise. The one with the most time is the holder.
 * - The CPU was idle: why is not known. Neither is what was before the last HISTORY
 *   stints, unless the group was throttled, nor the time before the task was queued on
 *   this CPU. But a CPU that was idle queues a task as soon as it gets the interrupt that
 *   asks for this, unless a hypervisor keeps the CPU: then that time is steal, too. The
 *   count may have grown in interrupts before, in the same idle time; at most that is taken
 *   for a part of the wait.
 *
 * The largest part is the cause.
 */
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "examples/wakeup/history.h"
#include "examples/wakeup/steal.h"
#include "examples/wakeup/throttle.h"
#include "usecase/task.h"
#include "wrapper/sched.h"

/* Not static per CPU: all modules together have 8 KiB of that. */
struct history __percpu *wakeup_histories;

/**
 * struct split - of a wait
 * @cpu: tasks had the CPU, ns
 * @idle: the CPU was idle, or real-time tasks were kept back for a reason that is
 *	not known
 * @kept: real-time tasks were kept back
 * @throttled: the group was throttled
 * @steal: a hypervisor had the CPU
 * @locked: the lock of the run queue is held
 * @most: the last stint of the task that had most of @cpu
 * @last: the last stints of these tasks by the hash of their pid: 0, or one more than the index
 *	in the ring
 */
struct split {
	u64 cpu;
	u64 idle;
	u64 kept;
	u64 throttled;
	u64 steal;
	bool locked;
	const struct stint *most;
	u8 last[HISTORY];
};

/*
 * Is a real-time task on the run queue of this CPU? Its lock is held, so what is
 * found there stays.
 */
static bool keeps_back(struct history *history)
{
	const struct task_struct *task;
	bool here;

	if (likely(!history->left))
		return false;
	rcu_read_lock();
	task = lt_task_alive(history->left, history->left_pid);
	here = task && task->on_rq == 1 && history_is_rt(task->prio) &&
	       task_cpu(task) == raw_smp_processor_id();
	rcu_read_unlock();
	if (!here)
		history->left = NULL;
	return here;
}

/* Before there are probes. Process context. 0, or -ENOMEM. */
int history_start(void)
{
	int cpu;

	wakeup_histories = alloc_percpu(struct history);
	if (!wakeup_histories)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		per_cpu_ptr(wakeup_histories, cpu)->steal = lt_sched_steal(cpu);
	steal_start();
	return 0;
}

/* There are no probes, and nobody looks, any more. */
void history_stop(void)
{
	free_percpu(wakeup_histories);
}

/* What history_switch() has left: time was stolen, or a real-time task may wait for this CPU. */
void history_look(struct task_struct *prev, const struct task_struct *next,
		  bool runnable)
{
	struct history *history = this_cpu_ptr(wakeup_histories);
	u64 steal = lt_sched_steal_here();

	if (steal != history->steal) {
		history->steal = steal;
		steal_changed();
	}
	if (runnable && history_is_rt(prev->prio)) {
		history->left = prev;
		history->left_pid = prev->pid;
	} else if (next == history->left) {
		history->left = NULL;
	}
	history->kept = next->prio >= MAX_RT_PRIO && keeps_back(history);
}

/* In a probe of sched_switch, behind history_switch(): the idle task has got the CPU. */
void history_idle(void)
{
	u64 now = lt_sched_clock();

	this_cpu_ptr(wakeup_histories)->idle_since = now;
}

/* The @n-th last stint, from 0 on. */
static struct stint *stint_at(struct history *history, unsigned int n)
{
	return &history->stints[(history->next - 1 - n) % HISTORY];
}

/* Were real-time tasks kept back in all of @stint? */
static bool kept_back(const struct stint *stint, const struct wait *wait,
		      u64 queued)
{
	if (!history_is_rt(wait->prio) || wait->task->prio != wait->prio)
		return false;
	return stint->kept ||
	       (stint->arrival >= queued && stint->picked >= MAX_RT_PRIO);
}

/*
 * The last stint of the task that had this one. A wait may have as many tasks as stints, and the
 * lock of a run queue is held.
 */
static __always_inline struct stint *
last_of(struct split *split, struct history *history, struct stint *stint)
{
	u8 *bucket = &split->last[(u32)stint->pid % HISTORY], i;
	struct stint *last;

	for (i = *bucket; i; i = last->chain) {
		last = &history->stints[i - 1];
		if (last->pid == stint->pid)
			return last;
	}
	stint->ran = 0;
	stint->chain = *bucket;
	*bucket = stint - history->stints + 1;
	return stint;
}

/* A stint has taken @ns of the wait as a task. */
static __always_inline void take(struct split *split, struct history *history,
				 struct stint *stint, u64 ns)
{
	struct stint *last = last_of(split, history, stint);

	split->cpu += ns;
	last->ran += ns;
	if (!split->most || last->ran > split->most->ran)
		split->most = last;
}

/*
 * Of the @ns that @stint has of the wait, a hypervisor took what is returned, which is accounted
 * for. @steal: the count at the end of the stint.
 */
static u64 take_steal(struct split *split, const struct stint *stint, u64 steal,
		      u64 queued, u64 ns)
{
	u64 before = stint->steal;
	bool known;

	if (likely(steal == before))
		return 0;
	known = stint->arrival >= queued ||
		(split->locked && steal_at(queued, &before));
	ns = min(ns, steal - before);
	if (known)
		split->steal += ns;
	else	/* it may have taken that before the wait */
		split->idle += ns;
	return ns;
}

/* Of the @ns from the wake-up until the task was queued. */
static void take_steal_before(struct split *split, struct history *history,
			      u64 queued, u64 ns)
{
	u64 steal = lt_sched_steal_here(), known = split->steal;
	const struct stint *stint;
	unsigned int n;

	for (n = 0; n < HISTORY; n++) {
		stint = stint_at(history, n);
		if (!stint->arrival || stint->arrival <= queued)
			break;
		steal = stint->steal;
	}
	if (n < HISTORY && stint->idle && stint->arrival &&
	    stint->arrival + ns <= queued && steal - stint->steal > known)
		split->steal += min(ns, steal - stint->steal - known);
}

/*
 * Splits up the last stints for as long as each is no more than a task that had the CPU, or none.
 * Most waits consist of such stints, and may have all that are kept, while interrupts are off and
 * the lock of a run queue is held: so it is short. @end: of what is left to split up. Returns of
 * how many stints it was.
 */
static unsigned int split_plain(struct split *split, struct history *history, u64 queued,
				u64 *end, u64 steal)
{
	u64 until = *end, from;
	unsigned int n;

	for (n = 0; n < HISTORY && until > queued; n++) {
		struct stint *stint = stint_at(history, n);

		if (!stint->arrival || stint->steal != steal)
			break;
		from = max(min(stint->arrival, until), queued);
		if (stint->idle)
			split->idle += until - from;
		else
			take(split, history, stint, until - from);
		until = from;
	}
	*end = until;
	return n;
}

/* Interrupts are off. */
static void split_up(struct split *split, const struct wait *wait, u64 queued,
		     u64 end, const struct throttled *group)
{
	struct history *history = this_cpu_ptr(wakeup_histories);
	u64 from, ns, throttled, steal = lt_sched_steal_here();
	unsigned int n = 0;

	if (!group && !history_is_rt(wait->prio))
		n = split_plain(split, history, queued, &end, steal);
	for (; n < HISTORY && end > queued; n++) {
		struct stint *stint = stint_at(history, n);

		if (!stint->arrival)
			break;
		from = max(min(stint->arrival, end), queued);
		throttled = throttle_overlap(group, from, end);
		ns = end - from - throttled;
		split->throttled += throttled;
		ns -= take_steal(split, stint, steal, queued, ns);
		steal = stint->steal;
		if (kept_back(stint, wait, queued) && lt_sched_kept(stint->idle))
			split->kept += ns;
		else if (stint->idle || kept_back(stint, wait, queued))
			split->idle += ns;
		else
			take(split, history, stint, ns);
		end = from;
	}
	if (end > queued)
		split->throttled += throttle_overlap(group, queued, end);
}

static void name_holder(struct lt_wakeup_holder *holder,
			const struct stint *stint)
{
	holder->ran = stint->ran;
	holder->pid = stint->pid;
	holder->prio = stint->prio;
	memcpy(holder->comm, stint->comm, TASK_COMM_LEN);
}

/* Nothing is known of a wait of @delay_ns. */
void history_unknown(struct lt_wakeup_why *why, u64 delay_ns)
{
	why->cause = LT_WAKEUP_UNKNOWN;
	why->cause_ns = delay_ns;
	why->cgroup = 0;
	why->holder.ran = 0;
	why->holder.pid = -1;
	why->holder.prio = -1;
	strscpy_pad(why->holder.comm, "-", TASK_COMM_LEN);
}

static void choose(struct lt_wakeup_why *why, u32 cause, u64 ns)
{
	if (ns <= why->cause_ns)
		return;
	why->cause = cause;
	why->cause_ns = ns;
}

static void judge(struct lt_wakeup_why *why, const struct split *split,
		  const struct wait *wait, const struct throttled *group)
{
	u64 known = split->cpu + split->kept + split->throttled + split->steal;

	history_unknown(why, wait->delay_ns - min(known, wait->delay_ns));
	choose(why, LT_WAKEUP_CPU, split->cpu);
	choose(why, lt_sched_kept(false) == LT_KEPT_DL_SERVER ?
	       LT_WAKEUP_DL_SERVER : LT_WAKEUP_RT_THROTTLED, split->kept);
	choose(why, LT_WAKEUP_STEAL, split->steal);
	choose(why, LT_WAKEUP_THROTTLED, split->throttled);
	if (why->cause == LT_WAKEUP_THROTTLED)
		why->cgroup = throttle_cgroup(group);
	if (split->most && split->cpu >= max(split->idle, split->kept) &&
	    split->cpu >= max(split->throttled, split->steal))
		name_holder(&why->holder, split->most);
}

/* The stint of what ran last is over; @locked: the lock of the run queue is held. */
static void explain(const struct wait *wait, struct lt_wakeup_why *why,
		    bool locked)
{
	u64 queued = lt_sched_queued(wait->task), end = lt_sched_clock();
	const struct throttled *group = NULL;
	struct split split = { .locked = locked };

	if (queued && end > queued) {
		if (wait->task->prio >= MAX_RT_PRIO)
			group = throttle_of(wait->task, queued, end);
		split_up(&split, wait, queued, end, group);
		if (wait->stayed && wait->delay_ns > end - queued)
			take_steal_before(&split, this_cpu_ptr(wakeup_histories), queued,
					  wait->delay_ns - (end - queued));
	}
	judge(why, &split, wait, group);
}

/*
 * Why has the task not got this CPU since it was queued? In a probe of sched_switch,
 * behind history_switch().
 */
void history_explain(const struct wait *wait, struct lt_wakeup_why *why)
{
	explain(wait, why, true);
}

/* The same, while the current task is in its stint. On the CPU, interrupts are off. */
void history_explain_now(const struct wait *wait, struct lt_wakeup_why *why)
{
	struct history *history = this_cpu_ptr(wakeup_histories);

	history_record(history, current);
	explain(wait, why, false);
	history->next--;
}
