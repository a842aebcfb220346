# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# The wait matrix: a task waits for a disk.
. "$LIBDIR/block/common.sh"

# slow MS: each command of scsi_debug takes so long; 0: it does not.
slow()
{
	local file=/sys/bus/pseudo/drivers/scsi_debug/ndelay

	# Not while it has commands.
	wait_for 20 bash -c "echo $(($1 ? $1 * 1000000 : 100000)) >$file" 2>/dev/null ||
		give_up "scsi_debug does not take a delay"
}

# on_disk SCENARIO MS WAY ARGUMENT... -- NAME...: the disk is slow while the victim waits. That is io:device, too,
# of a bio that has waited for 5 % of its time elsewhere, as it may on a slow machine.
on_disk()
{
	local scenario=$1 ms=$2 way=()
	shift 2

	while [ "$1" != -- ]; do
		way+=("$1")
		shift
	done
	prepare "${way[@]}"
	slow "$ms"
	explained "$scenario" "${@:2}"
	slow 0
}

results=13
scsi "waits for a disk of scsi_debug"
device=/sys/block/sda/device
mkfs.ext4 -q /dev/sda || give_up "no ext4"
mkdir "$T/mnt"
# The commit of each 5 s is one more that may have to be waited for, as by who changes the mode of a new file.
mount -o commit=600 /dev/sda "$T/mnt"
dd if=/dev/zero of="$T/mnt/swap" bs=64k count=256 2>/dev/null
chmod 600 "$T/mnt/swap"
mkswap "$T/mnt/swap" >/dev/null
sync

undelayed "a direct read" direct /dev/sda
undelayed "a page of a file" fault "$T/mnt/mapped"
on_disk "a direct read" 400 direct /dev/sda -- call:preadv2 disk:sda stage:device io:device? path:disk
on_disk "fsync" 200 fsync "$T/mnt/file" -- call:fsync disk:sda stage:device io:flush? io:device? path:disk path:task?
on_disk "a page of a file" 400 fault "$T/mnt/mapped" -- state:blocked disk:sda stage:device io:device? path:disk
swapon "$T/mnt/swap" || give_up "no swap"
# Which pages go is up to the kernel: until that of the victim has gone.
for _ in 1 2 3 4 5; do
	group memory
	into="$group" prepare swap
	# What is written is still in memory, and the first to go.
	sleep 0.5
	echo $(($(<"$group/memory.current") - (3 << 20))) >"$group/memory.high"
	echo max >"$group/memory.high"
	slow 800
	release
	sleep 0.1
	trace_stop "$T/trace"
	slow 0
	no_group
	out=$(<"$T/told")
	(($(field end "$out") - $(field begin "$out") < 300000000)) || break
done
judged "a page that was swapped out" state:blocked disk:sda stage:device io:device? stall:memory? path:disk? path:memory?
swapoff "$T/mnt/swap"
on_disk "the lock of an inode, held over I/O" 500 inode "$T/mnt/inode" -- \
	call:fchmod waker:lt-holder lock:rwsem_write? lock:rt_mutex? held:lt-holder disk:sda stage:device io:device? path:lock

# Where the victim is, by the kernel, for as long as it is there: $T/stacks.
watch_stacks()
{
	exec {hold}>&-	# which the victim waits for
	while cat "/proc/$pid/stack" && echo; do
		sleep 0.02
	done >"$T/stacks" 2>/dev/null
}

