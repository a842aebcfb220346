# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For the tests of latency_tracker_wakeup: a victim that is woken while a hog has its CPU.
. "$LIBDIR/lib.sh"

# A hog is never throttled: it ends itself.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us

# scenario ARG...: runs "inject wake" under a trace. Leaves in $out what was injected, in
# $n and $line the reports about the victim, and its time stamps in variables.
scenario()
{
	load wakeup usec_threshold=50000 ${timeout:+usec_timeout=$timeout}
	trace_start sched/sched_switch latency_tracker/wakeup_latency
	out=$("$BIN/inject" wake "$@")
	trace_stop "$T/trace"
	diag "$out"
	understand
}

understand()
{
	victim=$(field victim "$out") hog=$(field hog "$out") waker=$(field waker "$out")
	wake=$(field wake "$out") woken=$(field woken "$out") moved=$(field moved "$out")
	hog_end=$(field hog_end "$out") ran=$(field ran "$out")
	grep "wakeup_latency: .* pid=$victim, .*flag=ended" "$T/trace" >"$T/mine"
	n=$(wc -l <"$T/mine") line=$(head -n 1 "$T/mine")
	delay=$(field delay "$line")
	diag "$(cat "$T/mine")"
}

# trace_wakeups AT_LEAST LOAD...: everything about wake-ups, under this load, until so many are late.
trace_wakeups()
{
	trace_start sched/sched_switch sched/sched_waking sched/sched_wakeup \
		sched/sched_wakeup_new latency_tracker/wakeup_latency
	mark begin
	load_until wakeup "$@"
	mark end
	sleep 0.3
	trace_stop "$T/trace"
}
