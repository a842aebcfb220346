// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits of all tasks: which task was off the CPU, when, why, and what has woken it.
 *
 * Each task that runs gets a place, see owners.h. If all that it may have are taken, nothing is
 * known of the task, which is counted.
 *
 * What writes to a place:
 *
 *	switch away	with the lock of the run queue of the task
 *	wake-up		with p->pi_lock; only while the task is off the CPU, and was not woken
 *	switch to	with the lock of its run queue, after the wake-up has put it there
 *
 * So one at a time, and each sees what those before have written. The reader in path_task_now()
 * may see half of a change: it reads twice. Hence WRITE_ONCE() for what it reads.
 *
 * Only a long wait is published, when it is over, and only for one the waker is noted.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "examples/critical_path/owners.h"
#include "examples/critical_path/path.h"
#include "usecase/interrupt.h"
#include "usecase/off_cpu.h"
#include "wrapper/sched.h"
#include "wrapper/syscalls.h"

/**
 * struct place - what is known of a task
 * @out_ns: since when it is off the CPU; 0: it has one
 * @woken_ns: when it was woken since; 0: it was not
 * @since_ns: when its last long wait was over, or when it was seen first
 * @exec_ns: its CPU time then
 * @first_out_ns: when it was switched away from first since; 0: it was not
 * @in_ns: when it got a CPU last
 * @user: its time in user space at @since_ns, by the ticks of the kernel, in units of 4 ms
 * @system: likewise in the kernel
 * @ended_by: number of the wait that was over when it was woken; 0. It, and the waker, are noted
 *	if @context is not UNKNOWN.
 * @waker_pid: of the task that woke it; -1
 * @line: of the interrupt that did, or -1
 * @state: why it is off the CPU, enum offcpu_state
 * @context: where it was woken, enum offcpu_context; UNKNOWN: by what is not noted
 * @softirq: vector
 * @is_timer: by a timer that expired
 * @waker_comm: likewise; "-"
 */
struct place {
	u64 out_ns;
	u64 woken_ns;
	u64 since_ns;
	u64 exec_ns;
	u64 first_out_ns;
	u64 in_ns;
	u64 ended_by;
	u32 user;
	u32 system;
	pid_t waker_pid;
	int line;
	u8 state;
	u8 context;
	u8 softirq;
	bool is_timer;
	char waker_comm[TASK_COMM_LEN];
};

static struct path_owners owners;
static struct place *places;
static DEFINE_PER_CPU(unsigned long, lost);

/* The task that was switched to last, and its place: it is the next one to be switched from. */
struct here {
	const struct task_struct *task;
	struct place *place;
};

static DEFINE_PER_CPU(struct here, here);

/* Of long waits, ns; of those whose stacks are kept. */
u64 path_least_ns = LATENCY_TRACKER_NEVER;
u64 path_usec_stack = 10000;

static __always_inline bool is_long(u64 ns)
{
	return unlikely(ns >= READ_ONCE(path_least_ns));
}

static struct place *place_of(const struct task_struct *task)
{
	int number = path_owners_find(&owners, task);

	return number < 0 ? NULL : &places[number];
}

/* Of a time that the kernel counts by ticks. */
static u32 units(u64 ns)
{
	return ns >> 22;
}

/* Where has @task run since the long wait before? */
static void where_it_ran(const struct task_struct *task, const struct place *place,
			 u8 *user, u8 *system)
{
	u32 in_user = units(READ_ONCE(task->utime)) - READ_ONCE(place->user);
	u32 in_system = units(READ_ONCE(task->stime)) - READ_ONCE(place->system);

	*user = min_t(u32, in_user, U8_MAX);
	*system = min_t(u32, in_system, U8_MAX);
}

/* What it does from now on is counted anew. */
static void count_from(struct place *place, const struct task_struct *task, u64 now)
{
	WRITE_ONCE(place->since_ns, now);
	WRITE_ONCE(place->exec_ns, task->se.sum_exec_runtime);
	WRITE_ONCE(place->first_out_ns, 0);
	WRITE_ONCE(place->user, units(task->utime));
	WRITE_ONCE(place->system, units(task->stime));
}

/* A place for a task that has none. */
static noinline struct place *take_place(struct task_struct *task, u64 since)
{
	int number = path_owners_take(&owners, task);

	if (number < 0) {
		this_cpu_inc(lost);
		return NULL;
	}
	count_from(&places[number], task, since);
	WRITE_ONCE(places[number].in_ns, 0);
	return &places[number];
}

static void describe_waker(struct latency_tracker_wait *wait,
			   const struct place *place)
{
	wait->context = place->context;
	wait->by_pid = place->waker_pid;
	memcpy(wait->by_comm, place->waker_comm, TASK_COMM_LEN);
	wait->ended_by = place->ended_by;
	wait->is_timer = place->is_timer;
	wait->softirq = place->softirq;
	wait->line = place->line;
}

static void no_waker(struct latency_tracker_wait *wait)
{
	wait->by_pid = -1;
	strscpy_pad(wait->by_comm, "-", TASK_COMM_LEN);
	wait->softirq = OFFCPU_NO_SOFTIRQ;
	wait->line = -1;
}

