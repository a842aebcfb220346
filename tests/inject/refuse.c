// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets calls of the kernel fail that our modules make, one by one, for
 * tests/guest/refusals/calls.tc. Needs nothing of the kernel but kprobes.
 *
 * What can fail for want of memory is replaced at its entry, for one task and one
 * call, by a function that does nothing and returns what the other returns then.
 * It counts what is called from a module of ours; what the kernel allocates
 * further down is for fail-nth of a kernel that has it, see init_nth.
 *
 * Parameters:
 *	task		whose calls, by its pid; 0 is all tasks
 *	nth		the how many-th of its calls fails, counted down; 0 is none,
 *			or that it has failed
 *	failed		which function that was, and its caller
 *	functions	which ones are watched
 *	probes		reads as the number of functions that all tracepoints of
 *			the kernel have to call
 *	init_nth	fail-nth of the task, set when it begins the init function of
 *			a module; -1 if the kernel has no such thing
 *	work_nth	likewise for the work items of our modules, which share it: behind
 *			each of them, what is left; 0 if it has failed
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "wrapper/kprobes.h"

static int task;
module_param(task, int, 0644);

static int nth;
module_param(nth, int, 0644);

static char failed[2 * KSYM_SYMBOL_LEN];
module_param_string(failed, failed, sizeof(failed), 0444);

#ifdef CONFIG_FAULT_INJECTION
static int init_nth;
#else
static int init_nth = -1;
#endif
module_param(init_nth, int, 0644);

static int work_nth;
module_param(work_nth, int, 0644);

static void *fail_null(void)
{
	return NULL;
}

/* Also for functions that return a pointer, which holds the error, or an int. */
static long fail_enomem(void)
{
	return -ENOMEM;
}

/* The only one that leaves something to be done. */
static int fail_kobject(struct kobject *kobj, struct kobj_type *ktype)
{
	kobject_init(kobj, ktype);
	return -ENOMEM;
}

/**
 * struct failing - a function that can fail
 * @kp: at its entry
 * @instead: what is called instead of it
 * @by_jump: its caller may end with that call, by a jump, so that the caller of the caller
 *	is seen; nothing else that the task does meanwhile calls it
 */
struct failing {
	struct kprobe kp;
	void *instead;
	bool by_jump;
};

static bool is_ours(struct failing *failing, struct pt_regs *regs)
{
	static char text[sizeof(failed)];

	/* The module's name is at the end. */
	snprintf(text, sizeof(text), "%s for %pS", failing->kp.symbol_name,
		 (void *)lt_kprobe_caller(regs));
	if (!failing->by_jump && !strstr(text, "[latency_tracker"))
		return false;
	memcpy(failed, text, sizeof(failed));
	return true;
}

static int on_call(struct kprobe *kp, struct pt_regs *regs)
{
	struct failing *failing = container_of(kp, struct failing, kp);

	if ((READ_ONCE(task) && current->pid != READ_ONCE(task)) ||
	    READ_ONCE(nth) <= 0 || !is_ours(failing, regs))
		return 0;
	if (--nth)
		return 0;
	instruction_pointer_set(regs, (unsigned long)failing->instead);
	return 1;
}

/* That there is one, keeps the kernel from optimizing the kprobe to a jump. */
static void behind(struct kprobe *kp, struct pt_regs *regs,
		   unsigned long flags)
{
}

#define FAILS(symbol, how, ...) {					\
		.kp = {							\
			.symbol_name = #symbol,				\
			.pre_handler = on_call,				\
			.post_handler = behind,				\
		},							\
		.instead = how,						\
		## __VA_ARGS__						\
	}

/* No kernel has all of them. */
static struct failing functions[] = {
	FAILS(__kmalloc, fail_null),
	FAILS(__kmalloc_noprof, fail_null),
	FAILS(__kmalloc_cache_noprof, fail_null),
	FAILS(kmalloc_trace, fail_null),
	FAILS(kmem_cache_alloc_trace, fail_null),
	FAILS(kvmalloc_node, fail_null),
	FAILS(__kvmalloc_node_noprof, fail_null),
	FAILS(vzalloc, fail_null),
	FAILS(vzalloc_noprof, fail_null),
	FAILS(vmalloc_user, fail_null),
	FAILS(vmalloc_user_noprof, fail_null),
	FAILS(remap_vmalloc_range, fail_enomem),
	FAILS(__alloc_percpu, fail_null),
	FAILS(pcpu_alloc_noprof, fail_null),
	FAILS(alloc_workqueue, fail_null),
	FAILS(alloc_workqueue_noprof, fail_null),
	FAILS(kset_create_and_add, fail_null),
	FAILS(kobject_init_and_add, fail_kobject),
	FAILS(kthread_create_on_node, fail_enomem),
	FAILS(tracepoint_probe_register_prio, fail_enomem),
	FAILS(register_ftrace_function, fail_enomem),
	FAILS(register_kprobe, fail_enomem),
	FAILS(register_kretprobe, fail_enomem),
	FAILS(__cpuhp_setup_state, fail_enomem),
	FAILS(__cpuhp_setup_state_cpuslocked, fail_enomem),
	FAILS(register_pm_notifier, fail_enomem),
	FAILS(pvclock_gtod_register_notifier, fail_enomem),
	FAILS(misc_register, fail_enomem),
	FAILS(uprobe_register, fail_enomem),
	FAILS(uprobe_register_refctr, fail_enomem),
	FAILS(register_pernet_subsys, fail_enomem),
	FAILS(nf_register_net_hook, fail_enomem),
	FAILS(nf_register_net_hooks, fail_enomem, .by_jump = true),
	FAILS(tracing_alloc_snapshot, fail_enomem),
};

