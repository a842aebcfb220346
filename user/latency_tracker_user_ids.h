/* SPDX-License-Identifier: MIT */
/*
 * A part of latency_tracker_user.h: operations that one thread of a process begins, and any of its
 * threads ends, known by mark and id; and those that another process may end.
 */
#ifndef LATENCY_TRACKER_USER_IDS_H
#define LATENCY_TRACKER_USER_IDS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Those of the process; NULL: it can't have them. */
static lt_mark_slow struct lt_mark_frame *lt_mark_map_slots(void)
{
	struct lt_mark_process *process = &lt_mark_process_1;
	struct lt_mark_frame *slots;
	int error = errno;
	void *mapped;

	pthread_mutex_lock(&lt_mark_lock_1);
	slots = process->slots;
	if (!slots && process->opened) {
		mapped = mmap(NULL, LT_MARK_SLOTS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      process->fd, (off_t)LT_MARK_SLOTS_OFFSET);
		if (mapped != MAP_FAILED)
			slots = (struct lt_mark_frame *)mapped;
		lt_mark_put(process->slots, slots);
	}
	pthread_mutex_unlock(&lt_mark_lock_1);
	errno = error;
	return slots;
}

/* With a slot of its own a thread writes it; NULL: all that it may have are in use. */
static inline struct lt_mark_frame *lt_mark_claim(struct lt_mark_frame *slots, uint32_t mark,
						  uint64_t id)
{
	uint32_t i, seq, at = lt_mark_slot_at(mark, id);
	struct lt_mark_frame *slot;

	for (i = 0; i < LT_MARK_PROBES; i++) {
		slot = &slots[(at + i) % LT_MARK_SLOTS];
		seq = lt_mark_get(slot->seq);
		/*
		 * The fields come behind the end of the operation before: the acquire pairs with
		 * the release in lt_mark_win().
		 */
		if (seq % 4 == 0 &&
		    __atomic_compare_exchange_n(&slot->seq, &seq, seq + 2, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return slot;
	}
	return NULL;
}

static __attribute__((__noinline__, __unused__)) void lt_mark_put_id(uint32_t mark, uint64_t id)
{
	struct lt_mark_self *self = &lt_mark_self_1;
	struct lt_mark_frame *slots, *slot;

	if (mark >= LT_MARK_MAX || !lt_mark_enter(self))
		return;
	if (!self->area && !lt_mark_area(self))
		goto out;
	slots = lt_mark_get(lt_mark_process_1.slots);
	if (!slots)
		slots = lt_mark_map_slots();
	slot = slots ? lt_mark_claim(slots, mark, id) : NULL;
	if (!slot) {
		lt_mark_put(self->area->dropped, self->area->dropped + 1);
		goto out;
	}
	/* As in lt_mark_push(): pairs with read_frame(). */
	lt_mark_fence();
	lt_mark_put(slot->mark, mark);
	lt_mark_put(slot->id, id);
	lt_mark_put(slot->start_ns, lt_mark_clock());
	lt_mark_put(slot->run_ns, (uint64_t)self->nr);
	__atomic_store_n(&slot->seq, lt_mark_get(slot->seq) + 1, __ATOMIC_RELEASE);
out:
	lt_mark_leave(self);
}

/* Take such an operation away, if it is in that slot. @was: what it was. */
static inline int lt_mark_win(struct lt_mark_frame *slot, uint32_t mark, uint64_t id,
			      struct lt_mark_frame *was)
{
	was->seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);
	if (was->seq % 4 != 3)
		return 0;
	was->mark = lt_mark_get(slot->mark);
	was->id = lt_mark_get(slot->id);
	was->start_ns = lt_mark_get(slot->start_ns);
	was->run_ns = LT_MARK_NO_TIME;
	/* Of one operation, if nobody else has taken it. */
	return was->mark == mark && was->id == id &&
	       __atomic_compare_exchange_n(&slot->seq, &was->seq, was->seq + 1, 0,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static __attribute__((__noinline__, __unused__)) void lt_mark_take_id(uint32_t mark, uint64_t id)
{
	struct lt_mark_frame *slots = lt_mark_get(lt_mark_process_1.slots), was;
	struct lt_mark_self *self = &lt_mark_self_1;
	uint32_t i, at = lt_mark_slot_at(mark, id);
	uint64_t now, delay, least;

	if (mark >= LT_MARK_MAX || !slots || !lt_mark_enter(self))
		return;
	/* What it counts needs a place. */
	if (!self->area && !lt_mark_area(self))
		goto out;
	now = lt_mark_clock();
	for (i = 0; i < LT_MARK_PROBES; i++) {
		if (!lt_mark_win(&slots[(at + i) % LT_MARK_SLOTS], mark, id, &was))
			continue;
		lt_mark_put(self->area->last_ns[mark], now);
		delay = now > was.start_ns ? now - was.start_ns : 0;
		least = lt_mark_get(lt_mark_get(lt_mark_head_1)->least_ns);
		if (delay >= least ||
		    !lt_mark_count(self->area, lt_mark_key(mark, delay), delay)) {
			/* As lt_mark_tell() wants it: the end has been. */
			was.seq++;
			lt_mark_tell(LT_MARK_SLOT_FRAME((at + i) % LT_MARK_SLOTS), &was, now,
				     LT_MARK_NO_TIME);
		}
		break;
	}
out:
	lt_mark_leave(self);
}

/* Tell the kernel of an operation between processes: a child of fork() opens the device first. */
static lt_mark_slow void lt_mark_call_shared(unsigned long command, uint32_t mark, uint64_t id)
{
	struct lt_mark_self *self = &lt_mark_self_1;
	struct lt_mark_between shared;
	int error = errno, opened;

	if (mark >= LT_MARK_MAX || !lt_mark_enter(self))
		return;
	pthread_mutex_lock(&lt_mark_lock_1);
	opened = lt_mark_open(&lt_mark_process_1) == 0;
	if (!opened)
		lt_mark_put(lt_mark_head_1, (const struct lt_mark_head *)&lt_mark_off_1);
	pthread_mutex_unlock(&lt_mark_lock_1);
	memset(&shared, 0, sizeof(shared));
	shared.mark = mark;
	shared.id = id;
	while (opened && ioctl(lt_mark_process_1.fd, command, &shared) < 0 && errno == EINTR)
		;
	errno = error;
	lt_mark_leave(self);
}

/**
 * lt_mark_begin_id() - an operation begins that any thread of the process may end
 * @mark: of lt_mark_define()
 * @id: tells it from all others of that mark that are pending
 *
 * So many of them may be pending in a process that their ids find one of 16 places of 256; what
 * finds none is only counted. They are not inside of others, have no CPU time, and no path. It
 * costs one locked instruction more than lt_mark_begin().
 *
 * Context: as lt_mark_begin().
 */
static inline void lt_mark_begin_id(int mark, uint64_t id)
{
	if (lt_mark_on())
		lt_mark_put_id((uint32_t)mark, id);
}

/**
 * lt_mark_end_id() - such an operation ends
 * @mark: as at its begin
 * @id: as at its begin
 *
 * Of several threads that end it at once, one does. Without such a begin it does nothing.
 *
 * Context: as lt_mark_end().
 */
static inline void lt_mark_end_id(int mark, uint64_t id)
{
	lt_mark_take_id((uint32_t)mark, id);
}

/**
 * lt_mark_begin_shared() - an operation begins that another process may end
 * @mark: of lt_mark_define()
 * @id: tells it from all others of that name that are pending
 *
 * The other process has the same effective user, is in the same pid namespace, and has defined a
 * mark of the same name. It costs a system call, and so does its end. It is not inside of others,
 * has no CPU time and no path. When its process dies it stays pending: until it is ended, or too
 * old. The next begin of the same name and id replaces it.
 *
 * Context: any thread; not a signal handler.
 */
static inline void lt_mark_begin_shared(int mark, uint64_t id)
{
	if (lt_mark_on())
		lt_mark_call_shared(LT_MARK_BEGIN_SHARED, (uint32_t)mark, id);
}

/**
 * lt_mark_end_shared() - such an operation ends
 * @mark: of lt_mark_define() in this process
 * @id: as at its begin
 *
 * Of several that end it at once, one does. Without such a begin it does nothing.
 *
 * Context: as lt_mark_begin_shared().
 */
static inline void lt_mark_end_shared(int mark, uint64_t id)
{
	/* What is pending ends while marks are off, too. */
	if (lt_mark_get(lt_mark_head_1) != &lt_mark_off_1)
		lt_mark_call_shared(LT_MARK_END_SHARED, (uint32_t)mark, id);
}

#ifdef __cplusplus
}
#endif

#endif /* LATENCY_TRACKER_USER_IDS_H */
