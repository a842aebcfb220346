#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the lab tell the truth? What scripts/vm-run promises, checked one by one; above
# all that it reports trouble. Prints TAP; ends with non-zero if a check failed.
#
# Usage: tests/vm/selftest.sh [--kernel NAME] [--brief]
#
# --brief: only what depends on the kernel.

set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

name=bookworm brief=0
while (($#)); do
	case $1 in
	--kernel) name=$2; shift ;;
	--brief) brief=1 ;;
	*) die "there is no option $1" ;;
	esac
	shift
done
vm=("$top/scripts/vm-run" --no-build --kernel "$name" --timeout 120)
splat=build/$name-splat/splat.ko

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0 failed=0

# check NAME EXPECTED MEASURED: both are shown where they differ.
check()
{
	count=$((count + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $count - $1"
	else
		failed=$((failed + 1))
		echo "not ok $count - $1"
		printf 'expected %q, measured %q\n' "$2" "$3" | sed 's/^/# /'
		sed 's/^/# /' "$tmp/err"
	fi
}

# guest COMMAND...: leaves $status, $tmp/out and $tmp/err behind. Options of vm-run may
# be put in the array "options".
options=()
guest()
{
	status=0
	"${vm[@]}" "${options[@]}" -- "$@" </dev/null >"$tmp/out" 2>"$tmp/err" || status=$?
}

# A status and what must be, or not be, in the text that vm-run shows.
check_splat()
{
	local text=missing

	! grep -q -- "$3" "$tmp/err" || text=shown
	check "$1" "$2 shown" "$status $text"
}

check_streams()
{
	local arguments=('two words' "it's \"quoted\" \$HOME *" $'two\nlines\t' '' '\n')

	guest bash -c 'printf "<%s>" "$@"; echo "to stderr: BUG: fake" >&2; exit 77' x \
		"${arguments[@]}"
	check 'exit status 77 is passed on' 77 "$status"
	check 'arguments arrive as they are' "$(printf '<%s>' "${arguments[@]}")" "$(cat "$tmp/out")"
	check 'standard error is apart, and nothing else is on it' \
		'to stderr: BUG: fake' "$(cat "$tmp/err")"
}

# One boot for what takes no special end.
check_guest()
{
	local script out=$tmp/shared

	mkdir "$out"
	# shellcheck disable=SC2016 # for the guest
	script='
		exec 2>&1
		pwd
		touch "$1/written-by-guest" 2>/dev/null && echo writable || echo read-only
		touch /etc/x /tmp/x /root/x /dev/shm/x && echo ok
		for dir in /proc /sys /sys/kernel/tracing /sys/kernel/debug /dev/pts; do
			mountpoint -q $dir || echo "$dir is not mounted"
		done
		ping -qc 1 -W 5 127.0.0.1 >/dev/null && echo lo
		nproc
		id -u
		cat
		modprobe null_blk nr_devices=1 && ls /dev/nullb0
		lsblk -bno SIZE /dev/vdb
		(sleep 1000; echo late) &
		head -c 3000000 /dev/urandom | tee /out/sum.bin | md5sum >/out/sum
		head -c 2000000 /dev/zero | tr "\0" x
	'
	options=(--cpus 3 --out "$out" --disk 16M)
	guest bash -c "$script" x "$top"
	options=()
	check 'exit status 0 is passed on, with a process left behind' 0 "$status"
	check 'the guest is as promised' \
		"$top read-only ok lo 3 0 /dev/nullb0 16777216" \
		"$(head -n -0 "$tmp/out" | grep -av '^x' | xargs)"
	check 'two million bytes of output are all there' 2000000 \
		"$(grep -a '^x' "$tmp/out" | grep -ao x | wc -l)"
	check 'files come out through --out' \
		"$(md5sum <"$out/sum.bin")" "$(cat "$out/sum" 2>/dev/null || echo none)"
	check 'nothing was written into the checkout' '' "$(ls "$top/written-by-guest" 2>/dev/null)"
}

check_trouble()
{
	guest bash -c "insmod $splat how=warn; exit 3"
	check_splat 'a WARNING is status 125, and shown' 125 'splat: at once'
	guest insmod "$splat" how=later
	check_splat 'a WARNING after the end of the command is caught' 125 'splat: later'
	guest bash -c "dmesg -n 1; insmod $splat how=warn; dmesg >&2"
	check_splat 'a WARNING on a silenced console is caught' 125 'tainted'
	guest insmod "$splat" how=atomic
	check_splat 'sleeping in atomic context is caught' 125 'BUG: scheduling while atomic'
	guest insmod "$splat" how=oops
	check_splat 'an Oops is caught' 125 'NULL pointer dereference'
	if [ "$(kernel_value "$name" arch)" = amd64 ]; then
		guest insmod "$splat" how=int3
		check_splat "a breakpoint of nobody's is caught" 125 'int3: '
		guest insmod "$splat" how=stale
		# Older kernels go on by themselves.
		((status == 0)) ||
			check_splat 'one that is not in memory is a fault of the emulator' 122 'int3: '
	fi
	guest bash -c 'echo c >/proc/sysrq-trigger; sleep 100'
	check_splat 'a panic is caught' 125 'Kernel panic - not syncing'
	guest bash -c 'busybox poweroff -f; sleep 100'
	check_splat 'a guest that ends without a word is status 126' 126 'without reporting'
}

# Ways to end that are not the guest's.
check_ends()
{
	local began=$SECONDS pid

	# Long enough for a busy machine to start.
	options=(--timeout 40)
	guest bash -c 'echo started; while :; do :; done'
	options=()
	check_splat 'a time-out is status 124' 124 'time-out'
	check 'it was in time' 1 $((SECONDS - began < 60))
	check 'output from before the time-out is there' started "$(cat "$tmp/out")"

	mkdir "$tmp/tmp"
	TMPDIR=$tmp/tmp "${vm[@]}" -- sleep 100 </dev/null &
	pid=$!
	sleep 5
	pgrep -P "$pid" >"$tmp/children"
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	check 'SIGTERM ends it' 143 "$status"
	sleep 0.5
	check 'no process and no file is left' '' \
		"$(xargs -r ps -o comm= -p <"$tmp/children"; ls -A "$tmp/tmp")"

	status=0
	"${vm[@]}" --cpus none -- true 2>"$tmp/err" || status=$?
	check_splat 'wrong usage is status 123' 123 '--cpus takes a number'
}

# An emulator that dies of a bug of its own, the first time. It is where setup puts one.
check_emulator()
{
	local cache=$tmp/cache/latency-tracker arch dir
	arch=$(kernel_value "$name" arch)
	dir=$cache/$(arch_value "$arch" qemu_cache)

	mkdir -p "$cache"
	ln -s "$(cache_dir)"/* "$cache"
	rm -f "$dir"
	mkdir "$dir"
	cat >"$dir/run" <<-EOF
		#!/bin/sh
		[ ! -e $tmp/crashed ] || exec $(qemu_program "$arch") "\$@"
		touch $tmp/crashed
		echo "qemu: x.c:1: f: Assertion 'no' failed." >&2
		kill -ABRT \$\$
	EOF
	chmod +x "$dir/run"
	XDG_CACHE_HOME=$tmp/cache guest echo started
	check_splat 'an emulator that dies before the command has begun is started again' 0 \
		"Assertion 'no' failed"
	check 'and then it runs' started "$(cat "$tmp/out")"
}

check_tty()
{
	local i

	status=0
	: >"$tmp/out"
	# A terminal on both sides, of an odd size; we type when there is a prompt.
	# shellcheck disable=SC2016,SC2094 # for the guest; reading is on purpose
	{
		for ((i = 0; i < 300; i++)); do
			! grep -q 'prompt>' "$tmp/out" || break
			sleep 0.1
		done
		echo 'echo $((6 * 7)); stty size; tty; exit 5'
		sleep 5
	} |
	script -qec "stty rows 33 cols 101; ${vm[*]} -- env PS1='prompt>' bash --norc --noediting" \
		/dev/null >"$tmp/out" 2>"$tmp/err" || status=$?
	check 'an interactive shell passes its status on' 5 "$status"
	check 'it has a terminal of our size' '42 33 101 /dev/hvc0' \
		"$(tr -d '\r' <"$tmp/out" | grep -xE '42|33 101|/dev/hvc0' | xargs)"
}

check_icount()
{
	local times=()

	# shellcheck disable=SC2016 # for the guest
	local script='TIMEFORMAT=%R; time for ((i = 0; i < 100000; i++)); do :; done'
	options=(--icount)
	for _ in 1 2; do
		guest bash -c "$script"
		times+=("$(sed 's/\.//' "$tmp/err")")
	done
	options=()
	check "--icount: the same loop took ${times[0]} and ${times[1]} ms: at most 1 % apart" 1 \
		"$(awk -v a="${times[0]}" -v b="${times[1]}" \
		   'BEGIN { print (a > 0 && (a - b) ^ 2 < (a / 100) ^ 2) }')"
}

need_setup "$name"
rootfs_dir "$name" >/dev/null
progress 'building the module that makes splats' \
	kbuild "$name" tests/vm/splat "build/$name-splat" W=1 ||
	die "the module in tests/vm/splat must compile first"

((brief)) || check_streams
check_guest
check_trouble
if ((!brief)); then
	check_ends
	check_emulator
	check_tty
	check_icount
fi
echo "1..$count"
((failed == 0))
