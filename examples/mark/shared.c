// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared operations: one process begins them, another one of the same user, in the same pid
 * namespace, ends them. Both tell it by a call, since they share no memory.
 *
 * User and namespace are those of the open file: of the process that opened it, when it did. So a
 * container sees its own operations only, even if its root is that of the machine.
 *
 * An operation does not belong to the process that has begun it: it stays pending until its end,
 * until it is as old as shared_seconds says, or until the next begin of the same mark and id. It
 * becomes an event when the scan finds it pending for some time, or, in one, when it ends.
 */
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "examples/mark/mark.h"
#include "usecase/data.h"

#define BITS	10

unsigned int mark_shared_seconds = 3600;

/**
 * struct shared - an operation that is pending
 * @in_table: by mark and id
 * @user: who may end it; it counts in @user->shared
 * @pid_ns: from where, with a reference
 * @number: tells it from all others
 * @start_ns: when it began
 * @found: it has an event
 * @of: what is reported: the task is that of the begin
 */
struct shared {
	struct hlist_node in_table;
	struct mark_user *user;
	struct pid_namespace *pid_ns;
	u64 number;
	u64 start_ns;
	bool found;
	struct lt_mark_operation of;
};

static DEFINE_MUTEX(shared_lock); /* table, and found of what is in it */
static DEFINE_HASHTABLE(table, BITS);

static u64 hash_of(u32 mark, u64 id)
{
	return id ^ (u64)mark << 48;
}

static struct mark_key key_of(const struct shared *shared)
{
	return (struct mark_key) { .of = shared->number };
}

/* Under the lock. */
static struct shared *find(const struct mark_space *space, u32 mark, u64 id)
{
	struct shared *shared;

	hash_for_each_possible(table, shared, in_table, hash_of(mark, id)) {
		if (shared->of.mark == mark && shared->of.id == id &&
		    shared->user == space->user && shared->pid_ns == space->pid_ns)
			return shared;
	}
	return NULL;
}

/* From then on the caller has it for itself. NULL: there is none. */
static struct shared *take(const struct mark_space *space, u32 mark, u64 id)
{
	struct shared *shared;

	mutex_lock(&shared_lock);
	shared = find(space, mark, id);
	if (shared)
		hash_del(&shared->in_table);
	mutex_unlock(&shared_lock);
	return shared;
}

static void free_shared(struct shared *shared)
{
	atomic_long_dec(&mark_counts.shared);
	mark_name_put(shared->of.mark);
	put_pid_ns(shared->pid_ns);
	mark_user_give_shared(shared->user);
	kfree(shared);
}

/* Its end is not told any more. It is in no table. */
static void give_up(struct shared *shared)
{
	struct mark_key key = key_of(shared);

	if (shared->found)
		latency_tracker_event_cancel(mark_usecase.tracker, &key, sizeof(key));
	atomic_long_inc(&mark_counts.abandoned);
	free_shared(shared);
}

static struct shared *make(struct mark_space *space, u32 mark, u64 id)
{
	struct shared *shared = kzalloc(sizeof(*shared), GFP_KERNEL_ACCOUNT);

	if (!shared)
		return NULL;
	shared->user = space->user;
	shared->pid_ns = get_pid_ns(space->pid_ns);
	shared->number = mark_number();
	mark_describe_task(&shared->of, current, mark);
	mark_name_hold(mark);
	shared->of.id = id;
	shared->of.uid = mark_uid(space);
	shared->of.start_run_ns = LT_MARK_NO_TIME;
	shared->of.by_id = LT_MARK_BY_PROCESS;
	strscpy(shared->of.outer, "-", sizeof(shared->of.outer));
	atomic_long_inc(&mark_counts.shared);
	return shared;
}

/**
 * mark_shared_begin() - an operation begins that another process may end
 * @space: through which it is told
 * @in_space: the mark, as the space numbers it
 * @id: of the program
 *
 * The filter is asked here: that of the calling task.
 *
 * Context: Task, may sleep.
 * Return: 0, also if it is left out; -EINVAL: no such mark; -EDQUOT: the user has too many pending,
 * which is counted; -ENOMEM.
 */
