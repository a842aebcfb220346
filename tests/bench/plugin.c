// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU that counts what a guest executes between two marks (mark.h), exactly:
 *
 * windows: for each group of windows, per window, instructions, atomic
 *	read-modify-writes, those without a bus lock, and cache lines that are written,
 *	those of the stack apart. A line per group:
 *	GROUP WINDOWS then mean and minimum of each.
 * profile: how often each block of code was executed. A line per block:
 *	ADDRESS INSTRUCTIONS TIMES, and one for user space, with address 0. The n-th
 *	window, from 0 on, goes to a file of its own, FILE.n.
 * split: instructions in the kernel and in user space. A line per window: KERNEL USER.
 *
 * For one CPU. Options: out=FILE, mode=windows|profile|split.
 *
 * The stack is what the first write behind the mark goes to: the call of what is
 * measured. A locked instruction is one with that prefix, or an exchange with memory; a
 * kernel that runs on one CPU patches the prefix away, unless it is booted with
 * noreplace-smp.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"
#include "qemu_plugin.h"

#define LINE		64
#define STACK		16384	/* of a kernel thread, aligned to this */
#define LINES_MAX	512
#define GROUPS_MAX	256
#define KERNEL		0x8000000000000000ul

enum what { INSNS, LOCKED, UNLOCKED, LINES, STACK_LINES, WHATS };

struct group {
	unsigned long windows;
	unsigned long sum[WHATS];
	unsigned long min[WHATS];
};

struct block {
	struct block *next;
	unsigned long addr;
	unsigned long insns;
	unsigned long times;
};

/* Version 3 is the oldest with this qemu_plugin_insn_data(). */
QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static unsigned long self;
static const char *out_file;
static enum mode { WINDOWS, PROFILE, SPLIT } mode;
static bool armed, counting;

static struct group groups[GROUPS_MAX];
static unsigned int group;
static unsigned long now[WHATS];
static unsigned long lines[LINES_MAX];
static unsigned int nr_lines;
static unsigned long stack;

static struct block *blocks;
static unsigned long kernel_insns, user_insns;

static void reset_done(unsigned long id);
static void write_profile(void);
static void write_split(void);

/* ---- windows ---- */

static void begin(void)
{
	memset(now, 0, sizeof(now));
	nr_lines = 0;
	stack = 0;
	counting = true;
}

static void end(void)
{
	struct group *g = &groups[group];
	unsigned int i;

	if (!counting)
		return;
	counting = false;
	if (mode == PROFILE)
		write_profile();
	else if (mode == SPLIT)
		write_split();
	if (mode != WINDOWS)
		return;
	now[INSNS]--;	/* the mark */
	for (i = 0; i < WHATS; i++) {
		g->sum[i] += now[i];
		if (!g->windows || now[i] < g->min[i])
			g->min[i] = now[i];
	}
	g->windows++;
}

static void on_mark(unsigned int cpu, void *arg)
{
	switch ((unsigned long)arg) {
	case MARK_ARM:
		if (!armed) {
			armed = true;
			/* What has been translated is translated anew. */
			qemu_plugin_reset(self, reset_done);
		}
		break;
	case MARK_GROUP:
		if (groups[group].windows && group < GROUPS_MAX - 1)
			group++;
		break;
	case MARK_BEGIN:
		begin();
		break;
	case MARK_END:
		end();
		break;
	}
}

static void on_insn(unsigned int cpu, void *arg)
{
	if (!counting)
		return;
	now[INSNS]++;
	if (arg)
		now[(unsigned long)arg]++;
}

static void on_store(unsigned int cpu, unsigned int info,
		     unsigned long addr, void *arg)
{
	unsigned long line = addr / LINE;
	unsigned int i;

	if (!counting || !qemu_plugin_mem_is_store(info))
		return;
	if (!stack)
		stack = addr & ~(STACK - 1ul);
	for (i = 0; i < nr_lines; i++) {
		if (lines[i] == line)
			return;
	}
	if (nr_lines < LINES_MAX)
		lines[nr_lines++] = line;
	now[addr - stack < STACK ? STACK_LINES : LINES]++;
}

/* ---- code ---- */

static bool is_prefix(unsigned char byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
	case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3:
		return true;
	default:
		return false;
	}
}

/* Is it an atomic read-modify-write? LOCKED, UNLOCKED or 0. */
static enum what classify(const unsigned char *insn, size_t len)
{
	bool lock = false, memory;
	size_t i;

	for (i = 0; i < len && is_prefix(insn[i]); i++)
		lock |= insn[i] == 0xf0;
	if (lock)
		return LOCKED;
	if (i < len && (insn[i] & 0xf0) == 0x40)
		i++;
	if (i + 1 >= len)
		return 0;
	memory = insn[i + 1] < 0xc0;
	if ((insn[i] == 0x86 || insn[i] == 0x87) && memory)
		return LOCKED;
	if (i + 2 >= len)
		return 0;
	memory = insn[i + 2] < 0xc0;
	/* cmpxchg, xadd, cmpxchg16b: those on variables of the CPU have no lock. */
	if (insn[i] == 0x0f && memory &&
	    (insn[i + 1] == 0xb0 || insn[i + 1] == 0xb1 || insn[i + 1] == 0xc0 ||
	     insn[i + 1] == 0xc1 || insn[i + 1] == 0xc7))
		return UNLOCKED;
	return 0;
}

