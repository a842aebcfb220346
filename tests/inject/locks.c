// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes locks of the kernel and holds them for a set time, for tests/guest/lock.
 *
 * There is one lock of each kind. A line is written to /proc/latency_tracker_locks:
 *
 *	KIND MS [spin]	take it, hold it for MS, asleep or in a loop, and give it back
 *	KIND MS resched	likewise in a loop that gives its CPU to others, if they are to have it
 *	KIND 0 KIND	take it, and the other one, and give both back
 *	KIND MS disk	take it, read a block of /dev/sda that is not in memory, and give it back
 *	KIND MS work	have a work item take it and hold it for MS, and wait for that
 *	KIND MS queue	likewise, behind all others that were queued so
 *	KIND MS again	likewise, with an item that was queued, and taken out again
 *	semaphore MS give  take it, hold it for MS, and have a work item there give it back
 *
 * The write returns when that is over. A spinlock is to be held in a loop. A signal ends the
 * wait for a mutex. Reading the file tells all that was done since the last read, a line
 * each: pid=, kind=, slept=1 if the task has slept until it had it, and in ns of the
 * trackers' clock asked=, got= and gave=, when the lock was asked for, was had, and was
 * about to be given back.
 */
#include <linux/blkdev.h>
#include <linux/buffer_head.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/proc_fs.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/semaphore.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "wrapper/workqueue.h"

#define HOLD_MAX_MS	10000
#define TURNS		16384

static DEFINE_MUTEX(hold_mutex);
static DECLARE_RWSEM(hold_rwsem);
static DEFINE_RT_MUTEX(hold_rt_mutex);
DEFINE_STATIC_PERCPU_RWSEM(hold_percpu);
static struct semaphore hold_semaphore;
static DEFINE_SPINLOCK(hold_spinlock);
static struct workqueue_struct *hold_queue;

/* One lock, had once. */
struct turn {
	pid_t pid;
	const char *kind;
	bool slept;
	u64 asked;
	u64 got;
	u64 gave;
};

static struct turn turns[TURNS];
static atomic_t nr_turns;

static u64 clock(void)
{
	return ktime_get_mono_fast_ns();
}

static int take_turn(const char *kind, unsigned int ms, const char *how);

/* Not by reading the file, for which the kernel reads ahead: such a request is not made again. */
static void read_disk(void)
{
	static atomic_t blocks;
	struct file *file = filp_open("/dev/sda", O_RDONLY, 0);
	struct buffer_head *block;
	struct inode *inode;

	if (IS_ERR(file))
		return;
	inode = file->f_mapping->host;
	block = __bread(I_BDEV(inode), atomic_inc_return(&blocks), i_blocksize(inode));
	if (!block)
		pr_err("/dev/sda cannot be read\n");
	brelse(block);
	filp_close(file, NULL);
}

/* Before it was had, the task had slept so often. */
static void hold(struct turn *turn, unsigned long slept, unsigned int ms,
		 const char *how)
{
	turn->got = clock();
	turn->slept = current->nvcsw != slept;
	if (!strcmp(how, "spin"))
		while (clock() < turn->got + ms * NSEC_PER_MSEC)
			cpu_relax();
	else if (!strcmp(how, "resched"))
		while (clock() < turn->got + ms * NSEC_PER_MSEC)
			cond_resched();
	else if (!strcmp(how, "disk"))
		read_disk();
	else if (*how)
		take_turn(how, 0, "");
	else if (ms > 10)
		msleep(ms);
	else if (ms)	/* msleep() takes some ticks */
		usleep_range(ms * USEC_PER_MSEC, ms * USEC_PER_MSEC + 50);
	turn->gave = clock();
}

