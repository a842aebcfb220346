// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of programs, as events of the tracker.
 *
 * An operation becomes an event when the scan finds it pending for some time, or, in one, when
 * its end is told that took so long. A thread tells the end of what it has begun; the scan may
 * look at the same frame meanwhile. Their lock orders the two: either the scan comes first,
 * and the end finds the event, or the end does, and the scan sees in told[] that it is over. What
 * ends without a word, as the program knew of a longer time, is found by a later scan.
 */
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "examples/mark/mark.h"
#include "usecase/task.h"
#include "wrapper/cgroup.h"

static atomic64_t numbers;

/**
 * mark_number() - tells something that has operations from all else that has
 *
 * Context: Any.
 * Return: another number each time, never 0.
 */
u64 mark_number(void)
{
	return atomic64_inc_return(&numbers);
}

/**
 * mark_events_init() - nothing is pending yet
 * @events: of a thread or space
 * @frame: what its programs write
 * @of: room for each frame or slot
 *
 * Context: Any.
 */
void mark_events_init(struct mark_events *events, const struct lt_mark_frame *frame,
		      struct mark_event *of)
{
	events->number = mark_number();
	events->since_ns = latency_tracker_clock();
	spin_lock_init(&events->lock);
	events->frame = frame;
	events->of = of;
}

static struct mark_key key_of(const struct mark_events *events, u32 nr, u32 seq)
{
	return (struct mark_key) { .of = events->number, .frame = nr, .seq = seq };
}

/* Does a frame have this operation still? */
static bool is_pending(const struct mark_events *events, u32 nr, u32 seq)
{
	return READ_ONCE(events->frame[nr].seq) == seq;
}

/* A frame that is pending, as a whole; false: it is not, or has changed meanwhile. */
static bool read_frame(const struct mark_events *events, u32 nr,
		       struct lt_mark_frame *frame)
{
	const struct lt_mark_frame *from = &events->frame[nr];

	/* Pairs with its release at a begin: a frame that is pending has these fields. */
	frame->seq = smp_load_acquire(&from->seq);
	if (!(frame->seq & 1))
		return false;
	frame->mark = READ_ONCE(from->mark);
	frame->id = READ_ONCE(from->id);
	frame->start_ns = READ_ONCE(from->start_ns);
	frame->run_ns = READ_ONCE(from->run_ns);
	/* Pairs with the fence of a begin: the next operation's fields come behind the next seq. */
	smp_rmb();
	return is_pending(events, nr, frame->seq);
}

/**
 * mark_find() - which mark is that?
 * @space: where
 * @in_space: its number there, by the word of a program
 * @mark: result, as the module numbers them
 *
 * Context: Any.
 * Return: false: there is no such mark.
 */
bool mark_find(struct mark_space *space, u32 in_space, u32 *mark)
{
	/* Pairs with the release in add_mark(): these have their numbers. */
	if (in_space >= smp_load_acquire(&space->nr_marks))
		return false;
	*mark = space->mark[in_space];
	return true;
}

/* The names of what is pending in front of frame @nr, as long as there is room. */
static void name_outer(char *outer, struct mark_space *space,
		       const struct mark_events *events, u32 nr)
{
	char name[LATENCY_TRACKER_GROUP_NAME];
	struct lt_mark_frame of;
	size_t len = 0, more;
	u32 i, mark;

	for (i = 0; i < nr; i++) {
		if (!read_frame(events, i, &of) || !mark_find(space, of.mark, &mark) ||
		    mark_name(mark, name))
			continue;
		more = strlen(name);
		if (len + more + 2 > LT_MARK_OUTER_LEN)
			break;
		if (len)
			outer[len++] = '>';
		memcpy(outer + len, name, more);
		len += more;
	}
	if (!len)
		outer[len++] = '-';
	outer[len] = '\0';
}

/**
 * mark_describe_task() - what is known of any operation: its thread and its mark
 * @of: result, but for the other fields
 * @task: stays meanwhile
 * @mark: the mark
 *
 * Context: Task.
 */