int mark_shared_begin(struct mark_space *space, u32 in_space, u64 id)
{
	struct shared *shared, *old;
	u32 mark;

	if (!mark_find(space, in_space, &mark))
		return -EINVAL;
	if (!latency_tracker_get_tracking(mark_usecase.tracker) || !mark_passes(current))
		return 0;
	old = take(space, mark, id);
	if (old)
		give_up(old);
	if (!mark_user_take(&space->user->shared, &mark_user_shared)) {
		atomic_long_inc(&mark_counts.dropped);
		return -EDQUOT;
	}
	shared = make(space, mark, id);
	if (!shared) {
		mark_user_give(&space->user->shared, 1);
		return -ENOMEM;
	}
	mutex_lock(&shared_lock);
	/* Of two begins at once the last one counts. */
	old = find(space, mark, id);
	if (old)
		hash_del(&old->in_table);
	shared->start_ns = latency_tracker_clock();
	hash_add(table, &shared->in_table, hash_of(mark, id));
	mutex_unlock(&shared_lock);
	if (old)
		give_up(old);
	return 0;
}

/**
 * mark_shared_end() - such an operation ends
 * @space: through which it is told
 * @in_space: the mark, as the space numbers it
 * @id: as at its begin
 *
 * Context: Task, may sleep.
 * Return: 1: it is late; 0: in time; -EINVAL: no such mark; -ENOENT: none is pending for this user
 * and namespace; -ENOBUFS: it is late, but there is no event for it, which is counted.
 */
int mark_shared_end(struct mark_space *space, u32 in_space, u64 id)
{
	struct mark_span span = { .end_ns = latency_tracker_clock(), .run_ns = -1 };
	struct shared *shared;
	struct mark_key key;
	u32 mark;
	int ret;

	if (!mark_find(space, in_space, &mark))
		return -EINVAL;
	shared = take(space, mark, id);
	if (!shared)
		return -ENOENT;
	key = key_of(shared);
	span.start_ns = shared->start_ns;
	ret = mark_tell(space->user, &key, &shared->of, &span, shared->found);
	free_shared(shared);
	return ret == 1 || ret == -ENOBUFS ? ret : 0;
}

/* Under the lock. */
static void make_event(struct shared *shared)
{
	struct mark_key key = key_of(shared);
	struct latency_tracker_in in = {
		.priv = &shared->of,
		.priv_len = sizeof(shared->of),
		.start_ns = shared->start_ns,
	};

	shared->found = !latency_tracker_event_in(mark_usecase.tracker, &key, sizeof(key),
						  LATENCY_TRACKER_START, &in);
}

static bool is_too_old(u64 age_ns)
{
	u64 seconds = READ_ONCE(mark_shared_seconds);

	return seconds && age_ns > seconds * NSEC_PER_SEC;
}

/**
 * mark_shared_scan() - which of them are pending for long?
 * @least_ns: that is so long
 *
 * Context: Task, may sleep.
 * Return: whether some are pending.
 */
bool mark_shared_scan(u64 least_ns)
{
	bool on = latency_tracker_get_tracking(mark_usecase.tracker), some = false;
	u64 now = latency_tracker_clock(), age_ns;
	struct hlist_node *next;
	struct shared *shared;
	int i;

	mutex_lock(&shared_lock);
	hash_for_each_safe(table, i, next, shared, in_table) {
		age_ns = now > shared->start_ns ? now - shared->start_ns : 0;
		if (is_too_old(age_ns)) {
			hash_del(&shared->in_table);
			give_up(shared);
			continue;
		}
		some = true;
		/* Tracking that goes off takes all events away. */
		if (!on)
			shared->found = false;
		else if (!shared->found && age_ns >= least_ns)
			make_event(shared);
	}
	mutex_unlock(&shared_lock);
	return some;
}

/* Nobody has a file open, and there is no scan. The tracker is there still. */
void mark_shared_stop(void)
{
	struct hlist_node *next;
	struct shared *shared;
	int i;

	hash_for_each_safe(table, i, next, shared, in_table) {
		hash_del(&shared->in_table);
		give_up(shared);
	}
}
