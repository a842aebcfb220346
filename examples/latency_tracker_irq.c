// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupt latency: the run time of each handler of a hard interrupt line; of
 * each soft interrupt the delay from its raise until it runs, and its run time.
 *
 * Default thresholds: 1 ms for what runs, 10 ms from raise to run. The events
 * irq_latency and softirq_latency tell who was kept from running, and where.
 *
 * A soft interrupt that is raised again before it runs is served by that one
 * run: the first raise counts. One that is raised while it runs, runs again,
 * and is an operation of its own. So that a wrong begin never counts:
 *
 * - A vector that is marked already is not begun: its first raise was before
 *   the tracker was there, or when no event was free. Unless that was served:
 *   the loop that runs the soft interrupts of a CPU takes all marks at once, so
 *   a vector may be marked again before its run begins, and the mark stays.
 * - A vector that is not marked, but has an event, is in the hands of that
 *   loop. Is there no loop, the event is stale, and is replaced.
 * - A CPU may go with a vector marked, when a thread runs its soft interrupts;
 *   if it comes back, the vector runs then. That is no latency: the event is
 *   forgotten once the CPU is dead.
 *
 * Each run has a key of its own, however they are nested: a handler of hard
 * interrupts is not entered again on its CPU before it has returned; of soft
 * interrupts there is one run for each task in whose name they run.
 */
#include <linux/build_bug.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "wrapper/irq.h"
#include "wrapper/preempt.h"

#define CREATE_TRACE_POINTS
#include <trace/events/latency_tracker_irq.h>

#define TRK_NAME		"irq"
#define TRK_USEC_THRESHOLD	1000
#define TRK_MAX_EVENTS		8192
#define TRK_GROW_LIMIT		65536
#include "examples/tracker.h"

#define USEC_THRESHOLD_RAISE	10000

/* What a handler that has not returned returns. */
#define LT_IRQ_PENDING		255

/* How long the tracker's thread waits for a CPU to tell what it is doing. */
#define LOOK_USEC		50000

/**
 * struct irq_key - key of an event; without padding, which would be part of it
 * @who: the irqaction, the task in whose name a soft interrupt runs, or NULL
 * @cpu: where
 * @stage: of enum lt_irq_stage
 * @vec: of a soft interrupt, else 0
 */
struct irq_key {
	const void *who;
	u32 cpu;
	u16 stage;
	u16 vec;
};

static_assert(sizeof(struct irq_key) == sizeof(void *) + 8);

static __always_inline struct irq_key
softirq_key(enum lt_irq_stage stage, unsigned int vec, const void *who)
{
	return (struct irq_key) {
		.who = who,
		.cpu = raw_smp_processor_id(),
		.stage = stage,
		.vec = vec,
	};
}

static __always_inline struct irq_key irq_key(const struct irqaction *action)
{
	return (struct irq_key) {
		.who = action,
		.cpu = raw_smp_processor_id(),
		.stage = LT_IRQ_RUN,
	};
}

/* Threshold from raise to run; each event brings its own. */

static int raise_set(struct latency_tracker *tracker, u64 ns);
static u64 raise_get(const struct latency_tracker *tracker);

static struct trk_usec trk_threshold_raise = {
	.usec = USEC_THRESHOLD_RAISE,
	.set = raise_set,
	.get = raise_get,
};
module_param_cb(usec_threshold_raise, &trk_usec_ops, &trk_threshold_raise,
		0644);
MODULE_PARM_DESC(usec_threshold_raise,
		 "Report soft interrupts that run so many microseconds after they were raised (default "
		 __stringify(USEC_THRESHOLD_RAISE) ")");

static int raise_set(struct latency_tracker *tracker, u64 ns)
{
	return 0;	/* it is where the begin looks */
}

static u64 raise_get(const struct latency_tracker *tracker)
{
	return READ_ONCE(trk_threshold_raise.usec) * NSEC_PER_USEC;
}

/* Filters: 0 is a line, a vector and a CPU like all others. */

#define FILTER_ALL	-1
#define FILTER_NONE	-2

/**
 * struct filter - which ones to track
 * @value: the only one, or FILTER_ALL, or FILTER_NONE
 * @is_valid: can there be such a one?
 * @names: of the values, or NULL
 * @nr_names: how many
 * @none: there may be none at all
 */
struct filter {
	int value;
	bool (*is_valid)(int value);
	const char *const *names;
	int nr_names;
	bool none;
};