void mark_describe_task(struct lt_mark_operation *of, const struct task_struct *task, u32 mark)
{
	char name[LATENCY_TRACKER_GROUP_NAME];

	of->mark = mark;
	of->pid = task->pid;
	of->tgid = task->tgid;
	memcpy(of->comm, task->comm, TASK_COMM_LEN);
	of->task = (unsigned long)task;
	rcu_read_lock();
	of->cgroup_id = lt_task_cgroup_id(task);
	rcu_read_unlock();
	if (!mark_name(mark, name))
		strscpy(of->name, name, sizeof(of->name));
}

/* What is known of frame @nr besides what a program says. @task stays meanwhile. */
static void describe(struct lt_mark_operation *of, struct mark_space *space,
		     const struct mark_events *events, u32 nr,
		     const struct task_struct *task, u32 mark)
{
	mark_describe_task(of, task, mark);
	of->by_id = events == &space->events;
	of->uid = mark_uid(space);
	name_outer(of->outer, space, events, of->by_id ? 0 : nr);
}

/**
 * mark_passes() - is an operation of a task to be tracked?
 * @task: stays meanwhile
 *
 * Context: Task.
 * Return: whether it passes the filters.
 */
bool mark_passes(const struct task_struct *task)
{
	bool in;

	if (!lt_task_is_filtered(&mark_usecase))
		return true;
	rcu_read_lock();
	in = lt_task_in_cgroup(&mark_usecase, task);
	rcu_read_unlock();
	return in && lt_task_passes(&mark_usecase, task);
}

/*
 * A thread that has ended an operation tells it before it begins another one in that frame, but it
 * may have to wait for a CPU in between, for longer than a scan.
 */
static bool may_be_told(const struct mark_events *events, u32 nr)
{
	u32 over = events->of[nr].over;

	return over && READ_ONCE(events->frame[nr].seq) == over + 1;
}

/* What is over, and was not told, never will be. Under the lock of @events, like the next one. */
static void count_untold(struct mark_event *event)
{
	if (event->over && event->over != event->told)
		atomic_long_inc(&mark_counts.abandoned);
	event->over = 0;
}

/* It has no event any more. Its end may just be on its way: then that tells the operation. */
static void give_up(struct mark_events *events, u32 nr)
{
	struct mark_event *event = &events->of[nr];
	struct mark_key key = key_of(events, nr, event->found);

	if (!event->found)
		return;
	count_untold(event);
	if (!latency_tracker_event_cancel(mark_usecase.tracker, &key, sizeof(key)))
		event->over = event->found;
	event->found = 0;
}

/**
 * mark_forget() - an operation will never be told
 * @events: of a thread or space
 * @nr: the frame or slot that it was in
 *
 * Context: Task.
 */
void mark_forget(struct mark_events *events, u32 nr)
{
	spin_lock(&events->lock);
	give_up(events, nr);
	count_untold(&events->of[nr]);
	spin_unlock(&events->lock);
}

/* It is an event from now on. Under the lock of @events. */
static void begin(struct mark_space *space, struct mark_events *events, u32 nr,
		  const struct task_struct *task, const struct lt_mark_frame *found,
		  u32 mark)
{
	struct mark_key key = key_of(events, nr, found->seq);
	struct lt_mark_operation of = {
		.id = found->id,
		.start_run_ns = found->run_ns,
	};
	struct latency_tracker_in in = {
		.priv = &of,
		.priv_len = sizeof(of),
		.start_ns = found->start_ns,
	};

	describe(&of, space, events, nr, task, mark);
	if (latency_tracker_event_in(mark_usecase.tracker, &key, sizeof(key),
				     LATENCY_TRACKER_START, &in))
		return;
	events->of[nr].found = found->seq;
	/* It may have ended before it was found: then this is not its time. */
	if (!is_pending(events, nr, found->seq))
		give_up(events, nr);
}

