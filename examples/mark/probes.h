/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes of programs that know nothing of marks: probes.c has the parameter with their places,
 * uprobes.c makes operations of them.
 */
#ifndef _LT_MARK_PROBES_H
#define _LT_MARK_PROBES_H

#include <linux/path.h>
#include <linux/types.h>
#include <trace/events/latency_tracker_mark.h>

#include "examples/mark/mark.h"
#include "wrapper/uprobes.h"

/**
 * struct mark_call - the private bytes of an event of a probe
 * @of: as of all marks
 * @sp: the stack at the entry of a function; 0: not of a function
 */
struct mark_call {
	struct lt_mark_operation of;
	unsigned long sp;
};

/**
 * struct mark_probe - one of the list
 * @begin: where operations begin, if they do; of a function, also where they end
 * @end: where others end, if they do
 * @path: the file
 * @file: its name, as it was given
 * @name: of the mark
 * @mark: its number, while @is_attached
 * @rate: of its reports
 * @is_function: from an entry to its return
 * @is_attached: mark_probe_attach() was called
 */
struct mark_probe {
	struct lt_uprobe begin;
	struct lt_uprobe end;
	struct path path;
	char *file;
	char name[LT_MARK_NAME];
	u32 mark;
	struct mark_rate rate;
	bool is_function;
	bool is_attached;
};

/* uprobes.c */
int mark_probe_attach(struct mark_probe *probe);
void mark_probe_detach(struct mark_probe *probe);
void mark_probes_detached(struct mark_probe *const *probes, unsigned int nr);
void mark_probes_forget(const struct task_struct *task);

/* probes.c */
int mark_probes_start(void);
void mark_probes_stop(void);

#endif /* _LT_MARK_PROBES_H */
