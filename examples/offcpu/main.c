// SPDX-License-Identifier: GPL-2.0-only
/*
 * Off-CPU latency: from the switch away from a task to the switch back to it.
 *
 * Default threshold: 1 s. At the wake-up of a task that has been out that long
 * an event offcpu_sched_wakeup has the stack of the waker; when the task runs
 * again, an event offcpu_sched_switch has the delay and the stack on which the
 * task was blocked.
 *
 * By default a task that sleeps interruptibly is not tracked. With states=all
 * every task that has slept has a slot, hence the size of the pool: 8192 events,
 * growing up to a million. Not tracked are idle tasks, tasks that have
 * died, and kernel threads in state TASK_IDLE: they wait for work and say so.
 *
 * waker.c tells what has woken a task.
 */
#include <linux/err.h>

#include "examples/offcpu/waker.h"
#include "usecase/filter_set.h"
#include "usecase/interrupt.h"
#include "usecase/off_cpu.h"
#include "usecase/stage.h"
#include "usecase/usecase.h"
#include "wrapper/sched.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_offcpu.h>

LT_KEEP_EVENT(offcpu_sched_switch, OFFCPU_SCHED_SWITCH)

static struct lt_keep keeps[] = {
	LT_KEEP(offcpu_sched_switch),
};

#define USEC_THRESHOLD	1000000
#define MAX_EVENTS	8192
#define GROW_LIMIT	1048576

static struct lt_usecase usecase;

/* The events print them likewise: LT_VALUES_OFFCPU_STATE. */
static const char *const state_names[NR_OFFCPU_STATES] = {
	[OFFCPU_PREEMPTED] = "preempted",
	[OFFCPU_SLEEPING] = "sleeping",
	[OFFCPU_BLOCKED] = "blocked",
	[OFFCPU_OTHER] = "other",
	[OFFCPU_YIELDED] = "yielded",
	[OFFCPU_THROTTLED] = "throttled",
	[OFFCPU_STOPPED] = "stopped",
	[OFFCPU_TRACED] = "traced",
	[OFFCPU_FROZEN] = "frozen",
	[OFFCPU_UNKNOWN] = "unknown",
};

/* A task that sleeps mostly waits for something to do. */
static struct lt_set states = {
	.mask = GENMASK(NR_OFFCPU_STATES - 1, 0) & ~BIT(OFFCPU_SLEEPING) &
		~BIT(OFFCPU_RUNNABLE),
	.usecase = &usecase,
	.names = state_names,
	.nr_names = ARRAY_SIZE(state_names),
};

/* Which interrupt has woken a task: usecase/interrupt.c */
static struct lt_stage interrupt_stage = {
	.usecase = &usecase,
	.name = "waker_irq",
	.begin = lt_interrupts_get,
	.quiesce = lt_interrupts_put,
	.only_tells = true,
	.on = true,
};
module_param_cb(waker_irq, &lt_stage_ops, &interrupt_stage, 0644);
MODULE_PARM_DESC(waker_irq, "Tell which interrupt has woken a task (default Y)");

static struct lt_toggle kthreads = { .on = true, .usecase = &usecase };

static bool state_passes(enum offcpu_state state)
{
	return lt_set_passes(&states, state == OFFCPU_RUNNABLE ?
		BIT(OFFCPU_PREEMPTED) | BIT(OFFCPU_YIELDED) : BIT(state));
}

/* The same at both ends: to become a kernel thread or none, a task has to run. */
static __always_inline bool task_passes(const struct task_struct *task)
{
	return !is_idle_task(task) && lt_task_passes(&usecase, task) &&
	       (READ_ONCE(kthreads.on) || !(task->flags & PF_KTHREAD));
}

static bool is_waiting(bool preempt, unsigned int state)
{
	return preempt || (state != TASK_DEAD &&
			   (state & TASK_IDLE) != TASK_IDLE);
}

static __always_inline void describe(struct offcpu *offcpu,
				     const struct task_struct *task,
				     enum offcpu_state state)
{
	offcpu->pid = task->pid;
	offcpu->state = state;
	offcpu->woken_ns = 0;
}

/* A begin is filtered by the state, an end by whether there was a begin. */
static noinline void leave_cpu(struct latency_tracker *tracker,
			       struct task_struct *task, bool preempt,
			       unsigned int task_state)
{
	enum offcpu_state state;
	struct offcpu *offcpu;

	if (!task_passes(task) || !is_waiting(preempt, task_state) ||
	    !lt_task_in_cgroup(&usecase, task))
		return;
	state = lt_offcpu_state(task, preempt, task_state);
	if (!state_passes(state))
		return;
	offcpu = latency_tracker_slot_begin(tracker, lt_task_key(task), 0);
	if (IS_ERR_OR_NULL(offcpu))
		return;
	describe(offcpu, task, state);
	latency_tracker_slot_publish(tracker, offcpu, 0);
}

