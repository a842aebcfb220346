// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user may have: so that the programs of one leave room for those of others.
 *
 * What a thread shares is memory of the kernel that no control group is charged for, so it is
 * limited by the number of threads.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "examples/mark/mark.h"

unsigned int mark_user_threads = 4096;
unsigned int mark_user_marks = 512;
unsigned int mark_user_shared = 1024;
unsigned int mark_user_reports = 1000;

/* The tracker's thread takes it, so nothing sleeps with it: not for memory, nor preempted. */
static DEFINE_SPINLOCK(users_lock);
static LIST_HEAD(users);

static struct mark_user *find(kuid_t uid)
{
	struct mark_user *user;

	list_for_each_entry(user, &users, list) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

/**
 * mark_user_get() - the user who opens a space
 *
 * Context: Task, may sleep.
 * Return: the user, until mark_user_put(); ERR_PTR(-ENOMEM); ERR_PTR(-EDQUOT): it has as many
 * spaces as it may have threads.
 */
struct mark_user *mark_user_get(void)
{
	struct mark_user *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *user;

	if (!new)
		return ERR_PTR(-ENOMEM);
	new->uid = current_euid();
	spin_lock(&users_lock);
	user = find(new->uid);
	if (!user) {
		list_add(&new->list, &users);
		user = new;
		new = NULL;
	}
	if (user->spaces && user->spaces >= READ_ONCE(mark_user_threads))
		user = ERR_PTR(-EDQUOT);
	else
		user->spaces++;
	spin_unlock(&users_lock);
	kfree(new);
	return user;
}

/* Locked. */
static void free_unused(struct mark_user *user)
{
	if (user->spaces || user->shared)
		return;
	list_del(&user->list);
	kfree(user);
}

/**
 * mark_user_put() - a space is gone
 * @user: what mark_user_get() has returned
 *
 * Context: Task, may sleep.
 */
void mark_user_put(struct mark_user *user)
{
	spin_lock(&users_lock);
	user->spaces--;
	free_unused(user);
	spin_unlock(&users_lock);
}

/**
 * mark_user_take() - may a user have one more?
 * @count: of what, in the user
 * @limit: how many a user may have; a parameter, which may change
 *
 * Context: Task, may sleep.
 * Return: true if it is counted.
 */
bool mark_user_take(unsigned int *count, const unsigned int *limit)
{
	bool may;

	spin_lock(&users_lock);
	may = *count < READ_ONCE(*limit);
	*count += may;
	spin_unlock(&users_lock);
	return may;
}

/**
 * mark_user_give() - a user has some less
 * @count: of what, in the user
 * @nr: how many
 *
 * Context: Task, may sleep.
 */
void mark_user_give(unsigned int *count, unsigned int nr)
{
	spin_lock(&users_lock);
	*count -= nr;
	spin_unlock(&users_lock);
}

/**
 * mark_user_give_shared() - an operation between processes is not pending any more
 * @user: whose; without a space it may go
 *
 * Context: Task, may sleep.
 */
void mark_user_give_shared(struct mark_user *user)
{
	spin_lock(&users_lock);
	user->shared--;
	free_unused(user);
	spin_unlock(&users_lock);
}

/* Locked. */
static bool take_report(struct mark_rate *rate)
{
	unsigned int limit = READ_ONCE(mark_user_reports);
	u64 second = div_u64(latency_tracker_clock(), NSEC_PER_SEC);
	bool may;

	if (rate->second != second) {
		rate->second = second;
		rate->reports = 0;
	}
	may = !limit || rate->reports < limit;
	rate->reports += may;
	if (!may)
		atomic_long_inc(&mark_counts.suppressed);
	return may;
}

/**
 * mark_may_report() - is a late operation to be reported?
 * @rate: of its user, or of its probe
 *
 * Context: Task.
 * Return: false if there were enough in this second, which is counted.
 */
bool mark_may_report(struct mark_rate *rate)
{
	bool may;

	spin_lock(&users_lock);
	may = take_report(rate);
	spin_unlock(&users_lock);
	return may;
}

/**
 * mark_user_may_report() - is an operation of a user to be reported that has not ended?
 * @uid: of lt_mark_operation
 *
 * Context: Task.
 * Return: as mark_may_report(); true for a user who has nothing any more.
 */
bool mark_user_may_report(u32 uid)
{
	struct mark_user *user;
	bool may;

	spin_lock(&users_lock);
	user = find(make_kuid(&init_user_ns, uid));
	may = !user || take_report(&user->rate);
	spin_unlock(&users_lock);
	return may;
}
