# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of this directory: interrupt handlers of a set duration.
. "$LIBDIR/lib.sh"

run=/sys/module/latency_tracker_inject/parameters/run
kernel_events="irq/irq_handler_entry irq/irq_handler_exit irq/softirq_raise irq/softirq_entry
	irq/softirq_exit"
reports="latency_tracker/irq_latency latency_tracker/softirq_latency"

# Whoever tests is not in the way on CPU 1, where most of it happens.
taskset -pc 0 $$ >/dev/null

# inject CPU COMMAND...: written on that CPU. Leaves in $out what happened.
inject()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	taskset -c "$1" bash -c 'echo "$2" >"$1"' inject "$run" "${*:2}" ||
		give_up "inject ${*:2} failed"
	out=$(<"$run")
	diag "$out"
}

# of NAME: a value of $out.
of()
{
	field "$1" "$out"
}

# within LOW HIGH LINE: is its delay?
within()
{
	local delay

	delay=$(field delay "$3")
	((delay >= $1 && delay <= $2))
}

# watch PARAMETER=VALUE...: with the tracker, in a trace.
watch()
{
	load irq "$@"
	# shellcheck disable=SC2086 # words
	trace_start $reports
}

# The trace so far, in $T/trace, and the end of the tracker.
watched()
{
	trace_stop "$T/trace"
	unload irq
	diag "$(grep -E '(irq_latency|softirq_latency):' "$T/trace" | head -n 200 | cut -c 1-400)"
}

# lines PATTERN: of the trace.
lines()
{
	grep -E "$1" "$T/trace"
}

how_many()
{
	lines "$1" | grep -c .
}

stack_of()
{
	echo "${1##*, stack=}"
}

# busy SECONDS: packets, requests, timers, and files of another machine.
busy()
{
	ping -q -f -w "$1" 127.0.0.1 >/dev/null 2>&1 &
	fio --name=load --filename=/dev/nullb0 --rw=randread --bs=4k --direct=1 --size=64m \
		--time_based --runtime="$1" --thread --ioengine=libaio --iodepth=4 >/dev/null 2>&1 &
	"$BIN/inject" load $(($1 * 1000)) waiter sleeper exec
	wait
}

# How many of this CPU's and the other one's ends may have had no begin: what was running when
# the tracker came.
result_untouched()
{
	local unmatched pending

	unmatched=$(count irq unmatched) pending=$(count irq pending)
	result $((unmatched <= 4 && pending <= 2)) "$1: what is filtered out is not tracked at\
 either end: $unmatched ends without a begin, $pending begun without an end"
}

modprobe latency_tracker_inject || give_up "no latency_tracker_inject"
modprobe null_blk irqmode=1 queue_mode=2 || give_up "no null_blk"
inject 0 irq 1 0 0
line=$(of irq)
