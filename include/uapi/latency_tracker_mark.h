/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * What a program shares with latency_tracker_mark: marks, the begin and end of operations of
 * its own. latency_tracker_user.h is the library for it.
 *
 * Each open of LT_MARK_DEVICE is a space of marks of its own. What it maps:
 *
 *	offset 0			struct lt_mark_head, read only
 *	LT_MARK_THREAD_OFFSET(n)	struct lt_mark_thread of thread n, as LT_MARK_THREAD has
 *					called it; only that thread writes to it
 *	LT_MARK_SLOTS_OFFSET		struct lt_mark_frame[LT_MARK_SLOTS]: operations that one
 *					thread begins and another one may end
 *
 * A begin writes a frame, an end takes it away and counts in a cell, if it took less than
 * lt_mark_head.least_ns. Else it calls LT_MARK_END, which reports it if it is late. The kernel
 * looks at all frames every now and then, so it finds what does not end. It believes nothing of
 * what it reads there: what a program writes concerns its own reports and counts only.
 *
 * All times are ns of CLOCK_MONOTONIC.
 */
#ifndef _LATENCY_TRACKER_MARK_H
#define _LATENCY_TRACKER_MARK_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define LT_MARK_DEVICE		"/dev/latency_tracker"
#define LT_MARK_VERSION		1

#define LT_MARK_NAME		48	/* bytes of a name, with its 0 */
#define LT_MARK_MAX		64	/* marks of a space */
#define LT_MARK_DEPTH		8	/* frames of a thread */
#define LT_MARK_THREADS		1024	/* threads of a space */
#define LT_MARK_SLOTS		256	/* a power of two */
#define LT_MARK_CELLS		512	/* a power of two */
#define LT_MARK_PROBES		16	/* cells, or slots, that may have a key */

/* Cells are 1/16 of an octave wide; below 16 ns they are 1 ns wide. */
#define LT_MARK_CELL_BITS	4

/* CPU time that is not known. */
#define LT_MARK_NO_TIME		(~0ULL)

/**
 * struct lt_mark_head - what the kernel tells a program
 * @version: LT_MARK_VERSION
 * @on: marks are tracked; 0: a begin may be left out
 * @least_ns: what takes as long is told by LT_MARK_END; it may change at any time
 */
struct lt_mark_head {
	__u32 version;
	__u32 on;
	__u64 least_ns;
};

/**
 * struct lt_mark_frame - an operation that is pending, or was
 * @seq: odd while it is pending; the begin and the end of a thread's own add 1, the begin last
 *	of all; in a slot, a begin adds 2 for itself by a compare-and-exchange, and then 1; the
 *	end, whoever wins it, 1 by a compare-and-exchange: so multiples of 4 are free
 * @mark: which mark, as LT_MARK_DEFINE has called it
 * @id: of the program, to tell operations apart
 * @start_ns: when it began
 * @run_ns: CPU time of the thread then, or LT_MARK_NO_TIME; in a slot, the number of the thread
 *	that began it
 */
struct lt_mark_frame {
	__u32 seq;
	__u32 mark;
	__u64 id;
	__u64 start_ns;
	__u64 run_ns;
};

/**
 * struct lt_mark_cell - operations of a mark that took about as long
 * @key: lt_mark_key(); 0: none yet
 * @count: how many, with an overflow
 * @sum_ns: of their times, with an overflow
 */
struct lt_mark_cell {
	__u32 key;
	__u32 count;
	__u64 sum_ns;
};

/**
 * struct lt_mark_thread - what a thread and the kernel share
 * @run_seq: odd while the kernel changes the next two
 * @tid: of the thread, in its pid namespace
 * @run_ns: CPU time of the thread when it got the CPU that it has
 * @in_ns: when that was; 0: not known yet
 * @pad: 0
 * @ended: operations that are in the cells, with an overflow; written behind them
 * @dropped: begins beyond LT_MARK_DEPTH, which have no frame, and marks that do not exist
 * @reserved: 0
 * @frame: nested operations, the outermost one first
 * @cell: operations in time: a hash table, see lt_mark_cell_at()
 * @last_ns: by mark: when this thread has ended an operation of it last; 0: never yet
 *
 * The kernel writes the fields in front of @ended, the thread those from there on.
 */
struct lt_mark_thread {
	__u32 run_seq;
	__u32 tid;
	__u64 run_ns;
	__u64 in_ns;
	__u64 pad[5];

	__u32 ended;
	__u32 dropped;
	__u64 reserved[7];
	struct lt_mark_frame frame[LT_MARK_DEPTH];
	struct lt_mark_cell cell[LT_MARK_CELLS];
	__u64 last_ns[LT_MARK_MAX];
};