static int filter_name(const struct filter *filter, const char *val)
{
	int i;

	for (i = 0; i < filter->nr_names; i++) {
		if (sysfs_streq(val, filter->names[i]))
			return i;
	}
	return -EINVAL;
}

static int filter_set(const char *val, const struct kernel_param *kp)
{
	struct filter *filter = kp->arg;
	int new;

	if (sysfs_streq(val, "")) {
		new = FILTER_ALL;
	} else if (filter->none && sysfs_streq(val, "none")) {
		new = FILTER_NONE;
	} else if (kstrtoint(val, 10, &new) == 0) {
		if (new < 0 || !filter->is_valid(new))
			return -EINVAL;
	} else {
		new = filter_name(filter, val);
		if (new < 0)
			return new;
	}
	if (new == filter->value)
		return 0;
	WRITE_ONCE(filter->value, new);
	trk_filter_changed();
	return 0;
}

static int filter_get(char *buffer, const struct kernel_param *kp)
{
	const struct filter *filter = kp->arg;

	if (filter->value == FILTER_ALL)
		return sysfs_emit(buffer, "\n");
	if (filter->value == FILTER_NONE)
		return sysfs_emit(buffer, "none\n");
	if (filter->value < filter->nr_names)
		return sysfs_emit(buffer, "%s\n", filter->names[filter->value]);
	return sysfs_emit(buffer, "%d\n", filter->value);
}

static const struct kernel_param_ops filter_ops = {
	.set = filter_set,
	.get = filter_get,
};

static bool irq_is_valid(int irq)
{
	return true;	/* a device may bring any */
}

static bool vector_is_valid(int vector)
{
	return vector < NR_SOFTIRQS;
}

static bool cpu_is_valid(int cpu)
{
	return cpu < nr_cpu_ids && cpu_possible(cpu);
}

/* As in /proc/softirqs. */
static const char *const softirq_names[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET",
	"SCHED", "HRTIMER", "RCU",
};

static_assert(ARRAY_SIZE(softirq_names) == NR_SOFTIRQS);

static struct filter irq_filter = {
	.value = FILTER_ALL,
	.is_valid = irq_is_valid,
	.none = true,
};
module_param_cb(irq, &filter_ops, &irq_filter, 0644);
MODULE_PARM_DESC(irq, "Track only this line of hard interrupts, or none (default empty: all)");

static struct filter vector_filter = {
	.value = FILTER_ALL,
	.is_valid = vector_is_valid,
	.names = softirq_names,
	.nr_names = ARRAY_SIZE(softirq_names),
	.none = true,
};
module_param_cb(vector, &filter_ops, &vector_filter, 0644);
MODULE_PARM_DESC(vector, "Track only this soft interrupt, by name or number, or none (default empty: all)");

static struct filter cpu_filter = {
	.value = FILTER_ALL,
	.is_valid = cpu_is_valid,
};
module_param_cb(cpu, &filter_ops, &cpu_filter, 0644);
MODULE_PARM_DESC(cpu, "Track only on this CPU (default empty: all)");

static __always_inline bool passes(const struct filter *filter, int value)
{
	int only = READ_ONCE(filter->value);

	return only == FILTER_ALL || only == value;
}

static __always_inline bool wants(const struct filter *filter, int value)
{
	return passes(filter, value) &&
	       passes(&cpu_filter, raw_smp_processor_id());
}

/* Hard interrupts. */

static void probe_irq_handler_entry(void *data, int irq,
				    struct irqaction *action)
{
	struct lt_irq_handler handler;
	struct latency_tracker_in in = {
		.priv = &handler,
		.priv_len = sizeof(handler),
	};
	struct irq_key key;

	if (!wants(&irq_filter, irq))
		return;
	/* While it is pending, nobody else may look at the action: copy it. */
	handler.func = action->handler;
	handler.irq = irq;
	handler.pid = current->pid;
	handler.tgid = current->tgid;
	memcpy(handler.comm, current->comm, TASK_COMM_LEN);
	strscpy_pad(handler.name, action->name ?: "-", LT_IRQ_NAME_LEN);
	key = irq_key(action);
	latency_tracker_event_in(data, &key, sizeof(key),
				 LATENCY_TRACKER_UNIQUE, &in);
}

static void probe_irq_handler_exit(void *data, int irq,
				   struct irqaction *action, int ret)
{
	struct irq_key key;

