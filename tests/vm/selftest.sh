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
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"

name=bookworm brief=0
while (($#)); do
	case $1 in
	--kernel) name=$2; shift 2 ;;
	--brief) brief=1; shift ;;
	*) die "there is no option $1" ;;
	esac
done
vm=("$top/scripts/vm-run" --no-build --kernel "$name" --timeout 120)
splat=build/$name-splat/splat.ko

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# check NAME EXPECTED MEASURED: both are shown where they differ, and what vm-run said last: where
# only the names of what has failed are kept, that is all there is.
check()
{
	local differ

	if [ "$2" = "$3" ]; then
		tap 1 "$1"
		return
	fi
	printf -v differ 'expected %q, measured %q' "$2" "$3"
	tap 0 "$1: $differ: $(grep -v '^|' "$tmp/err" | tail -n 1)" ||
		tap_notes <"$tmp/err"
}

# guest [OPTION...] -- COMMAND...: leaves $status, $tmp/out and $tmp/err behind.
guest()
{
	status=0
	"${vm[@]}" "$@" </dev/null >"$tmp/out" 2>"$tmp/err" || status=$?
}

# A status and what must be in the text that vm-run shows.
check_splat()
{
	local text=missing

	! grep -q -- "$3" "$tmp/err" || text=shown
	check "$1" "$2 shown" "$status $text"
}

check_streams()
{
	local arguments=('two words' "it's \"quoted\" \$HOME *" $'two\nlines\t' '' '\n')

	guest -- bash -c 'printf "<%s>" "$@"; echo "to stderr: BUG: fake" >&2; exit 77' x \
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
		touch tests/vm/written-by-guest && md5sum <tests/vm/selftest.sh | cut -c 1-32
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
	guest --cpus 3 --out "$out" --disk 16M --copy tests/vm -- bash -c "$script" x "$top"
	check 'exit status 0 is passed on, with a process left behind' 0 "$status"
	check 'the guest is as promised' \
		"$top read-only $(md5sum <"$top/tests/vm/selftest.sh" | cut -c 1-32) ok lo 3 0 /dev/nullb0 16777216" \
		"$(head -n -0 "$tmp/out" | grep -av '^x' | xargs)"
	check 'two million bytes of output are all there' 2000000 \
		"$(grep -a '^x' "$tmp/out" | grep -ao x | wc -l)"
	check 'files come out through --out' \
		"$(md5sum <"$out/sum.bin")" "$(cat "$out/sum" 2>/dev/null || echo none)"
	check 'nothing was written into the checkout, nor into what was copied' '' \
		"$(find "$top" -path "$top/build" -prune -o -name written-by-guest -print)"
}

# Status, text, command, what it is about. Older kernels go on by themselves after "stale".
trouble=(
	"125|splat: at once|insmod $splat how=warn; exit 3|a WARNING is status 125, and shown"
	"125|splat: later|insmod $splat how=later|a WARNING after the end of the command is caught"
	"125|tainted|dmesg -n 1; insmod $splat how=warn; dmesg >&2|\
a WARNING on a silenced console is caught"
	"125|BUG: scheduling while atomic|insmod $splat how=atomic|\
sleeping in atomic context is caught"
	"125|NULL pointer dereference|insmod $splat how=oops|an Oops is caught"
	"125|int3: |insmod $splat how=int3|a breakpoint of nobody's is caught"
	"122|int3: |insmod $splat how=stale|one that is not in memory is a fault of the emulator"
	"125|Kernel panic - not syncing|echo c >/proc/sysrq-trigger; sleep 100|a panic is caught"
	"126|without reporting|busybox poweroff -f; sleep 100|\
a guest that ends without a word is status 126"
)

check_trouble()
{
	local line expected shown command text arch

	arch=$(kernel_value "$name" arch)
	for line in "${trouble[@]}"; do
		IFS='|' read -r expected shown command text <<<"$line"
		[[ $shown != int3* || $arch = amd64 ]] || continue
		guest -- bash -c "$command"
		[[ $command != *stale || $status != 0 ]] || continue
		check_splat "$text" "$expected" "$shown"
	done
}

# A guest that goes on for longer than it may, which is long enough for a busy machine to start it.
run_timeout()
{
	local began=$SECONDS tmp=$tmp/timeout

	mkdir "$tmp"
	guest --timeout 60 -- bash -c 'echo started; sleep 1000'
	echo "$status $((SECONDS - began))" >"$tmp/end"
}