/* Any switch. */
static noinline void switch_any(struct latency_tracker *tracker, bool preempt,
				struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	if (task_passes(next))
		latency_tracker_slot_try_end(tracker, lt_task_key(next), next, 0);
	leave_cpu(tracker, prev, preempt, prev_state);
}

/*
 * leave_cpu() of most tasks, here the current one: it sleeps or could go on, and has a slot. False:
 * that does the rest. @now: the begin, if there is one.
 */
static __always_inline bool try_leave_cpu(struct latency_tracker *tracker,
					  enum offcpu_state state, u64 *now)
{
	struct offcpu *offcpu;

	if (state == OFFCPU_UNKNOWN || lt_task_is_filtered(&usecase) ||
	    (current->flags & PF_KTHREAD && !READ_ONCE(kthreads.on)))
		return false;
	if (!state_passes(state))
		return true;
	offcpu = latency_tracker_slot_try_begin(tracker, lt_task_key(current), now);
	if (unlikely(!offcpu))
		return false;
	describe(offcpu, current, state);
	latency_tracker_slot_publish_begun(tracker, offcpu, 0);
	return true;
}

/*
 * Most switches need no call but the last: no register has to outlive one. @prev is the current
 * task, which is found again at less.
 */
static __always_inline void on_sched_switch(void *data, bool preempt,
					    struct task_struct *prev,
					    struct task_struct *next,
					    unsigned int prev_state)
{
	enum offcpu_state state;
	u64 now = 0;

	if (!is_idle_task(prev)) {
		state = lt_offcpu_state_at_once(prev, preempt, prev_state);
		if (unlikely(!try_leave_cpu(data, state, &now))) {
			switch_any(data, preempt, current, next, prev_state);
			return;
		}
	}
	if (task_passes(next))
		latency_tracker_slot_try_end(data, lt_task_key(next), next, now);
}

LT_DEFINE_PROBE_SCHED_SWITCH(on_sched_switch)

static noinline void report_wakeup(struct task_struct *wakee, u64 start,
				   u64 delay)
{
	struct lt_stack stack;

	lt_stack_of_current(&stack, &usecase, 0);
	trace_offcpu_sched_wakeup(wakee, start, delay, &stack);
}

/* What is known of a task that is being woken. */
struct waking {
	struct latency_tracker *tracker;
	u64 now;
	u64 start;
	bool is_late;
};

static bool see_waking(struct latency_tracker_event *event, void *arg)
{
	struct waking *waking = arg;

	waking->now = latency_tracker_clock();
	if (trace_offcpu_sched_wakeup_enabled()) {
		waking->start = latency_tracker_event_start(event);
		waking->is_late = latency_tracker_is_late(waking->tracker, event,
							  waking->now);
	}
	offcpu_waker_note(latency_tracker_slot_priv(event), waking->now);
	return false;
}

static void probe_sched_waking(void *data, struct task_struct *task)
{
	struct waking waking = { .tracker = data };

	if ((!trace_offcpu_sched_wakeup_enabled() &&
	     !trace_offcpu_sched_switch_enabled()) ||
	    !task_passes(task))
		return;
	if (!latency_tracker_slot_visit(data, lt_task_key(task), see_waking, &waking))
		return;
	if (waking.is_late)
		report_wakeup(task, waking.start, waking.now - waking.start);
}

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	lt_task_gone(data, task);
}

static struct lt_probe probes[] = {
	LT_PROBE(sched_process_free),
	LT_PROBE(sched_waking),
	LT_PROBE(sched_switch),
};

static void report(const struct latency_tracker_verdict *verdict,
		   const struct task_struct *task, const struct lt_stack *stack)
{
	const struct offcpu *offcpu = verdict->priv;
	enum offcpu_state state = lt_offcpu_state_by_stack(offcpu->state, stack);
	struct lt_offcpu_waker waker;

	offcpu_waker_tell(&waker, verdict, state);
	trace_offcpu_sched_switch(verdict, task, state,
				  lt_offcpu_stall(task, state), &waker, stack);
}

