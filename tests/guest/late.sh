# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For the tests of tools that read the events: all trackers, and something late for each of them.
. "$LIBDIR/lib.sh"

names=(block_latency function_latency irq_latency netfilter_latency network_latency
	offcpu_sched_switch offcpu_sched_wakeup softirq_latency syscall_latency
	syscall_latency_stack wakeup_latency)
inject=/sys/module/latency_tracker_inject/parameters/run
# A hog is never throttled: it ends itself.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us

load_all()
{
	local tracker

	modprobe null_blk irqmode=2 queue_mode=2 completion_nsec=20000000 || give_up "no null_blk"
	echo none >/sys/block/nullb0/queue/scheduler
	ip link set lo up
	modprobe latency_tracker_inject || give_up "no latency_tracker_inject"
	for tracker in wakeup offcpu syscalls; do
		load $tracker usec_threshold=50000
	done
	load block usec_threshold=10000
	load irq usec_threshold=10000 usec_threshold_raise=10000
	load network usec_threshold=0 dev=lo
	load netfilter usec_threshold=0
	# No function that sleeps: 6.1 warns where the stack of another task is walked
	# through a kretprobe, as offcpu does.
	load function symbol=sched_getaffinity usec_threshold=0
	[ "$(cd /sys/kernel/tracing/events/latency_tracker && echo */)" = "${names[*]/%//}" ] ||
		give_up "these are not all events: ${names[*]}"
}

unload_all()
{
	unload function netfilter network irq block syscalls offcpu wakeup
}

# on_cpu CPU COMMAND...: of the module that makes interrupts.
on_cpu()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	taskset -c "$1" bash -c 'echo "$2" >"$1"' inject "$inject" "${*:2}" ||
		give_up "inject ${*:2} failed"
}

everything_late()
{
	"$BIN/inject" wake 300
	"$BIN/inject" nanosleep 100
	dd if=/dev/nullb0 of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
	on_cpu 0 irq 1 20 0
	on_cpu 1 softirq 0 20 3 10
	ping -qc 2 127.0.0.1 >/dev/null
	taskset -p $$ >/dev/null
}
