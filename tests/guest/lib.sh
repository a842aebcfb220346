# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests of this directory, each of which is a bash script NAME.tc that runs in
# the guest (see run) and begins like this:
#
#	# SPDX-License-Identifier: GPL-2.0-only
#	# description: what it proves
#	# timeout: 60          seconds, on a machine that is three times too slow
#	# quick: no            not part of "scripts/check quick"; optional
#	# beside: yes          it measures no time, and runs beside other machines; optional
#	# ahead: FILE          a program of this directory, "FILE KERNEL COMMAND...", that runs
#	#                      outside of the guest, and then the COMMAND that starts it; optional
#	# boot: WORDS          for the kernel's command line; optional
#	# icount: yes          one CPU, whose clock counts instructions: time in which nothing
#	                       is done passes at once; optional
#	# behind: yes          its machine gets what those of the others leave of the CPUs: for
#	                       an icount test in which nothing depends on how long a file takes
#	                       to be read, since time goes on meanwhile; optional
#	# nodes: N             so many memory nodes, with a CPU each, and one that has nothing
#	                       yet: see scripts/vm-run; optional
#	# once: WORD           of several kernels only for the first one with the same suite or
#	                       arch; optional
#	# needs: COMMAND...    it is skipped in a guest that does not have them; optional
#	# shellcheck source=tests/guest/lib.sh
#	. "$LIB"
#	plan 3
#
# It finds: $T an empty directory, $BIN the programs made of the C files, QUICK=1 if it is
# to hurry, no module of ours loaded. A test says in each result what was injected and what was measured.

tracing=/sys/kernel/tracing/instances/test
state=/sys/kernel/latency_tracker

# --- results -------------------------------------------------------------------------

plan()
{
	echo "1..$1"
}

diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

pass()
{
	echo "ok - $*"
}

# With FAIL_FAST=1, of tests/mutants/run, the first one ends the test.
fail()
{
	echo "not ok - $*"
	keep
	((!${FAIL_FAST:-0})) || exit 0
}

# What a failure is judged by, $T/trace above all, is overwritten by the next step of the
# test: a copy of its files stays, for the first failures of each test.
keep()
{
	local n

	[ -n "${KEEP:-}" ] || return 0
	mkdir -p "$KEEP"
	n=$(find "$KEEP" -mindepth 1 -maxdepth 1 | wc -l)
	((n < 5)) || return 0
	mkdir "$KEEP/$n"
	(cd "$T" && find . -type f -size -64M -exec cp --parents -t "$KEEP/$n" {} +)
	diag "what it was judged by is kept: ${KEEP##*/}/$n"
}

# skip REASON TEXT: for what this kernel lacks. All skips are in Documentation/skips.md.
skip()
{
	echo "ok - $2 # SKIP $1"
}

# result CONDITION TEXT: CONDITION is an arithmetic value, so 0 is a failure. Returns
# whether it passed.
result()
{
	if (($1)); then
		pass "$2"
		return 0
	fi
	fail "$2"
	return 1
}

# same EXPECTED MEASURED TEXT
same()
{
	if [ "$1" = "$2" ]; then
		pass "$3"
		return 0
	fi
	diag "expected: $1"
	diag "measured: $2"
	fail "$3"
	return 1
}

# The test makes no sense any more; the plan is then not met.
give_up()
{
	diag "$*"
	exit 1
}

# --- figures -------------------------------------------------------------------------

