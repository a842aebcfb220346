# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For the tests of what a tracker does at a crossing: the top trace, which nothing else uses here.
# shellcheck source=tests/guest/lib.sh
. "$LIB"

ftrace=/sys/kernel/tracing
echo -1 >/proc/sys/kernel/sched_rt_runtime_us

# The tracker acts on the top trace, which nobody else uses here.
clean_trace()
{
	echo 0 >"$ftrace/events/enable"
	echo 0 >"$ftrace/snapshot"
	echo >"$ftrace/trace"
	echo mono >"$ftrace/trace_clock"
	echo 1 >"$ftrace/tracing_on"
}

restore()
{
	clean_trace
	echo local >"$ftrace/trace_clock"
}

# record EVENT...
record()
{
	local event

	for event; do
		echo 1 >"$ftrace/events/$event/enable"
	done
	echo >"$ftrace/trace"
}

tracing()
{
	cat "$ftrace/tracing_on"
}

acted()
{
	(($(param "$1" actions) > 0))
}

trap restore EXIT
