/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The skeleton of a use-case module: parameters, filters, probes, begin and
 * end of life. Included once per module, after it has defined
 *
 *	TRK_NAME		directory under /sys/kernel/latency_tracker
 *	TRK_USEC_THRESHOLD	default threshold
 *	TRK_MAX_EVENTS		default size of the pool
 *	TRK_GROW_LIMIT		default limit of its growth
 *	TRK_TASK_FILTER		if it has the parameters pid and tgid
 *	TRK_FALSE_ALARM		if it has one, its function that knows which
 *				verdicts are no latencies, and returns true
 *				then; counted in the parameter doubtful
 *
 * Life: trk_start() creates the tracker, then registers the probes; trk_stop()
 * unregisters them, waits until none runs any more, then destroys the tracker.
 *
 * A parameter file is there before module_init() and after module_exit(), and
 * a write to it holds the module's kernel_param_lock(), so the tracker appears
 * and disappears for the writers under this lock. Without a tracker a write
 * just stores the value.
 */
#ifndef _LT_EXAMPLES_TRACKER_H
#define _LT_EXAMPLES_TRACKER_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/threads.h>
#include <linux/time64.h>
#include <linux/tracepoint.h>

#include "core/stack.h"
#include "examples/tracker_action.h"
#include "latency_tracker.h"
#include "wrapper/tracepoint.h"

/**
 * struct trk_probe - a probe of one of the kernel's own tracepoints
 * @name: of the tracepoint
 * @func: the probe; its first argument is the tracker
 * @tp: the tracepoint, once found
 * @iterator_size: bytes of the function that calls several probes of @tp
 */
struct trk_probe {
	const char *name;
	void *func;
	struct tracepoint *tp;
	unsigned long iterator_size;
};

/* The probe of tracepoint @event is probe_@event, of exactly its type. */
#define TRK_PROBE(event)						\
	{ .name = #event, .func = lt_typed_probe(event, probe_##event) }

static struct latency_tracker *trk_tracker; /* kernel_param_lock() */
static struct trk_probe *trk_probes;
static unsigned int trk_nr_probes;

/* Microseconds, live. */

/**
 * struct trk_usec - a time that can be changed at any time
 * @usec: as the user has given it; counts while there is no tracker
 * @set: tells the tracker
 * @get: asks it: the files of the tracker change it, too
 */
struct trk_usec {
	u64 usec;
	int (*set)(struct latency_tracker *tracker, u64 ns);
	u64 (*get)(const struct latency_tracker *tracker);
};

static int trk_usec_set(const char *val, const struct kernel_param *kp)
{
	struct trk_usec *time = kp->arg;
	u64 usec, ns;
	int err;

	if (kstrtou64(val, 10, &usec) ||
	    check_mul_overflow(usec, (u64)NSEC_PER_USEC, &ns))
		return -EINVAL;
	if (trk_tracker) {
		err = time->set(trk_tracker, ns);
		if (err)
			return err;
	}
	WRITE_ONCE(time->usec, usec);	/* see raise_get() of irq */
	return 0;
}

static int trk_usec_get(char *buffer, const struct kernel_param *kp)
{
	const struct trk_usec *time = kp->arg;
	u64 usec = time->usec;

	if (trk_tracker)
		usec = div_u64(time->get(trk_tracker), NSEC_PER_USEC);
	return sysfs_emit(buffer, "%llu\n", usec);
}

static const struct kernel_param_ops trk_usec_ops = {
	.set = trk_usec_set,
	.get = trk_usec_get,
};

static struct trk_usec trk_threshold = {
	.usec = TRK_USEC_THRESHOLD,
	.set = latency_tracker_set_threshold,
	.get = latency_tracker_get_threshold,
};
module_param_cb(usec_threshold, &trk_usec_ops, &trk_threshold, 0644);
MODULE_PARM_DESC(usec_threshold,
		 "Report what takes at least so many microseconds (default "
		 __stringify(TRK_USEC_THRESHOLD) ")");

static struct trk_usec trk_timeout = {
	.set = latency_tracker_set_timeout,
	.get = latency_tracker_get_timeout,
};
module_param_cb(usec_timeout, &trk_usec_ops, &trk_timeout, 0644);
MODULE_PARM_DESC(usec_timeout,
		 "Report what is still pending after so many microseconds (default 0: off)");

/* The pool. */

static unsigned int trk_max_events = TRK_MAX_EVENTS;
module_param_named(max_events, trk_max_events, uint, 0444);
MODULE_PARM_DESC(max_events,
		 "Events that can be pending at once (default "
		 __stringify(TRK_MAX_EVENTS) ")");

static unsigned int trk_grow_limit = TRK_GROW_LIMIT;
module_param_named(grow_limit, trk_grow_limit, uint, 0444);
MODULE_PARM_DESC(grow_limit,
		 "Events up to which the pool may grow when it runs low, 0 for no growth (default "
		 __stringify(TRK_GROW_LIMIT) ")");

/* Filters. */

/*
 * Both ends of an operation are filtered, so that what is filtered out never
 * touches the table. What an old filter let in would not find its end, so it
 * is forgotten as soon as no probe goes by that filter any more.
 */
static void trk_filter_changed(void)
{
	if (!trk_tracker)
		return;
	tracepoint_synchronize_unregister();
	latency_tracker_clear(trk_tracker);
}

#ifdef TRK_TASK_FILTER
static pid_t trk_pid;
static pid_t trk_tgid;

static int trk_id_set(const char *val, const struct kernel_param *kp)
{
	pid_t *id = kp->arg;
	int new;

	if (kstrtoint(val, 10, &new) || new < 0 || new > PID_MAX_LIMIT)
		return -EINVAL;
	if (new == *id)
		return 0;
	WRITE_ONCE(*id, new);
	trk_filter_changed();
	return 0;
}

static int trk_id_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", *(pid_t *)kp->arg);
}

