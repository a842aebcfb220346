// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameter probes: places in programs where operations begin and end.
 *
 * NAME=PATH:OFFSET is a function, NAME=PATH:BEGIN-END two places, one of which may be missing, for
 * names with more begins than ends; +REF behind an offset is that of the semaphore of a USDT probe.
 * Probes that are in the old and in the new list stay as they
 * are, and what they have begun stays pending.
 *
 * All is under kernel_param_lock() of the module.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "examples/mark/mark.h"
#include "examples/mark/probes.h"

#define PROBES_MAX	64

/**
 * struct probes - a list
 * @nr: how many
 * @of: which
 */
struct probes {
	unsigned int nr;
	struct mark_probe *of[PROBES_MAX];
};

static struct probes *probes;
/* Between mark_probes_start() and mark_probes_stop(): those in the list are attached. */
static bool is_on;

/* Why a list is refused, and what to do about it. */
#define complain(format, ...)						\
	pr_err_ratelimited("%s: probes: " format "\n", KBUILD_MODNAME, ##__VA_ARGS__)
#define refuse(format, ...)						\
	({ complain(format, ##__VA_ARGS__); -EINVAL; })

static void free_probe(struct mark_probe *probe)
{
	path_put(&probe->path);
	kfree(probe->file);
	kfree(probe);
}

static void free_probes(struct probes *list)
{
	while (list && list->nr)
		free_probe(list->of[--list->nr]);
	kfree(list);
}

/* OFFSET or OFFSET+REF */
static int parse_place(char *text, struct lt_uprobe *at)
{
	char *ref = strchr(text, '+');

	if (ref)
		*ref++ = '\0';
	if (kstrtoll(text, 16, &at->offset) || at->offset < 0)
		return refuse("\"%s\" is no offset in a file: write it in hexadecimal", text);
	if (ref && (kstrtoll(ref, 16, &at->ref) || at->ref <= 0))
		return refuse("\"%s\" is no offset of a semaphore: write it in hexadecimal", ref);
	return 0;
}

/* OFFSET, or BEGIN-END */
static int parse_places(char *text, struct mark_probe *probe)
{
	char *end = strchr(text, '-');
	int err = 0;

	probe->is_function = !end;
	if (end)
		*end++ = '\0';
	probe->begin.is_used = !end || *text;
	probe->end.is_used = end && (*end || !*text);
	if (probe->begin.is_used)
		err = parse_place(text, &probe->begin);
	if (!err && probe->end.is_used)
		err = parse_place(end, &probe->end);
	if (!err && probe->begin.is_used && probe->end.is_used &&
	    probe->begin.offset == probe->end.offset)
		return refuse("%s begins where it ends: write two offsets, or one of a function",
			      probe->name);
	return err;
}

static int find_file(struct mark_probe *probe)
{
	struct inode *inode;
	int err = -ENOENT;

	if (probe->file[0] == '/')
		err = kern_path(probe->file, LOOKUP_FOLLOW, &probe->path);
	if (err == -ENOMEM)
		return err;
	if (err)
		return refuse("no file \"%s\": write its full path", probe->file);
	inode = d_real_inode(probe->path.dentry);
	if (!S_ISREG(inode->i_mode))
		return refuse("%s is no program: write the path of one, or of a library",
			      probe->file);
	if (max(probe->begin.offset, probe->end.offset) >= i_size_read(inode))
		return refuse("%s ends before such an offset: find it again in this version",
			      probe->file);
	probe->begin.inode = inode;
	probe->end.inode = inode;
	return 0;
}

/* NAME=PATH:PLACES, where PATH may have colons. */
static int parse_probe(char *text, struct mark_probe *probe)
{
	char *path = strchr(text, '='), *places = strrchr(text, ':');

	if (!path || !places || places < path)
		return refuse("\"%s\" is none: NAME=PATH:OFFSET or NAME=PATH:BEGIN-END", text);
	*path++ = '\0';
	*places++ = '\0';
	if (!latency_tracker_end_name_is_valid(text))
		return refuse("\"%s\" is no name: use letters, digits and _ . - /, up to %u",
			      text, LT_MARK_NAME - 1);
	strscpy(probe->name, text, sizeof(probe->name));
	probe->file = kstrdup(path, GFP_KERNEL);
	if (!probe->file)
		return -ENOMEM;
	return parse_places(places, probe) ?: find_file(probe);
}

static bool is_at(const struct lt_uprobe *a, const struct lt_uprobe *b)
{
	return a->is_used == b->is_used && a->inode == b->inode && a->offset == b->offset &&
	       a->ref == b->ref;
}

static bool is_same(const struct mark_probe *a, const struct mark_probe *b)
{
	return a->is_function == b->is_function && is_at(&a->begin, &b->begin) &&
	       is_at(&a->end, &b->end) && !strcmp(a->name, b->name);
}

static int check(const struct probes *list, const struct mark_probe *new)
{
	unsigned int i;

	for (i = 0; i < list->nr; i++) {
		const struct mark_probe *old = list->of[i];

		if (is_same(old, new))
			return refuse("%s is there twice", new->name);
		if (!strcmp(old->name, new->name) && old->is_function != new->is_function)
			return refuse("%s is a function and two places: give these another name",
				      new->name);
	}
	return 0;
}

static int add(struct probes *list, char *text)
{
	struct mark_probe *new;
	int err;

	if (list->nr == PROBES_MAX)
		return refuse("more than %u: remove some", PROBES_MAX);
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	err = parse_probe(strim(text), new) ?: check(list, new);
	if (err)
		free_probe(new);
	else
		list->of[list->nr++] = new;
	return err;
}

static int parse(const char *val, struct probes *list)
{
	char *copy, *rest, *text;
	int err = 0;

	/* What is read fits into a page. */
	if (strlen(val) >= PAGE_SIZE)
		return refuse("longer than a page: remove some");
	copy = kstrdup(val, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = strim(copy);
	if (!*rest)
		rest = NULL;
	while (!err && (text = strsep(&rest, ",")))
		err = add(list, text);
	kfree(copy);
	if (!err && list->nr && !IS_ENABLED(CONFIG_UPROBES)) {
		complain("this kernel has none: it needs CONFIG_UPROBES");
		return -EOPNOTSUPP;
	}
	return err;
}

/* The place in @list of what is the same as @probe. */
static struct mark_probe **find(struct probes *list, const struct mark_probe *probe)
{
	unsigned int i;

	for (i = 0; list && i < list->nr; i++) {
		if (is_same(list->of[i], probe))
			return &list->of[i];
	}
	return NULL;
}

/* Both lists have their own, but for what is in both: so exchange that. */
static void exchange_same(struct probes *old, struct probes *new)
{
	struct mark_probe **same;
	unsigned int i;

	for (i = 0; i < new->nr; i++) {
		same = find(old, new->of[i]);
		if (same)
			swap(*same, new->of[i]);
	}
}

/* No handler of those that are in @list runs on return. */
static void detach(struct probes *list)
{
	bool was_attached = false;
	unsigned int i;

	for (i = 0; list && i < list->nr; i++) {
		was_attached |= list->of[i]->is_attached;
		mark_probe_detach(list->of[i]);
	}
	if (was_attached)
		mark_probes_detached(list->of, list->nr);
}

static int attach(struct probes *list)
{
	unsigned int i;
	int err;

	for (i = 0; list && i < list->nr; i++) {
		struct mark_probe *probe = list->of[i];

		err = probe->is_attached ? 0 : mark_probe_attach(probe);
		if (!err)
			continue;
		complain("no probe for %s in %s, error %d: is there an instruction at that offset?",
			 probe->name, probe->file, err);
		return err == -ENOMEM ? err : -EINVAL;
	}
	return 0;
}

static int probes_set(const char *val, const struct kernel_param *kp)
{
	struct probes *new = kzalloc(sizeof(*new), GFP_KERNEL), *old = probes;
	int err;

	if (!new)
		return -ENOMEM;
	err = parse(val, new);
	if (err) {
		free_probes(new);
		return err;
	}
	exchange_same(old, new);
	err = is_on ? attach(new) : 0;
	if (err) {
		exchange_same(old, new);
		swap(old, new);
	}
	probes = new;
	detach(old);
	free_probes(old);
	return err;
}

static int print_place(char *buffer, int len, const char *sign, const struct lt_uprobe *at)
{
	int n = sysfs_emit_at(buffer, len, "%s", sign);

	if (at->is_used)
		n += sysfs_emit_at(buffer, len + n, "%llx", at->offset);
	if (at->ref)
		n += sysfs_emit_at(buffer, len + n, "+%llx", at->ref);
	return n;
}

static int probes_get(char *buffer, const struct kernel_param *kp)
{
	unsigned int i;
	int len = 0;

	for (i = 0; probes && i < probes->nr; i++) {
		const struct mark_probe *probe = probes->of[i];

		len += sysfs_emit_at(buffer, len, "%s%s=%s", i ? "," : "",
				     probe->name, probe->file);
		len += print_place(buffer, len, ":", &probe->begin);
		if (!probe->is_function)
			len += print_place(buffer, len, "-", &probe->end);
	}
	return len + sysfs_emit_at(buffer, len, "\n");
}

/* The module is gone, or was not loaded. */
static void probes_free(void *arg)
{
	free_probes(probes);
	probes = NULL;
}

static const struct kernel_param_ops probes_ops = {
	.set = probes_set,
	.get = probes_get,
	.free = probes_free,
};
module_param_cb(probes, &probes_ops, NULL, 0644);
MODULE_PARM_DESC(probes, "Operations of programs without marks: NAME=PATH:OFFSET is a function, NAME=PATH:BEGIN-END what is between two places, with commas between them; offsets in the file, hexadecimal (default empty: none)");

/**
 * mark_probes_start() - attach those in the list, from now on
 *
 * Context: Task, may sleep. The tracker is there.
 * Return: 0 or an error: then none is.
 */
int mark_probes_start(void)
{
	int err;

	kernel_param_lock(THIS_MODULE);
	err = attach(probes);
	if (err)
		detach(probes);
	is_on = !err;
	kernel_param_unlock(THIS_MODULE);
	return err;
}

/**
 * mark_probes_stop() - detach them; a list that is written after that is not attached
 *
 * Context: Task, may sleep. The tracker is there still.
 */
void mark_probes_stop(void)
{
	kernel_param_lock(THIS_MODULE);
	is_on = false;
	detach(probes);
	kernel_param_unlock(THIS_MODULE);
}
