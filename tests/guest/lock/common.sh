# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of latency_tracker_lock: locks of the module latency_tracker_locks.
. "$LIBDIR/lib.sh"

locks=/proc/latency_tracker_locks
if [ "$(cat /sys/kernel/realtime 2>/dev/null)" = 1 ]; then
	is_rt=yes
else
	is_rt=no
fi

# plan_locks N: as many results, if the kernel tells of waits for locks.
plan_locks()
{
	local nr

	plan "$1"
	if tracks_locks; then
		modprobe latency_tracker_locks
		# Is the name of a variable known here? Without CONFIG_KALLSYMS_ALL it is not.
		known=$(grep -q " [bd] hold_semaphore" /proc/kallsyms && echo yes || echo no)
		return
	fi
	for ((nr = 1; nr <= $1; nr++)); do
		skip "before Linux 5.19 the kernel does not tell of waits for locks" "$nr"
	done
	exit
}

# Whoever holds a lock is on CPU 1, whoever tests is not.
taskset -pc 0 $$ >/dev/null

# contend HELD MS WANTED [spin]: lt-holder takes the lock HELD; 100 ms later lt-waiter wants WANTED.
# Leaves their pids in $holder and $waiter, the turns in $out, reports about the waiter in $T/mine.
contend()
{
	trace_start latency_tracker/lock_latency
	take lt-holder "$1 $2 ${4:-}" 1
	holder=$!
	wait_for 5 is_called "$holder" lt-holder || give_up "no holder"
	sleep 0.1
	take lt-waiter "$3 0"
	waiter=$!
	wait
	trace_stop "$T/trace"
	out=$(<"$locks")
	diag "$out"
	# Others wait for locks, too.
	grep "lock_latency: .* pid=$waiter, .*hold_in_$3" "$T/trace" >"$T/mine" || :
	diag "$(cut -c1-700 "$T/mine")"
	ended=$(grep flag=ended "$T/mine")
	pending=$(grep flag=pending "$T/mine" | head -n 1)
}

# take NAME WORDS [CPU]: a task of that name takes a lock so, in the background.
take()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	taskset -c "${3:-0}" bash -c 'printf %s "$1" >/proc/self/comm; echo "$2" >"$3"' take "$1" "$2" "$locks" &
}

is_called()
{
	[ "$(<"/proc/$1/comm")" = "$2" ]
}

# turn PID NAME: a time of its turn.
turn()
{
	field "$2" "$(grep "pid=$1 " <<<"$out")"
}
