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

# on_disk SCENARIO MS WAY ARGUMENT... -- NAME...: the disk is slow while the victim waits.
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

results=10
scsi "waits for a disk of scsi_debug"
mkfs.ext4 -q /dev/sda || give_up "no ext4"
mkdir "$T/mnt"
mount /dev/sda "$T/mnt"
dd if=/dev/zero of="$T/mnt/swap" bs=64k count=256 2>/dev/null
chmod 600 "$T/mnt/swap"
mkswap "$T/mnt/swap" >/dev/null
sync

undelayed "a direct read" direct /dev/sda
undelayed "a page of a file" fault "$T/mnt/mapped"
on_disk "a direct read" 400 direct /dev/sda -- call:preadv2 disk:sda stage:device
on_disk "fsync" 200 fsync "$T/mnt/file" -- call:fsync disk:sda stage:device
on_disk "a page of a file" 400 fault "$T/mnt/mapped" -- state:blocked disk:sda stage:device
swapon "$T/mnt/swap" || give_up "no swap"
group memory
into="$group" prepare swap
# What is written is still in memory, and the first to go.
sleep 0.5
echo $(($(<"$group/memory.current") - (3 << 20))) >"$group/memory.high"
echo max >"$group/memory.high"
slow 400
explained "a page that was swapped out" state:blocked disk:sda stage:device
slow 0
no_group
swapoff "$T/mnt/swap"
on_disk "the lock of an inode, held over I/O" 500 inode "$T/mnt/inode" -- \
	call:fchmod waker:lt-holder disk:sda stage:device

group io
prepare direct /dev/sda
echo "$pid" >"$group/cgroup.procs"
echo "${dev/,/:} rbps=8192" >"$group/io.max" || give_up "no io.max"
not_named "a bio that has no request yet is not tracked"
explained "io.max" call:preadv2 stage:bio
no_group

dd if=/dev/zero of="$T/mnt/dirty" bs=64k count=4 2>/dev/null
watch
slow 100
"$BIN/inject" umount "$T/mnt" >"$T/told"
sleep 0.1
trace_stop "$T/trace"
slow 0
judged "umount with dirty data" call:umount2 disk:sda stage:device

modprobe dm_delay
dmsetup create --noudevsync lt-slow --table "0 65536 delay /dev/sda 0 500" || give_up "no dm-delay"
dmsetup mknodes lt-slow
prepare direct /dev/mapper/lt-slow
not_named "a bio of a device without requests is not tracked"
explained "dm-delay" call:preadv2 stage:bio
dmsetup remove --noudevsync lt-slow
wait_for 20 rmmod scsi_debug 2>/dev/null