	if (!wants(&irq_filter, irq))
		return;
	key = irq_key(action);
	latency_tracker_event_out(data, &key, sizeof(key), LT_IRQ_RUN, &ret, 0);
}

/* Soft interrupts. */

/*
 * The loop takes all marked vectors at once and unmarks them. On PREEMPT_RT it
 * may have been preempted, and then we can't know that it is there.
 */
static __always_inline bool may_be_in_loop(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) || in_serving_softirq();
}

/* Vectors whose mark was set before their last run began; by this CPU alone. */
static DEFINE_PER_CPU(unsigned long, served);

/* Interrupts are off. */
static void probe_softirq_raise(void *data, unsigned int vec)
{
	struct latency_tracker_in in = {};
	u32 flags = LATENCY_TRACKER_UNIQUE;
	struct irq_key key;

	if (!wants(&vector_filter, vec))
		return;
	if (lt_softirq_is_raised(vec)) {
		if (!(this_cpu_read(served) & BIT(vec)))
			return;
		this_cpu_and(served, ~BIT(vec));
		flags = LATENCY_TRACKER_KEEP;
	} else if (may_be_in_loop()) {
		flags = LATENCY_TRACKER_KEEP;
	}
	in.threshold_ns = raise_get(NULL);
	key = softirq_key(LT_SOFTIRQ_RAISE, vec, NULL);
	latency_tracker_event_in(data, &key, sizeof(key),
				 flags | LATENCY_TRACKER_THRESHOLD, &in);
}

static void probe_softirq_entry(void *data, unsigned int vec)
{
	struct latency_tracker_in in = {};
	struct irq_key key;

	if (!wants(&vector_filter, vec))
		return;
	in.start_ns = latency_tracker_clock();
	key = softirq_key(LT_SOFTIRQ_RAISE, vec, NULL);
	/* The time for a report is not that of the handler. */
	if (latency_tracker_event_out(data, &key, sizeof(key),
				      LT_SOFTIRQ_RAISE, NULL,
				      in.start_ns) == 1)
		in.start_ns = latency_tracker_clock();
	/* Whatever is raised from here on, has an event. */
	if (lt_softirq_is_raised(vec))
		this_cpu_or(served, BIT(vec));
	else
		this_cpu_and(served, ~BIT(vec));
	key = softirq_key(LT_SOFTIRQ_RUN, vec, current);
	latency_tracker_event_in(data, &key, sizeof(key),
				 LATENCY_TRACKER_UNIQUE | LATENCY_TRACKER_START,
				 &in);
}

static void probe_softirq_exit(void *data, unsigned int vec)
{
	struct irq_key key;

	if (!wants(&vector_filter, vec))
		return;
	key = softirq_key(LT_SOFTIRQ_RUN, vec, current);
	latency_tracker_event_out(data, &key, sizeof(key), LT_SOFTIRQ_RUN, NULL,
				  0);
}

static struct trk_probe probes[] = {
	TRK_PROBE(softirq_exit),
	TRK_PROBE(softirq_entry),
	TRK_PROBE(softirq_raise),
	TRK_PROBE(irq_handler_exit),
	TRK_PROBE(irq_handler_entry),
};

/* A vector that a CPU has taken with it. */
static int cpu_dead(unsigned int cpu)
{
	struct irq_key key = { .cpu = cpu, .stage = LT_SOFTIRQ_RAISE };

	for (key.vec = 0; key.vec < NR_SOFTIRQS; key.vec++)
		latency_tracker_event_cancel(trk_tracker, &key, sizeof(key));
	return 0;
}

/* Reports. */

/**
 * struct look - what a CPU is doing, asked of it
 * @csd: of the interrupt that asks
 * @asked: it has not answered yet
 * @found: it was doing something that can be told
 * @place: what
 */
struct look {
	call_single_data_t csd;
	bool asked;
	bool found;
	struct lt_softirq_place place;
};

/* Of the tracker's thread. */
static struct look look;

static void describe(struct lt_softirq_place *place)
{
	place->pid = current->pid;
	place->tgid = current->tgid;
	memcpy(place->comm, current->comm, TASK_COMM_LEN);
}

static void look_answer(void *data)
{
	struct look *answer = data;

	/* Else this is the thread itself, by chance. */
	answer->found = lt_in_hardirq();
	if (answer->found) {
		describe(&answer->place);
		lt_stack_of_interrupted(&answer->place.stack);
	}
	/* Pairs with smp_load_acquire() of look_at() and look_end(). */
	smp_store_release(&answer->asked, false);
}

