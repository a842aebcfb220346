// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of programs that know nothing of marks: a function, from its entry to its return, or
 * what is between two places, such as a pair of USDT probes.
 *
 * The key is the thread and the mark, so all probes of a name are one operation of a thread. Of
 * functions it is the outermost call: a call from deeper down the stack is part of it. One from as
 * high up, or higher, is the next one, as the last was left by a longjmp() or in tail position. Of
 * places, the next begin is the next one.
 *
 * The kernel knows no more than 64 returns of a thread at a time. A call beyond is not begun.
 */
#include <linux/bitmap.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include "examples/mark/mark.h"
#include "examples/mark/probes.h"
#include "usecase/data.h"
#include "usecase/filter.h"

/* Marks that have probes, and how many: what a thread may leave pending when it dies. */
static DECLARE_BITMAP(marks, MARK_NAMES);
static u8 probes_of[MARK_NAMES];
static unsigned int nr_attached;

static struct mark_key key_of(const struct task_struct *task, u32 mark)
{
	/* No number of mark_events is that high. */
	return (struct mark_key) { .of = (unsigned long)task, .frame = mark };
}

static struct latency_tracker_event *get_event(const struct mark_key *key,
					       const struct mark_call **call)
{
	struct latency_tracker_event *event;

	event = latency_tracker_get_event(mark_usecase.tracker, key, sizeof(*key));
	if (event)
		*call = latency_tracker_event_priv(event);
	return event;
}

/* Only the thread itself begins and ends what is in @key. */
static bool is_inside(const struct mark_key *key, unsigned long sp)
{
	const struct mark_call *call;
	struct latency_tracker_event *event = get_event(key, &call);
	bool inside;

	if (!event)
		return false;
	inside = sp < call->sp;
	latency_tracker_put_event(mark_usecase.tracker, event);
	return inside;
}

static int begin(const struct mark_probe *probe, unsigned long sp)
{
	struct mark_key key = key_of(current, probe->mark);
	struct mark_call call = {
		.of.start_run_ns = current->se.sum_exec_runtime,
		.of.outer = "-",
		.of.uid = LT_MARK_NOBODY,
		.sp = sp,
	};
	struct latency_tracker_in in = {
		.priv = &call,
		.priv_len = sizeof(call),
	};

	if (!mark_passes(current) || is_inside(&key, sp))
		return LT_UPROBE_IGNORE;
	if (probe->is_function && lt_uprobe_is_too_deep()) {
		atomic_long_inc(&mark_counts.dropped);
		return LT_UPROBE_IGNORE;
	}
	mark_describe_task(&call.of, current, probe->mark);
	latency_tracker_event_in(mark_usecase.tracker, &key, sizeof(key), 0, &in);
	return 0;
}

/* As of the last switch or tick at both ends. */
static s64 run_of(const struct mark_call *call, u64 delay_ns)
{
	u64 run_ns = current->se.sum_exec_runtime - call->of.start_run_ns;

	return min(run_ns, delay_ns);
}

/* @event has ended. It is one of the caller's, so its private bytes stay meanwhile. */
static void tell(struct mark_probe *probe, const struct mark_key *key,
		 struct latency_tracker_event *event, u64 end_ns)
{
	struct latency_tracker *tracker = mark_usecase.tracker;
	struct mark_call *call = latency_tracker_event_priv(event);
	u64 start_ns = latency_tracker_event_start(event);
	u64 delay_ns = end_ns > start_ns ? end_ns - start_ns : 0;
	s64 run_ns = run_of(call, delay_ns);

	if (!mark_may_be_late(delay_ns) || mark_may_report(&probe->rate))
		latency_tracker_event_end(tracker, event, 0, &run_ns, end_ns);
	else if (!latency_tracker_event_cancel(tracker, key, sizeof(*key)))
		latency_tracker_whole_many(tracker, delay_ns, 1, &call->of);
}

static int end(struct mark_probe *probe, unsigned long sp)
{
	struct mark_key key = key_of(current, probe->mark);
	const struct mark_call *call;
	struct latency_tracker_event *event = get_event(&key, &call);
	u64 end_ns = latency_tracker_clock();

	if (!event)
		return 0;
	if (!probe->is_function || lt_uprobe_is_back(sp, call->sp))
		tell(probe, &key, event, end_ns);
	latency_tracker_put_event(mark_usecase.tracker, event);
	return 0;
}

