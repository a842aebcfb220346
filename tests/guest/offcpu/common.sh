# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
. "$LIBDIR/lib.sh"

# sum_of STATE [BELOW_MS]: how long the reports of task $pid in $T/trace say that it was in a
# state, in ns. "!STATE": any other. The task counts from 50 ms on, of which it may run a little;
# so one below that may have been counted or not.
sum_of()
{
	awk -v state="$1" -v below=$((${2:-1000000} * 1000000)) \
		"/offcpu_sched_switch: .* pid=$pid, .*flag=ended/"'{
		match($0, /delay=[0-9]+/); delay = substr($0, RSTART + 6, RLENGTH - 6) + 0
		match($0, / state=[a-z]+/); is = substr($0, RSTART + 7, RLENGTH - 7)
		if (delay >= 40000000 && delay < below && (is == state || "!" is != state && state ~ /^!/))
			sum += delay
	} END { printf "%.0f\n", sum }' "$T/trace"
}

# result_state STATE HOW: one result: of the time that the victim has counted itself, in $out,
# at least 95 % is reported with that state, and nothing with another one.
result_state()
{
	local kept right wrong doubtful

	pid=$(field pid "$out") kept=$(field kept "$out")
	right=$(sum_of "$1") wrong=$(sum_of "!$1") doubtful=$(sum_of "$1" 50)
	result $(($(field times "$out") >= 3 && right * 100 >= kept * 95 &&
		  (right - doubtful) * 100 <= kept * 102 && wrong == 0)) \
		"$2: by its own clock it was kept $(field times "$out") times,\
 $(ms "$kept") ms in all: reported as $1 are $(ms "$right") ms, as something else $(ms "$wrong") ms" ||
		diag "$(grep "offcpu_sched_switch: .* pid=$pid, " "$T/trace" | cut -c1-300 | head -n 20)"
}

# kept STATE HOW: one result.
kept()
{
	trace_start latency_tracker/offcpu_sched_switch
	out=$("$BIN/inject" kept "$1" 200)
	trace_stop "$T/trace"
	result_state "$1" "$2"
}

# A victim that the test keeps from running, in a cgroup of its own: its pid is in $out.
outside_begin()
{
	cgroup=/sys/fs/cgroup/lt-kept
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
	echo +cpu >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
	mkdir "$cgroup" || give_up "no cgroup"
	trace_start latency_tracker/offcpu_sched_switch
	hold_inject kept outside 0
	field pid "$out" >"$cgroup/cgroup.procs"
}

outside_end()
{
	release_inject
	trace_stop "$T/trace"
	rmdir "$cgroup"
}