static void report_pending(const struct latency_tracker_verdict *verdict)
{
	const struct offcpu *offcpu = verdict->priv;
	struct task_struct *task;
	struct lt_stack stack;

	/* A stack that is given up meanwhile stays for a section like this. */
	preempt_disable();
	rcu_read_lock();
	task = lt_task_find(verdict, offcpu->pid);
	if (task) {
		lt_stack_of_other(&stack, task);
		report(verdict, task, &stack);
	}
	rcu_read_unlock();
	preempt_enable();
}

/* The stack of the task, if it can be told; else an empty one. */
static void stack_of(struct lt_stack *stack,
		     const struct latency_tracker_verdict *verdict)
{
	const struct offcpu *offcpu = verdict->priv;
	struct task_struct *task;

	if (verdict->flag == LATENCY_TRACKER_ENDED) {
		lt_stack_of_next(stack, verdict->out_data);
		return;
	}
	stack->first = 0;
	stack->nr = 0;
	preempt_disable();
	rcu_read_lock();
	task = lt_task_find(verdict, offcpu->pid);
	if (task)
		lt_stack_of_other(stack, task);
	rcu_read_unlock();
	preempt_enable();
}

/*
 * The begin let in what is preempted or has yielded if one of the two is wanted.
 * What can't be told apart passes.
 */
static bool is_wanted(const struct latency_tracker_verdict *verdict)
{
	const struct offcpu *offcpu = verdict->priv;
	struct lt_stack stack;

	if (offcpu->state != OFFCPU_RUNNABLE ||
	    (lt_set_passes(&states, BIT(OFFCPU_PREEMPTED)) &&
	     lt_set_passes(&states, BIT(OFFCPU_YIELDED))))
		return true;
	stack_of(&stack, verdict);
	return state_passes(lt_offcpu_state_by_stack(offcpu->state, &stack));
}

static void callback(const struct latency_tracker_verdict *verdict)
{
	struct task_struct *next = verdict->out_data;
	struct lt_stack stack;

	if (!trace_offcpu_sched_switch_enabled())
		return;
	if (verdict->flag != LATENCY_TRACKER_ENDED) {
		report_pending(verdict);
		return;
	}
	lt_stack_of_next(&stack, next);
	report(verdict, next, &stack);
}

static void ids(const void *key, const void *priv, const void *out_data, u64 *id)
{
	id[0] = lt_group_of_class(out_data);
	id[1] = lt_group_of_task(out_data);
}

static void belongs(const struct latency_tracker_verdict *verdict,
		    struct lt_belongs *to)
{
	const struct offcpu *offcpu = verdict->priv;

	lt_belongs_to_task(to, verdict->out_data ?:
				       lt_task_find(verdict, offcpu->pid));
}

LT_GROUPING(grouping, ids, "class", "cgroup");

static struct lt_usecase usecase = {
	.name = "offcpu",
	.owner = THIS_MODULE,
	LT_PROBES(probes),
	LT_KEEPS(keeps),
	.stage = &interrupt_stage,
	.report = callback,
	.is_wanted = is_wanted,
	.usec_threshold = USEC_THRESHOLD,
	.max_events = MAX_EVENTS,
	.grow_limit = GROW_LIMIT,
	.key_size = sizeof(struct task_struct *),
	.priv_size = sizeof(struct offcpu),
	.slots = true,
	.grouping = &grouping,
	.group_name = lt_class_name,
	.threshold_names = LT_CLASS_NAMES,
	.threshold_find = lt_class_find,
	.belongs = belongs,
	.is_of_task = true,
};

LT_USECASE_PARAMS(usecase, USEC_THRESHOLD, MAX_EVENTS, GROW_LIMIT);
LT_TASK_FILTER_PARAMS(usecase);

module_param_cb(states, &lt_set_ops, &states, 0644);
MODULE_PARM_DESC(states, "Track only tasks that are off the CPU for these reasons, with commas: preempted, yielded, throttled, stopped, traced, frozen, sleeping, blocked, other, unknown; or all (default: all but sleeping)");
module_param_cb(kthreads, &lt_toggle_ops, &kthreads, 0644);
MODULE_PARM_DESC(kthreads, "Track kernel threads, too (default Y)");

static int __init offcpu_init(void)
{
	lt_offcpu_init();
	return lt_usecase_start(&usecase);
}
module_init(offcpu_init);

static void __exit offcpu_exit(void)
{
	lt_usecase_stop(&usecase);
}
module_exit(offcpu_exit);

MODULE_DESCRIPTION("Time that tasks are off the CPU, what blocked and what woke them");
MODULE_LICENSE("GPL");
