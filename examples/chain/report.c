// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of chains.
 */
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "examples/chain/chain.h"
#include "usecase/look.h"
#include "usecase/usecase.h"

/* The task that has a CPU. */
struct answer {
	pid_t pid;
	int prio;
	char comm[TASK_COMM_LEN];
};

static void answer(void *data)
{
	struct answer *answer = data;

	answer->pid = current->pid;
	answer->prio = current->prio;
	memcpy(answer->comm, current->comm, TASK_COMM_LEN);
}

static struct lt_look look = {
	.answer = answer,
	.data_size = sizeof(struct answer),
};

LT_LOOK_PARAMS(look);

/* The task that has the CPU which a task waits for. */
static void ask(struct lt_chain *chain,
		const struct latency_tracker_verdict *verdict)
{
	const struct lt_chain *now = verdict->priv;
	int cpu = lt_task_cpu(verdict, chain->pid);
	struct answer *answer = cpu < 0 ? NULL : lt_look_prepare(&look, cpu);

	/* If the task has run meanwhile, it did not wait for what runs now. */
	if (!answer || !lt_look_ask(&look, cpu) || READ_ONCE(now->ran_ns) ||
	    !lt_is_pending(verdict))
		return;
	chain->prev_pid = answer->pid;
	chain->prev_prio = answer->prio;
	memcpy(chain->prev_comm, answer->comm, TASK_COMM_LEN);
}

/* What is known so far. A task that gets its CPU now has it after that. */
static void copy(struct lt_chain *chain, const struct lt_chain *from)
{
	u64 ran_ns = smp_load_acquire(&from->ran_ns);	/* pairs with note_run() */

	/* What changes meanwhile is what the switch writes, which is replaced below. */
	data_race(memcpy(chain, from, sizeof(*chain)));
	chain->ran_ns = ran_ns;
	if (ran_ns)
		return;
	chain->user_ns = 0;
	chain->is_watched = false;
	chain->run_cpu = -1;
	chain->prev_pid = -1;
	chain->prev_prio = -1;
	strscpy_pad(chain->prev_comm, "-", TASK_COMM_LEN);
}

static void report_pending(const struct latency_tracker_verdict *verdict)
{
	/* Of the tracker's thread alone; too large for its stack. */
	static struct lt_chain chain;
	struct task_struct *task;

	copy(&chain, verdict->priv);
	if (!chain.ran_ns)
		ask(&chain, verdict);
	rcu_read_lock();
	task = lt_task_find(verdict, chain.pid);
	if (task)
		lt_trace(chain_latency, verdict, task, &chain, LT_CHAIN_NOT_DONE);
	rcu_read_unlock();
}

void chain_report(const struct latency_tracker_verdict *verdict)
{
	const struct chain_ended *ended = verdict->out_data;

	if (!trace_chain_latency_enabled())
		return;
	if (verdict->flag == LATENCY_TRACKER_ENDED)
		lt_trace(chain_latency, verdict, ended->task, verdict->priv, ended->by);
	else
		report_pending(verdict);
}

int chain_report_start(void)
{
	return lt_look_start(&look);
}

/* Once no report looks any more. */
void chain_report_stop(void)
{
	lt_look_end(&look);
}