/*
 * Not with smp_call_function_single(): a CPU that is stuck in a hard interrupt
 * does not answer until that is over, and it, too, has to be reported now. The
 * question stays with that CPU; others are not asked until it has answered.
 */
static bool look_at(int cpu)
{
	unsigned int usec;

	/* Pairs with smp_store_release() of look_answer(), like the others. */
	if (smp_load_acquire(&look.asked))
		return false;
	look.csd.func = look_answer;
	look.csd.info = &look;
	look.asked = true;
	if (smp_call_function_single_async(cpu, &look.csd)) {
		look.asked = false;
		return false;
	}
	for (usec = 0; usec < LOOK_USEC; usec += 100) {
		/* Pairs with look_answer(): the answer is complete. */
		if (!smp_load_acquire(&look.asked))
			return look.found;
		usleep_range(100, 200);
	}
	return false;
}

/* Until no CPU has a question that it may still answer. */
static void look_end(void)
{
	/* Pairs with look_answer(). */
	while (smp_load_acquire(&look.asked))
		usleep_range(1000, 2000);
	synchronize_rcu();	/* for the last instructions of look_answer() */
}

static void report_irq(const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;
	struct lt_stack stack;
	u32 ret = LT_IRQ_PENDING;

	if (!trace_irq_latency_enabled())
		return;
	stack.first = 0;
	stack.nr = 0;
	if (verdict->flag == LATENCY_TRACKER_ENDED) {
		ret = *(int *)verdict->out_data;
		lt_stack_of_interrupted(&stack);
	}
	trk_trace(irq_latency, verdict, verdict->priv, key->cpu, ret, &stack);
}

static void report_softirq_end(const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;
	struct lt_softirq_place place;

	describe(&place);
	lt_stack_of_current(&place.stack, trk_is_own, 0);
	trk_trace(softirq_latency, verdict, key->vec, key->stage, key->cpu,
		  &place);
}

static void report_softirq_pending(const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;
	static const struct lt_softirq_place unknown = {
		.pid = -1,
		.tgid = -1,
		.comm = "-",
	};
	const struct lt_softirq_place *place = &unknown;

	/* If it has gone on meanwhile, this is not what keeps it. */
	if (look_at(key->cpu) && trk_is_pending(verdict))
		place = &look.place;
	trk_trace(softirq_latency, verdict, key->vec, key->stage, key->cpu,
		  place);
}

static void callback(const struct latency_tracker_verdict *verdict)
{
	const struct irq_key *key = verdict->key;

	if (key->stage == LT_IRQ_RUN)
		report_irq(verdict);
	else if (!trace_softirq_latency_enabled())
		return;
	else if (verdict->flag == LATENCY_TRACKER_ENDED)
		report_softirq_end(verdict);
	else
		report_softirq_pending(verdict);
}

/* Life. */

static enum cpuhp_state dead_state;

/* CPUs that went before we were told of it are off now. */
static int watch_cpus(void)
{
	unsigned int cpu;
	int state;

	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					  "latency_tracker/irq:dead", NULL,
					  cpu_dead);
	if (state < 0) {
		pr_err("%s: can't watch CPUs go: %d\n", KBUILD_MODNAME, state);
		return state;
	}
	dead_state = state;
	for_each_possible_cpu(cpu) {
		if (!cpu_online(cpu))
			cpu_dead(cpu);
	}
	return 0;
}

static int __init latency_irq_init(void)
{
	struct latency_tracker_config config = {
		.callback = callback,
		.key_size = sizeof(struct irq_key),
		.priv_size = sizeof(struct lt_irq_handler),
	};
	int err;

	err = trk_start(&config, probes, ARRAY_SIZE(probes));
	if (err)
		goto err_look;
	err = watch_cpus();
	if (err)
		goto err_stop;
	return 0;

err_stop:
	trk_stop();
err_look:
	look_end();
	return err;
}
module_init(latency_irq_init);

static void __exit latency_irq_exit(void)
{
	cpuhp_remove_state_nocalls(dead_state);
	trk_stop();
	look_end();
}
module_exit(latency_irq_exit);

MODULE_DESCRIPTION("Run time of interrupt handlers, and delay of soft interrupts");
MODULE_LICENSE("GPL");