# Nanoseconds as milliseconds with one decimal.
ms()
{
	local sign=''

	(($1 >= 0)) || sign=-
	printf '%s%d.%d' "$sign" $((${1#-} / 1000000)) $((${1#-} / 100000 % 10))
}

# field NAME LINE: the value of NAME=... in a line of a trace, up to a comma, a space or
# the end; -1 if it is not there.
field()
{
	if [[ " $2" =~ [[:space:],]"$1="([^,[:space:]]*) ]]; then
		echo "${BASH_REMATCH[1]}"
	else
		# So that it fails as a number does, not as an error of the test.
		echo -1
	fi
}

# stamp LINE: when a line of a trace was written, in ns, up to the end of its microsecond.
stamp()
{
	[[ $1 =~ [[:space:]]([0-9]+)[.]([0-9]{6}): ]] || { echo -1; return; }
	echo "${BASH_REMATCH[1]}${BASH_REMATCH[2]}999"
}

# wait_for SECONDS COMMAND...: until COMMAND succeeds; so many times longer in a machine that gives way to others.
wait_for()
{
	local end=$((SECONDS + $1 * ${PATIENCE:-1}))
	shift

	until "$@"; do
		((SECONDS <= end)) || return 1
		sleep 0.05
	done
}

# sleep_silently: from now on sleep, and so wait_for, calls no nanosleep of the kernel.
sleep_silently()
{
	mkfifo "$T/silence"
	exec {silence}<>"$T/silence"
	sleep()
	{
		read -rt "$1" -u "$silence" || :
	}
}

# --- trackers ------------------------------------------------------------------------

# load TRACKER [PARAMETER=VALUE...]: offcpu with sleeping tasks, unless states= says otherwise, syscalls
# with all calls, unless calls= does, and wakeup without tasks that are preempted, unless preempted=
# does; states=default, calls=default and preempted=default are those of the modules.
load()
{
	local wanted_args=("${@:2}")

	[[ $1 != offcpu || $* == *\ states=* ]] || wanted_args+=(states=all)
	[[ $1 != syscalls || $* == *\ calls=* ]] || wanted_args+=(calls=)
	[[ $1 != wakeup || $* == *\ preempted=* ]] || wanted_args+=(preempted=N)
	[[ $* != *\ states=default* ]] || wanted_args=("${wanted_args[@]/states=default/}")
	[[ $* != *\ preempted=default* ]] || wanted_args=("${wanted_args[@]/preempted=default/}")
	modprobe "latency_tracker_$1" "${wanted_args[@]}" ||
		give_up "latency_tracker_$1 could not be loaded with ${wanted_args[*]}"
}

unload()
{
	local module

	for module; do
		modprobe -r "latency_tracker_$module" || return
	done
}

# param TRACKER NAME [VALUE]: read or write a module parameter.
param()
{
	local file=/sys/module/latency_tracker_$1/parameters/$2

	if (($# > 2)); then
		echo "$3" >"$file"
	else
		cat "$file"
	fi
}

# count TRACKER COUNTER
count()
{
	cat "$state/$1/$2"
}

# at_least TRACKER COUNTER N, at_most TRACKER COUNTER N: for wait_for.
at_least()
{
	(($(count "$1" "$2") >= $3))
}

at_most()
{
	(($(count "$1" "$2") <= $3))
}

# All counters of a tracker on one line, for diagnostics.
counters()
{
	local file line=''

	for file in started finished late timeouts collected cleared replaced pending \
		    skipped kept unmatched clock_back unwatched capacity; do
		line+=" $file=$(<"$state/$1/$file")"
	done
	echo "$1:$line"
}

# Whether nothing was lost: for a tracker at rest, such as with tracking_on 0.
adds_up()
{
	local s f o l p

	s=$(count "$1" started) f=$(count "$1" finished) o=$(count "$1" collected)
	l=$(count "$1" cleared) p=$(count "$1" pending)
	((s == f + o + l + p))
}

# result_adds_up TRACKER: one result about the tracker's counters, which is stopped for
# that.
result_adds_up()
{
	local ok=0

	echo 0 >"$state/$1/tracking_on"
	# A probe that is running may still count.
	sleep 0.1
	! adds_up "$1" || ok=1
	diag "$(counters "$1")"
	result $((ok && $(count "$1" pending) == 0)) "$1: started $(count "$1" started) =\
 finished $(count "$1" finished) + collected $(count "$1" collected) + cleared\
 $(count "$1" cleared) + pending $(count "$1" pending), which is 0 when it is off"
}

# result_works: one result: the tracker of system calls still works.
result_works()
{
	local nr

	param syscalls per_minute 0
	param syscalls usec_threshold 50000
	trace_start latency_tracker/syscall_latency
	nr=$(field nanosleep "$("$BIN/inject" numbers)")
	"$BIN/inject" nanosleep 100 lt-after >/dev/null
	trace_stop "$T/trace"
	result $(($(grep -c 'comm=lt-after,.*nr='"$nr," "$T/trace") == 1)) \
		"afterwards a nanosleep of 100 ms is reported"
}

# load_until TRACKER AT_LEAST MS KIND...: "inject load", again while fewer operations than that
# were late, five times at most: how many are late is a matter of how much CPU the machine gets.
load_until()
{
	local tracker=$1 at_least=$2 round before
	shift 2

	before=$(count "$tracker" late)
	for round in {1..5}; do
		"$BIN/inject" load "$@"
		(($(count "$tracker" late) - before < at_least)) || break
		diag "load $round: $(($(count "$tracker" late) - before)) late of $at_least"
	done
}

# hold COMMAND...: which has told its pids, in $out, and waits for the end of its standard input.
hold()
{
	rm -f "$T/go" "$T/told"
	mkfifo "$T/go"
	"$@" <"$T/go" >"$T/told" &
	prepared=$!
	exec {hold}>"$T/go"
	wait_for $((60 * ${LAB_SLOW:-1})) test -s "$T/told" || give_up "$* does not tell its pids"
	out=$(<"$T/told")
}

# release: which comes now. What it has done is in $T/told, behind its pids.
release()
{
	exec {hold}>&-
	wait "$prepared"
}

# hold_inject ARG...: "inject ARG...".
hold_inject()
{
	INJECT_TOLD=1 hold "$BIN/inject" "$@"
}

# release_inject: leaves in $out what it has done.
release_inject()
{
	release
	out=$(tail -n 1 "$T/told")
	diag "$out"
}

# --- traces --------------------------------------------------------------------------

# trace_start EVENT...: in an instance of its own, with the trackers' clock.
trace_start()
{
	local event

	mkdir "$tracing" || give_up "no trace instance"
	echo mono >"$tracing/trace_clock"
	echo "${trace_kb:-16384}" >"$tracing/buffer_size_kb"
	for event; do
		trace_also "$event"
	done
}

trace_also()
{
	echo 1 >"$tracing/events/$1/enable" || give_up "there is no event $1"
}

# A line "tracing_mark_write: TEXT" in the trace.
mark()
{
	echo "$*" >"$tracing/trace_marker"
}

# trace_stop FILE: a trace that has lost something is no evidence.
trace_stop()
{
	local cpu line lines lost=0

	echo 0 >"$tracing/tracing_on"
	for cpu in "$tracing"/per_cpu/cpu*; do
		mapfile -t lines <"$cpu/stats"
		for line in "${lines[@]}"; do
			case $line in
			'overrun: '* | 'dropped events: '* | 'commit overrun: '*) lost=$((lost + ${line##* })) ;;
			esac
		done
	done
	cat "$tracing/trace" >"$1"
	echo 0 >"$tracing/events/enable"
	rmdir "$tracing"
	((lost == 0)) || give_up "the observer lost $lost events: make trace_kb larger"
}

# trace_now: what is there so far.
trace_now()
{
	cat "$tracing/trace"
}

# preempt_off LINES: 1 if preemption was disabled where these lines of a trace come from, as
# LTTng wants it. What the kernel does not count is not known.
preempt_off()
{
	local line where

	[[ $(uname -v) == *PREEMPT* ]] || { echo 1; return; }
	while read -r line; do
		where=${line#*] }
		[[ $where =~ ^...[1-9a-f] ]] || { echo 0; return; }
	done <<<"$1"
	echo 1
}

# shellcheck source=tests/guest/judge.sh
. "${BASH_SOURCE[0]%/*}/judge.sh"
# shellcheck source=tests/guest/truth.sh
. "${BASH_SOURCE[0]%/*}/truth.sh"
# shellcheck source=tests/guest/lost.sh
. "${BASH_SOURCE[0]%/*}/lost.sh"

# --- a clean machine -----------------------------------------------------------------

modules()
{
	awk '$1 ~ /^latency_tracker/ { print $1 }' /proc/modules
}

# Processes in another session: what a test has started.
kill_leftovers()
{
	local mine stat fields left

	read -r stat <"/proc/$$/stat"
	read -ra fields <<<"${stat##*) }"
	mine=${fields[3]}
	for left in 1 0; do
		for stat in /proc/[0-9]*/stat; do
			{ read -r stat <"$stat"; } 2>/dev/null || continue
			read -ra fields <<<"${stat##*) }"
			case ${fields[3]} in
			0 | 1 | "$mine") ;;
			*) kill -KILL "${stat%% *}" 2>/dev/null; left=$((left * 2)) ;;
			esac
		done
		# For what they may have started, and for their end.
		((left > 1)) || return 0
		sleep 0.2
	done
}

# Returns whether everything could be put back.
clean_up()
{
	local module

	kill_leftovers
	if [ -d "$tracing" ]; then
		echo 0 >"$tracing/events/enable"
		rmdir "$tracing" || return
	fi
	echo 950000 >/proc/sys/kernel/sched_rt_runtime_us
	# What a test that was ended early has put on top of its disks.
	awk '$2 ~ "^/tmp/" { print $2 }' /proc/mounts | tac | xargs -r umount
	! type -P dmsetup >/dev/null || dmsetup remove_all --noudevsync >/dev/null 2>&1
	[ ! -d /sys/module/loop ] || losetup -D
	for module in $(modules | grep _) $(modules); do
		[ ! -d "/sys/module/$module" ] || rmmod "$module" || return
	done
	for module in null_blk scsi_debug; do
		if [ -d "/sys/module/$module" ]; then
			wait_for 20 rmmod "$module" 2>/dev/null || return
		fi
	done
	[ ! -d "$state" ] || { diag "$state is still there"; return 1; }
}