/* The thread that says it has begun what is in a slot, or whose frame it is. NULL: it is gone. */
static const struct task_struct *task_of(const struct mark_space *space,
					 const struct mark_thread *thread, u64 nr)
{
	if (!thread && nr < space->nr_threads)
		thread = space->thread[nr];
	return thread ? pid_task(thread->pid, PIDTYPE_PID) : NULL;
}

/*
 * Look at a frame of @thread, or, if that is NULL, at a slot. What a program says is read once, and
 * checked: a begin before there was the frame, or in the future, is none.
 */
static void find_in(struct mark_space *space, struct mark_events *events,
		    const struct mark_thread *thread, u32 nr, u64 age_ns)
{
	struct mark_event *event = &events->of[nr];
	bool on = latency_tracker_get_tracking(mark_usecase.tracker), is_old;
	u64 now = latency_tracker_clock();
	const struct task_struct *task;
	struct lt_mark_frame found;
	u32 mark;

	is_old = on && read_frame(events, nr, &found) && found.start_ns >= events->since_ns &&
		 found.start_ns <= now && now - found.start_ns >= age_ns &&
		 mark_find(space, found.mark, &mark);
	if (!is_old && !event->found && !event->over)
		return;
	rcu_read_lock();
	task = is_old ? task_of(space, thread, found.run_ns) : NULL;
	spin_lock(&events->lock);
	/* In a slot anything may begin meanwhile: it had a scan's time. */
	if (!thread || !may_be_told(events, nr))
		count_untold(event);
	/* Tracking that goes off takes all events away. */
	if (event->found && !(on && is_pending(events, nr, event->found)))
		give_up(events, nr);
	if (task && event->found != found.seq && event->told != found.seq &&
	    mark_passes(task))
		begin(space, events, nr, task, &found, mark);
	spin_unlock(&events->lock);
	rcu_read_unlock();
}

/**
 * mark_find_frame() - is an operation of a thread pending for long?
 * @space: under its lock
 * @thread: of @space; its task may be gone
 * @frame: where
 * @age_ns: for how long
 *
 * Context: Task.
 */
void mark_find_frame(struct mark_space *space, struct mark_thread *thread,
		     u32 frame, u64 age_ns)
{
	find_in(space, &thread->events, thread, frame, age_ns);
}

/**
 * mark_find_slot() - is an operation between threads pending for long?
 * @space: under its lock
 * @slot: where
 * @age_ns: for how long
 *
 * Context: Task.
 */
void mark_find_slot(struct mark_space *space, u32 slot, u64 age_ns)
{
	find_in(space, &space->events, NULL, slot, age_ns);
}

/* Is the end of what had an event? From now on it has none. */
static bool take_found(struct mark_events *events, u32 nr, u32 seq)
{
	bool found;

	spin_lock(&events->lock);
	events->of[nr].told = seq;
	if (events->of[nr].over == seq)
		events->of[nr].over = 0;
	found = events->of[nr].found == seq;
	if (found)
		events->of[nr].found = 0;
	spin_unlock(&events->lock);
	return found;
}

/*
 * What a switch has told is without the time of interrupts, if the kernel accounts that; what a
 * thread adds is not. So the difference may be a bit too small, or too large.
 */
static s64 run_of(const struct lt_mark_end *end)
{
	u64 from = end->start_run_ns, to = end->end_run_ns;

	if (end->frame >= LT_MARK_DEPTH || from == LT_MARK_NO_TIME || to == LT_MARK_NO_TIME)
		return -1;
	return to > from ? min(to - from, end->end_ns - end->start_ns) : 0;
}

/**
 * mark_may_be_late() - would it be reported?
 * @delay_ns: how long it took
 *
 * Context: Any.
 * Return: false: no. With thresholds of groups the rest is only known later.
 */
bool mark_may_be_late(u64 delay_ns)
{
	return READ_ONCE(mark_usecase.thresholds) ||
	       delay_ns >= latency_tracker_get_threshold(mark_usecase.tracker);
}

