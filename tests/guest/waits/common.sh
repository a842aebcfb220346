# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# The wait matrix: in each scenario a victim says when its waits began and ended.
. "$LIBDIR/lib.sh"

root=/sys/fs/cgroup
taskset -pc 0 $$ >/dev/null

# watch: the reports of all trackers from now on.
watch()
{
	trace_start latency_tracker/{block,wakeup,syscall,network,irq,lock}_latency \
		latency_tracker/{offcpu_sched_switch,critical_path}
}

# prepare WAY ARGUMENT...: a victim, in a trace, that waits for its go; its pid is $pid. It lives in
# the cgroup $into from its begin on, if that is set.
prepare()
{
	watch
	# shellcheck disable=SC2016 # the inner shell expands it
	hold bash -c '[ -z "$0" ] || echo $$ >"$0/cgroup.procs"; exec python3 "$@"' "${into:-}" \
		"$LIBDIR/waits/victim.py" "$@"
	pid=$(field pid "$out")
}

# explained SCENARIO NAME...: one result, about the victim that goes now.
explained()
{
	release
	sleep 0.1
	trace_stop "$T/trace"
	judged "$@"
}

# judged SCENARIO NAME...: one result. At least 95 % of what $T/told says is reported, its causes are
# among the NAMEs of waits.py, and no other is named. A row of the table.
judged()
{
	local scenario=$1 text waited covered unknown missing other passed
	shift

	text=$(judge waits.py "$T/trace" "$T/told" "$@")
	waited=$(field waited "$text") covered=$(field covered "$text")
	unknown=$(field unknown "$text")
	missing=$(field missing "$text") other=$(field other "$text")
	diag "$scenario: $text"
	truth_delay waits "$scenario" "$waited" "$covered"
	passed=$((waited >= ${least_ms:-300} * 1000000 && covered * 100 >= waited * 95 &&
		  unknown * 20 <= waited))
	[[ -z $missing$other ]] || passed=0
	result $passed "$scenario: $(ms "$waited") ms, reported $(ms "$covered"), named: $*$(
		((passed)) || echo "; not: $missing; but: $other; unknown: $(ms "$unknown") ms")" ||
		diag "$(grep -E "_latency:|_switch:|_path:.* hop=0," "$T/trace" | cut -c1-400 | head -n 40)"
}

# undelayed SCENARIO WAY ARGUMENT...: one result: what nobody delays is not late. The machine may
# pause: it is tried five times.
undelayed()
{
	local round text took

	for round in 1 2 3 4 5; do
		prepare "${@:2}"
		release
		trace_stop "$T/trace"
		text=$(judge waits.py "$T/trace" "$T/told")
		diag "$text"
		(($(field covered "$text"))) || break
	done
	took=$(field took "$text")
	result $(($(field covered "$text") == 0 && took > 0)) \
		"$1 that nobody delays, of $(ms "$took") ms, is not late, at try $round"
}

# wait_alone SCENARIO WAY NAME...: one result, about what needs nothing but its victim.
wait_alone()
{
	prepare "$2"
	explained "$1" "${@:3}"
}

# group CONTROLLER: an empty cgroup, at $group.
group()
{
	group=$root/lt-waits
	mountpoint -q $root || mount -t cgroup2 none $root || give_up "no cgroup2"
	echo "+$1" >$root/cgroup.subtree_control 2>/dev/null
	mkdir "$group" || give_up "no cgroup"
}

# no_group: its tasks are gone.
no_group()
{
	wait_for 10 rmdir "$group" 2>/dev/null
}