check_timeout()
{
	local took

	wait "$timeout"
	read -r status took <"$tmp/timeout/end"
	cp "$tmp/timeout"/{out,err} "$tmp"
	check_splat 'a time-out is status 124' 124 'time-out'
	check "it was in time, after $took s" 1 $((took >= 60 && took < 80))
	check 'output from before the time-out is there' started "$(cat "$tmp/out")"
}

# Ways to end that are not the guest's.
check_ends()
{
	local pid

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

	guest --cpus none -- true
	check_splat 'wrong usage is status 123' 123 '--cpus takes a number'
}

# The emulators of the guests whose files are in $tmp/killed.
emulators()
{
	pgrep -f "^[^ ]*qemu-system.*$tmp/killed/" || :
}

# These, and what passes the guests' output on.
survivors()
{
	emulators
	pgrep -f "^cat $tmp/killed/" || :
}

# check_killed NAME COMMAND...: COMMAND, which runs vm-run, is killed once there is a guest.
check_killed()
{
	local text=$1 pid i
	shift

	mkdir -p "$tmp/killed"
	TMPDIR=$tmp/killed "$@" </dev/null >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		[ -z "$(emulators)" ] || break
		sleep 0.1
	done
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null || :
	((i < 600)) || echo 'there was no guest' >>"$tmp/err"
	# A busy machine needs some time to see to it.
	for ((i = 0; i < 200; i++)); do
		[ -n "$(survivors)" ] || break
		sleep 0.1
	done
	check "$text" '' "$(survivors)$(grep -x 'there was no guest' "$tmp/err" || :)"
	survivors | xargs -r kill -KILL
}

# The kernel logs its command line, and so this.
bad_clock='lab=\"tsc: PIT calibration deviates\"'

# An emulator that dies of a bug of its own, the first time, and whose clock goes wrong the
# second time. It is where setup puts one.
check_emulator()
{
	local cache=$tmp/cache/latency-tracker dir qemu

	dir=$cache/$(arch_value "$(kernel_value "$name" arch)" qemu_cache)
	qemu=$(qemu_program "$(kernel_value "$name" arch)")
	mkdir -p "$cache"
	ln -s "$(cache_dir)"/* "$cache"
	rm -f "$dir"
	mkdir "$dir"
	cat >"$dir/run" <<-EOF
		#!/bin/bash
		echo >>$tmp/starts
		case \$(wc -l <$tmp/starts) in
		1) echo "qemu: x.c:1: f: Assertion 'no' failed." >&2; kill -ABRT \$\$ ;;
		2) exec $qemu "\$@" -append "\${!#} $bad_clock" ;;
		*) exec $qemu "\$@" ;;
		esac
	EOF
	chmod +x "$dir/run"
	XDG_CACHE_HOME=$tmp/cache guest -- echo started
	check_splat 'an emulator that dies before the command has begun is started again' 0 \
		"Assertion 'no' failed"
	check_splat 'and a guest whose clock goes wrong' 0 "clock goes wrong.* booted again"
	check 'and then it runs' started "$(cat "$tmp/out")"
	guest --append "${bad_clock//\\/}" -- echo started
	check 'one whose clock always goes wrong is booted again twice' '122 2 ' \
		"$status $(grep -c 'booted again' "$tmp/err") $(cat "$tmp/out")"
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
	for _ in 1 2; do
		guest --icount -- bash -c "$script"
		times+=("$(sed 's/\.//' "$tmp/err")")
	done
	check "--icount: the same loop took ${times[0]} and ${times[1]} ms: at most 1 % apart" 1 \
		"$(awk -v a="${times[0]}" -v b="${times[1]}" \
		   'BEGIN { print (a > 0 && (a - b) ^ 2 < (a / 100) ^ 2) }')"
}

need_setup "$name"
rootfs_dir "$name" >/dev/null
progress 'building the module that makes splats' \
	kbuild "$name" tests/vm/splat "build/$name-splat" W=1 ||
	die "the module in tests/vm/splat must compile first"

if ((!brief)); then
	# Beside the others.
	run_timeout &
	timeout=$!
	check_streams
fi
check_guest
check_trouble
if ((!brief)); then
	check_timeout
	check_ends
	check_killed 'SIGKILL of vm-run leaves no guest' "${vm[@]}" -- sleep 100
	# shellcheck disable=SC2016 # for the script
	check_killed 'SIGKILL of a script that waits for vm-run leaves no guest' \
		bash -c '. "$1/scripts/lib.sh" && shift && "$@"; echo' x "$top" \
		"${vm[@]}" -- sleep 100
	check_emulator
	check_tty
	check_icount
fi
tap_end