# others_use WORDS: eight of them, in $others, use the disk as dd does with WORDS.
others_use()
{
	local i

	others=()
	for i in 1 2 3 4 5 6 7 8; do
		# shellcheck disable=SC2086 # words
		dd ${1//@/$((i * 1000))} bs=4k count=1000 2>/dev/null &
		others+=($!)
	done
}

# beside_others FUNCTION WORDS SCENARIO WAY -- NAME...: others use the disk, which takes one of them at a
# time, for some seconds: it is not fair. Who comes may be in luck, too: until it was in FUNCTION most of the time.
beside_others()
{
	local round killer others where=$1 words=$2 scenario=$3 does=$4
	shift 5

	echo 1 >$device/queue_depth || give_up "no small queue"
	slow 60
	for round in 1 2 3 4 5; do
		others_use "$words"
		prepare "$does" /dev/sda
		watch_stacks &
		{
			exec {hold}>&-
			sleep 3
			kill "${others[@]}" 2>/dev/null
		} &
		killer=$!
		release
		kill "${others[@]}" 2>/dev/null
		wait "$killer" "${others[@]}" 2>/dev/null
		trace_stop "$T/trace"
		diag "round $round: $(grep -c "$where" "$T/stacks") of $(grep -c '^$' "$T/stacks") times in $where"
		(($(grep -c "$where" "$T/stacks") * 3 < $(grep -c '^$' "$T/stacks") * 2)) || break
	done
	judged "$scenario" "$@"
	slow 0
	echo 64 >$device/queue_depth
}

# With requests for four. The journal has nothing to write meanwhile.
sync
queue=/sys/block/sda/queue
if ! echo mq-deadline >$queue/scheduler || ! echo 4 >$queue/nr_requests; then
	give_up "no small queue"
fi
beside_others blk_mq_get_tag "if=/dev/sda of=/dev/null skip=@ iflag=direct" "tags that are used up" direct -- \
	call:preadv2 disk:sda stage:bio io:getrq io:queue? path:disk
echo none >$queue/scheduler

group io
prepare direct /dev/sda
echo "$pid" >"$group/cgroup.procs"
echo "${dev/,/:} rbps=8192" >"$group/io.max" || give_up "no io.max"
explained "io.max" call:preadv2 disk:sda stage:bio io:throttled path:disk
no_group

dd if=/dev/zero of="$T/mnt/dirty" bs=64k count=4 2>/dev/null
watch
slow 100
"$BIN/inject" umount "$T/mnt" >"$T/told"
sleep 0.1
trace_stop "$T/trace"
slow 0
judged "umount with dirty data" call:umount2 disk:sda stage:device io:flush? io:device? path:disk path:task?

# It drops each command, until the read is in the disk for the second time; then the kernel resets the
# disk, and sends it once more.
issued()
{
	(($(trace_now | grep -c "block_rq_issue: $dev .* 2048 + 8") >= $1))
}
echo 1 | tee $device/timeout >$device/eh_timeout
prepare direct /dev/sda
echo 1 >"$tracing/events/block/block_rq_issue/enable"
scsi_does 4 1
{
	exec {hold}>&-	# which the victim waits for
	wait_for $((30 * ${LAB_SLOW:-1})) issued 2
	scsi_does 0 0
} &
explained "a device that does not answer" call:preadv2 disk:sda stage:request stage:device \
	io:device? path:disk
echo 30 | tee $device/timeout >$device/eh_timeout

# Of writes that come from the page cache it lets two go at a time, of a disk that takes one.
# Then the fsync flushes the cache of that disk, which waits behind the same writes.
echo 75000 >$queue/wbt_lat_usec || give_up "no write-back throttling"
beside_others rq_qos_wait "if=/dev/zero of=/dev/sda seek=@ oflag=dsync" "write-back throttling" fsync -- \
	call:fsync disk:sda stage:bio io:getrq io:flush? path:disk path:task?

modprobe dm_delay
dmsetup create --noudevsync lt-slow --table "0 65536 delay /dev/sda 0 500" || give_up "no dm-delay"
dmsetup mknodes lt-slow
prepare direct /dev/mapper/lt-slow
explained "dm-delay" call:preadv2 disk:dm-0 stage:bio io:lower path:disk
dmsetup remove --noudevsync lt-slow
wait_for 20 rmmod scsi_debug 2>/dev/null
