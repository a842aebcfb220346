# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of latency_tracker_critical_path.
. "$LIBDIR/lib.sh"

slow=${LAB_SLOW:-1}
locks=/proc/latency_tracker_locks

# all_trackers [PARAMETER=VALUE...]: all that know of waits, and the module, with these parameters.
all_trackers()
{
	local tracker

	for tracker in block wakeup offcpu syscalls network irq lock; do
		load $tracker usec_threshold=50000 preempted=default
	done
	modprobe latency_tracker_critical_path "$@" || give_up "latency_tracker_critical_path could not be loaded"
}

no_trackers()
{
	unload critical_path block wakeup offcpu syscalls network irq lock
}

# listen; tell: the trace of what has happened between the two, in $T/trace.
listen()
{
	trace_start latency_tracker/critical_path
}

tell()
{
	sleep 0.2
	trace_stop "$T/trace"
}

# path COMM TRACKER FLAG: of all paths of such a task, the lines of the longest one, in $T/path.
path()
{
	local op

	op=$(grep "comm=$1, .*tracker=$2, .*flag=$3, .* hop=0, segment=0," "$T/trace" | sed -E 's/.* op=([0-9]+), .* total=([0-9]+),.*/\2 \1/' |
		sort -n | tail -n 1)
	grep " op=${op#* }, tracker=$2," "$T/trace" | sed 's/.*critical_path: //' >"$T/path"
	diag "$(cut -d, -f1-4 "$T/path" | paste -d' ' - <(grep -oE "(hop|parent|by_comm|name|cgroup_id)=[^,]*" "$T/path" | paste -d' ' - - - - -))"
}

# share HOP PATTERN...: how much of the operation lines of that hop are that match all PATTERNs, in percent.
share()
{
	local hop=$1 lines pattern
	shift

	lines=$(grep " hop=$hop," "$T/path")
	for pattern; do
		lines=$(grep -E -- "$pattern" <<<"$lines")
	done
	total=$(field total "$(head -n 1 "$T/path")")
	grep -oE ' delay=[0-9]+' <<<"$lines" | cut -d= -f2 | awk -v total="${total:-1}" '{ sum += $1 } END { print int(sum * 100 / total) }'
}

# takes NAME WORDS: a task of that name takes a lock of the kernel so, in the background.
takes()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	bash -c 'printf %s "$1" >/proc/self/comm; echo "$2" >"$3"' take "$1" "$2" "$locks" &
}

# quota: an empty control group, at $group, whose tasks have a CPU for a fifth of the time. Fails on a
# kernel that has no quota.
quota()
{
	local root=/sys/fs/cgroup

	group=$root/lt-quota
	mountpoint -q $root || mount -t cgroup2 none $root || give_up "no cgroup2"
	echo +cpu >$root/cgroup.subtree_control
	mkdir "$group" || give_up "no cgroup"
	if [ ! -e "$group/cpu.max" ]; then
		rmdir "$group"
		return 1
	fi
	echo "20000 100000" >"$group/cpu.max" || give_up "no quota of a cgroup"
}

# no_quota: its tasks are gone.
no_quota()
{
	wait_for 10 rmdir "$group" 2>/dev/null
}

# slow_swap NS: swap space on a disk of its own, each request of which takes so long. One page is read at a time.
slow_swap()
{
	local dir=/sys/kernel/config/nullb/lt-swap setting

	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	mkdir $dir || give_up "no null_blk in configfs"
	for setting in irqmode=2 queue_mode=2 completion_nsec="$1" size=64 memory_backed=1 power=1; do
		echo "${setting#*=}" >"$dir/${setting%=*}" || give_up "no $setting"
	done
	# Newer kernels call it as the directory.
	swap=/dev/lt-swap
	[ -b $swap ] || swap=/dev/nullb$(<$dir/index)
	wait_for 20 test -b "$swap" || give_up "no disk $swap"
	if ! mkswap "$swap" >/dev/null || ! swapon "$swap"; then
		give_up "no swap"
	fi
	cluster=$(</proc/sys/vm/page-cluster)
	echo 0 >/proc/sys/vm/page-cluster
}

no_slow_swap()
{
	swapoff "$swap"
	echo "$cluster" >/proc/sys/vm/page-cluster
	rmdir /sys/kernel/config/nullb/lt-swap
}
