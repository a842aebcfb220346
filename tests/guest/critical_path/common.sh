# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of latency_tracker_critical_path.
. "$LIBDIR/lib.sh"

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
