# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For the tests of tools/on-latency.
. "$LIBDIR/lib.sh"

script=$LIBDIR/../../tools/on-latency
ftrace=/sys/kernel/tracing
symbol=$(awk '$3 ~ /^__[a-z0-9]+_sys_sched_rr_get_interval$/ { print $3; exit }' /proc/kallsyms)
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
# On a slow machine other wake-ups are late, too: how long a hog holds the CPU (ms), and from
# which delay on it is its doing (us).
hog=$((600 * ${LAB_SLOW:-1}))
late=$((400000 * ${LAB_SLOW:-1}))

# The hogs are on CPU 1.
taskset -pc 0 $$ >/dev/null

[ -n "$symbol" ] || give_up "no such system call"

# cross N: so many calls that nobody else makes; each is one crossing of "function".
cross()
{
	python3 -c "import os
for _ in range($1): os.sched_rr_get_interval(0)"
}

# begin ARG...: on-latency in the background, until it waits. Its output is in $T/out and
# $T/err.
begin()
{
	local pid

	: >"$T/out"
	"$script" "$@" >"$T/out" 2>"$T/err" &
	pid=$!
	wait_for $((20 * ${LAB_SLOW:-1})) waiting $pid || diag "on-latency $* does not wait"
}

# Voluntary switches and time on the CPU, of process $1.
activity()
{
	awk '/^voluntary/ { print $2 }' "/proc/$1/status"
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

# For two seconds, in steps that are too short to be a crossing of any test here.
at_rest()
{
	local before

	before=$(activity "$1")
	for _ in {1..20}; do
		sleep 0.1
	done
	[ "$before" = "$(activity "$1")" ]
}

# Some kernels do not say where a process sleeps.
waiting()
{
	[ -d "/proc/$1" ] || return 0
	case $(<"/proc/$1/wchan") in
	*poll*) ;;
	0) at_rest "$1" ;;
	*) return 1 ;;
	esac
}

is_gone()
{
	[ ! -d "/proc/$1" ]
}

# end: until it ends; leaves the status in $status. end_by SIGNAL: with that. One that waits for what
# has been is killed.
end()
{
	status=0
	wait_for $((30 * ${LAB_SLOW:-1})) is_gone $! || kill -KILL $!
	wait $! || status=$?
	diag "$(cat "$T/out" "$T/err")"
}

end_by()
{
	kill "-$1" $!
	end
}

# has FILE PATTERN: how many lines.
has()
{
	grep -cE -- "$2" "$1"
}
