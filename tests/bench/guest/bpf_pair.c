// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a begin with its end cost in BPF, as tools such as runqslower do it?
 * A time stamp goes into a pre-allocated hash, is looked up, compared with a
 * threshold, and deleted: helpers of the kernel, called from a program that the
 * kernel runs many times. If it is late, a record goes into a ring buffer that no program
 * is woken for. The programs are written in BPF's instructions, so that no compiler
 * for it is needed.
 *
 * Prints instructions per run, less those of an empty program, whose line comes first. Each
 * line is a group of marks; see latency_tracker_pair.c.
 */
#include <bpf/bpf.h>
#include <err.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "mark.h"

#define ENTRIES		1024
#define RING_BYTES	(4 << 20)
#define REPEAT		1000
#define ROUNDS		20
#define WINDOWS		64
#define NEVER		1000000000	/* ns */
#define BEGIN_INSNS	10	/* of a begin, behind its key */

#define INSN(c, d, s, o, i)						\
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s),	\
			    .off = (o), .imm = (i) })
#define MOV(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOVI(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADDI(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define SUB(d, s)	INSN(BPF_ALU64 | BPF_SUB | BPF_X, d, s, 0, 0)
#define LOAD(d, s, o)	INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s)	INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define IF_EQ(d, i, o)	INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, i)
#define IF_LT(d, i, o)	INSN(BPF_JMP | BPF_JLT | BPF_K, d, 0, o, i)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##f)
#define EXIT		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* Two instructions, of which this is the first; the other one is REST. */
#define MAP(d, fd)							\
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_FD, 0, fd)
#define REST		INSN(0, 0, 0, 0, 0)

/* Behind the frame pointer. */
#define KEY	(-8)
#define VALUE	(-16)
#define RECORD	(-40)

static int hash, ring;

static int made(int fd, const char *what)
{
	if (fd < 0)
		err(1, "%s", what);
	return fd;
}

static int load(const struct bpf_insn *insns, unsigned int nr)
{
	return made(bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, NULL, "GPL", insns, nr, NULL),
		    "BPF_PROG_LOAD");
}

/* A begin if @begin, then an end; it is late from @threshold ns on. */
static int load_pair(bool begin, int threshold)
{
	struct bpf_insn insns[] = {
		MOVI(1, 0x1234567), STORE(10, KEY, 1),
		CALL(ktime_get_ns), STORE(10, VALUE, 0),
		MAP(1, hash), REST,
		MOV(2, 10), ADDI(2, KEY), MOV(3, 10), ADDI(3, VALUE), MOVI(4, BPF_ANY),
		CALL(map_update_elem),
		/* The end. */
		MAP(1, hash), REST,
		MOV(2, 10), ADDI(2, KEY),
		CALL(map_lookup_elem),
		IF_EQ(0, 0, 21),
		LOAD(7, 0, 0),
		CALL(ktime_get_ns), MOV(6, 0), SUB(6, 7),
		IF_LT(6, threshold, 11),
		/* It is late. */
		LOAD(1, 10, KEY), STORE(10, RECORD, 1),
		STORE(10, RECORD + 8, 7), STORE(10, RECORD + 16, 6),
		MAP(1, ring), REST,
		MOV(2, 10), ADDI(2, RECORD), MOVI(3, 24), MOVI(4, BPF_RB_NO_WAKEUP),
		CALL(ringbuf_output),
		MAP(1, hash), REST,
		MOV(2, 10), ADDI(2, KEY),
		CALL(map_delete_elem),
		MOVI(0, 0), EXIT,
	};
	unsigned int first = begin ? 0 : BEGIN_INSNS;

	/* Either way it starts with the key. */
	memmove(&insns[first], insns, 2 * sizeof(*insns));
	return load(&insns[first], sizeof(insns) / sizeof(*insns) - first);
}

static unsigned int run(int fd, unsigned int repeat)
{
	static unsigned char packet[64];
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts), .data_in = packet, .data_size_in = sizeof(packet),
		.repeat = repeat,
	};

	made(-!!bpf_prog_test_run_opts(fd, &opts), "BPF_PROG_TEST_RUN");
	return opts.duration;
}

/* ns per run; the best of several rounds, so that a tick does not count. */
static unsigned int measure(int fd)
{
	unsigned int best = -1, round, ns;

	for (round = 0; round < ROUNDS; round++) {
		ns = run(fd, REPEAT);
		if (ns < best)
			best = ns;
	}
	mark(MARK_GROUP);
	for (round = 0; round < WINDOWS; round++) {
		mark(MARK_BEGIN);
		run(fd, 1);
		mark(MARK_END);
	}
	return best;
}

static void report(const char *name, int fd, unsigned int less)
{
	printf("BPF: %-23s %.1f\n", name, (double)(measure(fd) - less) / NS_PER_INSN);
}

int main(void)
{
	const struct bpf_insn nothing[] = { MOVI(0, 0), EXIT };
	unsigned int empty;

	hash = made(bpf_map_create(BPF_MAP_TYPE_HASH, NULL, 8, 8, ENTRIES, NULL), "hash");
	ring = made(bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, RING_BYTES, NULL), "ring");
	empty = measure(load(nothing, 2));
	printf("BPF: %-23s %.1f\n", "empty program", (double)empty / NS_PER_INSN);
	report("hit", load_pair(true, NEVER), empty);
	report("miss", load_pair(false, NEVER), empty);
	report("late, event", load_pair(true, 0), empty);
	return 0;
}