/* For mmap(); a multiple of all sizes of a page. */
#define LT_MARK_AREA		0x10000ULL
#define LT_MARK_THREAD_OFFSET(n) (LT_MARK_AREA * ((n) + 1ULL))
#define LT_MARK_SLOTS_OFFSET	LT_MARK_THREAD_OFFSET(LT_MARK_THREADS)
#define LT_MARK_SLOTS_SIZE	(LT_MARK_SLOTS * sizeof(struct lt_mark_frame))

/* As lt_mark_end.frame: slot @n. */
#define LT_MARK_SLOT_FRAME(n)	(0x100U + (n))

/**
 * struct lt_mark_define - define a mark
 * @name: letters, digits and any of _ . - /, not a / in front; the same name has the same mark
 * @mark: result, below LT_MARK_MAX
 * @reserved: 0
 */
struct lt_mark_define {
	char name[LT_MARK_NAME];
	__u32 mark;
	__u32 reserved;
};

/**
 * struct lt_mark_end - the end of an operation that took lt_mark_head.least_ns or longer
 * @frame: which frame it was in; those in front of it are the operations that it was part of;
 *	or LT_MARK_SLOT_FRAME() of its slot
 * @seq: of that frame, while it was pending
 * @mark: as in the frame, like the next three
 * @reserved: 0
 * @id: see @mark
 * @start_ns: see @mark
 * @start_run_ns: see @mark, run_ns of the frame
 * @end_ns: when it ended
 * @end_run_ns: CPU time of the thread then, or LT_MARK_NO_TIME
 */
struct lt_mark_end {
	__u32 frame;
	__u32 seq;
	__u32 mark;
	__u32 reserved;
	__u64 id;
	__u64 start_ns;
	__u64 start_run_ns;
	__u64 end_ns;
	__u64 end_run_ns;
};

/**
 * struct lt_mark_between - an operation that one process begins, and another one ends
 * @mark: as LT_MARK_DEFINE has called it for the caller; both use the same name
 * @reserved: 0
 * @id: tells it from all others of that name that are pending
 */
struct lt_mark_between {
	__u32 mark;
	__u32 reserved;
	__u64 id;
};

/* EINVAL: not such a name. ENOSPC: no more marks in this space, or on this machine. */
#define LT_MARK_DEFINE	_IOWR('L', 0x71, struct lt_mark_define)
/*
 * The calling thread wants to have marks: its number, always the same. EDQUOT: its user has too
 * many already. It sleeps for a moment, so that the CPU time is known.
 */
#define LT_MARK_THREAD	_IOR('L', 0x72, __u32)
/* 1: late, 0: in time. EINVAL: that can't be, or it comes before LT_MARK_THREAD. */
#define LT_MARK_END	_IOW('L', 0x73, struct lt_mark_end)
/*
 * It begins; a begin of the same mark and id before is forgotten. EDQUOT: the user has too many
 * pending already. What opened the device has said whose it is: the effective user, in its pid
 * namespace. Others may neither end it nor replace it.
 */
#define LT_MARK_BEGIN_SHARED	_IOW('L', 0x74, struct lt_mark_between)
/* It ends: 1: late, 0: in time. ENOENT: none such is pending. */
#define LT_MARK_END_SHARED	_IOW('L', 0x75, struct lt_mark_between)

/* Keys of a mark, from mark << 16 | 1 on. */
#define LT_MARK_KEYS		976

/* The key of the cell for an operation of @mark that took @delay_ns; never 0. */
static inline __u32 lt_mark_key(__u32 mark, __u64 delay_ns)
{
	__u32 shift;

	if (delay_ns >> LT_MARK_CELL_BITS == 0)
		return mark << 16 | ((__u32)delay_ns + 1);
	shift = 63 - LT_MARK_CELL_BITS - (__u32)__builtin_clzll(delay_ns);
	return mark << 16 | ((shift << LT_MARK_CELL_BITS) + (__u32)(delay_ns >> shift) + 1);
}

/* The times in a cell with that key: at least. */
static inline __u64 lt_mark_key_least(__u32 key)
{
	__u32 in = (key & 0xffff) - 1, shift = in >> LT_MARK_CELL_BITS;

	if (!shift)
		return in;
	in = (in & ((1 << LT_MARK_CELL_BITS) - 1)) | 1 << LT_MARK_CELL_BITS;
	return (__u64)in << (shift - 1);
}

/* Where the search for a cell begins: LT_MARK_PROBES from there on, in a circle. */
static inline __u32 lt_mark_cell_at(__u32 key)
{
	return key * 0x9e3779b1U >> 23;
}

/* Likewise for a slot. */
static inline __u32 lt_mark_slot_at(__u32 mark, __u64 id)
{
	return ((__u32)id ^ (__u32)(id >> 32) ^ mark << 26) * 0x9e3779b1U >> 24;
}

#endif /* _LATENCY_TRACKER_MARK_H */