static int on_entry(struct lt_uprobe *at, struct pt_regs *regs)
{
	return begin(container_of(at, struct mark_probe, begin),
		     user_stack_pointer(regs));
}

static int on_return(struct lt_uprobe *at, struct pt_regs *regs)
{
	return end(container_of(at, struct mark_probe, begin),
		   user_stack_pointer(regs));
}

/* A begin without a stack: none is inside of another. */
static int on_begin(struct lt_uprobe *at, struct pt_regs *regs)
{
	return begin(container_of(at, struct mark_probe, begin), 0);
}

static int on_end(struct lt_uprobe *at, struct pt_regs *regs)
{
	return end(container_of(at, struct mark_probe, end), 0);
}

LT_DEFINE_UPROBE(uprobe_entry, on_entry)
LT_DEFINE_URETPROBE(uprobe_return, on_return)
LT_DEFINE_UPROBE(uprobe_begin, on_begin)
LT_DEFINE_UPROBE(uprobe_end, on_end)

/**
 * mark_probe_attach() - call the handlers from now on
 * @probe: with its name and places
 *
 * Context: Task, may sleep; under kernel_param_lock() of the module.
 * Return: 0, or an error of the kernel, or of mark_name_get().
 */
int mark_probe_attach(struct mark_probe *probe)
{
	int mark = mark_name_get(probe->name), err = 0;

	if (mark < 0)
		return mark;
	probe->mark = mark;
	probe->is_attached = true;
	probes_of[mark]++;
	set_bit(mark, marks);
	WRITE_ONCE(nr_attached, nr_attached + 1);
	if (probe->is_function) {
		probe->begin.consumer.handler = lt_uprobe_handler(uprobe_entry);
		probe->begin.consumer.ret_handler = lt_uprobe_ret_handler(uprobe_return);
	} else {
		probe->begin.consumer.handler = lt_uprobe_handler(uprobe_begin);
		probe->end.consumer.handler = lt_uprobe_handler(uprobe_end);
	}
	if (probe->end.is_used)
		err = lt_uprobe_register(&probe->end);
	if (!err && probe->begin.is_used)
		err = lt_uprobe_register(&probe->begin);
	return err;
}

/**
 * mark_probe_detach() - call the handlers no more
 * @probe: what mark_probe_attach() was called for, whether it failed or not
 *
 * Behind it, and before anything is freed: mark_probes_detached().
 *
 * Context: Task, may sleep; under kernel_param_lock() of the module.
 */
void mark_probe_detach(struct mark_probe *probe)
{
	lt_uprobe_unregister(&probe->begin);
	lt_uprobe_unregister(&probe->end);
}

/**
 * mark_probes_detached() - wait for handlers, and forget what they have begun
 * @probes: some of which were detached
 * @nr: how many
 *
 * All that is pending is forgotten, as when a filter changes.
 *
 * Context: Task, may sleep; under kernel_param_lock() of the module.
 */
void mark_probes_detached(struct mark_probe *const *probes, unsigned int nr)
{
	unsigned int i;

	lt_uprobe_sync();
	lt_filter_changed(&mark_usecase);
	for (i = 0; i < nr; i++) {
		struct mark_probe *probe = probes[i];

		if (!probe->is_attached || probe->begin.is_registered || probe->end.is_registered)
			continue;
		probe->is_attached = false;
		if (!--probes_of[probe->mark])
			clear_bit(probe->mark, marks);
		WRITE_ONCE(nr_attached, nr_attached - 1);
		mark_name_put(probe->mark);
	}
}

/**
 * mark_probes_forget() - a thread ends, or becomes another program
 * @task: the thread
 *
 * Context: A probe, in that thread.
 */
void mark_probes_forget(const struct task_struct *task)
{
	struct mark_key key;
	unsigned int mark;

	if (likely(!READ_ONCE(nr_attached)))
		return;
	for_each_set_bit(mark, marks, MARK_NAMES) {
		key = key_of(task, mark);
		if (!latency_tracker_event_cancel(mark_usecase.tracker, &key,
						  sizeof(key)))
			atomic_long_inc(&mark_counts.abandoned);
	}
}
