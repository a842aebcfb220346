// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits of all tasks. See waits.h.
 *
 * A wait has a number: that of its CPU, and how many that CPU had written before. It is its
 * place in the ring as well. Its entry has the same number while it is there whole:
 *
 *	writer						reader
 *	------						------
 *	takes the next number of its CPU		finds the number in the chain
 *	entry->nr = 0					entry->nr is that (acquire)
 *	smp_wmb()					copies the entry
 *	writes the entry				smp_rmb()
 *	xchg() of the head of the chain			entry->nr still is that
 *	entry->nr = number (release)
 *
 * A writer has preemption off, and interrupts that come in between take numbers of their own.
 * So nothing waits for anything. The head may lead to an entry that is not whole yet: the reader
 * tries again, for as long as a writer may take.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "core/per_minute.h"
#include "core/tracker.h"
#include "core/waits.h"
#include "wrapper/rcu_watching.h"

#define HEAD_BITS	12
#define CPU_SHIFT	48
/* A writer that was interrupted is waited for that often. */
#define TRIES		10000

struct entry {
	struct latency_tracker_wait wait;
	u64 before;
	u64 nr;
};

/**
 * struct ring - the last waits that ended on a CPU
 * @next: how many that were
 * @lost: how many found no ring
 * @entries: NULL: there is no memory
 */
struct ring {
	u64 next;
	u64 lost;
	struct entry *entries;
};

/**
 * struct waits - all there is as long as there is a reader
 * @config: the reader's
 * @rings: of each CPU that was on line once
 * @bytes: memory
 * @heads: number of the last wait of each hash of a pid
 */
struct waits {
	struct latency_tracker_waits_config config;
	struct ring __percpu *rings;
	size_t bytes;
	u64 heads[1 << HEAD_BITS];
};

/* Read in sections with preemption off. */
static struct waits *waits;
static DEFINE_MUTEX(waits_lock);	/* changes of the reader; the list of trackers */
static u64 waits_least = LATENCY_TRACKER_NEVER;
static LIST_HEAD(publishers);
static enum cpuhp_state waits_cpuhp;

static __always_inline bool enter(void)
{
	rcu_read_lock_sched_notrace();
	if (likely(lt_rcu_is_watching()))
		return true;
	rcu_read_unlock_sched_notrace();
	return false;
}

static u64 *head_of(struct waits *all, pid_t pid)
{
	return &all->heads[hash_32(pid, HEAD_BITS)];
}

static u64 write_entry(struct waits *all, const struct latency_tracker_wait *wait)
{
	/* An address dependency; pairs with make_ring(). */
	struct entry *entry = READ_ONCE(this_cpu_ptr(all->rings)->entries);
	u64 nr;

	if (unlikely(!entry)) {
		this_cpu_inc(all->rings->lost);
		return 0;
	}
	nr = ((u64)raw_smp_processor_id() << CPU_SHIFT) |
	     this_cpu_inc_return(all->rings->next);
	entry += nr & (all->config.entries - 1);
	WRITE_ONCE(entry->nr, 0);
	smp_wmb();	/* pairs with the smp_rmb() of copy_entry() */
	entry->wait = *wait;
	entry->before = xchg(head_of(all, wait->pid), nr);
	/* The entry comes first; pairs with copy_entry(). */
	smp_store_release(&entry->nr, nr);
	return nr;
}

/**
 * latency_tracker_wait_publish() - a wait of a task is over
 * @wait: what is known of it
 *
 * Context: Any.
 * Return: its number; 0 if it is not kept: there is no reader, or no memory, or RCU does not
 *	watch.
 */
u64 latency_tracker_wait_publish(const struct latency_tracker_wait *wait)
{
	struct waits *all;
	u64 nr = 0;

	if (!enter())
		return 0;
	all = READ_ONCE(waits);
	if (all)
		nr = write_entry(all, wait);
	rcu_read_unlock_sched_notrace();
	return nr;
}
EXPORT_SYMBOL_GPL(latency_tracker_wait_publish);

/**
 * latency_tracker_wait_late() - a late operation of a task was reported
 * @late: what is known of it
 *
 * Context: Any.
 */
void latency_tracker_wait_late(const struct latency_tracker_late *late)
{
	struct waits *all;

	if (!enter())
		return;
	all = READ_ONCE(waits);
	if (all)
		all->config.late(late);
	rcu_read_unlock_sched_notrace();
}
EXPORT_SYMBOL_GPL(latency_tracker_wait_late);

/**
 * latency_tracker_waits_are_read() - is there a reader of waits?
 *
 * Context: Any.
 * Return: true if so.
 */
bool latency_tracker_waits_are_read(void)
{
	return READ_ONCE(waits);
}
EXPORT_SYMBOL_GPL(latency_tracker_waits_are_read);

