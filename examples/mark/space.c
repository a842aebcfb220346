// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spaces of marks, and their threads.
 *
 * A space lives as long as its file is open, which a mapping of its memory holds, too. A thread of
 * it goes when it has died, or has another memory since an exec: the scan finds that. What
 * it has shared stays mapped until the program lets it go.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "examples/mark/mark.h"
#include "usecase/data.h"

#define TIMES_US	50

static void free_space(struct mark_space *space)
{
	if (!IS_ERR(space->user))
		mark_user_put(space->user);
	put_pid_ns(space->pid_ns);
	vfree(space->slot);
	vfree(space->head);
	kvfree(space);
}

/**
 * mark_space_open() - a program wants to have marks
 *
 * Context: Task, may sleep.
 * Return: its space; ERR_PTR(-ENOMEM), ERR_PTR(-EDQUOT).
 */
struct mark_space *mark_space_open(void)
{
	struct mark_space *space = kvzalloc(sizeof(*space), GFP_KERNEL_ACCOUNT);
	int err;

	if (!space)
		return ERR_PTR(-ENOMEM);
	mutex_init(&space->lock);
	space->pid_ns = get_pid_ns(task_active_pid_ns(current));
	space->head = vmalloc_user(sizeof(*space->head));
	space->slot = vmalloc_user(LT_MARK_SLOTS_SIZE);
	space->user = mark_user_get();
	err = space->head && space->slot ? PTR_ERR_OR_ZERO(space->user) : -ENOMEM;
	if (err) {
		free_space(space);
		return ERR_PTR(err);
	}
	mark_events_init(&space->events, space->slot, space->event);
	space->head->version = LT_MARK_VERSION;
	mark_scan_add(space);
	return space;
}

/**
 * mark_space_close() - nobody has the file of a space any more, nor its memory
 * @space: the space
 *
 * Context: Task, may sleep.
 */
void mark_space_close(struct mark_space *space)
{
	u32 i;

	mark_scan_remove(space);
	mutex_lock(&space->lock);
	for (i = 0; i < space->nr_threads; i++) {
		if (space->thread[i])
			mark_thread_drop(space, i);
	}
	mutex_unlock(&space->lock);
	for (i = 0; i < LT_MARK_SLOTS; i++)
		mark_forget(&space->events, i);
	for (i = 0; i < space->nr_marks; i++)
		mark_name_put(space->mark[i]);
	mark_user_give(&space->user->marks, space->nr_marks);
	free_space(space);
}

static int add_mark(struct mark_space *space, const char *name)
{
	int mark;

	if (space->nr_marks == LT_MARK_MAX)
		return -ENOSPC;
	if (!mark_user_take(&space->user->marks, &mark_user_marks))
		return -EDQUOT;
	mark = mark_name_get(name);
	if (mark < 0) {
		mark_user_give(&space->user->marks, 1);
		return mark;
	}
	space->mark[space->nr_marks] = mark;
	/* Pairs with the acquire in find_mark(). */
	smp_store_release(&space->nr_marks, space->nr_marks + 1);
	mark_ends_tell(space);
	return space->nr_marks - 1;
}

/**
 * mark_space_define() - a mark of that name
 * @space: where
 * @name: it is valid
 *
 * Context: Task, may sleep.
 * Return: which one in this space; -ENOSPC, -EDQUOT or -ENOMEM.
 */
int mark_space_define(struct mark_space *space, const char *name)
{
	char is[LATENCY_TRACKER_GROUP_NAME];
	int i, mark = -ENOENT;

	mutex_lock(&space->lock);
	for (i = 0; i < space->nr_marks && mark < 0; i++) {
		if (!mark_name(space->mark[i], is) && !strcmp(is, name))
			mark = i;
	}
	if (mark < 0)
		mark = add_mark(space, name);
	mutex_unlock(&space->lock);
	return mark;
}

static void free_thread(struct work_struct *work)
{
	struct mark_thread *thread = container_of(to_rcu_work(work),
						  struct mark_thread, free);

	mmdrop(thread->mm);
	put_pid(thread->pid);
	vfree(thread->area);
	kvfree(thread);
}