static u32 up_to_u32(u64 ns)
{
	return min_t(u64, ns, U32_MAX);
}

/*
 * Where @task has slept says what for. If it could have run, its stack is of no use, and on a busy
 * machine that is each switch, with interrupts off.
 */
static void look_at(struct latency_tracker_wait *wait, struct task_struct *task)
{
	u64 ready = wait->ready_ns ?: wait->end_ns;
	/* Clocks of two CPUs may differ by some ns. */
	u64 slept = ready > wait->begin_ns ? ready - wait->begin_ns : 0;

	if (wait->cause == OFFCPU_RUNNABLE)
		wait->cause = lt_syscall_is_yield(task) ? OFFCPU_YIELDED : OFFCPU_PREEMPTED;
	if (!lt_offcpu_could_run(wait->cause) &&
	    slept >= READ_ONCE(path_usec_stack) * NSEC_PER_USEC)
		wait->dev = path_stack_keep(task);
}

/* The wait of @task is over, or its life. */
static noinline void publish(struct place *place, struct task_struct *task,
			     u64 begin, u64 now)
{
	struct latency_tracker_wait wait = {
		.kind = LATENCY_TRACKER_WAIT_OFFCPU,
		.begin_ns = begin,
		.end_ns = now,
		.ready_ns = lt_offcpu_could_run(place->state) ? begin : place->woken_ns,
		.part_ns = task->se.sum_exec_runtime - place->exec_ns,
		.where = place->since_ns,
		.pid = task->pid,
		.cause = place->state,
		.more = lt_offcpu_stall(task, place->state),
		.first_ns = up_to_u32((place->first_out_ns ?: begin) - place->since_ns),
		.last_ns = up_to_u32(begin - max(place->in_ns, place->since_ns)),
	};

	if (place->woken_ns && place->context != OFFCPU_CONTEXT_UNKNOWN)
		describe_waker(&wait, place);
	else
		no_waker(&wait);
	where_it_ran(task, place, &wait.user, &wait.system);
	memcpy(wait.comm, task->comm, TASK_COMM_LEN);
	look_at(&wait, task);
	latency_tracker_wait_publish(&wait);
	count_from(place, task, now);
}

static void arrive(struct place *place, struct task_struct *task, u64 now)
{
	u64 out;

	if (!place || !place->out_ns)
		return;
	out = place->out_ns;
	WRITE_ONCE(place->out_ns, 0);
	/* What is published still needs to know when it came the last time. */
	if (now > out && is_long(now - out))
		publish(place, task, out, now);
	WRITE_ONCE(place->in_ns, now);
}

/* What it did after its last wait is told when it dies; its pid may be another's then. */
static noinline void die(struct place *place, struct task_struct *task, u64 now)
{
	WRITE_ONCE(place->state, OFFCPU_OTHER);
	WRITE_ONCE(place->woken_ns, 0);
	publish(place, task, now, now);
}

static void leave(struct place *place, struct task_struct *task, u64 now,
		  bool preempt, unsigned int state)
{
	if (!place)
		place = take_place(task, now);
	if (!place)
		return;
	if (unlikely(state == TASK_DEAD)) {
		die(place, task, now);
		return;
	}
	WRITE_ONCE(place->state, lt_offcpu_state(task, preempt, state));
	if (!place->first_out_ns)
		WRITE_ONCE(place->first_out_ns, now);
	WRITE_ONCE(place->woken_ns, 0);
	WRITE_ONCE(place->out_ns, now);
}

static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	u64 now = latency_tracker_clock();
	struct here *mine = this_cpu_ptr(&here);

	if (!is_idle_task(prev))
		leave(likely(mine->task == prev) ? mine->place : place_of(prev),
		      prev, now, preempt, prev_state);
	if (is_idle_task(next))
		return;
	mine->task = next;
	mine->place = place_of(next);
	arrive(mine->place, next, now);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_sched_switch)

/*
 * Why did a soft interrupt wait that runs now? A task that has had the CPU since before was in
 * the way, or what had interrupted it; or it was to run in a thread, which may have had to wait.
 * Any other task has nothing to do with it.
 */
static void name_busy(struct latency_tracker_wait *raised)
{
	const struct place *place = place_of(current);

	if (!lt_task_runs_softirqs(current) &&
	    (is_idle_task(current) || !place || !place->in_ns ||
	     place->in_ns > raised->begin_ns))
		return;
	raised->by_pid = current->pid;
	memcpy(raised->by_comm, current->comm, TASK_COMM_LEN);
}

/* What this CPU has just completed, if that may be what @task has waited for. */
static u64 completed_for(const struct task_struct *task, enum offcpu_context context)
{
	struct latency_tracker_wait wait;

	/* A task that completes something may wake others for another reason. */
	if ((context != OFFCPU_CONTEXT_TASK || task->in_iowait) &&
	    lt_doing_is(LT_DOING_DISK, &wait))
		return latency_tracker_wait_publish(&wait);
	if (context == OFFCPU_CONTEXT_TASK)
		return path_work_publish();
	if (context != OFFCPU_CONTEXT_SOFTIRQ || !lt_doing_is(LT_DOING_RAISED, &wait))
		return 0;
	name_busy(&wait);
	return latency_tracker_wait_publish(&wait);
}

