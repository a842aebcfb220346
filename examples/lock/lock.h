/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_lock know of each other.
 */
#ifndef _LT_LOCK_LOCK_H
#define _LT_LOCK_LOCK_H

#include <trace/events/latency_tracker_lock.h>

#include "usecase/look_task.h"
#include "wrapper/lock.h"

struct file_lock;
struct inode;
struct lt_threshold;
struct lt_usecase;
struct mm_struct;
struct pt_regs;

/**
 * enum lock_holder_state - what the holder of a lock is doing
 * @LOCK_HOLDER_UNKNOWN: it is not known which task it is
 * @LOCK_HOLDER_RUNNING: it has a CPU
 * @LOCK_HOLDER_RUNNABLE: it waits for one
 * @LOCK_HOLDER_BLOCKED: it sleeps, and no signal ends that
 * @LOCK_HOLDER_SLEEPING: it sleeps
 * @LOCK_HOLDER_OTHER: it was stopped, is traced, or dies
 */
enum lock_holder_state {
	LOCK_HOLDER_UNKNOWN,
	LOCK_HOLDER_RUNNING,
	LOCK_HOLDER_RUNNABLE,
	LOCK_HOLDER_BLOCKED,
	LOCK_HOLDER_SLEEPING,
	LOCK_HOLDER_OTHER,
};

/**
 * struct lock_wait - private data of an event: a task waits for a lock
 * @lock: its address: in the kernel, in user space, or of the inode
 * @request: of a lock on a file; the inode stays while the task waits
 * @ino: the inode's number; 0 if it is no lock on a file
 * @dev: of its file system; likewise
 * @value: of user space: what the waiter expects there
 * @woken_ns: when it was woken last, ns of latency_tracker_clock(); 0 if it was not
 * @waker_pid: of the task that woke it; -1 if that was an interrupt
 * @waker_comm: likewise; "-"
 * @waking: odd while these three are written, by a waker: with p->pi_lock held, or in an
 *	interrupt of the waiter's own CPU. 0: it was not woken.
 * @holder_comm: of the task that held the lock at the begin, with @held
 * @holder_pid: likewise; -1
 * @holder_tgid: likewise; -1
 * @pid: of the waiter
 * @held: enum lt_lock_held, at the begin
 * @kind: enum lt_lock_kind
 * @compat: the waiter is in a system call of a 32-bit machine
 * @stack: of the waiter, where it is noted at the begin: see calls.c
 */
struct lock_wait {
	const void *lock;
	const void *request;
	u64 ino;
	u64 woken_ns;
	char waker_comm[TASK_COMM_LEN];
	char holder_comm[TASK_COMM_LEN];
	pid_t waker_pid;
	u32 waking;
	pid_t holder_pid;
	pid_t holder_tgid;
	pid_t pid;
	u32 dev;
	u32 value;
	u8 held;
	u8 kind;
	bool compat;
#ifndef LT_HAVE_CONTENTION
	struct lt_stack stack;
#endif
};

/* As long as a call of a hooked function lasts, its stack ends in it. */
static inline void lock_stack_note(struct lock_wait *wait, struct pt_regs *regs)
{
#ifndef LT_HAVE_CONTENTION
	if (regs)
		lt_stack_at(&wait->stack, regs);
#endif
}

/* The stack of the waiter into @stack, if it was noted. */
static inline bool lock_stack_noted(struct lt_stack *stack,
				    const struct lock_wait *wait)
{
#ifndef LT_HAVE_CONTENTION
	if (wait->stack.nr) {
		*stack = wait->stack;
		return true;
	}
#endif
	return false;
}

/* Of user space, or of a file: the waiter may be its own holder. */
static inline bool lock_is_of_user(const struct lock_wait *wait)
{
	return wait->kind >= LT_LOCK_IS_FUTEX;
}

static inline bool lock_is_futex(const struct lock_wait *wait)
{
	return wait->kind >= LT_LOCK_IS_FUTEX &&
	       wait->kind <= LT_LOCK_IS_FUTEX_OTHER;
}

extern struct lt_usecase lock_usecase;
extern struct lt_look lock_look;
extern const char *const lock_kind_names[NR_LT_LOCKS];

int lock_wait_begin(struct latency_tracker *tracker, struct lock_wait *wait,
		    struct pt_regs *regs);
void lock_wait_end(struct latency_tracker *tracker, const void *lock, int ret,
		   struct pt_regs *regs);

int lock_calls_hook(void);
void lock_calls_unhook(void);
unsigned long lock_calls_missed(void);

int lock_futex_hook(void);
void lock_futex_unhook(void);
unsigned long lock_futex_missed(void);
enum lt_lock_held lock_futex_owner(const struct lock_wait *wait,
				   struct task_struct *waiter,
				   struct task_struct **owner);
void lock_futex_see(struct lock_wait *wait, const void *word, u32 value,
		    enum lt_lock_kind kind);
struct mm_struct *
lock_futex_use_memory(const struct latency_tracker_verdict *verdict);
void lock_futex_unuse_memory(struct mm_struct *mm);

int lock_file_hook(void);
void lock_file_unhook(void);
unsigned long lock_file_missed(void);
enum lt_lock_held lock_file_owner(const struct lock_wait *wait,
				  struct task_struct **owner);
void probe_flock_lock_inode(void *data, struct inode *inode,
			    struct file_lock *request, int ret);
void probe_posix_lock_inode(void *data, struct inode *inode,
			    struct file_lock *request, int ret);

void holder_note(struct lock_wait *wait);
void holder_at_begin(struct lt_lock_holder *holder, const struct lock_wait *wait);
void holder_now(struct lt_lock_holder *holder, struct lt_stack *stack,
		const struct latency_tracker_verdict *verdict);

int lock_group_name(u64 id, char *name);
int lock_threshold_find(const char *text, struct lt_threshold *found);

#endif /* _LT_LOCK_LOCK_H */