static const struct kernel_param_ops trk_id_ops = {
	.set = trk_id_set,
	.get = trk_id_get,
};

module_param_cb(pid, &trk_id_ops, &trk_pid, 0644);
MODULE_PARM_DESC(pid, "Track only this thread; of the initial pid namespace (default 0: all)");
module_param_cb(tgid, &trk_id_ops, &trk_tgid, 0644);
MODULE_PARM_DESC(tgid, "Track only threads of this process; of the initial pid namespace (default 0: all)");

static __always_inline bool trk_wants(const struct task_struct *task)
{
	pid_t pid = READ_ONCE(trk_pid), tgid = READ_ONCE(trk_tgid);

	return (!pid || task->pid == pid) && (!tgid || task->tgid == tgid);
}

/*
 * The key of a task is the address of its task_struct: an exec by a thread
 * that is not the leader changes the pid of both, the address stays. It must
 * not pass on to the next task, so whatever is left of a task is removed
 * before its memory is freed, filters or not.
 */
static __always_inline int trk_forget(struct latency_tracker *tracker,
				      struct task_struct *task)
{
	return latency_tracker_event_cancel(tracker, &task, sizeof(task));
}

/*
 * The task of an event that did not end, or NULL: it may have died, and its
 * pid may be another's. Under rcu_read_lock(); valid until it ends.
 */
static __maybe_unused struct task_struct *
trk_find_task(const struct latency_tracker_verdict *verdict, pid_t pid)
{
	struct task_struct *key = *(struct task_struct *const *)verdict->key;
	struct task_struct *task;

	task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	return task == key ? task : NULL;
}
#endif /* TRK_TASK_FILTER */

/* For the callback of a timeout: it has not ended by now. */
static __maybe_unused bool
trk_is_pending(const struct latency_tracker_verdict *verdict)
{
	struct latency_tracker_event *event;

	event = latency_tracker_get_event(verdict->tracker, verdict->key,
					  verdict->key_len);
	if (event)
		latency_tracker_put_event(verdict->tracker, event);
	return event == verdict->event;
}

/* Stacks. */

static __maybe_unused bool trk_is_own(unsigned long ip)
{
	unsigned int i;

	if (within_module(ip, THIS_MODULE))
		return true;
	for (i = 0; i < trk_nr_probes; i++) {
		if (ip - lt_tracepoint_iterator(trk_probes[i].tp) <
		    trk_probes[i].iterator_size)
			return true;
	}
	return false;
}

/* Of a function of the kernel; 0 if the kernel has no symbols. */
static unsigned long trk_function_size(unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN];
	unsigned long size;
	char *slash;

	sprint_symbol(text, addr);	/* name+offset/size */
	slash = strrchr(text, '/');
	if (!slash || kstrtoul(slash + 1, 16, &size))
		return 0;
	return size;
}

/* Probes. */

static void trk_match_probe(struct tracepoint *tp, void *priv)
{
	unsigned int i;

	for (i = 0; i < trk_nr_probes; i++) {
		if (!strcmp(tp->name, trk_probes[i].name))
			trk_probes[i].tp = tp;
	}
}

