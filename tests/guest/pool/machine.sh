# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests of what the machine has. Each event of the network tracker is one of the pool.
# shellcheck source=tests/guest/lib.sh
. "$LIB"

probes=/sys/kernel/tracing/kprobe_events
echo 'p:lt_test/refill latency_tracker:lt_pool_refill' >>$probes
echo 1 >/sys/kernel/tracing/events/lt_test/refill/enable
ip link set lo up

# exchange COUNT FROM_CPU TO_CPU: so many datagrams; sets $begun, $refills.
exchange()
{
	local file=/sys/kernel/tracing/kprobe_profile

	begun=$(count network started)
	refills=$(awk '$1 == "refill" { print $2 }' $file)
	python3 "$LIBDIR/pool/datagrams.py" "$@" || give_up "no datagrams"
	begun=$(($(count network started) - begun))
	refills=$(($(awk '$1 == "refill" { print $2 }' $file) - refills))
}

# full_batches COUNT FROM_CPU TO_CPU TEXT
full_batches()
{
	exchange "$1" "$2" "$3"
	result $((begun >= $1 && refills > 0 && refills * 16 <= begun)) \
		"$4: $begun packets, $refills refills"
}

# online CPU 0|1
online()
{
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

done_with_machine()
{
	unload network
	echo 0 >/sys/kernel/tracing/events/lt_test/refill/enable
	echo '-:lt_test/refill' >>$probes
}
