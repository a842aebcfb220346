// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU that counts what a guest executes between two marks (mark.h), exactly:
 *
 * windows: atomic read-modify-writes, those without a bus lock, and cache lines that are
 *	written, those of the stack left out. A line per window: GROUP LOCKED UNLOCKED LINES.
 * split: instructions in the kernel and in user space. A line per window: KERNEL USER.
 * profile: besides, how often each block of the kernel's code was executed. The n-th window,
 *	from 0 on, has a file of its own, FILE.n. A line per block: ADDRESS INSTRUCTIONS
 *	TIMES, and one for user space, with address 0.
 *
 * For one CPU. Options: out=FILE, mode=windows|split|profile.
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
#define KERNEL		0x8000000000000000ul

enum what { NOTHING, LOCKED, UNLOCKED, LINES, WHATS };

struct block {
	struct block *next;
	unsigned long addr;	/* 0 in user space */
	unsigned long insns;
	unsigned long times;
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static unsigned long self;
static const char *out_file;
static enum mode { WINDOWS, SPLIT, PROFILE } mode;
static bool armed, counting;

static FILE *out;
static unsigned int group, window;
static unsigned long now[WHATS];
static unsigned long lines[LINES_MAX];
static unsigned int nr_lines;
static unsigned long stack;

static struct block *blocks;

static void listen(unsigned long id);

static void write_blocks(void)
{
	unsigned long kernel = 0, user = 0;
	FILE *profile = NULL;
	struct block *block;
	char name[4096];

	snprintf(name, sizeof(name), "%s.%u", out_file, window++);
	if (mode == PROFILE)
		profile = fopen(name, "w");
	for (block = blocks; block; block = block->next) {
		*(block->addr ? &kernel : &user) += block->insns * block->times;
		if (profile && block->addr && block->times)
			fprintf(profile, "%lx %lu %lu\n", block->addr, block->insns, block->times);
		block->times = 0;
	}
	fprintf(out, "%lu %lu\n", kernel, user);
	if (!profile)
		return;
	fprintf(profile, "0 %lu 1\n", user);
	fclose(profile);
}

static void end(void)
{
	if (!counting)
		return;
	counting = false;
	if (mode == WINDOWS)
		fprintf(out, "%u %lu %lu %lu\n", group, now[LOCKED], now[UNLOCKED], now[LINES]);
	else
		write_blocks();
	fflush(out);
}

/* ---- what the guest executes ---- */

static void on_mark(unsigned int cpu, void *arg)
{
	switch ((unsigned long)arg) {
	case MARK_ARM:
		/* What has been translated is translated anew. */
		if (!armed)
			qemu_plugin_reset(self, listen);
		armed = true;
		break;
	case MARK_GROUP:
		group++;
		break;
	case MARK_BEGIN:
		memset(now, 0, sizeof(now));
		nr_lines = 0;
		stack = 0;
		counting = true;
		break;
	case MARK_END:
		end();
		break;
	}
}

static void on_atomic(unsigned int cpu, void *arg)
{
	if (counting)
		now[(unsigned long)arg]++;
}

static void on_store(unsigned int cpu, unsigned int info, unsigned long addr, void *arg)
{
	unsigned long line = addr / LINE;
	unsigned int i;

	if (!counting)
		return;
	if (!stack)
		stack = addr & ~(STACK - 1ul);
	for (i = 0; i < nr_lines; i++) {
		if (lines[i] == line)
			return;
	}
	if (nr_lines < LINES_MAX)
		lines[nr_lines++] = line;
	if (addr - stack >= STACK)
		now[LINES]++;
}

static void on_block(unsigned int cpu, void *arg)
{
	struct block *block = arg;

	if (counting)
		block->times++;
}

/* ---- code ---- */

/* Is it an atomic read-modify-write? By how Capstone, in QEMU, spells it. */
static enum what classify(const struct qemu_plugin_insn *insn)
{
	char *text = qemu_plugin_insn_disas(insn);
	enum what what = NOTHING;

	if (!text)
		abort();
	if (!strncmp(text, "lock", 4))
		what = LOCKED;
	else if (!strpbrk(text, "(:"))	/* registers only */
		what = NOTHING;
	else if (!strncmp(text, "xchg", 4))
		what = LOCKED;
	/* Those on variables of the CPU. */
	else if (!strncmp(text, "cmpxchg", 7) || !strncmp(text, "xadd", 4))
		what = UNLOCKED;
	free(text);
	return what;
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

static void count_block(struct qemu_plugin_tb *tb)
{
	unsigned long addr = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	struct block *block = calloc(1, sizeof(*block));

	if (!block)
		abort();
	block->addr = addr >= KERNEL ? addr : 0;
	block->insns = qemu_plugin_tb_n_insns(tb);
	block->next = blocks;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void on_exec(struct qemu_plugin_insn *insn, qemu_exec_fn fn, unsigned long arg)
{
	if (arg)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, fn, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)arg);
}

static void on_translation(unsigned long id, struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *insn;
	unsigned char code[16];
	size_t i, len;

	if (armed && mode != WINDOWS)
		count_block(tb);
	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		len = qemu_plugin_insn_data(insn, code, sizeof(code));
		if (armed && mode == WINDOWS) {
			on_exec(insn, on_atomic, classify(insn));
			qemu_plugin_register_vcpu_mem_cb(insn, on_store, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_W, NULL);
		}
		on_exec(insn, on_mark, mark_of(code, len));
	}
}

/* ---- life ---- */

static void listen(unsigned long id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(self, on_translation);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(unsigned long id, const struct qemu_info *info,
					   int argc, char **argv)
{
	static const char *const modes[] = { "mode=windows", "mode=split", "mode=profile" };

	if (argc != 2 || strncmp(argv[0], "out=", 4))
		return -1;
	while (strcmp(argv[1], modes[mode]))
		if (++mode > PROFILE)
			return -1;
	self = id;
	out_file = strdup(argv[0] + 4);
	out = fopen(out_file, "w");
	if (!out)
		return -1;
	listen(id);
	return 0;
}