/* The kernel does not export its tracepoints, so they are found by name. */
static int trk_find_tracepoints(void)
{
	unsigned int i;

	for_each_kernel_tracepoint(trk_match_probe, NULL);
	for (i = 0; i < trk_nr_probes; i++) {
		struct trk_probe *probe = &trk_probes[i];

		if (!probe->tp) {
			pr_err("%s: this kernel has no tracepoint %s\n",
			       KBUILD_MODNAME, probe->name);
			return -ENOENT;
		}
		probe->iterator_size =
			trk_function_size(lt_tracepoint_iterator(probe->tp));
	}
	return 0;
}

/* On return no probe runs, nor will. */
static void trk_unregister(unsigned int nr, struct latency_tracker *tracker)
{
	while (nr--)
		tracepoint_probe_unregister(trk_probes[nr].tp,
					    trk_probes[nr].func, tracker);
	tracepoint_synchronize_unregister();
}

static int trk_register(struct latency_tracker *tracker)
{
	unsigned int i;
	int err;

	for (i = 0; i < trk_nr_probes; i++) {
		err = tracepoint_probe_register(trk_probes[i].tp,
						trk_probes[i].func, tracker);
		if (err) {
			pr_err("%s: can't probe tracepoint %s: %d\n",
			       KBUILD_MODNAME, trk_probes[i].name, err);
			trk_unregister(i, tracker);
			return err;
		}
	}
	return 0;
}

/* Reports. */

static latency_tracker_cb trk_report;

/*
 * With preemption disabled, as LTTng wants it where a tracepoint is called; the
 * tracker's thread calls back with preemption enabled.
 */
#define trk_trace(event, ...)						\
	do {								\
		preempt_disable_notrace();				\
		trace_##event(__VA_ARGS__);				\
		preempt_enable_notrace();				\
	} while (0)

#ifdef TRK_FALSE_ALARM
static bool TRK_FALSE_ALARM(const struct latency_tracker_verdict *verdict);

static atomic_t trk_doubtful = ATOMIC_INIT(0);

static int trk_doubtful_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", (u32)atomic_read(&trk_doubtful));
}

static const struct kernel_param_ops trk_doubtful_ops = {
	.get = trk_doubtful_get,
};

module_param_cb(doubtful, &trk_doubtful_ops, NULL, 0444);
MODULE_PARM_DESC(doubtful,
		 "What was late, but not reported, since it may be no latency");
#endif

/* Whoever looks at the trace after the action finds the report in it. */
static void trk_callback(const struct latency_tracker_verdict *verdict)
{
#ifdef TRK_FALSE_ALARM
	if (unlikely(TRK_FALSE_ALARM(verdict))) {
		atomic_inc(&trk_doubtful);
		return;
	}
#endif
	trk_report(verdict);
	trk_act(verdict);
}

/* Life. */

static struct latency_tracker *
trk_create(struct latency_tracker_config *config)
{
	struct latency_tracker *tracker;

	trk_action_init();
	trk_report = config->callback;
	config->callback = trk_callback;
	kernel_param_lock(THIS_MODULE);
	config->name = TRK_NAME;
	config->threshold_ns = trk_threshold.usec * NSEC_PER_USEC;
	config->timeout_ns = trk_timeout.usec * NSEC_PER_USEC;
	config->max_events = trk_max_events;
	config->grow_limit = trk_grow_limit;
	tracker = latency_tracker_create(config);
	if (!IS_ERR(tracker))
		trk_tracker = tracker;
	kernel_param_unlock(THIS_MODULE);
	if (IS_ERR(tracker))
		pr_err("%s: can't create the tracker: %ld\n", KBUILD_MODNAME,
		       PTR_ERR(tracker));
	return tracker;
}

static void trk_destroy(struct latency_tracker *tracker)
{
	kernel_param_lock(THIS_MODULE);
	trk_tracker = NULL;
	kernel_param_unlock(THIS_MODULE);
	latency_tracker_destroy(tracker);
	trk_action_exit();
}

static int trk_start(struct latency_tracker_config *config,
		     struct trk_probe *probes, unsigned int nr_probes)
{
	struct latency_tracker *tracker;
	int err;

	trk_probes = probes;
	trk_nr_probes = nr_probes;
	err = trk_find_tracepoints();
	if (err)
		return err;
	tracker = trk_create(config);
	if (IS_ERR(tracker))
		return PTR_ERR(tracker);
	err = trk_register(tracker);
	if (err)
		goto err_destroy;
	return 0;

err_destroy:
	trk_destroy(tracker);
	return err;
}

static void trk_stop(void)
{
	/* Set by trk_start() and changed by nobody else since. */
	struct latency_tracker *tracker = trk_tracker;

	trk_unregister(trk_nr_probes, tracker);
	trk_destroy(tracker);
}

#endif /* _LT_EXAMPLES_TRACKER_H */