static int functions_get(char *buffer, const struct kernel_param *kp)
{
	unsigned int i;
	int n = 0;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (functions[i].kp.addr)
			n += sysfs_emit_at(buffer, n, "%s ",
					   functions[i].kp.symbol_name);
	}
	return n + sysfs_emit_at(buffer, n, "\n");
}

static const struct kernel_param_ops functions_ops = { .get = functions_get };
module_param_cb(functions, &functions_ops, NULL, 0444);

/* A tracepoint that is hit looks at its list in the same way. */
static void count_probes(struct tracepoint *tp, void *priv)
{
	struct tracepoint_func *func;
	int *n = priv;

	preempt_disable();
	for (func = rcu_dereference_sched(tp->funcs); func && func->func; func++)
		++*n;
	preempt_enable();
}

static int probes_get(char *buffer, const struct kernel_param *kp)
{
	int n = 0;

	for_each_kernel_tracepoint(count_probes, &n);
	return sysfs_emit(buffer, "%d\n", n);
}

static const struct kernel_param_ops probes_ops = { .get = probes_get };
module_param_cb(probes, &probes_ops, NULL, 0444);

static int on_init(struct kprobe *kp, struct pt_regs *regs)
{
#ifdef CONFIG_FAULT_INJECTION
	if (current->pid == READ_ONCE(task) && READ_ONCE(init_nth) > 0)
		WRITE_ONCE(current->fail_nth, init_nth);
#endif
	return 0;
}

static struct kprobe init_probe = {
	.symbol_name = "do_one_initcall",
	.pre_handler = on_init,
};

/* --- work items, which run in any of the kernel's tasks --- */

#ifdef CONFIG_FAULT_INJECTION
/* Whose fail_nth is that of a work item of ours, while it runs; they run one at a time. */
static struct task_struct *worker;

static void on_work(void *data, struct work_struct *work)
{
	char text[KSYM_SYMBOL_LEN];

	if (READ_ONCE(work_nth) <= 0 || READ_ONCE(worker))
		return;
	snprintf(text, sizeof(text), "%ps", work->func);
	if (!strstr(text, "[latency_tracker]"))
		return;
	WRITE_ONCE(worker, current);
	WRITE_ONCE(current->fail_nth, work_nth);
}

static void on_work_end(void *data, struct work_struct *work,
			work_func_t function)
{
	if (READ_ONCE(worker) != current)
		return;
	WRITE_ONCE(work_nth, current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);
	WRITE_ONCE(worker, NULL);
}

static struct tracepoint *work_start, *work_end;

static void find_work(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "workqueue_execute_start"))
		work_start = tp;
	if (!strcmp(tp->name, "workqueue_execute_end"))
		work_end = tp;
}

static int hook_work(void)
{
	int err;

	for_each_kernel_tracepoint(find_work, NULL);
	if (!work_start || !work_end)
		return -ENOENT;
	err = tracepoint_probe_register(work_start, on_work, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(work_end, on_work_end, NULL);
	if (err)
		tracepoint_probe_unregister(work_start, on_work, NULL);
	return err;
}

static void unhook_work(void)
{
	tracepoint_probe_unregister(work_end, on_work_end, NULL);
	tracepoint_probe_unregister(work_start, on_work, NULL);
	tracepoint_synchronize_unregister();
}
#else
static int hook_work(void)
{
	return 0;
}

static void unhook_work(void)
{
}
#endif

static void unhook_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (functions[i].kp.addr)
			unregister_kprobe(&functions[i].kp);
	}
	if (init_probe.addr)
		unregister_kprobe(&init_probe);
}

static int __init fail_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		struct kprobe *kp = &functions[i].kp;

		err = register_kprobe(kp);
		if (err)
			kp->addr = NULL;
		if (err && err != -ENOENT) {
			pr_err("%s: can't probe %s(): %d\n", KBUILD_MODNAME,
			       kp->symbol_name, err);
			goto err_unhook;
		}
	}
	if (init_nth < 0)
		return 0;
	err = register_kprobe(&init_probe);
	if (err)
		init_probe.addr = NULL;
	else
		err = hook_work();
	if (!err)
		return 0;

err_unhook:
	unhook_all();
	return err;
}
module_init(fail_init);

static void __exit fail_exit(void)
{
	if (init_nth >= 0)
		unhook_work();
	unhook_all();
}
module_exit(fail_exit);

MODULE_DESCRIPTION("For tests: lets allocations and registrations of our modules fail");
MODULE_LICENSE("GPL");
