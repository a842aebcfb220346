// SPDX-License-Identifier: GPL-2.0-only
/*
 * To which group a wait for a lock belongs: that of the kind of lock.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "examples/lock/lock.h"
#include "usecase/usecase.h"

/* The event prints them likewise: LT_VALUES_LOCK_KIND. */
const char *const lock_kind_names[NR_LT_LOCKS] = {
	[LT_LOCK_IS_MUTEX] = "mutex",
	[LT_LOCK_IS_SEMAPHORE] = "semaphore",
	[LT_LOCK_IS_RWSEM_READ] = "rwsem_read",
	[LT_LOCK_IS_RWSEM_WRITE] = "rwsem_write",
	[LT_LOCK_IS_RT_MUTEX] = "rt_mutex",
	[LT_LOCK_IS_RWBASE_READ] = "rwbase_read",
	[LT_LOCK_IS_RWBASE_WRITE] = "rwbase_write",
	[LT_LOCK_IS_PERCPU_READ] = "percpu_read",
	[LT_LOCK_IS_PERCPU_WRITE] = "percpu_write",
	[LT_LOCK_IS_SPINLOCK] = "spinlock",
	[LT_LOCK_IS_RWLOCK_READ] = "rwlock_read",
	[LT_LOCK_IS_RWLOCK_WRITE] = "rwlock_write",
	[LT_LOCK_IS_FUTEX] = "futex",
	[LT_LOCK_IS_FUTEX_PI] = "futex_pi",
	[LT_LOCK_IS_FUTEX_OTHER] = "futex_other",
	[LT_LOCK_IS_FLOCK] = "flock",
	[LT_LOCK_IS_POSIX] = "posix",
};

int lock_group_name(u64 id, char *name)
{
	if (id >= NR_LT_LOCKS)
		return -ENOENT;
	strscpy(name, lock_kind_names[id], LATENCY_TRACKER_GROUP_NAME);
	return 0;
}

int lock_threshold_find(const char *text, struct lt_threshold *found)
{
	int kind = match_string(lock_kind_names, NR_LT_LOCKS, text);

	if (kind < 0)
		return -EINVAL;
	found->id = kind;
	found->mask = ~0ULL;
	lock_group_name(kind, found->name);
	return 1;
}
