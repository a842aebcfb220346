// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a begin with its end cost in BPF, as tools such as runqslower do it?
 * A time stamp goes into a pre-allocated hash, is looked up, compared with a
 * threshold, and deleted: helpers of the kernel, called from a program that the
 * kernel runs many times. If it is late, a record goes into a ring buffer that nobody
 * is woken for. The programs are written in BPF's instructions, so that no compiler
 * for it is needed.
 *
 * Usage: bpf_pair NS_PER_UNIT
 *
 * Prints units per run, less those of an empty program, whose line comes first. Each
 * line is a group of marks; see latency_tracker_pair.c.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mark.h"

#define ENTRIES		1024
#define RING_BYTES	(4 << 20)
#define REPEAT		1000
#define ROUNDS		20
#define WINDOWS		64
#define NEVER		1000000000	/* ns */

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

static void die(const char *what)
{
	fprintf(stderr, "bpf_pair: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int make_map(enum bpf_map_type type, unsigned int size,
		    unsigned int entries)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = size,
		.value_size = size,
		.max_entries = entries,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0)
		die("BPF_MAP_CREATE");
	return fd;
}

static int load(const struct bpf_insn *insns, unsigned int nr)
{
	static char log[65536];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SCHED_CLS,
		.insns = (uintptr_t)insns,
		.insn_cnt = nr,
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0) {
		fputs(log, stderr);
		die("BPF_PROG_LOAD");
	}
	return fd;
}

#define PUT(...)							\
	do {								\
		const struct bpf_insn put[] = { __VA_ARGS__ };		\
		memcpy(&insns[n], put, sizeof(put));			\
		n += sizeof(put) / sizeof(*put);			\
	} while (0)

/* A begin if @begin, then an end; it is late from @threshold ns on. */
static int load_pair(bool begin, int threshold)
{
	struct bpf_insn insns[64];
	unsigned int n = 0;

	PUT(MOVI(1, 0x1234567), STORE(10, KEY, 1));
	if (begin)
		PUT(CALL(ktime_get_ns), STORE(10, VALUE, 0),
		    MAP(1, hash), REST,
		    MOV(2, 10), ADDI(2, KEY), MOV(3, 10), ADDI(3, VALUE),
		    MOVI(4, BPF_ANY),
		    CALL(map_update_elem));
	PUT(MAP(1, hash), REST,
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
	    MOV(2, 10), ADDI(2, RECORD), MOVI(3, 24),
	    MOVI(4, BPF_RB_NO_WAKEUP),
	    CALL(ringbuf_output),
	    MAP(1, hash), REST,
	    MOV(2, 10), ADDI(2, KEY),
	    CALL(map_delete_elem),
	    MOVI(0, 0), EXIT);
	return load(insns, n);
}

static unsigned int run(int fd, unsigned int repeat)
{
	static unsigned char packet[64];
	union bpf_attr attr = {
		.test = {
			.prog_fd = fd,
			.data_in = (uintptr_t)packet,
			.data_size_in = sizeof(packet),
			.repeat = repeat,
		},
	};

	if (bpf(BPF_PROG_TEST_RUN, &attr))
		die("BPF_PROG_TEST_RUN");
	return attr.test.duration;
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

int main(int argc, char **argv)
{
	unsigned int unit = argc > 1 ? atoi(argv[1]) : 0, empty, ns, i;
	const struct bpf_insn nothing[] = { MOVI(0, 0), EXIT };

	if (!unit) {
		fprintf(stderr, "Usage: bpf_pair NS_PER_UNIT\n");
		return 1;
	}
	hash = make_map(BPF_MAP_TYPE_HASH, 8, ENTRIES);
	ring = make_map(BPF_MAP_TYPE_RINGBUF, 0, RING_BYTES);
	const struct {
		const char *name;
		int fd;
	} variants[] = {
		{ "hit", load_pair(true, NEVER) },
		{ "miss", load_pair(false, NEVER) },
		{ "late, event", load_pair(true, 0) },
	};

	empty = measure(load(nothing, sizeof(nothing) / sizeof(*nothing)));
	printf("%-28s %u.0\n", "BPF: empty program", empty / unit);
	for (i = 0; i < sizeof(variants) / sizeof(*variants); i++) {
		ns = measure(variants[i].fd) - empty;
		printf("BPF: %-23s %u.%u\n", variants[i].name, ns / unit,
		       ns % unit * 10 / unit);
	}
	return 0;
}
