/* SPDX-License-Identifier: MIT */
/*
 * A part of latency_tracker_user.h: what a process and its threads have, where they get it from
 * and when they give it back.
 */
#ifndef LATENCY_TRACKER_USER_SETUP_H
#define LATENCY_TRACKER_USER_SETUP_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <latency_tracker_mark.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One for all that is linked into a process: weak, so that each file may define it; visible, so
 * that a library that is compiled with -fvisibility=hidden has no space of marks of its own
 * (which would work as well). Another layout needs other names.
 */
#define lt_mark_shared	__attribute__((__weak__, __visibility__("default")))
#define lt_mark_slow	__attribute__((__noinline__, __unused__, __cold__))
#define lt_mark_unlikely(x) __builtin_expect(!!(x), 0)

#define lt_mark_get(p)		__atomic_load_n(&(p), __ATOMIC_RELAXED)
#define lt_mark_put(p, value)	__atomic_store_n(&(p), (value), __ATOMIC_RELAXED)

/* ThreadSanitizer knows no fence, and says so. All that is shared is atomic to it. */
#ifdef __SANITIZE_THREAD__
#define lt_mark_fence()		__sync_synchronize()
#else
#define lt_mark_fence()		__atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* What a thread has. In its TLS; only the thread and its signal handlers look at it. */
struct lt_mark_self {
	struct lt_mark_thread *area;	/* NULL: none yet, or see @failed */
	uint64_t over_marks;		/* bit n: of @over, some are of mark n */
	uint32_t over;			/* begins since all frames are in use */
	uint32_t depth;			/* frames in use */
	uint32_t nr;			/* of LT_MARK_THREAD */
	uint8_t busy;			/* inside of this file: signal handlers keep out */
	uint8_t failed;			/* there will be no area */
};

/* What a process has. */
struct lt_mark_process {
	int fd;				/* if @opened */
	uint8_t opened;
	uint8_t hooked;			/* @key and fork handlers */
	uint8_t names;
	uint64_t inode, device;		/* of @fd */
	pthread_key_t key;		/* its destructor gives the area of a thread back */
	struct lt_mark_head again;	/* of a child: it says on, so a begin opens the device */
	char name[LT_MARK_MAX][LT_MARK_NAME];
	struct lt_mark_frame *slots;	/* NULL: not mapped */
	struct lt_mark_thread *area[LT_MARK_THREADS];
};

extern struct lt_mark_head lt_mark_off_1;
extern const struct lt_mark_head *lt_mark_head_1;
extern pthread_mutex_t lt_mark_lock_1;
extern struct lt_mark_process lt_mark_process_1;
extern __thread struct lt_mark_self lt_mark_self_1;

struct lt_mark_head lt_mark_off_1 lt_mark_shared;
const struct lt_mark_head *lt_mark_head_1 lt_mark_shared = &lt_mark_off_1;
/* Of lt_mark_process_1, and to set lt_mark_head_1. */
pthread_mutex_t lt_mark_lock_1 lt_mark_shared = PTHREAD_MUTEX_INITIALIZER;
struct lt_mark_process lt_mark_process_1 lt_mark_shared;
__thread struct lt_mark_self lt_mark_self_1 lt_mark_shared;

/*
 * A signal handler must not see a frame, a cell or the lock half way: it leaves its operations
 * out if the thread is inside of this file. What interrupts a thread has ended before the thread
 * goes on, so that is so for the begin and for the end, or for none.
 */
static inline int lt_mark_enter(struct lt_mark_self *self)
{
	if (lt_mark_unlikely(lt_mark_get(self->busy)))
		return 0;
	lt_mark_put(self->busy, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return 1;
}

static inline void lt_mark_leave(struct lt_mark_self *self)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lt_mark_put(self->busy, 0);
}

/* --- the process: the device, and the names ------------------------------------------- */

/* Locked. */
static lt_mark_slow void lt_mark_close(struct lt_mark_process *process)
{
	struct stat now;

	/* A program that has closed all its files may have another one with this number. */
	if (process->opened && fstat(process->fd, &now) == 0 && now.st_ino == process->inode &&
	    now.st_dev == process->device)
		close(process->fd);
	process->opened = 0;
}

