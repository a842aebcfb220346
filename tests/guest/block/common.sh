# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of this directory: disks whose requests take a set time, and requests to them.
. "$LIBDIR/lib.sh"

events="block/block_rq_insert block/block_rq_issue block/block_rq_complete
	block/block_rq_requeue block/block_rq_merge latency_tracker/block_latency"

# disk NS [PARAMETER...]: null_blk whose requests take so long.
disk()
{
	modprobe null_blk irqmode=2 queue_mode=2 bs=512 completion_nsec="$1" "${@:2}" ||
		give_up "no null_blk"
	dev=$(</sys/block/nullb0/dev)
	dev=${dev/:/,}
}

# Track everything on the disk $dev, and in the trace what the kernel has
# to say about it.
track()
{
	local event

	load block usec_threshold=0 dev="${dev/,/:}"
	# shellcheck disable=SC2086 # words
	trace_kb=32768 trace_start $events
	for event in issue insert complete requeue merge; do
		echo "dev == $((${dev%,*} << 20 | ${dev#*,}))" >"$tracing/events/block/block_rq_$event/filter"
	done
	mark begin
}

# tracked: the end of that, at rest.
tracked()
{
	mark end
	trace_stop "$T/trace"
	wait_for 10 at_most block pending 0
	diag "$(counters block)"
}

# no_disk: at the end of the test; whoever has just closed it may still be busy with it.
no_disk()
{
	unload block
	wait_for 20 rmmod null_blk 2>/dev/null || give_up "null_blk stays busy"
}

# scheduler DISK NAME: with room for requests to wait.
scheduler()
{
	echo "$2" >"/sys/block/$1/queue/scheduler" || give_up "no scheduler $2"
	[ "$2" = none ] || echo 128 >"/sys/block/$1/queue/nr_requests"
}

# io NAME OPTION...: direct requests of 4 KiB.
io()
{
	fio --name="$1" --thread --direct=1 --bs=4k --ioengine=libaio --output-format=terse \
		--norandommap --random_generator=lfsr --size=64m "${@:2}" >"$T/fio" 2>&1 ||
		give_up "fio: $(<"$T/fio")"
}

# Completed requests of a disk: reads, writes.
completed()
{
	awk '{ print $1 + $5 }' "/sys/block/$1/stat"
}

# read_one OPTION...: one direct read of 4 KiB.
read_one()
{
	dd if=/dev/nullb0 of=/dev/null bs=4k count=1 iflag=direct "$@" 2>/dev/null
}

# scsi TEXT DISK-OPTION...: a disk of scsi_debug for a test with two results, or $results.
scsi()
{
	if ! modprobe -nq scsi_debug; then
		for _ in $(seq "${results:-2}"); do
			skip "this kernel has no scsi_debug" "$1"
		done
		exit
	fi
	if ! modprobe sd_mod || ! modprobe scsi_debug ndelay=100000 dev_size_mb=64 "${@:2}" ||
	   ! wait_for 20 test -b /dev/sda; then
		give_up "no disk of scsi_debug"
	fi
	dev=$(</sys/block/sda/dev)
	dev=${dev/:/,}
}

# scsi_does OPTS EVERY_NTH: what a disk that is there does to each command of that number from now on.
scsi_does()
{
	local driver=/sys/bus/pseudo/drivers/scsi_debug

	echo "$1" >$driver/opts
	echo "$2" >$driver/every_nth
	[ "$1 $2" = "$(($(<$driver/opts))) $(<$driver/every_nth)" ] ||
		give_up "scsi_debug does not take opts=$1 every_nth=$2"
}

# lasted REPORT LINE: how much of a read of thread.py the report has, in percent; 0 if the report is
# not inside of it.
lasted()
{
	local begin end start delay

	begin=$(field begin "$2") end=$(field end "$2")
	start=$(field start "$1") delay=$(field delay "$1")
	if ((start < begin || start + delay > end)); then
		echo 0
	else
		echo $((delay * 100 / (end - begin)))
	fi
}

no_scsi()
{
	unload block
	wait_for 20 rmmod scsi_debug 2>/dev/null
}
