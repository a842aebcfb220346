/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes of places in programs.
 */
#ifndef _LT_WRAPPER_UPROBES_H
#define _LT_WRAPPER_UPROBES_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uprobes.h>
#include <linux/version.h>

/**
 * struct lt_uprobe - one place
 * @consumer: with its handlers; lt_uprobe_handler() and lt_uprobe_ret_handler() pick them
 * @inode: of the file; its owner holds it
 * @offset: in the file
 * @ref: offset of a counter in the file that is not 0 while there is a probe; 0: none
 * @uprobe: where the kernel has one for it
 * @is_used: for its owner: it is wanted
 * @is_registered: between lt_uprobe_register() and lt_uprobe_unregister()
 */
struct lt_uprobe {
	struct uprobe_consumer consumer;
	struct inode *inode;
	loff_t offset;
	loff_t ref;
	struct uprobe *uprobe;
	bool is_used;
	bool is_registered;
};

/*
 * What a handler returns that wants no call at the return of this one.
 *
 * 6.13 (4d756095d399, "uprobe: Add support for session consumer") has it. Before, the
 * other handler is called all the same.
 */
#ifdef UPROBE_HANDLER_IGNORE
#define LT_UPROBE_IGNORE	UPROBE_HANDLER_IGNORE
#else
#define LT_UPROBE_IGNORE	0
#endif

/*
 * LT_DEFINE_UPROBE(name, handler) and LT_DEFINE_URETPROBE(name, handler) define what
 * lt_uprobe_handler(name) and lt_uprobe_ret_handler(name) pick, which calls
 *
 *	int handler(struct lt_uprobe *at, struct pt_regs *regs)
 *
 * 6.13 (da09a9e0c3ea, "uprobe: Add data pointer to consumer handlers") added data.
 */
#define LT_UPROBE_OF(self)	container_of(self, struct lt_uprobe, consumer)

#define LT_DEFINE_UPROBE(name, handler)					\
static int __maybe_unused						\
name##_data(struct uprobe_consumer *self, struct pt_regs *regs, __u64 *data) \
{									\
	return handler(LT_UPROBE_OF(self), regs);			\
}									\
static int __maybe_unused						\
name##_plain(struct uprobe_consumer *self, struct pt_regs *regs)	\
{									\
	return handler(LT_UPROBE_OF(self), regs);			\
}

#define LT_DEFINE_URETPROBE(name, handler)				\
static int __maybe_unused						\
name##_data(struct uprobe_consumer *self, unsigned long func,		\
	    struct pt_regs *regs, __u64 *data)				\
{									\
	return handler(LT_UPROBE_OF(self), regs);			\
}									\
static int __maybe_unused						\
name##_plain(struct uprobe_consumer *self, unsigned long func,		\
	     struct pt_regs *regs)					\
{									\
	return handler(LT_UPROBE_OF(self), regs);			\
}

#define lt_uprobe_pick(name, wanted)					\
	__builtin_choose_expr(__builtin_types_compatible_p(		\
		typeof(wanted), typeof(&name##_data)), name##_data, name##_plain)
#define lt_uprobe_handler(name)						\
	lt_uprobe_pick(name, ((struct uprobe_consumer *)NULL)->handler)
#define lt_uprobe_ret_handler(name)					\
	lt_uprobe_pick(name, ((struct uprobe_consumer *)NULL)->ret_handler)

/*
 * 6.12 (3c83a9ad0295, "uprobes: make uprobe_register() return struct uprobe *", and
 * 04b01625da13, "perf/uprobe: split uprobe_unregister()"). 6.11 ("uprobes: kill
 * uprobe_register_refctr()") has the offset of the counter already.
 *
 * Context: Task, may sleep. Returns 0 or an error.
 */
static inline int lt_uprobe_register(struct lt_uprobe *at)
{
	int err;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	at->uprobe = uprobe_register(at->inode, at->offset, at->ref, &at->consumer);
	err = PTR_ERR_OR_ZERO(at->uprobe);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	err = uprobe_register(at->inode, at->offset, at->ref, &at->consumer);
#else
	err = uprobe_register_refctr(at->inode, at->offset, at->ref, &at->consumer);
#endif
	at->is_registered = !err;
	return err;
}

/* The handlers may run until lt_uprobe_sync() returns. */
static inline void lt_uprobe_unregister(struct lt_uprobe *at)
{
	if (!at->is_registered)
		return;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	uprobe_unregister_nosync(at->uprobe, &at->consumer);
#else
	uprobe_unregister(at->inode, at->offset, &at->consumer);
#endif
	at->is_registered = false;
}

static inline void lt_uprobe_sync(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	uprobe_unregister_sync();
#endif
}

/* Will the kernel not tell the return of the call that a handler is called for? */
static inline bool lt_uprobe_is_too_deep(void)
{
#ifdef CONFIG_UPROBES
	return current->utask && current->utask->depth >= MAX_URETPROBE_DEPTH;
#else
	return false;
#endif
}

/*
 * Does a return to a stack at @sp end a call that found its stack at @entry_sp? The stack
 * grows down: that of an inner call ends below. On x86 the call has pushed the address, which
 * the return has taken away.
 */
static inline bool lt_uprobe_is_back(unsigned long sp, unsigned long entry_sp)
{
	return IS_ENABLED(CONFIG_X86) ? sp > entry_sp : sp >= entry_sp;
}

#endif /* _LT_WRAPPER_UPROBES_H */
