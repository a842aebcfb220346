/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event of latency_tracker_wakeup.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM latency_tracker

#if !defined(_LT_TRACE_WAKEUP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LT_TRACE_WAKEUP_H

#include <linux/minmax.h>
#include <linux/tracepoint.h>
#include <trace/events/latency_tracker_format.h>

#ifndef _LT_WAKEUP_REPORT
#define _LT_WAKEUP_REPORT
/**
 * struct lt_wakeup_prev - who had the CPU last that a task waited for
 * @pid: of the thread, -1 if it is not known
 * @tgid: of the process
 * @prio: kernel priority, 0 is the highest
 * @comm: name
 * @stack: kernel stack
 */
struct lt_wakeup_prev {
	pid_t pid;
	pid_t tgid;
	int prio;
	char comm[TASK_COMM_LEN];
	struct lt_stack stack;
};

/**
 * struct lt_wakeup_holder - who had that CPU for most of the wait
 * @ran: how long, ns
 * @pid: of the thread, -1 if it is not known
 * @prio: kernel priority
 * @comm: name
 */
struct lt_wakeup_holder {
	u64 ran;
	pid_t pid;
	int prio;
	char comm[TASK_COMM_LEN];
};

/**
 * struct lt_wakeup_report - who waited for a CPU
 * @task: who waited
 * @waker_comm: who woke @task
 * @waker_pid: likewise
 * @cpu: where
 */
struct lt_wakeup_report {
	const struct task_struct *task;
	const char *waker_comm;
	pid_t waker_pid;
	int cpu;
};
#endif

TRACE_EVENT(wakeup_latency,

	TP_PROTO(const struct latency_tracker_verdict *verdict,
		 const struct lt_wakeup_report *report,
		 const struct lt_wakeup_prev *prev,
		 const struct lt_wakeup_holder *holder),

	TP_ARGS(verdict, report, prev, holder),

	TP_STRUCT__entry(
		__field(u64, delay)
		__field(u64, start)
		__field(u64, holder_ran)
		__array(char, comm, TASK_COMM_LEN)
		__array(char, waker_comm, TASK_COMM_LEN)
		__array(char, prev_comm, TASK_COMM_LEN)
		__array(char, holder_comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(pid_t, tgid)
		__field(int, prio)
		__field(int, cpu)
		__field(pid_t, waker_pid)
		__field(pid_t, prev_pid)
		__field(pid_t, prev_tgid)
		__field(int, prev_prio)
		__field(pid_t, holder_pid)
		__field(int, holder_prio)
		__field(u32, flag)
		__dynamic_array(unsigned long, prev_stack, prev->stack.nr)
	),

	TP_fast_assign(
		__entry->delay = verdict->delay_ns;
		__entry->start = verdict->start_ns;
		__entry->flag = verdict->flag;
		memcpy(__entry->comm, report->task->comm, TASK_COMM_LEN);
		__entry->pid = report->task->pid;
		__entry->tgid = report->task->tgid;
		__entry->prio = report->task->prio;
		__entry->cpu = report->cpu;
		memcpy(__entry->waker_comm, report->waker_comm, TASK_COMM_LEN);
		__entry->waker_pid = report->waker_pid;
		memcpy(__entry->prev_comm, prev->comm, TASK_COMM_LEN);
		__entry->prev_pid = prev->pid;
		__entry->prev_tgid = prev->tgid;
		__entry->prev_prio = prev->prio;
		memcpy(__entry->holder_comm, holder->comm, TASK_COMM_LEN);
		__entry->holder_pid = holder->pid;
		__entry->holder_prio = holder->prio;
		__entry->holder_ran = min(holder->ran, verdict->delay_ns);
		lt_stack_copy(__get_dynamic_array(prev_stack), &prev->stack);
	),

	TP_printk("comm=%s, pid=%d, tgid=%d, prio=%d, cpu=%d, delay=%llu, flag=%s, start=%llu, waker_comm=%s, waker_pid=%d, prev_comm=%s, prev_pid=%d, prev_tgid=%d, prev_prio=%d, holder_comm=%s, holder_pid=%d, holder_prio=%d, holder_ran=%llu, prev_stack=%s",
		  __entry->comm, __entry->pid, __entry->tgid, __entry->prio,
		  __entry->cpu, __entry->delay, lt_show_flag(__entry->flag),
		  __entry->start, __entry->waker_comm, __entry->waker_pid,
		  __entry->prev_comm, __entry->prev_pid, __entry->prev_tgid,
		  __entry->prev_prio, __entry->holder_comm,
		  __entry->holder_pid, __entry->holder_prio,
		  __entry->holder_ran,
		  lt_stack_print(p, __get_dynamic_array(prev_stack),
				 __get_dynamic_array_len(prev_stack)))
);

#endif /* _LT_TRACE_WAKEUP_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE latency_tracker_wakeup
#include <trace/define_trace.h>
