/* SPDX-License-Identifier: MIT */
/*
 * Marks: a program tells latency_tracker_mark when an operation of its own begins and ends. The
 * module reports what is late, with the kernel's reason, and counts the rest.
 *
 *	static int request;
 *
 *	request = lt_mark_define("request");	once
 *	lt_mark_begin(request, number);
 *	...
 *	lt_mark_end(request, number);		in the same thread
 *
 * There is nothing to link but -pthread; -std=c99 needs -D_POSIX_C_SOURCE=200809L besides.
 * Without the module all of this does nothing. All functions keep errno, but for
 * lt_mark_define().
 *
 * A shared object that dlclose() may unmap is to be linked with -z nodelete: threads that end,
 * and fork(), call functions of this file.
 */
#ifndef LATENCY_TRACKER_USER_H
#define LATENCY_TRACKER_USER_H

#include "latency_tracker_user_setup.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline uint64_t lt_mark_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * The time, and the CPU time of the thread then. The kernel writes the latter when the thread
 * gets a CPU, so the thread never sees it half way, but may see it before and after: barriers
 * of the compiler are enough. A switch of tasks is rare enough to try four times.
 */
static inline uint64_t lt_mark_now(const struct lt_mark_thread *area, uint64_t *run_ns)
{
	uint64_t now, in, run;
	int tries = 4;
	uint32_t seq;

	do {
		seq = lt_mark_get(area->run_seq);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		now = lt_mark_clock();
		in = lt_mark_get(area->in_ns);
		run = lt_mark_get(area->run_ns);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (!(seq & 1) && seq == lt_mark_get(area->run_seq)) {
			*run_ns = in ? run + (now > in ? now - in : 0) : LT_MARK_NO_TIME;
			return now;
		}
	} while (--tries);
	*run_ns = LT_MARK_NO_TIME;
	return now;
}

/* There is no frame for it. */
static inline void lt_mark_drop(struct lt_mark_self *self, uint32_t mark)
{
	lt_mark_put(self->area->dropped, self->area->dropped + 1);
	if (mark < LT_MARK_MAX) {
		self->over++;
		self->over_marks |= 1ULL << mark;
	}
}

static __attribute__((__noinline__, __unused__)) void lt_mark_push(uint32_t mark, uint64_t id)
{
	struct lt_mark_self *self = &lt_mark_self_1;
	struct lt_mark_thread *area;
	struct lt_mark_frame *frame;
	uint64_t now, run;

	area = self->area;
	if (lt_mark_unlikely(!lt_mark_enter(self))) {
		if (area)
			lt_mark_put(area->dropped, area->dropped + 1);
		return;
	}
	if (lt_mark_unlikely(!area)) {
		area = lt_mark_area(self);
		if (!area)
			goto out;
	}
	if (lt_mark_unlikely(self->depth == LT_MARK_DEPTH || mark >= LT_MARK_MAX)) {
		lt_mark_drop(self, mark);
		goto out;
	}
	frame = &area->frame[self->depth];
	now = lt_mark_now(area, &run);
	/*
	 * The even @seq of the last end comes before these fields: pairs with the smp_rmb() of
	 * read_frame() in examples/mark/operation.c, before its second look at @seq.
	 */
	lt_mark_fence();
	lt_mark_put(frame->mark, mark);
	lt_mark_put(frame->id, id);
	lt_mark_put(frame->start_ns, now);
	lt_mark_put(frame->run_ns, run);
	/* Pairs with the smp_load_acquire() of read_frame(): an odd @seq has these fields. */
	__atomic_store_n(&frame->seq, frame->seq + 1, __ATOMIC_RELEASE);
	self->depth++;
out:
	lt_mark_leave(self);
}

/* Returns whether there was a cell for it. */
static inline int lt_mark_count(struct lt_mark_thread *area, uint32_t key, uint64_t delay)
{
	uint32_t i, at = lt_mark_cell_at(key);
	struct lt_mark_cell *cell;

	for (i = 0; i < LT_MARK_PROBES; i++) {
		cell = &area->cell[(at + i) % LT_MARK_CELLS];
		if (cell->key != key && cell->key)
			continue;
		lt_mark_put(cell->sum_ns, cell->sum_ns + delay);
		lt_mark_put(cell->count, cell->count + 1);
		/* Pairs with the smp_load_acquire() of read_cell() : a key has its figures. */
		if (!cell->key)
			__atomic_store_n(&cell->key, key, __ATOMIC_RELEASE);
		/* Pairs with the smp_load_acquire() of mark_fold(): so many are in the cells. */
		__atomic_store_n(&area->ended, area->ended + 1, __ATOMIC_RELEASE);
		return 1;
	}
	return 0;
}

/* Nobody else writes to a frame, so it still has what ended. */
static lt_mark_slow void lt_mark_tell(uint32_t at, const struct lt_mark_frame *frame,
				      uint64_t end_ns, uint64_t end_run_ns)
{
	struct lt_mark_end end;
	int error = errno;

	memset(&end, 0, sizeof(end));
	end.frame = at;
	end.seq = frame->seq - 1;
	end.mark = frame->mark;
	end.id = frame->id;
	end.start_ns = frame->start_ns;
	end.start_run_ns = frame->run_ns;
	end.end_ns = end_ns;
	end.end_run_ns = end_run_ns;
	while (ioctl(lt_mark_process_1.fd, LT_MARK_END, &end) < 0 && errno == EINTR)
		;
	errno = error;
}