static struct mark_thread *make_thread(void)
{
	struct mark_thread *thread = kvzalloc(sizeof(*thread), GFP_KERNEL_ACCOUNT);

	if (!thread)
		return NULL;
	thread->area = vmalloc_user(sizeof(*thread->area));
	if (!thread->area) {
		kvfree(thread);
		return NULL;
	}
	mark_events_init(&thread->events, thread->area->frame, thread->event);
	INIT_RCU_WORK(&thread->free, free_thread);
	thread->task = current;
	thread->pid = get_task_pid(current, PIDTYPE_PID);
	thread->mm = current->mm;
	mmgrab(thread->mm);
	thread->folded_ns = thread->events.since_ns;
	thread->area->tid = task_pid_vnr(current);
	return thread;
}

static bool is_mine(const struct mark_thread *thread)
{
	return thread && thread->task == current &&
	       thread->pid == task_pid(current) && thread->mm == current->mm;
}

/* Its number, or where there is room. */
static int find_mine(struct mark_space *space)
{
	int i, room = -ENOSPC;

	for (i = space->nr_threads - 1; i >= 0; i--) {
		if (is_mine(space->thread[i]))
			return i;
		if (!space->thread[i])
			room = i;
	}
	if (room < 0 && space->nr_threads < LT_MARK_THREADS)
		room = space->nr_threads;
	return room;
}

static int add_thread(struct mark_space *space, int nr)
{
	struct mark_thread *thread;

	if (!mark_user_take(&space->user->threads, &mark_user_threads))
		return -EDQUOT;
	thread = make_thread();
	if (!thread) {
		mark_user_give(&space->user->threads, 1);
		return -ENOMEM;
	}
	thread->asked = mark_ends_number(space);
	mark_time_add(thread);
	atomic_long_inc(&mark_counts.threads);
	/* Pairs with the acquire in mark_space_mine(). */
	smp_store_release(&space->thread[nr], thread);
	if (nr >= space->nr_threads)
		WRITE_ONCE(space->nr_threads, nr + 1);
	return nr;
}

/**
 * mark_space_thread() - the calling thread wants to have marks
 * @space: where
 *
 * Context: Task, may sleep, and does so once, since a switch tells it its CPU time.
 * Return: its number; -ENOSPC, -EDQUOT or -ENOMEM.
 */
int mark_space_thread(struct mark_space *space)
{
	bool is_new;
	int nr;

	mutex_lock(&space->lock);
	nr = find_mine(space);
	is_new = nr >= 0 && !space->thread[nr];
	if (is_new)
		nr = add_thread(space, nr);
	mutex_unlock(&space->lock);
	if (is_new && nr >= 0)
		usleep_range(TIMES_US, 2 * TIMES_US);
	return nr;
}

/**
 * mark_space_mine() - what the calling thread shares
 * @space: where
 *
 * Context: A file operation of that thread: until its end it stays.
 * Return: NULL if it has not asked for it.
 */
struct mark_thread *mark_space_mine(struct mark_space *space)
{
	struct mark_thread *thread, *mine = NULL;
	u32 i;

	/* Others may go meanwhile. */
	rcu_read_lock();
	for (i = 0; i < READ_ONCE(space->nr_threads) && !mine; i++) {
		/* Pairs with add_thread(). */
		thread = smp_load_acquire(&space->thread[i]);
		if (is_mine(thread))
			mine = thread;
	}
	rcu_read_unlock();
	return mine;
}

/**
 * mark_thread_drop() - a thread has died, or its space goes
 * @space: under its lock
 * @nr: the number of the thread
 *
 * Context: Task, may sleep.
 */
void mark_thread_drop(struct mark_space *space, u32 nr)
{
	struct mark_thread *thread = space->thread[nr];
	u32 frame;

	mark_fold(space, thread, latency_tracker_clock());
	for (frame = 0; frame < LT_MARK_DEPTH; frame++)
		mark_forget(&thread->events, frame);
	WRITE_ONCE(space->thread[nr], NULL);
	mark_time_remove(thread);
	mark_user_give(&space->user->threads, 1);
	atomic_long_dec(&mark_counts.threads);
	queue_rcu_work(mark_wq, &thread->free);
}
