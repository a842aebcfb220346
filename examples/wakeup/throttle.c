// SPDX-License-Identifier: GPL-2.0-only
/*
 * When was a control group throttled by cpu.max?
 *
 * The scheduler has no tracepoint there, so kprobes tell. A group has a run queue
 * (struct cfs_rq) for each CPU, and each of them is throttled by itself.
 * throttle_cfs_rq() may find that it need not throttle; if it does, it calls
 * tg_throttle_down() next, on the same CPU, under the lock of the CPU's run queue.
 * unthrottle_cfs_rq() and tg_unthrottle_up() likewise. These two are called by
 * their addresses, so the compiler does not inline them.
 *
 * A kernel where one of the four can't be probed: throttling is not seen.
 *
 * The table is open hashing by the address of the cfs_rq, with a fixed size. An
 * entry is written under the lock of the run queue of its CPU; only claiming one
 * needs an atomic operation. A probe of sched_switch reads it under that lock. A
 * CPU that is asked what it does reads it without, and may see a span that is being
 * changed: throttle_overlap() takes any value.
 *
 * From 6.18 on a throttled task runs until it returns to user space. Then it waits
 * as a task that was preempted, not as one that was woken.
 */
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "examples/wakeup/throttle.h"
#include "wrapper/sched.h"

#if defined(CONFIG_CFS_BANDWIDTH) && defined(CONFIG_KPROBES)

#include "wrapper/kprobes.h"

#define SPANS		4
#define PROBES		8
#define GROUPS_PER_CPU	16
#define ENTRIES_MIN	256
#define LEVELS_MAX	32

/**
 * struct throttled - a group on one CPU
 * @cfs_rq: its run queue; only an address
 * @cgroup: its id, which is not used again
 * @next: index, modulo SPANS, of the next span
 * @spans: when it was throttled, ns of lt_sched_clock(); @until is 0 if it still is
 */
struct throttled {
	const void *cfs_rq;
	u64 cgroup;
	unsigned int next;
	struct {
		u64 since;
		u64 until;
	} spans[SPANS];
};

static struct throttled *table;
static unsigned int order;
static bool armed;
static DEFINE_PER_CPU(const void *, throttling);
static DEFINE_PER_CPU(const void *, unthrottling);

static atomic_t lost;

static int lost_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&lost));
}

static const struct kernel_param_ops lost_ops = {
	.get = lost_get,
};
module_param_cb(throttles_lost, &lost_ops, NULL, 0444);
MODULE_PARM_DESC(throttles_lost,
		 "How often a control group was throttled without a place to note it");

static struct throttled *entry_at(const void *cfs_rq, unsigned int n)
{
	return &table[(hash_ptr(cfs_rq, order) + n) & (BIT(order) - 1)];
}

static struct throttled *find(const void *cfs_rq)
{
	unsigned int n;

	for (n = 0; n < PROBES; n++) {
		struct throttled *group = entry_at(cfs_rq, n);

		if (READ_ONCE(group->cfs_rq) == cfs_rq)
			return group;
	}
	return NULL;
}

static u64 last_until(const struct throttled *group)
{
	unsigned int last = (READ_ONCE(group->next) - 1) % SPANS;

	if (!READ_ONCE(group->spans[last].since))
		return 0;
	return READ_ONCE(group->spans[last].until) ?: U64_MAX;
}

/* A free entry, or the one that has not been throttled for the longest time. */
static struct throttled *claim(const void *cfs_rq)
{
	struct throttled *group, *oldest = NULL;
	const void *old;
	unsigned int n;

	for (n = 0; n < PROBES; n++) {
		group = entry_at(cfs_rq, n);
		if (last_until(group) != U64_MAX &&
		    (!oldest || last_until(group) < last_until(oldest)))
			oldest = group;
	}
	if (!oldest)
		return NULL;
	old = READ_ONCE(oldest->cfs_rq);
	/* No order is needed: the entry is used under the lock of its CPU. */
	if (cmpxchg(&oldest->cfs_rq, old, cfs_rq) != old)
		return NULL;
	oldest->next = 0;
	memset(oldest->spans, 0, sizeof(oldest->spans));
	return oldest;
}

static u64 id_of(const struct cgroup_subsys_state *css)
{
	return css && css->cgroup ? cgroup_id(css->cgroup) : 0;
}

/* A struct task_group begins with its css; layout_is_known() has checked that. */
static const struct cgroup_subsys_state *css_of(const void *task_group)
{
	return task_group;
}

static int on_throttle(struct kprobe *kp, struct pt_regs *regs)
{
	this_cpu_write(throttling, lt_kprobe_arg(regs, 0));
	return 0;
}

