/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of QEMU's interface for TCG plugins that plugin.c uses: Debian has no package
 * with the header. Since version 3 (QEMU 9.1) the bytes of an instruction are copied.
 */
#ifndef LT_BENCH_QEMU_PLUGIN_H
#define LT_BENCH_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#define QEMU_PLUGIN_VERSION	4
#define QEMU_PLUGIN_EXPORT	__attribute__((visibility("default")))

struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* Of the two enumerations: callbacks that read no registers; writes. */
#define QEMU_PLUGIN_CB_NO_REGS	0
#define QEMU_PLUGIN_MEM_W	2

typedef void (*qemu_tb_fn)(unsigned long id, struct qemu_plugin_tb *tb);
typedef void (*qemu_exec_fn)(unsigned int cpu, void *arg);
typedef void (*qemu_mem_fn)(unsigned int cpu, unsigned int info, unsigned long addr, void *arg);
typedef void (*qemu_reset_fn)(unsigned long id);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t size);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *insn);
unsigned long qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

void qemu_plugin_register_vcpu_tb_trans_cb(unsigned long id, qemu_tb_fn fn);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_exec_fn fn, int flags,
					  void *arg);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_exec_fn fn,
					    int flags, void *arg);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_mem_fn fn, int flags,
				      int rw, void *arg);
void qemu_plugin_reset(unsigned long id, qemu_reset_fn fn);

#endif /* LT_BENCH_QEMU_PLUGIN_H */
