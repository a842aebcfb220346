// SPDX-License-Identifier: GPL-2.0-only
/*
 * From sys_exit to user space, where a task has more to do than to go there.
 *
 * Mostly another task wants its CPU, and that is all. Then nothing has to tell of its return. If it
 * is switched away from, its call is an event, and over when it gets a CPU again, unless there is
 * more to do by then, or it is late. If it is not, its call was over at sys_exit, as is found
 * out when it makes the next one, leaves its CPU in user space, or exits. Else the kernel is
 * asked to tell.
 */
#include "examples/syscalls/leave.h"
#include "examples/syscalls/names.h"
#include "examples/syscalls/running.h"
#include "usecase/look_task.h"
#include "usecase/usecase.h"
#include "wrapper/syscalls.h"

struct marks leave_marks;

static inline bool watch(void)
{
	return lt_user_return_watch(&leave_return);
}

/*
 * The current task passes sys_exit, and has more to do. False if nothing will tell of the end
 * of its call, or this is it.
 */
bool leave(struct latency_tracker *tracker, struct running *mine, long ret)
{
	struct task_struct *task = current;
	u64 now = latency_tracker_clock();

	if (lt_may_only_switch_before_user(task, ret) &&
	    !latency_tracker_whole_may_be_late(tracker, mine->start, now)) {
		mine->call.leaving = CALL_SWITCHES;
		mine->left = now;
		mine->special = task;
		mine->is_early = false;
	} else if (watch()) {
		mine->call.leaving = CALL_LEAVES;
	} else {
		return false;
	}
	mine->call.ret = ret;
	mine->task = task;
	return true;
}

static bool note_leaving(struct latency_tracker_event *event, void *ret)
{
	struct pending_call *call = latency_tracker_event_priv(event);

	call->ret = *(long *)ret;
	WRITE_ONCE(call->leaving, CALL_LEAVES);
	leave_mark(current);
	return false;
}

/* The same where its call is an event. False, too, if there is none. */
bool leave_event(struct latency_tracker *tracker, struct task_struct *task,
		 long ret)
{
	return watch() && latency_tracker_slot_visit(tracker, lt_task_key(task),
						     note_leaving, &ret);
}

/* With CALL_SWITCHES. The call of the current task was over at sys_exit. */
void leave_is_over(struct latency_tracker *tracker, struct running *mine)
{
	mine->task = NULL;
	finish(tracker, mine, mine->call.ret, mine->left);
}

/*
 * Likewise. @task, which is current, leaves its CPU in @state: is that what its call was to
 * give way to?
 */
bool leave_goes_on(struct latency_tracker *tracker, struct task_struct *task,
		   struct running *mine, unsigned int state)
{
	if (!lt_syscall_is_returning(task, mine->call.ret)) {
		leave_is_over(tracker, mine);
		return false;
	}
	/* A signal, say, has come since, and it sleeps for that. */
	if (state)
		mine->call.leaving = CALL_LEAVES;
	return true;
}

static bool is_switching(const void *priv)
{
	const struct pending_call *call = priv;

	return READ_ONCE(call->leaving) == CALL_SWITCHES;
}

static bool note_watched(struct latency_tracker_event *event, void *is_leaving)
{
	struct pending_call *call = latency_tracker_event_priv(event);

	if (call->leaving) {
		WRITE_ONCE(call->leaving, CALL_LEAVES);
		*(bool *)is_leaving = true;
	}
	return false;
}

/* @next gets a CPU, and is on its way out of a call, by all appearances. */
void leave_next(struct latency_tracker *tracker, struct task_struct *next)
{
	bool is_leaving = false;

	if (!lt_has_work_before_user(next) &&
	    latency_tracker_slot_end_in_time(tracker, lt_task_key(next), 0,
					     is_switching)) {
		leave_unmark(next);
		return;
	}
	latency_tracker_slot_visit(tracker, lt_task_key(next), note_watched,
				   &is_leaving);
	if (is_leaving && !watch())
		lt_task_forget(tracker, next);
}

struct leaving {
	long ret;
	bool is_leaving;
};

static bool see_leaving(struct latency_tracker_event *event, void *arg)
{
	const struct pending_call *call = latency_tracker_event_priv(event);
	struct leaving *leaving = arg;

	leaving->ret = call->ret;
	leaving->is_leaving = call->leaving;
	return false;
}

/* It may have been another task that was watched for. */
static void on_return(void)
{
	struct latency_tracker *tracker = syscalls_usecase.tracker;
	struct task_struct *task = current;
	struct running *mine = take_running(task);
	struct leaving leaving = {};

	if (mine && mine->call.leaving && lt_task_passes(&syscalls_usecase, task))
		finish(tracker, mine, mine->call.ret, 0);
	if (mine || likely(!leave_is_marked(task)))
		return;
	latency_tracker_slot_visit(tracker, lt_task_key(task), see_leaving,
				   &leaving);
	if (!leaving.is_leaving)
		return;
	leave_unmark(task);
	latency_tracker_slot_try_end(tracker, lt_task_key(task), &leaving.ret, 0);
}

struct lt_user_return leave_return = { .returned = on_return };