#define HOLD(name, lock, take, give)					\
static void hold_in_##name(struct turn *turn, unsigned int ms, const char *how) \
{									\
	unsigned long slept = current->nvcsw;				\
									\
	turn->asked = clock();						\
	take(&hold_##lock);						\
	hold(turn, slept, ms, how);					\
	give(&hold_##lock);						\
}

HOLD(rwsem_write, rwsem, down_write, up_write)
HOLD(rwsem_read, rwsem, down_read, up_read)
HOLD(rt_mutex, rt_mutex, rt_mutex_lock, rt_mutex_unlock)
HOLD(percpu_read, percpu, percpu_down_read, percpu_up_read)
HOLD(percpu_write, percpu, percpu_down_write, percpu_up_write)
HOLD(semaphore, semaphore, down, up)

/* For sparse without a condition. */
static void hold_in_spinlock(struct turn *turn, unsigned int ms, const char *how)
{
	turn->asked = clock();
	spin_lock(&hold_spinlock);
	hold(turn, current->nvcsw, ms, how);
	spin_unlock(&hold_spinlock);
}

static void hold_in_mutex(struct turn *turn, unsigned int ms, const char *how)
{
	unsigned long slept = current->nvcsw;

	turn->asked = clock();
	if (mutex_lock_interruptible(&hold_mutex))
		return;
	hold(turn, slept, ms, how);
	mutex_unlock(&hold_mutex);
}

static const struct {
	const char *name;
	void (*hold)(struct turn *turn, unsigned int ms, const char *how);
} kinds[] = {
	{ "mutex", hold_in_mutex },
	{ "rwsem_read", hold_in_rwsem_read },
	{ "rwsem_write", hold_in_rwsem_write },
	{ "rt_mutex", hold_in_rt_mutex },
	{ "percpu_read", hold_in_percpu_read },
	{ "percpu_write", hold_in_percpu_write },
	{ "semaphore", hold_in_semaphore },
	{ "spinlock", hold_in_spinlock },
};

static int take_turn(const char *kind, unsigned int ms, const char *how)
{
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, kind))
			continue;
		n = atomic_inc_return(&nr_turns) - 1;
		if (n >= TURNS)
			return -ENOSPC;
		turns[n].pid = current->pid;
		turns[n].kind = kinds[i].name;
		kinds[i].hold(&turns[n], ms, how);
		return 0;
	}
	return -EINVAL;
}

/* What a work item is to do. */
struct job {
	struct work_struct work;
	const char *kind;
	unsigned int ms;
	int err;
};

static void do_job(struct work_struct *work)
{
	struct job *job = container_of(work, struct job, work);

	job->err = take_turn(job->kind, job->ms, "");
}

static void give_back(struct work_struct *work)
{
	up(&hold_semaphore);
}

static int have_it_done(struct workqueue_struct *queue, work_func_t func,
			const char *kind, unsigned int ms, bool is_again)
{
	struct job job = { .kind = kind, .ms = ms };

	INIT_WORK_ONSTACK(&job.work, func);
	if (is_again) {
		queue_work(queue, &job.work);
		cancel_work_sync(&job.work);
	}
	queue_work(queue, &job.work);
	flush_work(&job.work);
	destroy_work_on_stack(&job.work);
	return job.err;
}

/* Whatever the kind is, it is the semaphore. */
static int have_it_given_back(unsigned int ms)
{
	down(&hold_semaphore);
	msleep(ms);
	return have_it_done(hold_queue, give_back, "", 0, false);
}

static ssize_t hold_write(struct file *file, const char __user *from, size_t len,
			  loff_t *pos)
{
	char line[64], kind[16], how[16] = "";
	unsigned int ms;
	int err;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	line[len] = 0;
	if (sscanf(line, "%15s %u %15s", kind, &ms, how) < 2 || ms > HOLD_MAX_MS)
		return -EINVAL;
	if (!strcmp(how, "work"))
		err = have_it_done(lt_unbound_wq, do_job, kind, ms, false);
	else if (!strcmp(how, "queue") || !strcmp(how, "again"))
		err = have_it_done(hold_queue, do_job, kind, ms, !strcmp(how, "again"));
	else if (!strcmp(how, "give"))
		err = have_it_given_back(ms);
	else
		err = take_turn(kind, ms, how);
	return err ?: len;
}

static int hold_show(struct seq_file *seq, void *unused)
{
	unsigned int i, nr = min(atomic_read(&nr_turns), TURNS);

	for (i = 0; i < nr; i++)
		seq_printf(seq, "pid=%d kind=%s slept=%d asked=%llu got=%llu gave=%llu\n",
			   turns[i].pid, turns[i].kind, turns[i].slept,
			   turns[i].asked, turns[i].got, turns[i].gave);
	if (!seq_has_overflowed(seq))
		atomic_set(&nr_turns, 0);
	return 0;
}

static int hold_open(struct inode *inode, struct file *file)
{
	return single_open(file, hold_show, NULL);
}

static const struct proc_ops hold_ops = {
	.proc_open = hold_open,
	.proc_read = seq_read,
	.proc_write = hold_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init hold_init(void)
{
	sema_init(&hold_semaphore, 1);
	hold_queue = alloc_ordered_workqueue("latency_tracker_locks", 0);
	if (!hold_queue)
		return -ENOMEM;
	if (proc_create("latency_tracker_locks", 0600, NULL, &hold_ops))
		return 0;
	destroy_workqueue(hold_queue);
	return -ENOMEM;
}

static void __exit hold_exit(void)
{
	remove_proc_entry("latency_tracker_locks", NULL);
	destroy_workqueue(hold_queue);
}

module_init(hold_init);
module_exit(hold_exit);
MODULE_DESCRIPTION("Holds locks of the kernel for a set time, for tests");
MODULE_LICENSE("GPL");