/* Locked. Returns a mark, or -1 with errno. */
static lt_mark_slow int lt_mark_name(struct lt_mark_process *process, const char *name)
{
	struct lt_mark_define define;

	memset(&define, 0, sizeof(define));
	if (strlen(name) >= sizeof(define.name)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(define.name, name, strlen(name));
	if (ioctl(process->fd, LT_MARK_DEFINE, &define))
		return -1;
	if (define.mark >= LT_MARK_MAX) {
		errno = EPROTO;
		return -1;
	}
	memcpy(process->name[define.mark], define.name, sizeof(define.name));
	if (process->names <= define.mark)
		process->names = (uint8_t)(define.mark + 1);
	return (int)define.mark;
}

/* Locked. Returns 0, or -1 with errno. A child gives its marks the numbers of its parent. */
static lt_mark_slow int lt_mark_open(struct lt_mark_process *process)
{
	const struct lt_mark_head *head;
	struct stat now;
	void *mapped;
	int i, error;

	if (process->opened)
		return 0;
	process->fd = open(LT_MARK_DEVICE, O_RDWR | O_CLOEXEC);
	if (process->fd < 0)
		return -1;
	mapped = mmap(NULL, sizeof(*head), PROT_READ, MAP_SHARED, process->fd, 0);
	if (mapped == MAP_FAILED || fstat(process->fd, &now))
		goto err_close;
	head = (const struct lt_mark_head *)mapped;
	process->inode = now.st_ino;
	process->device = now.st_dev;
	errno = EPROTONOSUPPORT;
	if (head->version != LT_MARK_VERSION)
		goto err_close;
	for (i = 0; i < process->names; i++)
		if (lt_mark_name(process, process->name[i]) != i)
			goto err_close;
	process->opened = 1;
	/*
	 * A thread that sees it asks the kernel for its area before it does anything else. What
	 * is in the head needs no order.
	 */
	lt_mark_put(lt_mark_head_1, head);
	return 0;

err_close:
	error = errno;
	if (mapped != MAP_FAILED)
		munmap(mapped, sizeof(*head));
	close(process->fd);
	errno = error;
	return -1;
}

/* --- a thread: its area ---------------------------------------------------------------- */

static lt_mark_slow void lt_mark_exit(void *arg)
{
	struct lt_mark_self *self = (struct lt_mark_self *)arg;
	struct lt_mark_thread *area = self->area;

	/* Destructors that come later begin nothing. */
	self->failed = 1;
	self->depth = 0;
	self->over = 0;
	self->area = NULL;
	lt_mark_put(lt_mark_process_1.area[self->nr], (struct lt_mark_thread *)NULL);
	if (area)
		munmap(area, sizeof(*area));
}

static lt_mark_slow void lt_mark_fork(void)
{
	lt_mark_self_1.busy++;
	pthread_mutex_lock(&lt_mark_lock_1);
}

static lt_mark_slow void lt_mark_forked_parent(void)
{
	pthread_mutex_unlock(&lt_mark_lock_1);
	lt_mark_self_1.busy--;
}

/* The space is that of the parent: forget it, and what was pending. */
static lt_mark_slow void lt_mark_forked_child(void)
{
	struct lt_mark_process *process = &lt_mark_process_1;
	int i;

	/* One that is just mapped or unmapped by another thread is left: it does no harm. */
	for (i = 0; i < LT_MARK_THREADS; i++) {
		if (process->area[i])
			munmap(process->area[i], sizeof(*process->area[i]));
		process->area[i] = NULL;
	}
	if (process->slots)
		munmap(process->slots, LT_MARK_SLOTS_SIZE);
	process->slots = NULL;
	if (process->opened) {
		munmap((void *)(uintptr_t)lt_mark_head_1, sizeof(*lt_mark_head_1));
		lt_mark_close(process);
		process->again.on = 1;
		lt_mark_put(lt_mark_head_1, (const struct lt_mark_head *)&process->again);
	}
	memset(&lt_mark_self_1, 0, sizeof(lt_mark_self_1));
	pthread_mutex_unlock(&lt_mark_lock_1);
}

/* Locked. Returns 0, or -1 with errno. */
static lt_mark_slow int lt_mark_hook(struct lt_mark_process *process)
{
	int error;

	if (process->hooked)
		return 0;
	error = pthread_key_create(&process->key, lt_mark_exit);
	if (!error) {
		error = pthread_atfork(lt_mark_fork, lt_mark_forked_parent,
				       lt_mark_forked_child);
		if (!error)
			process->hooked = 1;
		else
			pthread_key_delete(process->key);
	}
	errno = error;
	return error ? -1 : 0;
}

/* The first begin of a thread. Returns NULL from then on if that fails. */
static lt_mark_slow struct lt_mark_thread *lt_mark_area(struct lt_mark_self *self)
{
	struct lt_mark_process *process = &lt_mark_process_1;
	int error = errno, opened;
	void *mapped = MAP_FAILED;
	__u32 nr = LT_MARK_THREADS;

	/* A signal handler may have been here meanwhile. */
	if (self->area || self->failed)
		return self->area;
	self->failed = 1;
	pthread_mutex_lock(&lt_mark_lock_1);
	opened = lt_mark_open(process) == 0;
	if (!opened)
		lt_mark_put(lt_mark_head_1, (const struct lt_mark_head *)&lt_mark_off_1);
	pthread_mutex_unlock(&lt_mark_lock_1);
	if (opened && ioctl(process->fd, LT_MARK_THREAD, &nr) == 0 && nr < LT_MARK_THREADS)
		mapped = mmap(NULL, sizeof(*self->area), PROT_READ | PROT_WRITE, MAP_SHARED,
			      process->fd, (off_t)LT_MARK_THREAD_OFFSET(nr));
	if (mapped != MAP_FAILED && pthread_setspecific(process->key, self)) {
		munmap(mapped, sizeof(*self->area));
		mapped = MAP_FAILED;
	}
	errno = error;
	if (mapped == MAP_FAILED)
		return NULL;
	self->failed = 0;
	self->nr = nr;
	self->area = (struct lt_mark_thread *)mapped;
	lt_mark_put(process->area[nr], self->area);
	return self->area;
}

#ifdef __cplusplus
}
#endif

#endif /* LATENCY_TRACKER_USER_SETUP_H */