/**
 * mark_tell() - an operation has ended: report it, if it is late, and count it
 * @user: whose; beyond its limit it is only counted
 * @key: of the event
 * @of: what it was
 * @span: when it was
 * @found: it has an event
 *
 * Context: Task, may sleep.
 * Return: 1: it is late; 0: it is not; -ENOBUFS: it is late, but there is no event for it, which is
 * counted; another error: it is not tracked.
 */
int mark_tell(struct mark_user *user, const struct mark_key *key,
	      struct lt_mark_operation *of, const struct mark_span *span, bool found)
{
	struct latency_tracker *tracker = mark_usecase.tracker;
	u64 delay_ns = span->end_ns - span->start_ns;
	s64 run_ns = span->run_ns;
	struct latency_tracker_in in = {
		.priv = of,
		.priv_len = sizeof(*of),
		.start_ns = span->start_ns,
	};
	int ret;

	if (mark_may_be_late(delay_ns) && !mark_may_report(&user->rate)) {
		if (found)
			latency_tracker_event_cancel(tracker, key, sizeof(*key));
		latency_tracker_whole_many(tracker, delay_ns, 1, of);
		return 0;
	}
	if (found) {
		ret = latency_tracker_event_out(tracker, key, sizeof(*key), 0, &run_ns,
						span->end_ns);
		/* Else tracking was off for a while, or its age was too high. */
		if (ret != -ENOENT)
			return ret;
	}
	return latency_tracker_event_whole(tracker, key, sizeof(*key), LATENCY_TRACKER_START,
					   &in, 0, &run_ns, span->end_ns);
}

/* The operation in frame or slot @nr has an event if it was @found. */
static int tell(struct mark_space *space, struct mark_events *events, u32 nr,
		const struct lt_mark_end *end, u32 mark, bool found)
{
	struct mark_key key = key_of(events, nr, end->seq);
	struct mark_span span = {
		.start_ns = end->start_ns,
		.end_ns = end->end_ns,
		.run_ns = run_of(end),
	};
	struct lt_mark_operation of = {
		.id = end->id,
		.start_run_ns = end->start_run_ns,
	};

	describe(&of, space, events, nr, current, mark);
	return mark_tell(space->user, &key, &of, &span, found);
}

/* Which frame or slot is it? NULL: none. */
static struct mark_events *events_of(struct mark_space *space,
				     struct mark_thread *thread, u32 frame, u32 *nr)
{
	if (frame >= LT_MARK_SLOT_FRAME(0) && frame < LT_MARK_SLOT_FRAME(LT_MARK_SLOTS)) {
		*nr = frame - LT_MARK_SLOT_FRAME(0);
		return &space->events;
	}
	*nr = frame;
	return frame < LT_MARK_DEPTH ? &thread->events : NULL;
}

/**
 * mark_end() - the calling thread tells an end that took long
 * @space: where
 * @thread: what it shares
 * @end: what it says
 *
 * Context: Task, may sleep.
 * Return: 1: it is late; 0: it is not, or is left out; -EINVAL: that can't be; -ENOBUFS: it is
 * late, but there is no event for it, which is counted.
 */
int mark_end(struct mark_space *space, struct mark_thread *thread,
	     const struct lt_mark_end *end)
{
	struct mark_events *events;
	u32 mark, nr;
	bool found;
	int ret;

	events = events_of(space, thread, end->frame, &nr);
	if (!events || !(end->seq & 1) || end->reserved ||
	    end->start_ns < events->since_ns || end->end_ns < end->start_ns ||
	    end->end_ns > latency_tracker_clock() ||
	    !mark_find(space, end->mark, &mark))
		return -EINVAL;
	found = take_found(events, nr, end->seq);
	if (!found && !mark_passes(current))
		return 0;
	/* Else it would be in a cell. */
	if (!found && end->end_ns - end->start_ns < READ_ONCE(space->least_ns))
		atomic_long_inc(&mark_counts.full);
	ret = tell(space, events, nr, end, mark, found);
	return ret == 1 || ret == -ENOBUFS ? ret : 0;
}