/* What a tracker publishes, it has to look at. */
static void tell_least(struct latency_tracker *tracker)
{
	WRITE_ONCE(tracker->waits_least_ns, waits_least);
	lt_publish_threshold(tracker);
}

static void set_least(u64 least_ns)
{
	struct latency_tracker *tracker;

	lockdep_assert_held(&waits_lock);
	waits_least = least_ns;
	list_for_each_entry(tracker, &publishers, publisher)
		tell_least(tracker);
}

/* A tracker that may publish is there, before anything ends. Task, may sleep. */
void lt_waits_join(struct latency_tracker *tracker)
{
	INIT_LIST_HEAD(&tracker->publisher);
	if (!tracker->waited)
		return;
	mutex_lock(&waits_lock);
	list_add(&tracker->publisher, &publishers);
	tell_least(tracker);
	mutex_unlock(&waits_lock);
}

/* It goes. Task, may sleep. */
void lt_waits_leave(struct latency_tracker *tracker)
{
	mutex_lock(&waits_lock);
	list_del_init(&tracker->publisher);
	mutex_unlock(&waits_lock);
}

/* Before @cpu comes on line; when a reader comes, for each that is. */
static int make_ring(unsigned int cpu)
{
	struct waits *all = waits;
	struct ring *ring = per_cpu_ptr(all->rings, cpu);
	size_t bytes = all->config.entries * sizeof(*ring->entries);
	struct entry *entries;

	if (ring->entries)
		return 0;
	entries = kvzalloc_node(bytes, GFP_KERNEL, cpu_to_node(cpu));
	if (!entries)
		return -ENOMEM;
	all->bytes += bytes;
	/* A writer finds it empty; pairs with write_entry(). */
	smp_store_release(&ring->entries, entries);
	return 0;
}

/* A CPU that comes is not kept from coming: its waits are counted as lost then. */
static int ring_for_cpu(unsigned int cpu)
{
	make_ring(cpu);
	return 0;
}

/* For all CPUs, and those that come. Not all kernels tell of those that are there. */
static int make_rings(void)
{
	int cpu, err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		err = make_ring(cpu);
		if (err)
			goto out;
	}
	err = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_BP_PREPARE_DYN,
						   "latency_tracker:waits",
						   ring_for_cpu, NULL);
	if (err >= 0) {
		waits_cpuhp = err;
		err = 0;
	}
out:
	cpus_read_unlock();
	return err;
}

static void free_waits(struct waits *all)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(all->rings, cpu)->entries);
	free_percpu(all->rings);
	kvfree(all);
}

static struct waits *make_waits(const struct latency_tracker_waits_config *config)
{
	struct waits *all = kvzalloc(sizeof(*all), GFP_KERNEL);

	if (!all)
		return NULL;
	all->config = *config;
	all->bytes = sizeof(*all) + num_possible_cpus() * sizeof(struct ring);
	all->rings = alloc_percpu(struct ring);
	if (all->rings)
		return all;
	kvfree(all);
	return NULL;
}

/* No writer sees them any more. */
static void drop_waits(void)
{
	struct waits *all = waits;

	set_least(LATENCY_TRACKER_NEVER);
	WRITE_ONCE(waits, NULL);
	synchronize_rcu();
	free_waits(all);
}

/**
 * latency_tracker_waits_open() - there is a reader from now on
 * @config: what it wants; not needed after the call
 *
 * Context: Task, may sleep.
 * Return: 0; -EINVAL for a configuration out of its bounds; -EBUSY if there is a reader;
 *	-ENOMEM.
 */
int latency_tracker_waits_open(const struct latency_tracker_waits_config *config)
{
	int err = 0;

	if (!config->late || !is_power_of_2(config->entries) ||
	    config->entries < LATENCY_TRACKER_WAITS_MIN ||
	    config->entries > LATENCY_TRACKER_WAITS_MAX)
		return -EINVAL;
	mutex_lock(&waits_lock);
	if (waits) {
		err = -EBUSY;
		goto out;
	}
	waits = make_waits(config);
	if (!waits) {
		err = -ENOMEM;
		goto out;
	}
	err = make_rings();
	if (err) {
		drop_waits();
		goto out;
	}
	set_least(config->least_ns);
out:
	mutex_unlock(&waits_lock);
	return err;
}
EXPORT_SYMBOL_GPL(latency_tracker_waits_open);

/**
 * latency_tracker_waits_close() - the reader goes
 *
 * When it returns, the function that is told of late operations does not run, nor will.
 *
 * Context: Task, may sleep.
 */
