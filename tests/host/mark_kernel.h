/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_tracker_mark for the library in user/: ordinary memory in place of a device. The
 * library's system calls come here by their names, so it has nothing in it for tests.
 */
#ifndef LT_HOST_MARK_KERNEL_H
#define LT_HOST_MARK_KERNEL_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "include/uapi/latency_tracker_mark.h"
#include "lt_kernel.h"

#define FAKE_FD		1000
#define FAKE_SIZE	(LT_MARK_SLOTS_OFFSET + LT_MARK_AREA)
#define FAKE_TOLD	4096

/* What a device has been asked for; after a fork() the child has a device of its own. */
struct fake {
	char *memory;			/* as mapped: the head, then the areas */
	struct lt_mark_head *head;
	unsigned int marks;
	unsigned int threads;
	unsigned int opens, closes, defines, ends, maps, unmaps, clocks;
	int open_error, thread_error;	/* 0: it succeeds */
	unsigned int interrupted;	/* so many LT_MARK_END are */
	u64 now_ns;		/* 0: the time is that of the machine */
	void (*at_clock)(void);
	int other_file;			/* the number belongs to another file now */
	char name[LT_MARK_MAX][LT_MARK_NAME];
	struct lt_mark_end told[FAKE_TOLD]; /* by number of the end */
	unsigned int shared_begun, shared_ended;
	struct lt_mark_between shared;	/* the last one */
};

static struct fake fake;
/* A thread with a time of its own; 0: fake.now_ns. */
static __thread u64 fake_thread_ns;

#define fake_add(counter)	__atomic_fetch_add(&(counter), 1, __ATOMIC_RELAXED)

static inline struct lt_mark_thread *fake_area(unsigned int nr)
{
	return (struct lt_mark_thread *)(fake.memory + LT_MARK_THREAD_OFFSET(nr));
}

static inline struct lt_mark_frame *fake_slot(unsigned int nr)
{
	return (struct lt_mark_frame *)(fake.memory + LT_MARK_SLOTS_OFFSET) + nr;
}

/* A device that nobody has opened. */
static inline void fake_reset(void)
{
	if (fake.memory)
		munmap(fake.memory, FAKE_SIZE);
	memset(&fake, 0, sizeof(fake));
	fake.memory = mmap(NULL, FAKE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			   0);
	if (fake.memory == MAP_FAILED)
		abort();
	fake.head = (struct lt_mark_head *)fake.memory;
	fake.head->version = LT_MARK_VERSION;
	fake.head->on = 1;
	fake.head->least_ns = 1000000000;
}

static inline int fake_fail(int error)
{
	errno = error;
	return -1;
}

static inline int fake_open(const char *path, int flags)
{
	if (strcmp(path, LT_MARK_DEVICE) || flags != (O_RDWR | O_CLOEXEC))
		abort();
	fake_add(fake.opens);
	return fake.open_error ? fake_fail(fake.open_error) : FAKE_FD;
}

static inline int fake_close(int fd)
{
	if (fd != FAKE_FD)
		abort();
	fake_add(fake.closes);
	return 0;
}

static inline int fake_fstat(int fd, struct stat *stat)
{
	if (fd != FAKE_FD)
		abort();
	memset(stat, 0, sizeof(*stat));
	stat->st_ino = 7 + fake.other_file;
	return 0;
}

/* The library unmaps by address: here only the count changes. */
static inline void *fake_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	size_t most = sizeof(struct lt_mark_thread);

	if (!offset)
		most = sizeof(struct lt_mark_head);
	if (offset == (off_t)LT_MARK_SLOTS_OFFSET)
		most = LT_MARK_SLOTS_SIZE;
	if (at || flags != MAP_SHARED || fd != FAKE_FD || offset % LT_MARK_AREA || size != most ||
	    prot != (offset ? PROT_READ | PROT_WRITE : PROT_READ))
		abort();
	fake_add(fake.maps);
	return fake.memory + offset;
}

static inline int fake_munmap(void *at, size_t size)
{
	if ((char *)at < fake.memory || (char *)at + size > fake.memory + FAKE_SIZE)
		abort();
	fake_add(fake.unmaps);
	return 0;
}

static inline int fake_define(struct lt_mark_define *define)
{
	unsigned int i;

	fake.defines++;
	for (i = 0; i < fake.marks && strcmp(fake.name[i], define->name); i++)
		;
	if (!*define->name || strchr(define->name, ' '))
		return fake_fail(EINVAL);
	if (i == LT_MARK_MAX)
		return fake_fail(ENOSPC);
	if (i == fake.marks)
		memcpy(fake.name[fake.marks++], define->name, LT_MARK_NAME);
	define->mark = i;
	return 0;
}

static inline int fake_ioctl(int fd, unsigned long command, void *arg)
{
	unsigned int n;

	if (fd != FAKE_FD)
		abort();
	switch (command) {
	case LT_MARK_DEFINE:
		return fake_define(arg);
	case LT_MARK_THREAD:
		*(__u32 *)arg = fake_add(fake.threads);
		return fake.thread_error ? fake_fail(fake.thread_error) : 0;
	case LT_MARK_END:
		if (fake.interrupted) {
			fake.interrupted--;
			return fake_fail(EINTR);
		}
		n = fake_add(fake.ends);
		memcpy(&fake.told[n % FAKE_TOLD], arg, sizeof(struct lt_mark_end));
		errno = EIO;	/* as a system call may; the program must not see it */
		return 1;
	case LT_MARK_BEGIN_SHARED:
	case LT_MARK_END_SHARED:
		if (fake.interrupted) {
			fake.interrupted--;
			return fake_fail(EINTR);
		}
		if (command == LT_MARK_BEGIN_SHARED)
			fake_add(fake.shared_begun);
		else
			fake_add(fake.shared_ended);
		memcpy(&fake.shared, arg, sizeof(fake.shared));
		return fake_fail(ENOENT);
	}
	abort();
}

static inline int fake_clock_gettime(clockid_t clock, struct timespec *now)
{
	u64 ns = fake_thread_ns ? fake_thread_ns : fake.now_ns;

	if (clock != CLOCK_MONOTONIC)
		abort();
	if (!fake_thread_ns)
		fake_add(fake.clocks);
	if (fake.at_clock)
		fake.at_clock();
	if (!ns)
		return clock_gettime(clock, now);
	now->tv_sec = (time_t)(ns / 1000000000);
	now->tv_nsec = (long)(ns % 1000000000);
	return 0;
}

#define open		fake_open
#define close		fake_close
#define fstat		fake_fstat
#define mmap		fake_mmap
#define munmap		fake_munmap
#define ioctl		fake_ioctl
#define clock_gettime	fake_clock_gettime
#include "user/latency_tracker_user.h"
#undef open
#undef close
#undef fstat
#undef mmap
#undef munmap
#undef ioctl
#undef clock_gettime

/* The process and this thread as they were before they had marks, and a new device. */
static inline void mark_reset(void)
{
	struct lt_mark_process *process = &lt_mark_process_1;
	u8 hooked = process->hooked;
	pthread_key_t key = process->key;

	if (hooked)
		pthread_setspecific(key, NULL);
	memset(process, 0, sizeof(*process));
	process->hooked = hooked;
	process->key = key;
	memset(&lt_mark_self_1, 0, sizeof(lt_mark_self_1));
	lt_mark_head_1 = &lt_mark_off_1;
	fake_reset();
	fake.now_ns = 1000000000;
}

#endif /* LT_HOST_MARK_KERNEL_H */
