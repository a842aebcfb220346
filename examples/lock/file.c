// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks on files: flock(), and fcntl() for a range.
 *
 * The kernel tells of each try. One that is to wait says so, and comes again when the lock
 * may be free. What gives up, for a signal, passes no tracepoint: a kprobe on what follows
 * each wait ends it.
 *
 * That a request waits does not mean that its task does: the server of NFS goes on. It is
 * a thread of the kernel, and those are not tracked here.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>

#include "examples/lock/lock.h"
#include "usecase/kprobe.h"
#include "usecase/usecase.h"
#include "wrapper/filelock.h"
#include "wrapper/kprobes.h"

static void tried(struct latency_tracker *tracker, const struct inode *inode,
		  struct file_lock *request, int ret, enum lt_lock_kind kind)
{
	struct lock_wait wait = {
		.lock = inode,
		.request = lt_file_lock_of(request),
		.ino = inode->i_ino,
		.dev = inode->i_sb->s_dev,
		.kind = kind,
	};

	if (current->flags & PF_KTHREAD)
		return;
	if (ret != FILE_LOCK_DEFERRED)
		lock_wait_end(tracker, inode, ret, NULL);
	else
		lock_wait_begin(tracker, &wait, NULL);
}

void probe_flock_lock_inode(void *data, struct inode *inode,
			    struct file_lock *request, int ret)
{
	tried(data, inode, request, ret, LT_LOCK_IS_FLOCK);
}

void probe_posix_lock_inode(void *data, struct inode *inode,
			    struct file_lock *request, int ret)
{
	tried(data, inode, request, ret, LT_LOCK_IS_POSIX);
}

/* After each wait: one that was not in vain has been ended before. */
static int on_waited(struct kprobe *kp, struct pt_regs *regs)
{
	const lt_file_lock *request = lt_kprobe_arg(regs, 0);
	const struct file *file = lt_file_lock_field(request, file);

	if (file)
		lock_wait_end(lock_usecase.tracker, file_inode(file), -EINTR, regs);
	return 0;
}

static struct kprobe hooks[] = {
	{ .symbol_name = LT_FILE_LOCK_WAITED, .pre_handler = on_waited },
};

int lock_file_hook(void)
{
	return lt_kprobe_register(&lock_usecase, hooks, ARRAY_SIZE(hooks));
}

void lock_file_unhook(void)
{
	lt_kprobe_unregister(hooks, ARRAY_SIZE(hooks));
}

unsigned long lock_file_missed(void)
{
	return lt_kprobe_missed(hooks, ARRAY_SIZE(hooks));
}

/* In an RCU read-side section; until its end @owner is valid. */
enum lt_lock_held lock_file_owner(const struct lock_wait *wait,
				  struct task_struct **owner)
{
	pid_t pid = lt_file_lock_holder(READ_ONCE(wait->request));

	*owner = pid ? pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_TGID) :
		       NULL;
	return *owner ? LT_LOCK_HELD_BY_PROCESS : LT_LOCK_HELD_UNKNOWN;
}