void latency_tracker_waits_close(void)
{
	mutex_lock(&waits_lock);
	cpuhp_remove_state_nocalls(waits_cpuhp);
	drop_waits();
	mutex_unlock(&waits_lock);
}
EXPORT_SYMBOL_GPL(latency_tracker_waits_close);

/**
 * latency_tracker_waits_set_least() - publish shorter waits, too, or only longer ones
 * @least_ns: ns; 0 publishes all
 *
 * Context: Task, may sleep; the reader's.
 * Return: 0; -EINVAL without a reader, or for LATENCY_TRACKER_NEVER.
 */
int latency_tracker_waits_set_least(u64 least_ns)
{
	int err = -EINVAL;

	mutex_lock(&waits_lock);
	if (waits && least_ns != LATENCY_TRACKER_NEVER) {
		set_least(least_ns);
		err = 0;
	}
	mutex_unlock(&waits_lock);
	return err;
}
EXPORT_SYMBOL_GPL(latency_tracker_waits_set_least);

/**
 * latency_tracker_waits_memory() - what the waits take
 *
 * Context: The reader's.
 * Return: bytes.
 */
u64 latency_tracker_waits_memory(void)
{
	return READ_ONCE(waits->bytes);
}
EXPORT_SYMBOL_GPL(latency_tracker_waits_memory);

/**
 * latency_tracker_waits_lost() - how many were published and not kept
 *
 * Context: The reader's.
 * Return: those on CPUs without memory for a ring.
 */
u64 latency_tracker_waits_lost(void)
{
	u64 lost = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		lost += READ_ONCE(per_cpu_ptr(waits->rings, cpu)->lost);
	return lost;
}
EXPORT_SYMBOL_GPL(latency_tracker_waits_lost);

/**
 * latency_tracker_wait_last() - where the waits of a task are
 * @pid: of the task
 *
 * Context: The reader's.
 * Return: the number of the last wait of a task with the same hash; 0: there was none.
 */
u64 latency_tracker_wait_last(pid_t pid)
{
	return READ_ONCE(*head_of(waits, pid));
}
EXPORT_SYMBOL_GPL(latency_tracker_wait_last);

/* Is it there whole, and its number still the same? 0; -EAGAIN: it is not, yet; -ESTALE */
static int copy_entry(struct entry *entry, u64 nr,
		      struct latency_tracker_wait *wait, u64 *before)
{
	/* Pairs with the release of write_entry(). */
	u64 found = smp_load_acquire(&entry->nr);

	if (found != nr)
		return found ? -ESTALE : -EAGAIN;
	/* It is thrown away if it changes meanwhile. */
	data_race(*wait = entry->wait);
	/* Likewise. */
	data_race(*before = entry->before);
	smp_rmb();	/* pairs with the smp_wmb() of write_entry() */
	return READ_ONCE(entry->nr) == nr ? 0 : -ESTALE;
}

/**
 * latency_tracker_wait_read() - a wait, by its number
 * @nr: of latency_tracker_wait_last(), of this function, or of struct latency_tracker_wait
 * @wait: result
 * @before: result: number of the one before it in the chain; 0: it was the first
 *
 * A chain has the waits of tasks whose pids have the same hash.
 *
 * Context: The reader's.
 * Return: 0; -ENOENT if @nr is 0; -ESTALE if it was overwritten.
 */
int latency_tracker_wait_read(u64 nr, struct latency_tracker_wait *wait,
			      u64 *before)
{
	unsigned int cpu = nr >> CPU_SHIFT, tries = TRIES;
	struct entry *entry;
	int err;

	if (!nr)
		return -ENOENT;
	entry = per_cpu_ptr(waits->rings, cpu)->entries +
		(nr & (waits->config.entries - 1));
	do {
		err = copy_entry(entry, nr, wait, before);
		if (err == -EAGAIN)
			cpu_relax();
	} while (err == -EAGAIN && --tries);
	return err ? -ESTALE : 0;
}
EXPORT_SYMBOL_GPL(latency_tracker_wait_read);

/**
 * latency_tracker_wait_pending() - what is a task waiting for now?
 * @task: the task; the caller holds a reference
 * @wait: result: what a tracker knows; it is not over
 *
 * Context: Task, may sleep; the reader's.
 * Return: false if no tracker knows of a wait.
 */
bool latency_tracker_wait_pending(struct task_struct *task,
				  struct latency_tracker_wait *wait)
{
	struct latency_tracker *tracker;
	bool found = false;

	mutex_lock(&waits_lock);
	list_for_each_entry(tracker, &publishers, publisher) {
		if (tracker->waiting && tracker->waiting(tracker, task, wait)) {
			found = true;
			break;
		}
	}
	mutex_unlock(&waits_lock);
	return found;
}
EXPORT_SYMBOL_GPL(latency_tracker_wait_pending);