/* Take frame @at away, and what is left above it: the innermost one first. */
static inline void lt_mark_take(struct lt_mark_self *self, uint32_t at)
{
	struct lt_mark_frame *frame;

	self->over = 0;
	self->over_marks = 0;
	while (self->depth > at) {
		frame = &self->area->frame[--self->depth];
		/*
		 * The clock was read before. Pairs with the smp_load_acquire() of read_frame(),
		 * which does not take it for pending, then.
		 */
		__atomic_store_n(&frame->seq, frame->seq + 1, __ATOMIC_RELEASE);
	}
}

static __attribute__((__noinline__, __unused__)) void lt_mark_pop(struct lt_mark_self *self,
								   uint32_t mark, uint64_t id)
{
	struct lt_mark_thread *area = self->area;
	uint64_t now, run, delay;
	struct lt_mark_frame *frame;
	uint32_t at = self->depth;

	if (mark >= LT_MARK_MAX || !lt_mark_enter(self))
		return;
	if (lt_mark_unlikely(self->over) && self->over_marks >> mark & 1) {
		if (!--self->over)
			self->over_marks = 0;
		goto out;
	}
	do {
		if (!at)
			goto out;
		frame = &area->frame[--at];
	} while (frame->mark != mark || frame->id != id);
	now = lt_mark_now(area, &run);
	lt_mark_take(self, at);
	/* The kernel reads it when this thread goes to sleep: there is nothing to order. */
	lt_mark_put(area->last_ns[mark], now);
	delay = now > frame->start_ns ? now - frame->start_ns : 0;
	/* It may change at any time, so there is nothing to order: the kernel looks itself. */
	if (lt_mark_unlikely(delay >= lt_mark_get(lt_mark_get(lt_mark_head_1)->least_ns) ||
			     !lt_mark_count(area, lt_mark_key(mark, delay), delay)))
		lt_mark_tell(at, frame, now, run);
out:
	lt_mark_leave(self);
}

/* --- what a program calls ------------------------------------------------------------------ */

/**
 * lt_mark_define() - define a kind of operation
 * @name: at most LT_MARK_NAME - 1 letters, digits and any of _ . - /, with no / in front
 *
 * The first call opens LT_MARK_DEVICE; if that fails, the next one tries again. A child of
 * fork() has the same marks with the same numbers.
 *
 * Context: any thread; not a signal handler.
 * Return: the mark, from 0 to 63, the same for the same name; or -1 with errno: ENOENT without
 * the module, EACCES without the permission, EINVAL for such a name, ENOSPC when there are too
 * many, EPROTONOSUPPORT if the module has another version. A mark of -1 may be used as any
 * other; nothing comes of it.
 */
static inline int lt_mark_define(const char *name)
{
	struct lt_mark_self *self = &lt_mark_self_1;
	int mark = -1;

	lt_mark_put(self->busy, (uint8_t)(self->busy + 1));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pthread_mutex_lock(&lt_mark_lock_1);
	if (lt_mark_hook(&lt_mark_process_1) == 0 && lt_mark_open(&lt_mark_process_1) == 0)
		mark = lt_mark_name(&lt_mark_process_1, name);
	pthread_mutex_unlock(&lt_mark_lock_1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lt_mark_put(self->busy, (uint8_t)(self->busy - 1));
	return mark;
}

/**
 * lt_mark_on() - are marks tracked now?
 *
 * For an id that is dear to find out: lt_mark_begin() asks by itself.
 *
 * Context: any.
 * Return: 0 if a begin would do nothing.
 */
static inline int lt_mark_on(void)
{
	return lt_mark_get(lt_mark_get(lt_mark_head_1)->on) != 0;
}

/**
 * lt_mark_begin() - an operation of this thread begins
 * @mark: of lt_mark_define()
 * @id: a number of the program, which is in the report; a request's, say, or 0
 *
 * It is inside of those of this thread that have not ended yet; the 9th and those inside of it
 * are only counted. The first one of a thread makes two system calls and sleeps for a moment.
 *
 * Context: any thread. In a signal handler if the thread has begun something before, and if the
 * operation ends there, too; it is left out if the signal has interrupted this library.
 */
static inline void lt_mark_begin(int mark, uint64_t id)
{
	if (lt_mark_on())
		lt_mark_push((uint32_t)mark, id);
}

/**
 * lt_mark_end() - an operation of this thread ends
 * @mark: as at its begin
 * @id: as at its begin
 *
 * What began inside of it and has not ended is forgotten: longjmp() left it. Without such a
 * begin it does nothing. It makes a system call only for what took as long as the kernel wants
 * to be told (lt_mark_head.least_ns), or if the table of times is full.
 *
 * Context: as lt_mark_begin().
 */
static inline void lt_mark_end(int mark, uint64_t id)
{
	struct lt_mark_self *self = &lt_mark_self_1;

	if (self->depth)
		lt_mark_pop(self, (uint32_t)mark, id);
}

/**
 * lt_mark_forget() - this thread has no operation any more
 *
 * For a place that longjmp() goes to from inside of operations, if no other one is around them:
 * they would be pending for ever. Also where siglongjmp() may have left this library.
 *
 * Context: any thread; not a signal handler.
 */
static inline void lt_mark_forget(void)
{
	struct lt_mark_self *self = &lt_mark_self_1;

	lt_mark_put(self->busy, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (self->area)
		lt_mark_take(self, 0);
	lt_mark_leave(self);
}

#ifdef __cplusplus
}
#endif

#include "latency_tracker_user_ids.h"

#endif /* LATENCY_TRACKER_USER_H */
