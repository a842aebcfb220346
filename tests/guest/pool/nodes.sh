# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests of machines with memory nodes.
# shellcheck source=tests/guest/pool/machine.sh
. "$LIBDIR/pool/machine.sh"

events=1000000

# free_of NODE: bytes
free_of()
{
	echo $(($(awk '$3 == "MemFree:" { print $4 }' "/sys/devices/system/node/node$1/meminfo") << 10))
}

# shared NODES TEXT: loads the tracker, whose events are divided among so many nodes. One of them
# has the buckets of the table and the module, too.
shared()
{
	local node before=() bytes share parts='' good=1

	echo 3 >/proc/sys/vm/drop_caches
	for ((node = 0; node < $1; node++)); do
		before+=("$(free_of $node)")
	done
	load network usec_threshold=1000000 max_events=$events grow_limit=0 profile=N
	bytes=$(count network memory_bytes)
	for ((node = 0; node < $1; node++)); do
		share=$(((before[node] - $(free_of $node)) * $1 * 100 / bytes))
		parts+=" $share"
		((share > 60 && share < 200)) || good=0
	done
	result "$good" "$2: of $((bytes >> 20)) MiB, each node has so many % of its part:$parts"
}

# nodes COUNT: each has a CPU.
nodes()
{
	local last=$(($1 - 1))

	same "0-$last 0-$last" "$(</sys/devices/system/node/has_memory) $(</sys/devices/system/node/has_cpu)" \
		"there are $1 nodes"
	shared "$1" "the memory is where the CPUs are"
	full_batches 5000 0 $last "all events end on another node"
	full_batches 5000 $last 0 "and the other way round"
	exchange 3000 $last $last
	exchange 3000 0 0
	result_adds_up network
	same 0 "$(count network skipped)" "nothing was skipped"
	unload network
}