static unsigned int mark_of(const unsigned char *insn, size_t len)
{
	static const unsigned char opcode[] = { 0x0f, 0x1f, 0x80 };
	unsigned int number;

	if (len != 7 || memcmp(insn, opcode, 3))
		return 0;
	memcpy(&number, insn + 3, 4);
	number -= MARK_MAGIC;
	return number <= MARK_END ? number : 0;
}

static void on_block(unsigned int cpu, void *arg)
{
	struct block *block = arg;

	if (counting)
		block->times++;
}

static void on_user_block(unsigned int cpu, void *arg)
{
	if (counting)
		user_insns += (unsigned long)arg;
}

static void on_kernel_block(unsigned int cpu, void *arg)
{
	if (counting)
		kernel_insns += (unsigned long)arg;
}

static void split_block(struct qemu_plugin_tb *tb, unsigned long addr, size_t insns)
{
	qemu_plugin_register_vcpu_tb_exec_cb(tb, addr < KERNEL ? on_user_block : on_kernel_block,
					     QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(unsigned long)insns);
}

static void profile_block(struct qemu_plugin_tb *tb, unsigned long addr, size_t insns)
{
	struct block *block;

	block = calloc(1, sizeof(*block));
	if (!block)
		abort();
	block->addr = addr;
	block->insns = insns;
	block->next = blocks;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block,
					     QEMU_PLUGIN_CB_NO_REGS, block);
}

static void on_exec(struct qemu_plugin_insn *insn, qemu_exec_fn fn,
		    unsigned long arg)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, fn, QEMU_PLUGIN_CB_NO_REGS,
					       (void *)arg);
}

static void on_write(struct qemu_plugin_insn *insn, qemu_mem_fn fn)
{
	qemu_plugin_register_vcpu_mem_cb(insn, fn, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_W, NULL);
}

static void on_translation(unsigned long id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i, len;
	struct qemu_plugin_insn *insn;
	unsigned long what, addr;
	unsigned char code[16];

	addr = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	if (armed && mode == PROFILE && addr >= KERNEL)
		profile_block(tb, addr, n);
	else if (armed && mode != WINDOWS)
		split_block(tb, addr, n);
	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		len = qemu_plugin_insn_data(insn, code, sizeof(code));
		if (armed && mode == WINDOWS) {
			on_exec(insn, on_insn, classify(code, len));
			on_write(insn, on_store);
		}
		what = mark_of(code, len);
		if (what)
			on_exec(insn, on_mark, what);
	}
}

/* ---- life ---- */

static void write_windows(FILE *out)
{
	unsigned int i, k;

	for (i = 0; i <= group && groups[i].windows; i++) {
		fprintf(out, "%u %lu", i, groups[i].windows);
		for (k = 0; k < WHATS; k++)
			fprintf(out, " %.2f %lu",
				(double)groups[i].sum[k] / groups[i].windows,
				groups[i].min[k]);
		fputc('\n', out);
	}
}

static void write_profile(void)
{
	struct block *block;
	char name[4096];
	FILE *out;

	snprintf(name, sizeof(name), "%s.%u", out_file, group++);
	out = fopen(name, "w");
	if (!out) {
		perror(name);
		return;
	}
	fprintf(out, "0 %lu 1\n", user_insns);
	user_insns = 0;
	for (block = blocks; block; block = block->next) {
		if (block->times)
			fprintf(out, "%lx %lu %lu\n",
				block->addr,
				block->insns,
				block->times);
		block->times = 0;
	}
	fclose(out);
}

static void write_split(void)
{
	FILE *out = fopen(out_file, group++ ? "a" : "w");

	if (!out) {
		perror(out_file);
		return;
	}
	fprintf(out, "%lu %lu\n", kernel_insns, user_insns);
	kernel_insns = 0;
	user_insns = 0;
	fclose(out);
}

static void on_exit_of_qemu(unsigned long id, void *arg)
{
	FILE *out;

	if (mode != WINDOWS)
		return;
	out = fopen(out_file, "w");
	if (!out) {
		perror(out_file);
		return;
	}
	write_windows(out);
	fclose(out);
}

static void listen(void)
{
	qemu_plugin_register_vcpu_tb_trans_cb(self, on_translation);
	qemu_plugin_register_atexit_cb(self, on_exit_of_qemu, NULL);
}

static void reset_done(unsigned long id)
{
	listen();
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(unsigned long id,
					   const struct qemu_info *info,
					   int argc, char **argv)
{
	int i;

	self = id;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out_file = strdup(argv[i] + 4);
		else if (!strcmp(argv[i], "mode=profile"))
			mode = PROFILE;
		else if (!strcmp(argv[i], "mode=split"))
			mode = SPLIT;
		else if (strcmp(argv[i], "mode=windows"))
			return -1;
	}
	if (!out_file)
		return -1;
	listen();
	return 0;
}
