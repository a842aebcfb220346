/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks of programs: what the files of latency_tracker_mark know of each other.
 *
 * Locks, the outer one first: that of core/ends.c, spaces_lock, space->lock, those of mark_events.
 * shared_lock is inside of spaces_lock. names_lock is inside of all these, and of
 * kernel_param_lock() of the module; users_lock is inside of all.
 */
#ifndef _LT_MARK_MARK_H
#define _LT_MARK_MARK_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <trace/events/latency_tracker_mark.h>

#include "latency_tracker.h"

struct lt_threshold;
struct pid_namespace;

/* Names of marks on this machine. */
#define MARK_NAMES	4096

/**
 * struct mark_rate - for the limit of reports
 * @second: which one
 * @reports: in that second
 *
 * Under users_lock.
 */
struct mark_rate {
	u64 second;
	unsigned int reports;
};

/**
 * struct mark_user - a user whose programs have marks
 * @list: of all users
 * @uid: which one
 * @spaces: open files; as many as threads, at most
 * @threads: of these
 * @marks: likewise
 * @shared: pending operations between processes
 * @rate: of reports
 *
 * Under users_lock.
 */
struct mark_user {
	struct list_head list;
	kuid_t uid;
	unsigned int spaces;
	unsigned int threads;
	unsigned int marks;
	unsigned int shared;
	struct mark_rate rate;
};

/**
 * struct mark_seen - what was read of a cell the last time
 * @count: as there
 * @sum_ns: as there
 */
struct mark_seen {
	u32 count;
	u64 sum_ns;
};

/**
 * struct mark_event - what the kernel knows of a frame or slot
 * @found: seq of the operation that has an event, or 0; odd
 * @told: seq of the last operation that LT_MARK_END has told; odd
 * @over: seq of an operation whose event was given up, as its frame is another one's: it may
 *	be told yet; or 0; odd
 */
struct mark_event {
	u32 found;
	u32 told;
	u32 over;
};

/**
 * struct mark_events - of the frames of a thread, or of the slots of a space
 * @number: tells them from all others that there were
 * @since_ns: nothing in them has begun before
 * @lock: of all in @of
 * @frame: what a program has written there
 * @of: for each of them; behind this struct
 */
struct mark_events {
	u64 number;
	u64 since_ns;
	spinlock_t lock; /* of */
	const struct lt_mark_frame *frame;
	struct mark_event *of;
};

/**
 * struct mark_thread - a thread that has marks
 * @by_task: for the probe of switches
 * @task: address of the thread, which may be gone: only to compare
 * @pid: of the thread, with a reference
 * @mm: its memory when it began to have marks, with a reference to the structure: after an
 *	exec it is another one
 * @area: what it shares with the kernel
 * @events: of its frames
 * @event: likewise
 * @asked: the mark of the space whose last end is asked for, or LT_MARK_MAX; probes read it
 * @folded_ns: when the cells were read last
 * @ended: area->ended then
 * @dropped: area->dropped then
 * @seen: by cell
 * @free: lets go of it when no probe can use it
 *
 * The rest is under space->lock, but for @area, @pid, @task and @mm, which do not change from
 * when LT_MARK_THREAD has published it until no file operation can run.
 */
struct mark_thread {
	struct hlist_node by_task;
	const struct task_struct *task;
	struct pid *pid;
	struct mm_struct *mm;
	struct lt_mark_thread *area;
	struct mark_events events;
	struct mark_event event[LT_MARK_DEPTH];
	u32 asked;
	u64 folded_ns;
	u32 ended;
	u32 dropped;
	struct mark_seen seen[LT_MARK_CELLS];
	struct rcu_work free;
};

/**
 * struct mark_space - an open file
 * @list: of all of them, under spaces_lock
 * @lock: of what follows, where it is written
 * @user: who has opened it
 * @pid_ns: from where, with a reference
 * @head: what its programs read
 * @least_ns: what is in @head, which a program may write, too
 * @slot: operations that are not of one thread
 * @has_slots: a program has mapped @slot
 * @events: of these
 * @event: likewise
 * @nr_marks: marks that are defined; written last
 * @mark: the number of each name, see names.c
 * @nr_threads: no thread has this number, or a higher one
 * @thread: by number; NULL: none
 */
struct mark_space {
	struct list_head list;
	struct mutex lock; /* what is written behind it */
	struct mark_user *user;
	struct pid_namespace *pid_ns;
	struct lt_mark_head *head;
	u64 least_ns;
	struct lt_mark_frame *slot;
	bool has_slots;
	struct mark_events events;
	struct mark_event event[LT_MARK_SLOTS];
	u32 nr_marks;
	u16 mark[LT_MARK_MAX];
	u32 nr_threads;
	struct mark_thread *thread[LT_MARK_THREADS];
};

