# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of tools/latency-tracker.
. "$LIBDIR/lib.sh"

lt=$(cd "$LIBDIR/../.." && pwd)/tools/latency-tracker

# has FILE PATTERN: how many lines.
has()
{
	grep -cE -- "$2" "$1"
}

# A disk whose requests take so many ms. Without a scheduler a task issues its requests itself.
slow_disk()
{
	modprobe null_blk irqmode=2 queue_mode=2 bs=512 completion_nsec=$(($1 * 1000000)) ||
		give_up "no null_blk"
	echo none >/sys/block/nullb0/queue/scheduler
}

# read_as NAME: one direct read of that disk by a task of that name, in a file of that name.
read_as()
{
	cp "$(type -P dd)" "$T/$1"
	"$T/$1" if=/dev/nullb0 of=/dev/null bs=4k count=1 iflag=direct status=none
}