static noinline void note_waker(struct place *place, const struct task_struct *task)
{
	place->context = lt_context();
	if (place->context == OFFCPU_CONTEXT_TASK) {
		memcpy(place->waker_comm, current->comm, TASK_COMM_LEN);
		place->waker_pid = current->pid;
	} else {
		strscpy_pad(place->waker_comm, "-", TASK_COMM_LEN);
		place->waker_pid = -1;
	}
	place->is_timer = lt_interrupt_is_timer();
	place->line = lt_interrupt_line();
	place->softirq = place->context == OFFCPU_CONTEXT_SOFTIRQ ?
				 lt_interrupt_softirq() : OFFCPU_NO_SOFTIRQ;
	place->ended_by = place->context == OFFCPU_CONTEXT_NMI ? 0 :
			  completed_for(task, place->context);
}

/* A task that is seen for the first time waits for a CPU from now on. */
static noinline void appear(struct task_struct *task, u64 now)
{
	struct place *place = take_place(task, now);

	if (!place)
		return;
	WRITE_ONCE(place->state, OFFCPU_PREEMPTED);
	/* It has no CPU yet, if this wait is too short to be told, too. */
	WRITE_ONCE(place->first_out_ns, now);
	WRITE_ONCE(place->woken_ns, 0);
	WRITE_ONCE(place->out_ns, now);
}

static void probe_sched_waking(void *data, struct task_struct *task)
{
	struct place *place = place_of(task);
	u64 now;

	if (unlikely(!place)) {
		/* Since when it has slept is not known. If it has a CPU, it may keep that. */
		if (!lt_task_on_cpu(task))
			appear(task, latency_tracker_clock());
		return;
	}
	if (!place->out_ns || place->woken_ns ||
	    lt_offcpu_could_run(place->state))
		return;
	now = latency_tracker_clock();
	if (now > place->out_ns && is_long(now - place->out_ns))
		note_waker(place, task);
	else
		place->context = OFFCPU_CONTEXT_UNKNOWN;
	/* The waker comes first, for publish() on another CPU: see above. */
	WRITE_ONCE(place->woken_ns, now);
}

static void probe_sched_wakeup_new(void *data, struct task_struct *task)
{
	appear(task, latency_tracker_clock());
}

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	int number = path_owners_find(&owners, task);

	path_works_forget(task);
	if (number < 0)
		return;
	WRITE_ONCE(places[number].out_ns, 0);
	path_owners_give(&owners, number);
}

struct lt_probe path_probes[] = {
	LT_PROBE(sched_process_free),
	LT_PROBE(sched_waking),
	LT_PROBE(sched_wakeup_new),
	LT_PROBE(sched_switch),
};

const unsigned int path_nr_probes = ARRAY_SIZE(path_probes);

static void read_place(const struct place *place, struct path_now *now)
{
	now->out_ns = READ_ONCE(place->out_ns);
	now->woken_ns = READ_ONCE(place->woken_ns);
	now->since_ns = READ_ONCE(place->since_ns);
	now->exec_ns = READ_ONCE(place->exec_ns);
	now->first_out_ns = READ_ONCE(place->first_out_ns);
	now->in_ns = READ_ONCE(place->in_ns);
	now->state = READ_ONCE(place->state);
}

/*
 * What is @pid doing, and what has it done since its last long wait? The time that it has had a CPU
 * is as old as the last tick. False: that is not known.
 */
bool path_task_now(pid_t pid, struct path_now *now)
{
	const struct task_struct *task;
	const struct place *place;
	struct path_now again;
	bool found = false;

	*now = (struct path_now){ };
	rcu_read_lock();
	task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	place = task ? place_of(task) : NULL;
	if (place) {
		read_place(place, now);
		smp_rmb();	/* it is thrown away if it changes meanwhile */
		again = *now;
		read_place(place, now);
		found = !memcmp(&again, now, sizeof(again)) && place_of(task) == place;
		now->exec_ns = READ_ONCE(task->se.sum_exec_runtime) - now->exec_ns;
		where_it_ran(task, place, &now->user, &now->system);
	}
	rcu_read_unlock();
	return found;
}

/* Tasks of which nothing was known. */
unsigned long path_tasks_lost(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(lost, cpu));
	return sum;
}

u64 path_tasks_memory(void)
{
	return path_owners_places(&owners) * (sizeof(*owners.tasks) + sizeof(*places));
}

/* For about @nr tasks. Before there are probes; task, may sleep. 0 or -ENOMEM. */
int path_tasks_start(unsigned int nr)
{
	if (path_owners_make(&owners, ilog2(nr / PATH_WAYS)))
		places = vzalloc(path_owners_places(&owners) * sizeof(*places));
	if (places)
		return 0;
	path_tasks_stop();
	return -ENOMEM;
}

/* There are no probes any more. */
void path_tasks_stop(void)
{
	path_owners_free(&owners);
	vfree(places);
	places = NULL;
}