static int on_throttle_down(struct kprobe *kp, struct pt_regs *regs)
{
	const void *cfs_rq = this_cpu_read(throttling);
	struct throttled *group;
	unsigned int n;

	if (!cfs_rq)
		return 0;
	this_cpu_write(throttling, NULL);
	group = find(cfs_rq) ?: claim(cfs_rq);
	if (!group) {
		atomic_inc(&lost);
		return 0;
	}
	group->cgroup = id_of(css_of(lt_kprobe_arg(regs, 0)));
	n = group->next++ % SPANS;
	WRITE_ONCE(group->spans[n].until, 0);
	WRITE_ONCE(group->spans[n].since, lt_sched_clock());
	return 0;
}

static int on_unthrottle(struct kprobe *kp, struct pt_regs *regs)
{
	this_cpu_write(unthrottling, lt_kprobe_arg(regs, 0));
	return 0;
}

static int on_unthrottle_up(struct kprobe *kp, struct pt_regs *regs)
{
	const void *cfs_rq = this_cpu_read(unthrottling);
	struct throttled *group;
	unsigned int n;

	if (!cfs_rq)
		return 0;
	this_cpu_write(unthrottling, NULL);
	group = find(cfs_rq);
	if (!group)
		return 0;
	n = (group->next - 1) % SPANS;
	if (group->spans[n].since && !group->spans[n].until)
		WRITE_ONCE(group->spans[n].until, lt_sched_clock());
	return 0;
}

static struct kprobe kprobes[] = {
	{ .symbol_name = "tg_unthrottle_up", .pre_handler = on_unthrottle_up },
	{ .symbol_name = "unthrottle_cfs_rq", .pre_handler = on_unthrottle },
	{ .symbol_name = "tg_throttle_down", .pre_handler = on_throttle_down },
	{ .symbol_name = "throttle_cfs_rq", .pre_handler = on_throttle },
};

static bool layout_is_known(void)
{
	bool known;

	rcu_read_lock();
	known = task_css(&init_task, cpu_cgrp_id) ==
		css_of(init_task.sched_task_group);
	rcu_read_unlock();
	return known;
}

static int arm(void)
{
	unsigned int n;
	int err;

	if (!layout_is_known())
		return -ENOENT;
	for (n = 0; n < ARRAY_SIZE(kprobes); n++) {
		err = register_kprobe(&kprobes[n]);
		if (err) {
			kprobes[n].addr = NULL;
			return err;
		}
	}
	return 0;
}

static void disarm(void)
{
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(kprobes); n++) {
		if (kprobes[n].addr)
			unregister_kprobe(&kprobes[n]);
		kprobes[n].addr = NULL;
	}
}

/* Before the tracker. Returns 0 also where throttling can't be seen. */
int throttle_start(void)
{
	int err;

	order = order_base_2(max_t(unsigned int, ENTRIES_MIN,
				   GROUPS_PER_CPU * nr_cpu_ids));
	table = kvcalloc(BIT(order), sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	err = arm();
	armed = !err;
	if (err) {
		disarm();
		pr_info("%s: waits for cpu.max can't be told from others: this kernel can't be probed there: %d\n",
			KBUILD_MODNAME, err);
	}
	return 0;
}

/* Behind the tracker: nothing reads the table any more. */
void throttle_stop(void)
{
	disarm();
	kvfree(table);
	table = NULL;
}

/* How long @group was throttled between @from and @to. */
u64 throttle_overlap(const struct throttled *group, u64 from, u64 to)
{
	u64 sum = 0, since, until;
	unsigned int n;

	for (n = 0; group && n < SPANS; n++) {
		since = READ_ONCE(group->spans[n].since);
		until = READ_ONCE(group->spans[n].until) ?: to;
		if (!since)
			continue;
		since = max(since, from);
		until = min(until, to);
		if (until > since)
			sum += until - since;
	}
	return min(sum, to - from);
}

u64 throttle_cgroup(const struct throttled *group)
{
	return READ_ONCE(group->cgroup);
}

/* Of the groups of @task, on its CPU, the one that was throttled longest. */
const struct throttled *throttle_of(const struct task_struct *task, u64 from,
				    u64 to)
{
	const struct cgroup_subsys_state *css = css_of(task->sched_task_group);
	const struct sched_entity *se = &task->se;
	const struct throttled *group, *longest = NULL;
	unsigned int level;
	u64 most = 0, ns;

	if (!armed)
		return NULL;
	for (level = 0; se && css && level < LEVELS_MAX; level++) {
		group = find(se->cfs_rq);
		ns = group && throttle_cgroup(group) == id_of(css) ?
		     throttle_overlap(group, from, to) : 0;
		if (ns > most) {
			longest = group;
			most = ns;
		}
		se = se->parent;
		css = css->parent;
	}
	return longest;
}

#else

int throttle_start(void)
{
	return 0;
}

void throttle_stop(void)
{
}

u64 throttle_overlap(const struct throttled *group, u64 from, u64 to)
{
	return 0;
}

u64 throttle_cgroup(const struct throttled *group)
{
	return 0;
}

const struct throttled *throttle_of(const struct task_struct *task, u64 from,
				    u64 to)
{
	return NULL;
}

#endif