/* Of lt_mark_operation. */
static inline u32 mark_uid(const struct mark_space *space)
{
	return from_kuid(&init_user_ns, space->user->uid);
}

/*
 * The key of an event: which frame or slot of which, and which of its operations; of a probe, the
 * address of the thread, the mark, and 0; of a shared one, its number, 0 and 0.
 */
struct mark_key {
	u64 of;
	u32 frame;
	u32 seq;
};

/**
 * struct mark_span - the times of an operation
 * @start_ns: when it began
 * @end_ns: when it ended
 * @run_ns: for how long its thread had a CPU; -1: not known
 */
struct mark_span {
	u64 start_ns;
	u64 end_ns;
	s64 run_ns;
};

/**
 * struct mark_counts - what a user can read as parameters
 * @threads: that have marks now
 * @shared: operations between processes that are pending now
 * @suppressed: reports that were not made, as their user has too many
 * @refused: what programs have said that cannot be
 * @abandoned: operations with an event whose end was not told
 * @dropped: begins without a frame, or calls whose return is not told
 * @full: ends in time that were told, as there was no room in the cells of their thread
 */
struct mark_counts {
	atomic_long_t threads;
	atomic_long_t shared;
	atomic_long_t suppressed;
	atomic_long_t refused;
	atomic_long_t abandoned;
	atomic_long_t dropped;
	atomic_long_t full;
};

/* main.c */
extern struct lt_usecase mark_usecase;
extern struct mark_counts mark_counts;

/* cpu_time.c */
void mark_time_add(struct mark_thread *thread);
void mark_time_remove(struct mark_thread *thread);
void mark_time_switch(struct task_struct *next);
struct hlist_head *mark_threads_like(const struct task_struct *task);

/* ends.c */
u32 mark_ends_number(const struct mark_space *space);
void mark_ends_tell(struct mark_space *space);
int mark_ends_start(void);
void mark_ends_stop(void);

/* names.c */
int mark_name_get(const char *name);
void mark_name_hold(u32 mark);
void mark_name_put(u32 mark);
int mark_name(u64 mark, char *name);
bool mark_name_may_report(u32 mark);
int mark_threshold_find(const char *text, struct lt_threshold *found);
void mark_names_free(void);

/* users.c */
struct mark_user *mark_user_get(void);
void mark_user_put(struct mark_user *user);
bool mark_user_take(unsigned int *count, const unsigned int *limit);
void mark_user_give(unsigned int *count, unsigned int nr);
void mark_user_give_shared(struct mark_user *user);
bool mark_may_report(struct mark_rate *rate);
bool mark_user_may_report(u32 uid);
extern unsigned int mark_user_threads;
extern unsigned int mark_user_marks;
extern unsigned int mark_user_shared;
extern unsigned int mark_user_reports;

/* space.c */
struct mark_space *mark_space_open(void);
void mark_space_close(struct mark_space *space);
int mark_space_define(struct mark_space *space, const char *name);
int mark_space_thread(struct mark_space *space);
struct mark_thread *mark_space_mine(struct mark_space *space);
void mark_thread_drop(struct mark_space *space, u32 nr);

/* operation.c */
u64 mark_number(void);
bool mark_find(struct mark_space *space, u32 in_space, u32 *mark);
void mark_events_init(struct mark_events *events, const struct lt_mark_frame *frame,
		      struct mark_event *of);
void mark_describe_task(struct lt_mark_operation *of, const struct task_struct *task, u32 mark);
bool mark_passes(const struct task_struct *task);
void mark_find_frame(struct mark_space *space, struct mark_thread *thread,
		     u32 frame, u64 age_ns);
void mark_find_slot(struct mark_space *space, u32 slot, u64 age_ns);
void mark_forget(struct mark_events *events, u32 nr);
bool mark_may_be_late(u64 delay_ns);
int mark_tell(struct mark_user *user, const struct mark_key *key,
	      struct lt_mark_operation *of, const struct mark_span *span, bool found);
int mark_end(struct mark_space *space, struct mark_thread *thread,
	     const struct lt_mark_end *end);

/* scan.c */
extern struct workqueue_struct *mark_wq;
int mark_scan_start(void);
void mark_scan_stop(void);
void mark_scan_add(struct mark_space *space);
void mark_scan_remove(struct mark_space *space);
void mark_scan_each(void (*visit)(struct mark_space *space));

/* shared.c */
int mark_shared_begin(struct mark_space *space, u32 in_space, u64 id);
int mark_shared_end(struct mark_space *space, u32 in_space, u64 id);
bool mark_shared_scan(u64 least_ns);
void mark_shared_stop(void);
extern unsigned int mark_shared_seconds;

/* fold.c */
void mark_fold(struct mark_space *space, struct mark_thread *thread, u64 now);

/* device.c */
int mark_device_register(void);
void mark_device_deregister(void);

#endif /* _LT_MARK_MARK_H */
